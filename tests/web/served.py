"""Serve an application on a real socket in a thread, and send it raw requests."""

import asyncio
import socket
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from threading import Thread
from typing import NamedTuple

from starlette.types import ASGIApp

from kron.web.connections import ConnectionLimits
from kron.web.listener import HttpServer, bind

_LONGEST = 60  # seconds until a test that waits for the end of a server gives up


class Reply(NamedTuple):
    """What a server answered."""

    status: int
    headers: dict[str, str]
    body: str


class Place:
    """Where a server listens."""

    def __init__(self, port: int) -> None:
        self.port = port

    def connect(self) -> socket.socket:
        """Come in, and say nothing."""
        return socket.create_connection(("127.0.0.1", self.port))

    def ask(self, path: str, *headers: str, method: str = "GET", host: str = "localhost", body: str = "") -> Reply:
        """Return the answer to one request."""
        head = "\r\n".join((f"{method} {path} HTTP/1.1", f"Host: {host}", "Connection: close", *headers, "", ""))
        with self.connect() as connection:
            connection.sendall((head + body).encode("latin-1"))
            return read_reply(connection)


def read_reply(connection: socket.socket) -> Reply:
    """Return what comes until the other side closes."""
    data = b""
    while part := connection.recv(65536):
        data += part
    head, _, body = data.decode().partition("\r\n\r\n")
    first, *lines = head.split("\r\n")
    headers = dict(line.lower().split(": ", 1) if "cookie" not in line else line.split(": ", 1) for line in lines)
    return Reply(int(first.split(" ")[1]), headers, body)


@contextmanager
def served(
    app: ASGIApp, *, patience: float = 30.0, most: int = 100, for_token: int = 0, for_client: int = 100
) -> Iterator[Place]:
    """Serve an application for a while."""
    door = bind("127.0.0.1:0")
    ready: Future[tuple[asyncio.AbstractEventLoop, asyncio.Event]] = Future()

    async def serve() -> None:
        limits = ConnectionLimits(most, for_token=for_token, for_client=for_client, patience=patience)
        server, over = HttpServer(door, app, limits=limits), asyncio.Event()
        await server.open()
        ready.set_result((asyncio.get_running_loop(), over))
        await over.wait()
        await server.close()

    thread = Thread(target=asyncio.run, args=(serve(),), daemon=True)
    thread.start()
    loop, over = ready.result()
    try:
        yield Place(door.port)
    finally:
        loop.call_soon_threadsafe(over.set)
        thread.join(_LONGEST)
        assert not thread.is_alive(), "the server does not close"
