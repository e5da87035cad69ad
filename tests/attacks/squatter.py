"""Processes that own the control socket of a state directory: one that answers anything, one that accepts nothing."""

import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from threading import Thread

from kron.adapters.unix_socket import short_address


@contextmanager
def squatting(state: Path, answer: bytes, *, end: bool = True) -> Iterator[None]:
    """Answer requests on the socket of a state directory; without `end`, connections stay open after the answer."""
    state.mkdir(mode=0o700, exist_ok=True)
    listening = socket.socket(socket.AF_UNIX)
    with short_address(state / "control.sock") as address:
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


@contextmanager
def squatting_as(user: int, state: Path) -> Iterator[list[bytes]]:
    """Have another user listen on the socket, and yield what it hears: of the first client, until that leaves."""
    script = (
        "import os, socket, sys; os.chdir(sys.argv[1]); os.setuid(int(sys.argv[2])); "
        "s = socket.socket(socket.AF_UNIX); s.bind('control.sock'); os.chmod('control.sock', 0o777); s.listen(); "
        "print(flush=True); os.write(1, s.accept()[0].recv(9))"
    )
    heard: list[bytes] = []
    command = [sys.executable, "-I", "-S", "-c", script, str(state), str(user)]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        try:
            yield heard
            heard.append(process.communicate(timeout=120)[0])
        finally:
            process.kill()


@contextmanager
def with_full_backlog(state: Path) -> Iterator[None]:
    """Listen on the socket, accept nothing, and have as many clients as may wait."""
    state.mkdir(mode=0o700)
    with ExitStack() as stack, short_address(state / "control.sock") as address:
        listening = stack.enter_context(socket.socket(socket.AF_UNIX))
        listening.bind(address)
        listening.listen(0)
        with suppress(BlockingIOError):
            while True:
                waiting = stack.enter_context(socket.socket(socket.AF_UNIX))
                waiting.setblocking(False)  # noqa: FBT003  # it has no name
                waiting.connect(address)
        yield
