"""Control: the unix socket on which a running krond answers its owner and root, one JSON object a line each way."""

import asyncio
import json
import os
import socket
import struct
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from kron.errors import ControlError, InvalidInstantError, KronError, UnknownJobError
from kron.hosts.listener.address import address_of

_LONGEST = 1024 * 1024  # bytes of a request
_CREDENTIALS = struct.Struct("3i")
EXIT_CODES: Mapping[type[KronError], int] = {UnknownJobError: 2, InvalidInstantError: 2}

Handler = Callable[[Mapping[str, Any]], Awaitable[object]]


class Control:
    """Serves commands by name, each to whoever may ask: the owner of this process, and root."""

    def __init__(self, path: Path, handlers: Mapping[str, Handler], refused: Callable[[int], object]) -> None:
        """`refused` is told the user id of everybody who was turned away."""
        self._path, self._handlers, self._refused = path, handlers, refused
        self._server: asyncio.Server | None = None
        self._answering: set[asyncio.Task[None]] = set()

    async def open(self) -> None:
        """Begin to answer. The directory is ours alone and locked, so that what lies there is left from a crash."""
        self._path.unlink(missing_ok=True)
        listening = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM | socket.SOCK_CLOEXEC | socket.SOCK_NONBLOCK)
        with address_of(self._path) as address:
            before = os.umask(0o177)  # it must never be there with other rights, not even for a moment
            try:
                listening.bind(address)
            finally:
                os.umask(before)
        self._server = await asyncio.start_unix_server(self._serve, sock=listening, limit=_LONGEST)

    async def close(self) -> None:
        """Answer nobody any more."""
        if self._server is not None:
            self._server.close()
            self._server = None
            self._path.unlink(missing_ok=True)
        for task in self._answering:
            task.cancel()
        await asyncio.gather(*self._answering, return_exceptions=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._answering.add(task)
        try:
            if self._may_ask(writer):
                while line := await reader.readline():
                    writer.write(json.dumps(await self._answer(line), ensure_ascii=False).encode() + b"\n")
                    await writer.drain()
        except (ConnectionError, ValueError, asyncio.CancelledError):
            pass  # whoever asked is gone, asked for too much, or we go
        finally:
            self._answering.discard(task)
            writer.close()
            with suppress(ConnectionError, asyncio.CancelledError):
                await writer.wait_closed()

    def _may_ask(self, writer: asyncio.StreamWriter) -> bool:
        uid = _peer(writer.get_extra_info("socket"))
        if uid in (0, os.geteuid()):
            return True
        self._refused(uid)
        return False

    async def _answer(self, line: bytes) -> dict[str, object]:
        try:
            asked = json.loads(line)
            handler = self._handlers[asked["command"]]
        except (ValueError, KeyError, TypeError, RecursionError):
            return {"ok": False, "error": "that is no request of this krond", "exit": 2}
        try:
            return {"ok": True, "result": await handler(asked)}
        except ControlError as error:
            return {"ok": False, "error": error.message, "exit": error.exit_code}
        except KronError as error:
            return {"ok": False, "error": error.message, "exit": EXIT_CODES.get(type(error), 1)}


class Client:
    """Asks a running krond."""

    def __init__(self, path: Path) -> None:
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM | socket.SOCK_CLOEXEC)
        try:
            with address_of(path) as address:
                self._socket.connect(address)
        except OSError as error:
            self._socket.close()
            raise ControlError(reason=f"no krond runs on {path.parent}") from error
        if (uid := _peer(self._socket)) not in (0, path.parent.stat().st_uid):
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

    def wait_until_gone(self) -> None:
        """Return when krond has closed the connection."""
        with suppress(OSError):
            while self._lines.readline():
                pass

    def close(self) -> None:
        """Hang up."""
        self._lines.close()
        self._socket.close()


def _peer(connection: socket.socket) -> int:
    """Return the user id of whoever is at the other end."""
    _, uid, _ = _CREDENTIALS.unpack(connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size))
    return int(uid)
