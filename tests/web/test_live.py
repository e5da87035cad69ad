"""Server-sent events: what listeners receive, how many are allowed, and which are disconnected."""

import json
import socket
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, cast

from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from kron.rules.job_spec import JobSpec
from kron.rules.policy import Policy
from kron.web.live import ChangeFeed
from tests.hosts.krond.krond_process import Krond
from tests.web.page_client import PageClient
from tests.web.served import Place, served

NOTHING = cast(Any, None)


def app_with_changes(hub: ChangeFeed, *identities: str) -> ASGIApp:
    """Return an application where `/happen` lets something happen, and any other path listens."""

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["path"] != "/happen":
            await hub(scope, receive, send)
            return
        for identity in identities:
            hub.on_closed(JobSpec(identity, "name", None, Policy(), "{}"), NOTHING, NOTHING)
        await PlainTextResponse("done")(scope, receive, send)

    return app


def listen(place: Place) -> socket.socket:
    """Return a connection that listens, once it does."""
    connection = place.connect()
    connection.sendall(b"GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n")
    while b"retry:" not in connection.recv(65536):
        pass
    return connection


def may_listen(place: Place) -> bool:
    """Whether one more is let in."""
    with place.connect() as connection:
        connection.sendall(b"GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n")
        return b" 200 " in connection.recv(100)


def changes(connection: socket.socket) -> Iterator[dict[str, Any]]:
    """Yield the changes that a listener receives."""
    for line in connection.makefile():
        if line.startswith("data: "):
            yield json.loads(line.removeprefix("data: "))


def test_several_changes_are_one_message_that_names_their_jobs() -> None:
    hub = ChangeFeed()
    with served(app_with_changes(hub, "b", "a", "b")) as place, listen(place) as connection:
        place.ask("/happen")

        assert next(changes(connection)) == {"jobs": ["a", "b"], "more": False}
        hub.close()


def test_of_many_changes_the_message_says_that_there_are_more() -> None:
    with served(app_with_changes(ChangeFeed(), *map(str, range(1000)))) as place, listen(place) as connection:
        place.ask("/happen")

        change = next(changes(connection))
        assert (len(change["jobs"]), change["more"]) == (50, True)


def test_a_listener_above_the_limit_is_refused_until_another_leaves() -> None:
    with served(ChangeFeed(most=1)) as place:
        with listen(place):
            assert place.ask("/events").status == 503
        while not may_listen(place):
            pass


def is_established(local: int, remote: int) -> bool:
    """Whether the end of a connection that has this local port is open, as the kernel tells."""
    rows = [line.split()[1:4] for line in Path("/proc/net/tcp").read_text("ascii").splitlines()[1:]]
    ends = {(int(here.split(":")[1], 16), int(there.split(":")[1], 16)): state for here, there, state in rows}
    return ends.get((local, remote)) == "01"


def test_a_listener_that_does_not_read_is_disconnected() -> None:
    long = "x" * 30_000_000  # more than the buffers of a client that does not read
    hub = ChangeFeed(most=1, patience=0.05)
    with served(app_with_changes(hub, long), patience=0.05) as place, listen(place) as silent:
        silent.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65536)  # the kernel would keep all of it for who waits
        place.ask("/happen")
        while not may_listen(place) or is_established(place.port, silent.getsockname()[1]):
            pass

        received = 0
        with suppress(ConnectionResetError):
            while part := silent.recv(1 << 20):
                received += len(part)
        assert received < len(long)


def test_krond_notifies_listeners_and_ends_without_waiting_for_them(tmp_path: Path) -> None:
    jobs = '[krond]\nlisten = "127.0.0.1:0"\n[jobs.once]\nschedule = "0 0 29 2 *"\ncommand = "true"\n'
    krond = Krond(tmp_path, jobs).start()
    with listen_to(krond) as connection:
        krond.ask("trigger", "once")

        assert next(changes(connection))["jobs"] == [f"{krond.file}:once"]
        krond.ask("stop")
        assert krond.end() == 0


def test_the_effect_of_a_command_is_sent_to_listeners(tmp_path: Path) -> None:
    jobs = '[krond]\nlisten = "127.0.0.1:0"\n[jobs.once]\nschedule = "0 0 29 2 *"\ncommand = "true"\n'
    krond = Krond(tmp_path, jobs).start()
    with listen_to(krond) as connection:
        found = changes(connection)
        for command in (["suspend", "once"], ["resume", "once"]):
            krond.ask(*command)
            assert next(found) == {"jobs": [f"{krond.file}:once"], "more": False}
        for text in (jobs, "broken"):
            krond.write(text)
            krond.ask("reload")
            assert next(found) == {"jobs": [], "more": True}
    krond.ask("stop")
    assert krond.end() == 0


def listen_to(krond: Krond) -> socket.socket:
    """Return a connection that listens to a krond, once it does."""
    visitor = PageClient(krond)
    host, port = visitor.address.split(":")
    connection = socket.create_connection((host, int(port)))
    head = f"GET /events HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {visitor.token}\r\n\r\n"
    connection.sendall(head.encode())
    while b"retry:" not in connection.recv(65536):
        pass
    return connection
