"""A process that has the control socket of a state directory, and answers each request with given bytes."""

import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Thread

from kron.hosts.listener.address import address_of


@contextmanager
def squatting(state: Path, answer: bytes, *, end: bool = True) -> Iterator[None]:
    """Answer requests on the socket of a state directory; without `end`, connections stay open after the answer."""
    state.mkdir(mode=0o700, exist_ok=True)
    listening = socket.socket(socket.AF_UNIX)
    with address_of(state / "control.sock") as address:
        listening.bind(address)
    listening.listen()
    thread = Thread(target=_answer, args=(listening, answer, end))
    thread.start()
    try:
        yield
    finally:
        listening.shutdown(socket.SHUT_RDWR)  # wakes the thread
        thread.join()
        listening.close()
        (state / "control.sock").unlink()


def _answer(listening: socket.socket, answer: bytes, end: bool) -> None:  # noqa: FBT001  # the arguments of a thread
    kept = []
    with suppress(OSError):
        while True:
            connection, _ = listening.accept()
            kept.append(connection)
            with suppress(OSError):
                connection.recv(1 << 16)
                connection.sendall(answer)
                if end:
                    connection.close()
    for connection in kept:
        connection.close()
