"""Control: the unix socket on which a running krond answers its owner and root, one JSON object a line each way."""

import asyncio
import json
import os
import socket
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from kron.errors import ControlError, InvalidDefinitionError, InvalidInstantError, KronError, UnknownJobError
from kron.hosts.krond.client import peer_of
from kron.hosts.listener.address import address_of
from kron.rules.telling import error_text

_LONGEST = 1024 * 1024  # bytes of a request
EXIT_CODES: Mapping[type[KronError], int] = {
    UnknownJobError: 2,
    InvalidInstantError: 2,
    InvalidDefinitionError: 2,
}

Handler = Callable[[Mapping[str, Any]], Awaitable[object]]


class Control:
    """Serves commands by name, each to whoever may ask: the owner of this process, and root."""

    def __init__(self, path: Path, handlers: Mapping[str, Handler], refused: Callable[[int], object]) -> None:
        """`refused` is told the user id of everybody who was turned away."""
        self._path, self._handlers, self._refused = path, handlers, refused
        self._server: asyncio.Server | None = None
        self._made: tuple[int, int] | None = None  # the socket's device and inode
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
        self._made = self._found()
        self._server = await asyncio.start_unix_server(self._serve, sock=listening, limit=_LONGEST)

    async def close(self) -> None:
        """Answer nobody any more."""
        if self._server is not None:
            self._server.close()
            self._server = None
            if self._found() == self._made:  # else it is that of another krond
                self._path.unlink(missing_ok=True)
        for task in self._answering:
            task.cancel()
        await asyncio.gather(*self._answering, return_exceptions=True)

    def _found(self) -> tuple[int, int] | None:
        with suppress(OSError):
            found = self._path.lstat()
            return found.st_dev, found.st_ino
        return None

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._answering.add(task)
        try:
            if self._may_ask(writer):
                while line := await reader.readline():
                    writer.write(json.dumps(await self._answer(line)).encode() + b"\n")  # a path may not be UTF-8
                    await writer.drain()
        except (ConnectionError, ValueError, asyncio.CancelledError):
            pass  # whoever asked is gone, asked for too much, or we go
        finally:
            self._answering.discard(task)
            writer.close()
            with suppress(ConnectionError, asyncio.CancelledError):
                await writer.wait_closed()

    def _may_ask(self, writer: asyncio.StreamWriter) -> bool:
        uid = peer_of(writer.get_extra_info("socket"))
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
        except Exception as error:
            failed = {"message": f"krond could not answer {asked['command']}", "exception": error}
            asyncio.get_running_loop().call_exception_handler(failed)
            return {"ok": False, "error": f"krond failed, which is a bug of it: {error_text(error)}", "exit": 1}
