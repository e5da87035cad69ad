"""KrondPage: the web page of a krond that listens: its socket, its token, and its metrics."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from starlette.types import ASGIApp

from kron.adapters.prometheus.job_metrics import JobGauges, JobMetrics
from kron.engine.emitter import Emitter
from kron.engine.jobs.planner import PeriodPlanner
from kron.engine.ports import Sink
from kron.errors import AddressInUseError, ListenError
from kron.errors.base import describe_exception
from kron.hosts.krond.control_server import CommandHandler
from kron.hosts.krond.daemon import Daemon, DaemonStatus, FailedListen
from kron.hosts.krond.events import JobEvents
from kron.hosts.krond.web.app import PageApp, PageProbes, create_app
from kron.hosts.krond.web.auth import AccessMiddleware, AccessRules, Token, read_token
from kron.hosts.krond.web.live import ChangeFeed
from kron.hosts.krond.web.queries import JobQueries
from kron.instant import Instant
from kron.rules.events import Event
from kron.web.listener import HttpServer, ListenSocket, bind, is_path

_NEWS = frozenset({"KrondReady", "KrondDraining", "Reloaded", "ReloadFailed", "FileFailed", "PropertyViolated"})
_QUIET = 1.0  # seconds between two events about visitors who were refused
_ADVICE = "whoever can read the network can read the token: listen on 127.0.0.1, or put TLS in front"
_FIRST_PAUSE, _LONGEST_PAUSE = 1.0, 60.0  # seconds between two tries to have an address; each is twice the one before


class KrondPage:
    """Takes the address at once, so that a start fails before anything else; answers when it is opened.

    An address that another program has does not keep the jobs from running: any local user may take a port first.
    """

    def __init__(self, address: str, token_file: Path, emitter: Emitter) -> None:
        self.metrics = JobMetrics()
        self._address, self._emitter = address, emitter
        self._door: ListenSocket | None = None
        self._failure: ListenError | None = None
        self._tries, self._pause = 0, _FIRST_PAUSE
        self._timer: asyncio.TimerHandle | None = None
        self._task: asyncio.Task[None] | None = None
        self._token: Token | None = None
        self._server: HttpServer | None = None
        self._pages: PageApp | None = None
        self._hub = ChangeFeed()
        self._refusals = 0
        self._quiet: asyncio.TimerHandle | None = None
        self._rendering = asyncio.Lock()
        try:
            self._door = bind(address)
        except AddressInUseError as error:
            self._failure = error
        try:
            if not is_path(address):
                self._token = read_token(token_file)
        except BaseException:
            if self._door is not None:
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
        self, daemon: Daemon, chronicler: JobEvents, handlers: Mapping[str, CommandHandler], *, with_token: bool
    ) -> None:
        """Show a daemon. The address is told, with the token in it if that is new, or if people look."""
        view = PageProbes(lambda: daemon.engine.is_running, lambda: self._metrics(daemon))
        daemon.observers.add(self._hub)
        self._pages = PageApp(JobQueries(daemon, chronicler.last_results), handlers, self._hub)
        site = create_app(view, self._pages.routes())
        show = _Show(site=site, surface=daemon.surface, with_token=with_token)
        if self._door is not None:
            await self._serve(self._door, show)
        elif self._failure is not None:
            self._wait(self._failure, show)

    async def _serve(self, door: ListenSocket, show: "_Show") -> None:
        token = None if self._token is None else self._token.text
        access = AccessRules(door.accepts_host, token, f"krond-{door.port}")
        self._server = HttpServer(door, AccessMiddleware(show.site, access, self._on_refused, self._on_failed))
        await self._server.open()
        show.surface.listen, show.surface.failed_listen = door.name, None
        address = door.name
        if self._token is not None:
            asked = f"?token={self._token.text}" if self._token.is_new or show.with_token else ""
            address = f"http://{door.name}/{asked}"
        self._emitter.tell("Listening", address=address)
        if door.is_exposed:
            self._emitter.tell("ListenerExposed", address=door.name, advice=_ADVICE)

    def _wait(self, error: ListenError, show: "_Show") -> None:
        """Say that the address cannot be had, once, and try again later."""
        if not self._tries:
            self._emitter.tell("ListenFailed", address=self._address, error=error.message)
        self._tries += 1
        self.metrics.on_listen_failure()
        show.surface.failed_listen = FailedListen(self._address, error.message, self._tries)
        loop = asyncio.get_running_loop()

        def begin() -> None:
            self._task = loop.create_task(self._try_again(show))

        self._timer = loop.call_later(self._pause, begin)
        self._pause = min(2 * self._pause, _LONGEST_PAUSE)

    async def _try_again(self, show: "_Show") -> None:
        try:
            self._door = await asyncio.to_thread(bind, self._address)  # a name may be looked up for long
        except ListenError as error:
            self._wait(error, show)
        else:
            await self._serve(self._door, show)

    async def close(self) -> None:
        """Answer nobody any more."""
        if self._timer is not None:
            self._timer.cancel()
        if self._task is not None:
            self._task.cancel()
        if self._pages is not None:
            self._pages.close()
        if self._server is not None:
            await self._server.close()
        if self._door is not None:
            self._door.close()

    async def _metrics(self, daemon: Daemon) -> bytes:
        async with self._rendering:  # one at a time is enough work
            found = job_gauges(daemon.book, daemon.clock.now())._replace(
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
        self._emitter.tell("PageFailed", path=path, error=describe_exception(error))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Show:
    """What is shown as soon as the address can be had, and where that is said."""

    site: ASGIApp
    surface: DaemonStatus
    with_token: bool


def job_gauges(book: PeriodPlanner, now: Instant) -> JobGauges:
    """Return what the numbers say of this moment."""
    expected = ((identity, book.next_expected(job)) for identity, job in book.jobs.items())
    chosen = {identity: at.timestamp() for identity, at in expected if at is not None}
    return JobGauges(len(book.running), book.jobs, chosen, now.timestamp())
