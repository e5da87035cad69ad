"""KrondPage: the web page of a krond that listens: its socket, its token, its metrics and its status."""

import asyncio
import errno
import os
import secrets
import shlex
import stat
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from kron._version import __version__
from kron.adapters.process.output import OutputLog
from kron.adapters.prometheus import JobGauges, JobMetrics
from kron.engine.emitter import Emitter
from kron.engine.jobs.job_engine import JobEngine
from kron.engine.ports import Sink
from kron.errors import AddressInUseError, ListenError
from kron.errors.base import describe_exception
from kron.hosts.krond.control_api import ControlApi
from kron.hosts.krond.daemon import Daemon
from kron.hosts.krond.daemon_status import DaemonStatus, FailedListen, finding_text, label_of
from kron.instant import Instant
from kron.jobfile.host_job import HostJob
from kron.rules.events import Event
from kron.theory.results import PropertyResult
from kron.web.app import PageApp
from kron.web.auth import AccessMiddleware, AccessRules
from kron.web.listener import HttpServer, ListenSocket, bind, is_path
from kron.web.live import ChangeFeed
from kron.web.queries import JobQueries
from kron.web.source import Fact, Notice, SchedulerStatus
from kron.web.template import compile_templates

_SHORTEST_TOKEN = 16  # characters of a token that krond did not make
_LARGEST_TOKEN = 4096  # bytes of a file that can be one
_NEWS = frozenset({"KrondReady", "KrondDraining", "Reloaded", "ReloadFailed", "FileFailed", "PropertyViolated"})
_QUIET = 1.0  # seconds between two events about visitors who were refused
_ADVICE = "anyone who can read the network can read the token: listen on 127.0.0.1, or put TLS in front"
_HINT = "It is in the file `token` of krond's state directory, unless `token_file` names another;\n"
_FIRST_PAUSE, _LONGEST_PAUSE = 1.0, 60.0  # seconds between two tries to have an address; each is twice the one before


class Token(NamedTuple):
    """A text, and whether it was made just now."""

    text: str
    is_new: bool


def read_token(path: Path) -> Token:
    """Return the token of a file, made if there is none; one that others may read or write is refused."""
    try:
        opened = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
    except FileNotFoundError:
        return _make(path)
    except OSError as error:
        reason = "is a link" if error.errno == errno.ELOOP else error.strerror or str(error)
        raise _failure(path, reason) from error
    found = os.fstat(opened)
    if not stat.S_ISREG(found.st_mode):
        os.close(opened)
        raise _failure(path, "is not a file")
    with os.fdopen(opened, "rb") as file:
        if found.st_uid not in (0, os.geteuid()):
            raise _failure(path, f"belongs to uid {found.st_uid}", "let it belong to root, or to who runs krond")
        if found.st_mode & 0o027:
            raise _failure(path, f"has mode {stat.S_IMODE(found.st_mode):04o}", f"chmod 600 {path}")
        text = file.read(_LARGEST_TOKEN).decode("ascii", "replace").strip()
    if len(text) < _SHORTEST_TOKEN or not all("!" <= character <= "~" for character in text):
        raise _failure(path, f"is no token of at least {_SHORTEST_TOKEN} characters", "remove it, and krond makes one")
    return Token(text, is_new=False)


def _make(path: Path) -> Token:
    """Make a token that is there as a whole or not at all, whenever the power fails."""
    text = secrets.token_urlsafe(32)
    beside = path.with_name(f"{path.name}.{secrets.token_hex(4)}")
    try:
        made = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        with os.fdopen(made, "w") as file:
            file.write(f"{text}\n")
            file.flush()
            os.fsync(made)
        beside.rename(path)
    except OSError as error:
        beside.unlink(missing_ok=True)
        raise _failure(path, f"cannot be made: {error.strerror}") from error
    return Token(text, is_new=True)


def _failure(path: Path, reason: str, fix: str = "") -> ListenError:
    return ListenError(address=f"with token {path}", reason=reason, fix=fix)


class KrondSource:
    """What the page reads of krond."""

    product = "krond"

    def __init__(self, daemon: Daemon, jobs: JobQueries) -> None:
        self._daemon, self.jobs = daemon, jobs

    def status(self) -> SchedulerStatus:
        """Return the state, and the errors of job files and the ledger."""
        surface, failed_ledger = self._daemon.surface, self._daemon.ledger_health.look()
        state = "draining: it starts no more runs" if surface.draining else "ready" if surface.ready else "starting"
        notices = []
        if failed_ledger is not None:
            state = "unable to record starts" if state == "ready" else state
            notices.append(Notice(f"Starts nothing: {failed_ledger.error}", failed_ledger.since))
        failed = {each.file for each in surface.failed_files}
        for finding in surface.failed_reload or ():
            if finding["file"] not in failed:
                notices.append(Notice(f"Not reloaded: {finding_text(finding)}"))
        for file in surface.failed_files:
            label = label_of(file.since, file.keeps_jobs).capitalize()
            notices += [Notice(f"{label}: {finding_text(each)}") for each in file.findings]
        return SchedulerStatus(__version__, state, surface.started_at, notices)

    def facts(self, identity: str) -> Sequence[Fact]:
        """Return what a job runs, as whom, and where it is defined."""
        job = self._daemon.surface.jobs.get(identity)
        return () if job is None else _facts(job)

    def output(self, run_id: str) -> OutputLog:
        """Return what a run wrote."""
        return OutputLog(self._daemon.state.output, run_id)

    def violations(self) -> Sequence[PropertyResult]:
        """Return what the monitor found."""
        return list(self._daemon.monitor.found)


def _facts(job: HostJob) -> Sequence[Fact]:
    command = job.command
    return (
        Fact("Command", shlex.join(command.argv), is_code=True),
        Fact("User", ":".join(each for each in (command.user, command.group) if each)),
        Fact("Directory", command.cwd),
        Fact("Environment", ", ".join(name for name, _ in command.env)),  # what they are set to may be secret
        Fact("Output", f"{command.stdout}; errors: {command.stderr}"),
        Fact("Defined in", f"{job.file}:{job.line}"),
    )


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
        self._status: DaemonStatus | None = None  # where it is said whether it listens
        self._with_token = False
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
        """Return a sink after which violations are counted, and open pages get the events that concern all jobs."""

        def tell(event: Event) -> None:
            sink(event)
            self.metrics.violations(event)
            if event.name in _NEWS:
                self._hub.on_news()

        return tell

    async def open(self, daemon: Daemon, queries: JobQueries, control: ControlApi, *, with_token: bool) -> None:
        """Show a daemon. The event has the address, with the token in it if that is new, or if people look."""
        await asyncio.to_thread(compile_templates)
        daemon.observers.add(self._hub)
        probes = probe_routes(lambda: daemon.engine.is_running, lambda: self._metrics(daemon))
        self._pages = PageApp(KrondSource(daemon, queries), self._hub, control=control, routes=probes)
        self._status, self._with_token = daemon.surface, with_token
        if self._door is not None:
            await self._serve(self._door)
        elif self._failure is not None:
            self._wait(self._failure)

    async def _serve(self, door: ListenSocket) -> None:
        assert self._pages is not None
        assert self._status is not None
        token = None if self._token is None else self._token.text
        cookie = f"krond-{door.port}"
        access = AccessRules("krond", door.accepts_host, token, cookie, _HINT, frozenset({"/healthz"}))
        self._server = HttpServer(door, AccessMiddleware(self._pages, access, self._on_refused, self._on_failed))
        await self._server.open()
        self._status.listen, self._status.failed_listen = door.name, None
        address = door.name
        if self._token is not None:
            asked = f"?token={self._token.text}" if self._token.is_new or self._with_token else ""
            address = f"http://{door.name}/{asked}"
        self._emitter.tell("Listening", address=address)
        if door.is_exposed:
            self._emitter.tell("ListenerExposed", address=door.name, advice=_ADVICE)

    def _wait(self, error: ListenError) -> None:
        """Say that the address cannot be had, once, and try again later."""
        if not self._tries:
            self._emitter.tell("ListenFailed", address=self._address, error=error.message)
        self._tries += 1
        self.metrics.on_listen_failure()
        assert self._status is not None
        self._status.failed_listen = FailedListen(self._address, error.message, self._tries)
        loop = asyncio.get_running_loop()

        def begin() -> None:
            self._task = loop.create_task(self._try_again())

        self._timer = loop.call_later(self._pause, begin)
        self._pause = min(2 * self._pause, _LONGEST_PAUSE)

    async def _try_again(self) -> None:
        try:
            self._door = await asyncio.to_thread(bind, self._address)  # a name may be looked up for long
        except ListenError as error:
            self._wait(error)
        else:
            await self._serve(self._door)

    async def close(self) -> None:
        """Stop answering, and close the socket."""
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
            found = job_gauges(daemon.engine, daemon.clock.now())._replace(
                failed_files=len(daemon.surface.failed_files), aside=len(daemon.engine.set_aside)
            )
            return await asyncio.to_thread(self.metrics.snapshot(found).render)

    def _on_refused(self, client: str) -> None:
        self._refusals += 1
        if self._quiet is None:
            self._tell_refusals(client)

    def _tell_refusals(self, client: str) -> None:
        """Emit one event for the refused clients; of many in a row, it names the last."""
        self._quiet = None
        if self._refusals:
            self._emitter.tell("VisitorRefused", client=client, times=self._refusals)
            self._refusals = 0
            self._quiet = asyncio.get_running_loop().call_later(_QUIET, self._tell_refusals, client)

    def _on_failed(self, path: str, error: Exception) -> None:
        self._emitter.tell("PageFailed", path=path, error=describe_exception(error))


def probe_routes(is_turning: Callable[[], bool], metrics: Callable[[], Awaitable[bytes]]) -> list[Route]:
    """Return where the health of a loop and its metrics are."""

    async def healthz(_: Request) -> Response:
        turns = is_turning()
        return PlainTextResponse("ok" if turns else "the scheduler does not turn", 200 if turns else 503)

    async def answer_metrics(_: Request) -> Response:
        return Response(await metrics(), media_type="text/plain; version=0.0.4; charset=utf-8")

    return [Route("/healthz", healthz), Route("/metrics", answer_metrics)]


def job_gauges(engine: JobEngine, now: Instant) -> JobGauges:
    """Return the summary of the present moment."""
    chosen = {identity: at.timestamp() for identity, at in engine.expected_starts().items()}
    return JobGauges(len(engine.running), engine.specs(), chosen, now.timestamp())
