"""Clients of a listener that behave badly, over real sockets."""

import select
import socket
from collections.abc import Sequence
from contextlib import suppress

HEALTH = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"
PATIENCE = 30.0  # seconds in which a listener that is not held up answers; it takes milliseconds
_SMALL = 4096  # bytes that a client takes before it reads
_QUIET = 500  # milliseconds in which nothing more is taken, so that nothing more will be


def connect(port: int, *, source: str = "127.0.0.1", buffer: int | None = None) -> socket.socket:
    """Return a connection to a port of this host."""
    connection = socket.socket()
    connection.settimeout(PATIENCE)
    if buffer is not None:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, buffer)
    connection.bind((source, 0))
    connection.connect(("127.0.0.1", port))
    return connection


def ask(port: int, path: str, *headers: str, host: str = "localhost") -> tuple[int, str]:
    """Return the status and all text of an answer; 0 if the connection is closed without one."""
    with connect(port) as connection:
        lines = f"GET {path} HTTP/1.1", f"Host: {host}", "Connection: close", *headers
        return send(connection, "\r\n".join((*lines, "", "")).encode("latin-1"))


def send(connection: socket.socket, request: bytes) -> tuple[int, str]:
    """Send a request as far as it is taken, and return the status and all text of the answer, 0 if there is none."""
    data = b""
    with suppress(ConnectionError):  # it is refused before all of it is there
        connection.sendall(request)
    with suppress(ConnectionError):  # the listener did not read all of it
        while part := connection.recv(65536):
            data += part
    text = data.decode("latin-1")
    return int(text.split(" ")[1]) if text else 0, text


def never_read(port: int, number: int, request: bytes) -> Sequence[socket.socket]:
    """Ask again and again over so many connections, read nothing, and return them when they take nothing more."""
    found = {}
    for each in range(number):
        connection = connect(port, source=f"127.0.0.{each % 4 + 1}", buffer=_SMALL)
        connection.settimeout(0)
        found[connection.fileno()] = connection
    taking = select.poll()
    for descriptor in found:
        taking.register(descriptor, select.POLLOUT)
    while ready := taking.poll(_QUIET):
        for descriptor, _ in ready:
            try:
                found[descriptor].send(request * (16384 // len(request) + 1))
            except BlockingIOError:
                pass
            except ConnectionError:
                taking.unregister(descriptor)  # it was closed for a newer one
    return list(found.values())
