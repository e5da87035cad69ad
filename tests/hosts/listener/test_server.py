"""Server: visitors who behave badly, over a real socket."""

import socket
from contextlib import suppress

from starlette.responses import PlainTextResponse

from kron.hosts.krond.web.site import View, make_site
from tests.hosts.listener.served import read_reply, served

ASK = b"GET / HTTP/1.1\r\nHost: localhost\r\n"


def test_a_visitor_who_says_nothing_is_sent_away() -> None:
    with served(PlainTextResponse("ok"), patience=0.05) as place, place.connect() as connection:
        assert _is_closed(connection)


def test_a_visitor_who_takes_for_ever_to_ask_is_sent_away() -> None:
    with served(PlainTextResponse("ok"), patience=0.05) as place, place.connect() as connection:
        connection.sendall(ASK)
        assert _is_closed(connection)


def test_a_visitor_who_asks_again_and_then_falls_silent_is_sent_away() -> None:
    with served(PlainTextResponse("ok"), patience=0.05) as place, place.connect() as connection:
        connection.sendall(ASK + b"\r\n")

        assert read_reply(connection).status == 200


def test_of_too_many_visitors_the_one_that_was_silent_for_longest_has_to_go() -> None:
    with served(PlainTextResponse("ok"), most=2) as place:
        first, second = place.connect(), place.connect()

        assert place.ask("/").status == 200
        assert _is_closed(first)
        second.sendall(ASK + b"Connection: close\r\n\r\n")
        assert read_reply(second).status == 200
        for connection in (first, second):
            connection.close()


def test_a_request_that_is_no_request_or_far_too_long_is_refused() -> None:
    with served(PlainTextResponse("ok")) as place:
        with suppress(ConnectionError):  # the rest of what is sent may find nobody there
            assert place.ask("/", f"X: {'x' * 1_000_000}").status == 400
        with place.connect() as connection:
            connection.sendall(b"\x16\x03\x01 is no request\r\n\r\n")
            assert read_reply(connection).status == 400
        assert place.ask("/").status == 200


def test_a_body_that_nobody_reads_does_not_keep_the_connection() -> None:
    with served(PlainTextResponse("ok"), patience=0.05) as place, place.connect() as connection:
        connection.sendall(b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000000000\r\n\r\nx")

        assert read_reply(connection).status == 200


def test_a_loop_that_does_not_turn_is_not_healthy() -> None:
    async def metrics() -> bytes:
        return b"numbers"

    with served(make_site(View(lambda: False, metrics))) as place:
        assert place.ask("/healthz").status == 503
        assert place.ask("/metrics").body == "numbers"
        assert [place.ask(path).status for path in ("/", "/healthz/", "/../etc/passwd")] == [404, 404, 404]
        assert place.ask("/metrics", method="POST").status == 405


def _is_closed(connection: socket.socket) -> bool:
    try:
        return connection.recv(1) == b""
    except ConnectionResetError:
        return True
