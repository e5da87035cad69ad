"""ListenSocket: the socket that a host listens on. HttpServer: an application behind it, on uvicorn's protocol."""

import asyncio
import errno
import logging
import os
import re
import resource
import socket
from dataclasses import dataclass, field
from ipaddress import ip_address
from pathlib import Path
from typing import Any

import h11
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.config import Config
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.server import ServerState

from kron.adapters.unix_socket import remove_stale_socket, short_address
from kron.errors import AddressInUseError, ListenError
from kron.web.connections import ConnectionLimits, Connections, client_of, state_of_requests

_UNIX = "unix:"
_LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
_HOST = re.compile(r"(?:\[(?P<address>[0-9a-z:.%_-]+)\]|(?P<name>[0-9a-z._-]+))(?::[0-9]{1,5})?")


@dataclass(frozen=True, slots=True)
class ListenSocket:
    """A bound socket. A client of a Unix socket needs no token; every other client does."""

    socket: socket.socket
    name: str  # as `status` has it: HOST:PORT with the real port, or unix:/path
    names: frozenset[str] = field(default_factory=frozenset)  # that a request may call the host by
    is_open: bool = False  # bound to every address: requests may also call it by any of them
    path: Path | None = None

    @property
    def is_exposed(self) -> bool:
        """Whether other hosts can reach it."""
        return self.path is None and not ip_address(self._host).is_loopback

    @property
    def port(self) -> int:
        """The port; 0 in the file system."""
        return 0 if self.path is not None else int(self.socket.getsockname()[1])

    @property
    def _host(self) -> str:
        return str(self.socket.getsockname()[0]).partition("%")[0]

    def accepts_host(self, host: str) -> bool:
        """Whether a Host header names this host: another site may point its own name to our address (DNS rebinding)."""
        if self.path is not None:
            return True
        name = _name(host)
        return bool(name) and (name in self.names or (self.is_open and _is_address(name)))

    def close(self) -> None:
        """Close the socket, and remove its file."""
        self.socket.close()
        if self.path is not None:
            self.path.unlink(missing_ok=True)


def is_path(address: str) -> bool:
    """Whether an address as job files have it is one in the file system."""
    return address.startswith(_UNIX)


def bind(address: str) -> ListenSocket:
    """Bind HOST:PORT or unix:/path. ListenError: the address cannot be bound."""
    if is_path(address):
        return _open_path(Path(address.removeprefix(_UNIX)))
    host, _, port = address.rpartition(":")
    host = host.removeprefix("[").removesuffix("]")
    try:
        found = socket.getaddrinfo(host, int(port), type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except (OSError, UnicodeError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise ListenError(address=address, reason=f"{host}: {reason}", fix="name an address of this host") from error
    family, kind, protocol, _, where = found[0]
    listening = socket.socket(family, kind | socket.SOCK_CLOEXEC | socket.SOCK_NONBLOCK, protocol)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(where)
        listening.listen()  # two may bind one port until one of them listens
    except OSError as error:
        listening.close()
        raise _failure(address, error) from error
    bound, real_port = listening.getsockname()[:2]
    shown = f"[{bound}]" if ":" in bound else bound
    names = {host.lower(), bound}
    is_open = bound in ("0.0.0.0", "::")  # it is asked for
    if is_open or ip_address(bound.partition("%")[0]).is_loopback:
        names |= _LOOPBACK
    if is_open:
        names |= {socket.gethostname().lower(), socket.gethostname().lower().partition(".")[0]}
    return ListenSocket(listening, f"{shown}:{real_port}", frozenset(names), is_open)


def _open_path(path: Path) -> ListenSocket:
    address = f"{_UNIX}{path}"
    listening = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM | socket.SOCK_CLOEXEC | socket.SOCK_NONBLOCK)
    try:
        with short_address(path) as short:
            remove_stale_socket(short)
            os.fchmod(listening.fileno(), 0o600)  # before it has a name, so that it never has other rights
            listening.bind(short)
            listening.listen()
    except OSError as error:
        listening.close()
        raise _failure(address, error) from error
    return ListenSocket(listening, address, path=path)


_FIXES = {
    errno.EADDRINUSE: "choose another, or stop the program that listens there",
    errno.EACCES: "choose a port above 1023, or a folder that is yours",
    errno.EADDRNOTAVAIL: "name an address of this host",
    errno.ENOENT: "make its folder first",
    errno.EEXIST: "choose another path",
}


def _failure(address: str, error: OSError) -> ListenError:
    kind = AddressInUseError if error.errno == errno.EADDRINUSE else ListenError
    return kind(address=address, reason=error.strerror or str(error), fix=_FIXES.get(error.errno or 0, ""))


def _name(host: str) -> str:
    """Return the name of a Host header, without its port, in lower case; empty if the header is malformed."""
    found = _HOST.fullmatch(host.lower())
    return "" if found is None else found["name"] or found["address"]


def _is_address(name: str) -> bool:
    try:
        ip_address(name)
    except ValueError:
        return False
    return True


_SHARE = 8  # connections may use one file descriptor in so many: the rest is for jobs
_PARTING = 1.0  # seconds for responses in flight when it closes
_WAITING = 128  # connections that the kernel queues
_TURNS = 4  # of the event loop until a new connection has shown its token: so many together must not push it out
_LONGEST_HEAD = 16 * 1024  # bytes of a request before its body
_MOST_LINES = 100  # of a head: a line costs four microseconds
_PIECE = 64 * 1024  # bytes of an answer that are written at a time: the rest waits until the client has read
_HEAD_END = re.compile(rb"\n\r?\n")  # as h11 has it
_DEFAULT = ConnectionLimits()


class HttpServer:
    """Serves until it is closed. No client may delay a job: connections, requests and silence are bounded.

    Of uvicorn only the protocol is used: its server would handle the signals, and poll ten times a second.
    """

    def __init__(self, door: ListenSocket, app: ASGIApp, *, limits: ConnectionLimits = _DEFAULT) -> None:
        self._door = door
        descriptors, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
        self._limits = limits.within(max(1, descriptors // _SHARE))
        for name in ("uvicorn.error", "uvicorn.access"):  # errors of clients do not belong in the daemon's log
            logging.getLogger(name).addHandler(logging.NullHandler())
            logging.getLogger(name).propagate = False
        self._config = Config(
            _in_pieces(app),
            lifespan="off",
            log_config=None,
            access_log=False,
            ws="none",
            interface="asgi3",
            proxy_headers=False,
            server_header=False,
            date_header=False,
            timeout_keep_alive=int(limits.patience) + 1,
        )
        self._state = ServerState()
        self._open: Connections[_Connection] = Connections(self._limits, lambda each: each.is_busy)
        self._server: asyncio.Server | None = None

    async def open(self) -> None:
        """Start to accept connections."""
        loop = asyncio.get_running_loop()
        self._config.load()
        together = max(1, self._limits.for_client // _TURNS)
        self._server = await loop.create_server(self._take, sock=self._door.socket, backlog=together)
        self._door.socket.listen(_WAITING)  # asyncio has one number for queued connections and those accepted in a turn

    def _take(self) -> "_Connection":
        return _Connection(self._config, self._state, self._limits.patience, self._open)

    async def close(self) -> None:
        """Stop. Responses in flight have a second left."""
        if self._server is not None:
            self._server.close()
            self._server = None
        for connection in self._open.all():
            connection.shutdown()
        if self._state.tasks:
            # Cancelling would not end them: uvicorn then sends an error, and waits for a client that does not read.
            await asyncio.wait(self._state.tasks, timeout=_PARTING)
        for connection in self._open.all():
            connection.transport.abort()
        self._door.close()


class _Connection(H11Protocol):
    """The connection of one client."""

    def __init__(self, config: Config, state: ServerState, patience: float, others: "Connections[_Connection]") -> None:
        super().__init__(config, state, state_of_requests(lambda: others.trust(self)))
        self.conn = _Reader(h11.SERVER, _LONGEST_HEAD)
        self._patience, self._others = patience, others
        self._last: object = None  # the request at the last check
        self._unread = 0  # bytes in the write buffer at the last check, if the client did not read; else 0
        self._look: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        """Accept a client."""
        super().connection_made(transport)
        closed = self._others.add(self, None if self.client is None else client_of(self.client[0]))
        if closed is not None:
            closed.transport.abort()
        self._look = self.loop.call_later(self._patience, self._check)

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget a client."""
        super().connection_lost(exc)
        self._others.discard(self)
        if self._look is not None:
            self._look.cancel()

    def resume_writing(self) -> None:
        """Note that the client reads."""
        super().resume_writing()
        self._unread = 0

    @property
    def is_busy(self) -> bool:
        """Whether a request is being answered."""
        return self.cycle is not None and not self.cycle.response_complete

    def _check(self) -> None:
        """Close the connection if its client has sent no request, and read nothing, since the last check."""
        unread = self.transport.get_write_buffer_size() if self.flow.write_paused else 0
        is_stuck = 0 < self._unread <= unread  # while writing is paused, reading alone changes it
        if self.transport.is_closing() or is_stuck or (not self.is_busy and self.cycle is self._last):
            self.transport.abort()
            return
        self._last, self._unread = self.cycle, unread
        self._look = self.loop.call_later(self._patience, self._check)


class _Reader(h11.Connection):
    """HTTP, bounded before it is parsed: h11 accepts a head of 256 KiB that arrives in one read."""

    def next_event(self) -> Any:
        """Return the next event."""
        if self.their_state is h11.IDLE:
            _check_head(self.trailing_data[0])
        event = super().next_event()
        # Each chunk of a body without a length would cost as much as a line of a head.
        if isinstance(event, h11.Request) and any(name == b"transfer-encoding" for name, _ in event.headers):
            raise h11.RemoteProtocolError("a body must have a length", error_status_hint=411)
        return event


def _check_head(data: bytes) -> None:
    end = _HEAD_END.search(data)
    head = data if end is None else data[: end.start()]
    if len(head) > _LONGEST_HEAD or head.count(b"\n") > _MOST_LINES:
        raise h11.RemoteProtocolError("the head is too long", error_status_hint=431)


def _in_pieces(app: ASGIApp) -> ASGIApp:
    """Return an application that writes in pieces: for a client that does not read, two pieces are in memory."""

    async def serve(scope: Scope, receive: Receive, send: Send) -> None:
        async def send_pieces(message: Message) -> None:
            body: bytes = message.get("body", b"")
            if message["type"] != "http.response.body" or len(body) <= _PIECE:
                await send(message)
                return
            last = (len(body) - 1) // _PIECE
            for number in range(last + 1):
                piece = body[number * _PIECE : (number + 1) * _PIECE]
                more = number < last or message.get("more_body", False)
                await send({"type": "http.response.body", "body": piece, "more_body": more})

        await app(scope, receive, send_pieces)

    return serve
