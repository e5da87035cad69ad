"""Client: what asks a running krond on its socket; without asyncio, which would take longer to load than the answer."""

import json
import os
import select
import socket
import struct
from contextlib import suppress
from pathlib import Path
from typing import Any

from kron.errors import ControlError
from kron.hosts.listener.address import address_of

_CREDENTIALS = struct.Struct("3i")


class Client:
    """Asks a running krond."""

    def __init__(self, path: Path) -> None:
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM | socket.SOCK_CLOEXEC)
        try:
            with address_of(path) as address:
                self._socket.connect(address)
        except PermissionError as error:
            self._socket.close()
            raise ControlError(reason=f"only its owner and root may ask the krond on {path.parent}") from error
        except OSError as error:
            self._socket.close()
            raise ControlError(reason=f"no krond runs on {path.parent}") from error
        if (uid := peer_of(self._socket)) not in (0, path.parent.stat().st_uid):
            self._socket.close()
            raise ControlError(reason=f"uid {uid} answers on {path}, to whom {path.parent} does not belong")
        self._lines = self._socket.makefile("rb")

    def ask(self, command: str, **arguments: object) -> Any:
        """Return the answer; an answer that says no is a ControlError with the exit code to end with."""
        try:
            self._socket.sendall(json.dumps({"command": command, **arguments}).encode() + b"\n")
            line = self._lines.readline()
        except OSError:
            line = b""
        if not line:
            raise ControlError(reason="krond is gone, or refuses this user")
        answer = json.loads(line)
        if not answer["ok"]:
            raise ControlError(reason=answer["error"], exit_code=answer["exit"])
        return answer["result"]

    def stop(self, *, now: bool) -> None:
        """Ask krond to end, and return when its process has; of one in another container, when it has hung up."""
        pid, _ = _peer(self._socket)
        process = None
        with suppress(OSError):
            process = os.pidfd_open(pid)  # before it is asked: the number may be another's afterwards
        try:
            self.ask("stop", now=now)
            with suppress(OSError):
                while self._lines.readline():
                    pass
            if process is not None:
                select.select([process], [], [])
        finally:
            if process is not None:
                os.close(process)

    def close(self) -> None:
        """Hang up."""
        self._lines.close()
        self._socket.close()


def peer_of(connection: socket.socket) -> int:
    """Return the user id of whoever is at the other end."""
    return _peer(connection)[1]


def _peer(connection: socket.socket) -> tuple[int, int]:
    """Return the process and the user at the other end; 0 for a process that cannot be seen from here."""
    pid, uid, _ = _CREDENTIALS.unpack(connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size))
    return pid, uid
