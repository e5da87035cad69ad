"""Attacks on the page of a real krond, and on the listener of the operator, by clients without a token."""

import asyncio
import select
import socket
import time
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from pathlib import Path
from threading import Thread

import pytest
from starlette.responses import PlainTextResponse

from kron.web.probes import ProbeServer
from tests.attacks.clients import HEALTH, PATIENCE, ask, connect, never_read, send
from tests.hosts.krond.krond_process import NEVER, Krond
from tests.web.served import served

JOBS = f'[krond]\nlisten = "127.0.0.1:0"\n[jobs.idle]\n{NEVER}\ncommand = "true"\n'
BUSY = f'{JOBS}[jobs.often]\nschedule = "* * * * *"\nsuspend = false\ncommand = "true"\n'
YEAR = "/feed.json?job=often&from=2030-01-01T00:00:00Z&to=2031-01-01T00:00:00Z"
BACKSLASHES = b"\\" * 120_000


@pytest.fixture(scope="module")
def krond(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Krond]:
    daemon = Krond(tmp_path_factory.mktemp("krond"), BUSY).start()
    yield daemon
    daemon.ask("stop", "--now")
    daemon.end()


@pytest.fixture(scope="module")
def port(krond: Krond) -> int:
    return int(str(krond.json("status")["listen"]).rpartition(":")[2])


def token_of(krond: Krond) -> str:
    return (krond.state / "token").read_text().strip()


def test_a_head_of_backslashes_in_one_read_is_refused_before_it_is_parsed(port: int) -> None:
    head = b'GET / HTTP/1.1\r\nHost: localhost\r\nCookie: a="%s"\r\n\r\n' % BACKSLASHES

    for _ in range(5):
        with connect(port) as connection:
            assert send(connection, head)[0] in (400, 0)

    assert ask(port, "/healthz")[0] == 200


def test_cookies_of_backslashes_within_the_limit_cost_no_more_than_others(port: int) -> None:
    """The parser of the standard library takes half a second for each; PATIENCE is for all of them."""
    head = b'GET / HTTP/1.1\r\nHost: localhost\r\nCookie: a="%s"\r\n\r\n' % BACKSLASHES[:16_000]
    begun = time.monotonic()

    for _ in range(100):
        with connect(port) as connection:
            assert send(connection, head)[0] == 401

    assert time.monotonic() - begun < PATIENCE


@pytest.mark.parametrize("host", ["localhost:80@evil", "localhost:evil", "localhost:80:80", "[::1]evil"])
def test_a_host_header_that_only_begins_like_ours_is_refused(port: int, host: str) -> None:
    assert ask(port, "/healthz", host=host)[0] == 421


def test_a_service_on_another_port_does_not_learn_the_token_from_the_cookie(krond: Krond, port: int) -> None:
    token = token_of(krond)
    _, answer = ask(port, f"/?token={token}")
    (cookie,) = [line[12:].partition(";")[0] for line in answer.split("\r\n") if line.lower().startswith("set-cookie")]
    value = cookie.partition("=")[2]

    assert token not in answer
    assert ask(port, "/monitor", f"Cookie: {cookie}")[0] == 200
    assert ask(port, "/monitor", f"Authorization: Bearer {value}")[0] == 401
    assert ask(port, f"/monitor?token={value}")[0] == 401
    assert ask(port, "/monitor", f"Cookie: {cookie.partition('=')[0]}={token}")[0] == 401


def test_clients_that_never_read_do_not_keep_others_out(krond: Krond, port: int) -> None:
    held = never_read(port, 100, HEALTH)

    assert ask(port, "/healthz")[0] == 200
    assert ask(port, "/monitor", f"Authorization: Bearer {token_of(krond)}")[0] == 200
    for connection in held:
        connection.close()


def test_a_connection_whose_client_never_reads_is_closed() -> None:
    with served(PlainTextResponse("x" * 100_000), patience=0.1) as place:
        (held,) = never_read(place.port, 1, HEALTH)
        closing = select.poll()
        closing.register(held, 0)

        assert closing.poll(PATIENCE * 1000), "it is open, and nothing was read for a long time"
        held.close()


def test_a_client_that_never_reads_does_not_hold_up_the_end_of_a_listener() -> None:
    with served(PlainTextResponse("x" * 60_000), patience=600) as place:  # written at once, so that the next one waits
        (held,) = never_read(place.port, 1, HEALTH)

    held.close()


@contextmanager
def operator_listening(metrics: bytes) -> Iterator[int]:
    """Run the listener of an operator in a thread, and yield its port."""
    ready: Future[tuple[asyncio.AbstractEventLoop, asyncio.Event, int]] = Future()

    async def listen() -> None:
        listening, over = ProbeServer("127.0.0.1:0"), asyncio.Event()
        await listening.open(lambda: True, lambda: True, lambda: metrics, time.monotonic)
        ready.set_result((asyncio.get_running_loop(), over, int(listening.address.rpartition(":")[2])))
        await over.wait()
        await listening.close()

    thread = Thread(target=asyncio.run, args=(listen(),), daemon=True)
    thread.start()
    loop, over, port = ready.result()
    try:
        yield port
    finally:
        loop.call_soon_threadsafe(over.set)
        thread.join(PATIENCE)


def test_clients_that_never_read_do_not_keep_probes_from_the_operator() -> None:
    with operator_listening(b"x" * 1_000_000) as port:
        held = never_read(port, 100, b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n")

        assert ask(port, "/healthz")[0] == 200
        for connection in held:
            connection.close()


@pytest.mark.parametrize(
    "request_",
    [
        b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nX: %s\r\n\r\n" % BACKSLASHES,
        b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n%s\r\n" % (b"a:\r\n" * 4000),
        b"POST /healthz HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n" + b"1\r\nx\r\n" * 40_000,
        HEALTH + b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n%s\r\n" % (b"a:\r\n" * 4000),
    ],
    ids=["long head", "head of many lines", "body of many parts", "second head"],
)
def test_a_request_that_costs_much_before_it_is_answered_is_refused(port: int, request_: bytes) -> None:
    with operator_listening(b"") as other:
        for each in (port, other):
            with connect(each) as connection:
                _, text = send(connection, request_)
            answered = text.count("HTTP/1.1 ") - text.count("HTTP/1.1 400 ")
            assert answered <= request_.count(HEALTH)  # a reset of the connection may overtake it


def test_a_port_that_another_program_has_does_not_keep_krond_from_starting(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        krond = Krond(tmp_path, JOBS.replace("127.0.0.1:0", f"127.0.0.1:{port}")).start()

        (failed,) = [event for event in krond.events if event["event"] == "ListenFailed"]
        status = krond.json("status")
        assert (failed["level"], failed["address"]) == ("WARNING", f"127.0.0.1:{port}")
        assert (status["ready"], status["listen"]) == (True, "off")
        assert status["failed_listen"]["address"] == f"127.0.0.1:{port}"
        shown = krond.ask("status")
        assert shown.returncode == 0
        assert "\nno page: Listener 127.0.0.1:" in shown.stdout
        assert krond.ask("trigger", "idle", "--wait").returncode == 0

    krond.wait_for("Listening")
    _, metrics = ask(port, "/metrics", f"Authorization: Bearer {token_of(krond)}")
    (count,) = [line.split()[1] for line in metrics.splitlines() if line.startswith("kron_listen_failures_total")]
    assert float(count) >= 1
    krond.kill()


@pytest.mark.slow
def test_readers_of_a_feed_that_stop_reading_do_not_keep_others_from_feeds_and_the_load(tmp_path: Path) -> None:
    krond = Krond(tmp_path, BUSY).start()
    port, bearer = int(krond.json("status")["listen"].rpartition(":")[2]), f"Authorization: Bearer {token_of(krond)}"
    head = f"GET {YEAR} HTTP/1.1\r\nHost: localhost\r\n{bearer}\r\n\r\n".encode()
    held = [connect(port, buffer=4096) for _ in range(2)]
    for connection in held:
        connection.sendall(head)
        assert connection.recv(12) == b"HTTP/1.1 200"

    assert "too many forecasts are being computed" not in ask(port, "/load", bearer)[1]
    week = "/feed.csv?job=often"
    until = time.monotonic() + 3 * PATIENCE  # twenty seconds, and longer on a machine that runs other suites as well
    while (status := ask(port, week, bearer)[0]) != 200 and time.monotonic() < until:
        pass

    assert status == 200
    for connection in held:
        connection.close()
    krond.ask("stop", "--now")
    krond.end()
