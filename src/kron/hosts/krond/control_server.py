"""ControlServer: the unix socket on which a running krond answers its owner and root, one JSON object a line each way.

A long answer is computed in a thread and encoded part by part, so that the loop is never held.
"""

import asyncio
import json
import os
import socket
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator, Mapping
from contextlib import aclosing, suppress
from dataclasses import dataclass
from pathlib import Path
from time import monotonic
from typing import Any, Literal, TypeAlias

from kron.adapters.unix_socket import peer_uid, short_address
from kron.errors import ControlError, InvalidDefinitionError, InvalidInstantError, KronError, UnknownJobError
from kron.errors.base import describe_exception

_TURN = 0.02  # seconds of a part: encoding what is computed meanwhile holds the interpreter for a millisecond or two
LONGEST = 20.0  # seconds of computing an answer, the time that it waits for its turn and for its reader left out
AT_ONCE = 2  # parts that are computed at a time, of all answers

Row: TypeAlias = Mapping[str, object] | None  # None: some work is done, and no row came out of it


class Rows:
    """An answer that is a list. `make` yields its rows; it is called and continued in threads, in one at a time."""

    def __init__(self, make: Callable[[], Iterator[Row]], *, longest: float = LONGEST) -> None:
        self._make, self._longest = make, longest

    async def parts(self, turn: asyncio.Semaphore) -> AsyncGenerator[bytes, None]:
        """Yield the rows as JSON, without the brackets around them; ControlError if that takes too long."""
        rows, spent, is_first = self._make(), 0.0, True
        while True:
            async with turn:
                began = monotonic()
                found, is_over = await asyncio.to_thread(_take, rows, began + _TURN)
                spent += monotonic() - began
            if found:
                yield found if is_first else b", " + found
                is_first = False
            if is_over:
                return
            if spent > self._longest:
                raise ControlError(reason=f"the answer takes krond more than {self._longest:g} s; ask for less")


def _take(rows: Iterator[Row], until: float) -> tuple[bytes, bool]:
    """Return the rows that are computed until an instant, and whether they are all."""
    found = []
    for row in rows:
        if row is not None:
            found.append(row)
        if monotonic() > until:
            return json.dumps(found)[1:-1].encode(), False
    return json.dumps(found)[1:-1].encode(), True


_LONGEST = 1024 * 1024  # bytes of a request
MOST = 64  # connections at a time: a client that hangs costs two requests of memory at most
MOST_WAITING = 48  # connections that wait for the end of a run: the others are for commands that are answered at once
ASK_LIMIT = 30.0  # seconds that a client has to send a request, and that a connection may be idle
TAKE_LIMIT = 30.0  # seconds in which a client has to take what is in the way of more
_WAIT, _STOP = "wait", "stop"  # commands whose connections last
EXIT_CODES: Mapping[type[KronError], int] = {
    UnknownJobError: 2,
    InvalidInstantError: 2,
    InvalidDefinitionError: 2,
}

CommandHandler = Callable[[Mapping[str, Any]], Awaitable[object]]


@dataclass(slots=True, eq=False)
class _Connection:
    """A client, what krond does for it, and since when."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    since: float
    phase: Literal["asks", "is answered", "takes", "waits"] = "asks"
    ahead: asyncio.Task[bytes] | None = None  # reads the next request while a run is waited for
    asked_to_stop: bool = False


class _GoneError(Exception):
    """The client has closed its connection."""


class ControlServer:
    """Serves commands by name to the owner of this process and to root. No client can hold up another."""

    def __init__(
        self,
        path: Path,
        handlers: Mapping[str, CommandHandler],
        refused: Callable[[int], object],
        *,
        ask_limit: float = ASK_LIMIT,
        take_limit: float = TAKE_LIMIT,
    ) -> None:
        """`refused` is called with the user id of each process that was turned away."""
        self._path, self._handlers, self._refused = path, handlers, refused
        self._ask_limit, self._take_limit = ask_limit, take_limit
        self._server: asyncio.Server | None = None
        self._made: tuple[int, int] | None = None  # the socket's device and inode
        self._connections: dict[asyncio.Task[None], _Connection] = {}
        self._turn = asyncio.Semaphore(AT_ONCE)
        self._is_closing = False

    async def open(self) -> None:
        """Begin to answer. The directory is ours alone and locked, so an existing socket is left from a crash."""
        self._path.unlink(missing_ok=True)
        listening = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM | socket.SOCK_CLOEXEC | socket.SOCK_NONBLOCK)
        with short_address(self._path) as address:
            before = os.umask(0o177)  # it must never be there with other rights, not even for a moment
            try:
                listening.bind(address)
            finally:
                os.umask(before)
        self._made = self._found()
        self._server = await asyncio.start_unix_server(self._serve, sock=listening, limit=_LONGEST)

    async def close(self) -> None:
        """Stop answering."""
        self._is_closing = True
        if self._server is not None:
            self._server.close()
            self._server = None
            if self._found() == self._made:  # else it is that of another krond
                self._path.unlink(missing_ok=True)
        for task in self._connections:
            task.cancel()
        await asyncio.gather(*self._connections, return_exceptions=True)

    def _found(self) -> tuple[int, int] | None:
        with suppress(OSError):
            found = self._path.lstat()
            return found.st_dev, found.st_ino
        return None

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        connection = _Connection(reader, writer, asyncio.get_running_loop().time())
        try:
            if not self._may_ask(writer):
                return
            if not self._has_room():
                await self._send(connection, _encode(_no(f"krond answers {MOST} commands already; try again later")))
                return
            self._connections[task] = connection
            while line := await self._request(connection):
                await self._answer(connection, line)
        except (_GoneError, ConnectionError, TimeoutError, asyncio.CancelledError):
            if self._is_closing and connection.asked_to_stop:
                with suppress(OSError):  # the client may be gone
                    os.dup(writer.get_extra_info("socket").fileno())  # closed by the end of this process
            writer.transport.abort()  # the client is gone or stuck, or krond ends: nothing waits for what it may read
        finally:
            self._connections.pop(task, None)
            if connection.ahead is not None:
                connection.ahead.cancel()
            writer.close()
            with suppress(ConnectionError, TimeoutError, asyncio.CancelledError):
                async with asyncio.timeout(self._take_limit):
                    await writer.wait_closed()
            writer.transport.abort()

    def _may_ask(self, writer: asyncio.StreamWriter) -> bool:
        uid = peer_uid(writer.get_extra_info("socket"))
        if uid in (0, os.geteuid()):
            return True
        self._refused(uid)
        return False

    def _has_room(self) -> bool:
        """Whether there is room for one more. If all is taken, the client goes that has been silent for longest."""
        if len(self._connections) < MOST:
            return True
        silent = [task for task, each in self._connections.items() if each.phase in ("asks", "takes")]
        if not silent:
            return False
        oldest = min(silent, key=lambda task: self._connections[task].since)
        del self._connections[oldest]
        oldest.cancel()
        return True

    # --- one request --------------------------------------------------------------------------------------------------

    async def _request(self, connection: _Connection) -> bytes:
        """Return the next request, nothing at the end; TimeoutError if it is not complete in time."""
        connection.phase = (
            "waits" if connection.asked_to_stop else "asks"
        )  # a client that stops krond waits for its end
        connection.since = asyncio.get_running_loop().time()
        ahead, connection.ahead = connection.ahead, None
        try:
            async with asyncio.timeout(None if connection.asked_to_stop else self._ask_limit):
                return await (ahead or connection.reader.readline())
        except ValueError:
            await self._send(connection, _encode(_no(f"a request has at most {_LONGEST:,} bytes", 2)))
            return b""

    async def _answer(self, connection: _Connection, line: bytes) -> None:
        connection.phase = "is answered"
        try:
            asked = json.loads(line)
            command = asked["command"]
            handler = self._handlers[command]
        except (ValueError, KeyError, TypeError, RecursionError):
            await self._send(connection, _encode(_no("that is no request of this krond", 2)))
            return
        connection.asked_to_stop |= command == _STOP
        if command == _WAIT:
            handler = self._while_connected(connection, handler)
        try:
            result = await handler(asked)
            answer: dict[str, object] = {"ok": True, "result": result}
        except _GoneError:
            raise
        except Exception as error:
            result, answer = None, self._refusal(command, error)
        if isinstance(result, Rows):
            await self._send_rows(connection, command, result)
        else:
            await self._send(connection, _encode(answer))

    async def _send_rows(self, connection: _Connection, command: str, rows: Rows) -> None:
        """Send the rows as they are computed: whether all went well is said after them."""
        head, end = b'{"result": [', dict[str, object](ok=True)
        async with aclosing(rows.parts(self._turn)) as parts:
            while True:
                await self._send(connection, head)
                try:
                    head = await anext(parts)
                except StopAsyncIteration:
                    break
                except Exception as error:
                    end = self._refusal(command, error)
                    break
        await self._send(connection, b"], " + _encode(end)[1:])

    async def _send(self, connection: _Connection, data: bytes) -> None:
        """Send data; TimeoutError if the client does not read what was sent before."""
        before, connection.since = connection.phase, asyncio.get_running_loop().time()
        connection.phase = "takes"
        connection.writer.write(data)
        async with asyncio.timeout(self._take_limit):
            await connection.writer.drain()
        connection.phase = before

    def _while_connected(self, connection: _Connection, handler: CommandHandler) -> CommandHandler:
        """Return a handler that is given up when its client is gone: it may wait for days."""

        async def answer(asked: Mapping[str, Any]) -> object:
            if sum(each.phase == "waits" for each in self._connections.values()) >= MOST_WAITING:
                raise ControlError(reason=f"{MOST_WAITING} commands wait for runs already; try again later")
            connection.phase = "waits"
            connection.ahead = asyncio.ensure_future(connection.reader.readline())
            waiting = asyncio.ensure_future(handler(asked))
            try:
                await asyncio.wait((waiting, connection.ahead), return_when=asyncio.FIRST_COMPLETED)
                if not waiting.done() and connection.ahead.exception() is None and not connection.ahead.result():
                    raise _GoneError
                return await waiting
            finally:
                waiting.cancel()

        return answer

    def _refusal(self, command: str, error: Exception) -> dict[str, object]:
        match error:
            case ControlError():
                return _no(error.message, error.exit_code)
            case KronError():
                return _no(error.message, EXIT_CODES.get(type(error), 1))
        failed = {"message": f"krond could not answer {command}", "exception": error}
        asyncio.get_running_loop().call_exception_handler(failed)
        return _no(f"krond failed, which is a bug of it: {describe_exception(error)}")


def _no(reason: str, exit_code: int = 1) -> dict[str, object]:
    return {"ok": False, "error": reason, "exit": exit_code}


def _encode(answer: Mapping[str, object]) -> bytes:
    return json.dumps(answer).encode() + b"\n"  # a path may not be UTF-8
