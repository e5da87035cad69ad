"""Server: an application behind a door, served by uvicorn's protocol on the event loop of whoever opened it.

Of uvicorn only the protocol is used: its server would take over the signals, and look ten times a second whether it is
to end. No visitor may hold up a job: connections are bounded, and who says nothing is sent away.
"""

import asyncio
import logging
import resource
from contextlib import suppress
from typing import Any, NamedTuple

from starlette.types import ASGIApp
from uvicorn.config import Config
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.server import ServerState

from kron.hosts.listener.door import Door

MOST = 100  # connections; for one more, the one that says nothing for longest has to go
_SHARE = 8  # of the descriptors that there may be, connections have one in so many: the rest is for jobs
_PATIENCE = 10.0  # seconds that a connection may be silent, or take for asking something
_PARTING = 1.0  # seconds for answers that are under way when it closes
_TOGETHER = 32  # connections that are taken up in one turn of the event loop
_LONGEST_HEAD = 16 * 1024  # bytes of a request before its body


class Server:
    """Serves until it is closed."""

    def __init__(self, door: Door, app: ASGIApp, *, patience: float = _PATIENCE, most: int = MOST) -> None:
        """`patience`: seconds that a visitor may be silent; `most`: visitors at a time."""
        self._door = door
        descriptors, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
        self._rules = _Rules(patience, max(1, min(most, descriptors // _SHARE)))
        for name in ("uvicorn.error", "uvicorn.access"):  # what visitors do wrong is not for the daemon's log
            logging.getLogger(name).addHandler(logging.NullHandler())
            logging.getLogger(name).propagate = False
        self._config = Config(
            app,
            lifespan="off",
            log_config=None,
            access_log=False,
            ws="none",
            interface="asgi3",
            proxy_headers=False,
            server_header=False,
            date_header=False,
            timeout_keep_alive=int(patience) + 1,
            h11_max_incomplete_event_size=_LONGEST_HEAD,
        )
        self._state = ServerState()
        self._open: dict[_Connection, None] = {}  # oldest first
        self._server: asyncio.Server | None = None

    async def open(self) -> None:
        """Begin to answer."""
        loop = asyncio.get_running_loop()
        self._config.load()
        self._server = await loop.create_server(
            self._take, sock=self._door.socket, backlog=min(_TOGETHER, self._rules.most)
        )

    def _take(self) -> "_Connection":
        return _Connection(self._config, self._state, self._rules, self._open)

    async def close(self) -> None:
        """Answer nobody any more; who is being answered has a moment left."""
        if self._server is not None:
            self._server.close()
            self._server = None
        for connection in list(self._open):
            connection.shutdown()
        with suppress(TimeoutError):
            async with asyncio.timeout(_PARTING):
                await asyncio.gather(*self._state.tasks, return_exceptions=True)
        for connection in list(self._open):
            connection.transport.abort()
        self._door.close()


class _Rules(NamedTuple):
    patience: float
    most: int


class _Connection(H11Protocol):
    """One visitor."""

    def __init__(self, config: Config, state: ServerState, rules: _Rules, others: "dict[_Connection, None]") -> None:
        super().__init__(config, state, {})
        self._rules, self._others = rules, others
        self._last: object = None  # the request that was there at the last look
        self._look: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        """Take a visitor in."""
        super().connection_made(transport)
        self._others[self] = None
        if len(self._others) > self._rules.most:
            silent = next((each for each in self._others if not each.is_busy), self)
            del self._others[silent]  # now: the next one in this turn has to find another
            silent.transport.abort()
        self._look = self.loop.call_later(self._rules.patience, self._check)

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget a visitor."""
        super().connection_lost(exc)
        self._others.pop(self, None)
        if self._look is not None:
            self._look.cancel()

    @property
    def is_busy(self) -> bool:
        """Whether a request is being answered."""
        return self.cycle is not None and not self.cycle.response_complete

    def _check(self) -> None:
        """Send away who has asked nothing since the last look, or does not read what is left of an answer."""
        if self.transport.is_closing() or (not self.is_busy and self.cycle is self._last):
            self.transport.abort()
            return
        self._last = self.cycle
        self._look = self.loop.call_later(self._rules.patience, self._check)
