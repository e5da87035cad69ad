"""krond run: the daemon in the foreground, until it has drained after a signal or krond stop."""

import asyncio
import signal
import sys
from collections.abc import Iterable, Sequence, Set as AbstractSet
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from kron.adapters.process.procfs import boot_id, since_boot
from kron.adapters.sinks import JsonLinesSink, TextSink
from kron.adapters.system_time import system_now
from kron.console.output import exit_with_findings, print_findings
from kron.console.parameters import NonEmptyPath
from kron.console.program import WordType
from kron.engine.emitter import Emitter
from kron.engine.ledger import HistoryReader
from kron.engine.ports import RunObserver, Sink
from kron.engine.runs import JobRun
from kron.errors import KronError, LedgerUnusableError, ListenError
from kron.errors.base import describe_exception
from kron.errors.diagnostics import Diagnostic
from kron.hosts.krond import HELD_SIGNALS
from kron.hosts.krond.commands.check import CONFIG, FORMAT, read_form
from kron.hosts.krond.control_api import ControlApi
from kron.hosts.krond.control_server import ControlServer
from kron.hosts.krond.daemon import Daemon
from kron.hosts.krond.events import EventQueue, JobEvents, LoopErrors
from kron.hosts.krond.file_reader import ReadRequest, ReadResult, UnchangedJob, read_files
from kron.hosts.krond.file_watch import DiskCall, FileWatch, Snapshot, take_snapshot
from kron.hosts.krond.log_writer import LogWriter, LogWriterSink
from kron.hosts.krond.reload import Hangups, reload_files, tell_finding
from kron.hosts.krond.state_directory import StateDirectory, default_state_directory
from kron.jobfile.host_job import HostJob
from kron.jobfile.job_file import FileFormat
from kron.jobfile.lint import lint_late_boot, no_jobs
from kron.jobfile.settings import Settings, parse_listen
from kron.rules.events import make_event
from kron.rules.job_record import LastResult
from kron.rules.job_spec import JobSpec
from kron.theory.trace_format import TraceHeader
from kron.trace.job_recorder import JobRecorder
from kron.trace.monitor import OnlineMonitor

if TYPE_CHECKING:
    from kron.hosts.krond.page import KrondPage


_PARTING = 1.0  # seconds that the reader of the events has for the last of them
_TURN = 0.0005  # seconds that a thread may keep others from running: a reload must not hold up a start


@dataclass(frozen=True, slots=True)
class RunOptions:
    """What the command line says."""

    configs: Sequence[str]
    form: FileFormat | None
    state: Path | None
    listen: str | None
    watch: bool


@click.command()
@CONFIG
@FORMAT
@click.option(
    "--state",
    type=NonEmptyPath(path_type=Path),
    help="State directory, created if missing. [default: `state` of [krond], else $KROND_STATE]",
)
@click.option(
    "--listen", metavar="HOST:PORT|unix:PATH|off", help="Address of web UI and metrics. [default: `listen` of [krond]]"
)
@click.option("--watch", is_flag=True, help="Reload when a job file changes. [default: `watch` of [krond]]")
@click.option("--log", type=WordType(["json", "text"]), help="Log format. [default: text on a terminal, else json]")
def run(
    configs: tuple[str, ...], form: str | None, *, state: Path | None, listen: str | None, watch: bool, log: str | None,
) -> None:  # fmt: skip
    """Run the jobs of these files until SIGTERM.

    SIGTERM drains: no job starts, and krond ends when all runs have ended. A second SIGTERM terminates them. SIGHUP
    reloads the files. Files with errors are left out; `krond status` lists them.

    Exit codes: 0 stopped by a signal or `krond stop`, 1 krond failed, 2 wrong usage or an invalid [krond] table.
    """
    address = None if listen is None else parse_listen("--listen", listen)
    options = RunOptions(configs, read_form(configs, form), state, address, watch)
    sys.setswitchinterval(_TURN)
    as_text = log == "text" or (log is None and sys.stderr.isatty())
    queue = EventQueue(system_now)
    outlet = LogWriter(sys.stderr.fileno())
    form_of_events = TextSink if as_text else JsonLinesSink
    sink = LogWriterSink(form_of_events(outlet.as_text(), queue.now), outlet)
    try:
        try:
            before, found = DiskCall(partial(_read, options)).result()
            _tell_or_exit(found, None if as_text else sink)
            living = _run(options, found, before, sink, queue)
            del found
            asyncio.run(living)
            sink(make_event("KrondStopped"))
        finally:
            sink.report_dropped()
            outlet.finish(_PARTING)
    except KronError as error:
        click.secho(f"krond: error: {error.message}", fg="red", err=True)
        click.get_current_context().exit(1)


def _read(options: RunOptions) -> tuple[Snapshot, ReadResult]:
    """Return what is in the files. Only the caller may keep it: after a reload it must be freed."""
    before = take_snapshot(options.configs, options.form)  # a change while they are read is a change
    return before, read_files(ReadRequest(options.configs, options.form))


def _tell_or_exit(found: ReadResult, sink: Sink | None) -> None:
    """Print the findings about the files; warnings become events if there is a sink."""
    if not found.is_usable:
        exit_with_findings(found.findings, unusable=True)
    if sink is None:
        print_findings(found.findings)
    else:
        for finding in found.findings:
            if finding.level != "error":  # FileFailed has the errors
                tell_finding(Emitter(sink), finding)


async def _run(options: RunOptions, found: ReadResult, before: Snapshot, sink: Sink, queue: EventQueue) -> None:
    settings = found.settings
    state = StateDirectory(
        (options.state or (Path(settings.state) if settings.state else default_state_directory())).absolute()
    )
    state.lock()
    listening: KrondPage | None = None
    try:
        listening = _listen(options.listen or settings.listen, settings, state, queue.sink(sink))
        serving = _serve(options, found, before, sink, queue, state, listening)
        del found
        await serving
    finally:
        queue.flush()
        if listening is not None:
            await listening.close()
        state.unlock()


def _listen(address: str, settings: Settings, state: StateDirectory, sink: Sink) -> "KrondPage | None":
    """Take the address to listen on, if there is one; what that needs beside the daemon is only loaded then."""
    if address == "off":
        return None
    try:
        from kron.hosts.krond.page import KrondPage
    except ModuleNotFoundError as error:
        package = (error.name or "").partition(".")[0]
        if package in ("", "kron"):
            raise
        fix = "pip install 'kron-scheduler[krond]'"
        raise ListenError(address=address, reason=f"needs a package that is missing, {package}", fix=fix) from error
    return KrondPage(address, Path(settings.token_file or state.token), Emitter(sink))


async def _serve(
    options: RunOptions,
    found: ReadResult,
    before: Snapshot,
    sink: Sink,
    queue: EventQueue,
    state: StateDirectory,
    listening: "KrondPage | None",
) -> None:
    settings = found.settings
    metrics = None if listening is None else listening.metrics
    watched = sink if listening is None else listening.beside(sink)
    monitor = OnlineMonitor(TraceHeader("kron", slack=settings.slack // timedelta(milliseconds=1)), watched)
    recorder = JobRecorder(queue.now, monitor.emit, settings.slack)
    chronicler = JobEvents(sink, lambda identity: daemon.engine.name_of(identity))
    observers: list[RunObserver[JobRun]] = [chronicler, recorder, *([] if metrics is None else [metrics])]
    daemon = Daemon(state, settings, queue.sink(watched), observers, recorder, monitor, queue, metrics)
    chronicler.last_results.update(_last(daemon.history))
    reloading, question = asyncio.Lock(), ReadRequest(options.configs, options.form)

    async def reload() -> dict[str, object]:
        async with reloading:
            answer = await reload_files(daemon, question, settings, files.note)
            files.switch(on=not daemon.surface.ended and (options.watch or daemon.settings.watch))
            return answer

    async def on_change() -> None:
        try:
            await reload()
        except Exception as error:  # no caller waits for the answer
            daemon.emitter.tell("ReloadFailed", errors=[describe_exception(error)])

    def on_late(error: KronError) -> None:
        daemon.emitter.tell("ReloadFailed", errors=[error.message])

    files = FileWatch(options.configs, options.form, on_change, on_late)
    files.note(before)
    queries = daemon.queries(chronicler.last_results)
    operations = ControlApi(daemon, queries, reload, chronicler, options.configs)
    control = ControlServer(
        state.control, operations.handlers(), lambda uid: daemon.emitter.tell("PeerRefused", uid=uid)
    )
    loop = asyncio.get_running_loop()
    loop.set_exception_handler(LoopErrors(daemon.emitter))
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, daemon.on_stop_signal)

    hangups = Hangups(on_change)
    loop.add_signal_handler(signal.SIGHUP, hangups)
    try:
        async with reloading:  # a reload waits until the first files are loaded
            signal.pthread_sigmask(signal.SIG_UNBLOCK, HELD_SIGNALS)
            with state.reporting_errors():
                await control.open()
            if listening is not None:
                await listening.open(daemon, queries, operations, with_token=sys.stderr.isatty())
            works = await asyncio.to_thread(list, found.jobs)
            recorded = daemon.history if state.ledger.exists() else None
            for finding in await asyncio.to_thread(start_warnings, works, options.configs, recorded):
                tell_finding(daemon.emitter, finding)
            for message, fix in state.warnings:
                tell_finding(daemon.emitter, Diagnostic("warning", "state", message, fix, str(state.path), 1))
            await daemon.start(works, found.failed_files)
        del found
        files.switch(on=options.watch or settings.watch)
        await daemon.run()
    finally:
        files.switch(on=False)
        await hangups.close()
        await control.close()


def _last(history: HistoryReader) -> dict[str, LastResult]:
    """Return the last result of each job; nothing from an unreadable ledger, which is reported when it is opened."""
    try:
        return dict(history.last_results())
    except LedgerUnusableError:
        return {}


def start_warnings(
    works: Sequence[JobSpec | UnchangedJob], configs: Sequence[str], history: HistoryReader | None
) -> list[Diagnostic]:
    """Return a warning if there are no jobs, and one for each job that a boot starts which is long past.

    `history` is None if there is no ledger yet.
    """
    if not works:
        return [no_jobs(configs, "warning", "add a job and reload")]
    at_boot = [work.payload for work in works if isinstance(work, JobSpec) and isinstance(work.payload, HostJob)]
    at_boot = [job for job in at_boot if job.timing is None]
    return _late_boots(at_boot, _served(history)) if at_boot else []


def _late_boots(jobs: Iterable[HostJob], served: AbstractSet[str] | None) -> list[Diagnostic]:
    if served is None:
        return []
    past = since_boot()
    return [finding for job in jobs if job.identity not in served for finding in lint_late_boot(job, past)]


def _served(history: HistoryReader | None) -> AbstractSet[str] | None:
    """Return the jobs that this boot starts no more; None if that cannot be known before the ledger is opened."""
    try:
        return frozenset() if history is None else history.served_at_boot(boot_id())
    except LedgerUnusableError:  # damaged, or of an earlier version: what opens it to write says so, or repairs it
        return None
