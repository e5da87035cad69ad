"""Listening: what a krond with a listener has more than one without: a door, its token, and numbers to show."""

import asyncio
from collections.abc import Mapping
from pathlib import Path

from kron.adapters.metrics_sink import JobMetrics, Present
from kron.engine.emitter import Emitter
from kron.engine.jobs.book import JobBook
from kron.engine.ports import Sink
from kron.hosts.krond.chronicle import Chronicler
from kron.hosts.krond.control import Handler
from kron.hosts.krond.daemon import Daemon
from kron.hosts.krond.web.events import Hub
from kron.hosts.krond.web.gate import Access, Gate
from kron.hosts.krond.web.pages import Pages
from kron.hosts.krond.web.sight import Sight
from kron.hosts.krond.web.site import View, make_site
from kron.hosts.krond.web.token import Token, read_token
from kron.hosts.listener.door import open_door
from kron.hosts.listener.server import Server
from kron.rules.event import Event
from kron.rules.telling import error_text

_NEWS = frozenset({"KrondReady", "KrondDraining", "Reloaded", "ReloadFailed", "FileFailed", "PropertyViolated"})
_QUIET = 1.0  # seconds between two events about visitors who were refused
_ADVICE = "whoever can read the network can read the token: listen on 127.0.0.1, or put TLS in front"


class Listening:
    """Takes the address at once, so that a start fails before anything else; answers when it is opened."""

    def __init__(self, address: str, token_file: Path, emitter: Emitter) -> None:
        self.metrics = JobMetrics()
        self._emitter = emitter
        self._door = open_door(address)
        self._token: Token | None = None
        self._server: Server | None = None
        self._pages: Pages | None = None
        self._hub = Hub()
        self._refusals = 0
        self._quiet: asyncio.TimerHandle | None = None
        self._rendering = asyncio.Lock()
        try:
            if self._door.needs_token:
                self._token = read_token(token_file)
        except BaseException:
            self._door.close()
            raise

    def beside(self, sink: Sink) -> Sink:
        """Return a sink after which violations are counted, and open pages hear of what concerns all jobs."""

        def tell(event: Event) -> None:
            sink(event)
            self.metrics.violations(event)
            if event.name in _NEWS:
                self._hub.on_news()

        return tell

    async def open(
        self, daemon: Daemon, chronicler: Chronicler, handlers: Mapping[str, Handler], *, with_token: bool
    ) -> None:
        """Show a daemon. The address is told, with the token in it if that is new, or if people look."""
        view = View(lambda: daemon.engine.is_turning, lambda: self._metrics(daemon))
        chronicler.add(self._hub)
        chronicler.on_held.append(self._hub.on_held)
        self._pages = Pages(Sight(daemon, chronicler.last), handlers, self._hub)
        token = None if self._token is None else self._token.text
        access = Access(self._door.knows, token, f"krond-{self._door.port}")
        site = make_site(view, self._pages.routes())
        self._server = Server(self._door, Gate(site, access, self._on_refused, self._on_failed))
        await self._server.open()
        daemon.surface.listen = self._door.name
        address = self._door.name
        if self._token is not None:
            asked = f"?token={self._token.text}" if self._token.is_new or with_token else ""
            address = f"http://{self._door.name}/{asked}"
        self._emitter.tell("Listening", address=address)
        if self._door.is_exposed:
            self._emitter.tell("ListenerExposed", address=self._door.name, advice=_ADVICE)

    async def close(self) -> None:
        """Answer nobody any more."""
        if self._pages is not None:
            self._pages.close()
        if self._server is not None:
            await self._server.close()
        self._door.close()

    async def _metrics(self, daemon: Daemon) -> bytes:
        async with self._rendering:  # one at a time is enough work
            found = present(daemon.book)._replace(
                failed_files=len(daemon.surface.failed_files), aside=len(daemon.book.aside)
            )
            return await asyncio.to_thread(self.metrics.snapshot(found).render)

    def _on_refused(self, client: str) -> None:
        self._refusals += 1
        if self._quiet is None:
            self._tell_refusals(client)

    def _tell_refusals(self, client: str) -> None:
        """Tell of those who were refused; of many in a row, the last stands for all."""
        self._quiet = None
        if self._refusals:
            self._emitter.tell("VisitorRefused", client=client, times=self._refusals)
            self._refusals = 0
            self._quiet = asyncio.get_running_loop().call_later(_QUIET, self._tell_refusals, client)

    def _on_failed(self, path: str, error: Exception) -> None:
        self._emitter.tell("PageFailed", path=path, error=error_text(error))


def present(book: JobBook) -> Present:
    """Return what the numbers say of this moment."""
    expected = ((identity, book.expected(job)) for identity, job in book.jobs.items())
    chosen = {identity: at.timestamp() for identity, at in expected if at is not None}
    return Present(len(book.running), book.jobs, chosen, book.host.clock.now().timestamp())
