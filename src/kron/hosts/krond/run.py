"""krond run: the daemon in the foreground, until it is asked to stop and nothing runs any more."""

import asyncio
import signal
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import click

from kron.adapters.json_lines_sink import JsonLinesSink
from kron.adapters.sqlite_ledger.job_history import JobHistory
from kron.adapters.system_now import system_now
from kron.adapters.text_sink import TextSink
from kron.engine.emitter import Emitter
from kron.engine.ports import Sink
from kron.errors import KronError, LedgerUnusableError, ListenError
from kron.hosts.console import print_findings
from kron.hosts.given_path import GivenPath
from kron.hosts.krond.check import CONFIG, FORMAT, read_form
from kron.hosts.krond.chronicle import Chronicler
from kron.hosts.krond.control import Control
from kron.hosts.krond.daemon import Daemon, Watching
from kron.hosts.krond.main import HELD
from kron.hosts.krond.mishaps import Mishaps
from kron.hosts.krond.operations import Operations
from kron.hosts.krond.outlet import Outlet, OutletSink
from kron.hosts.krond.reading import Answer, Question, read_files
from kron.hosts.krond.recording import JobRecorder
from kron.hosts.krond.reload import Hangups, reload_files, tell_finding
from kron.hosts.krond.start_warnings import start_warnings
from kron.hosts.krond.state import State, default_state
from kron.hosts.krond.telling import Output, Telling
from kron.hosts.krond.watch import FileWatch, Snapshot, take_snapshot
from kron.hosts.monitor import Monitor
from kron.rules.event import event
from kron.rules.files.settings import Settings, read_listen
from kron.rules.files.source import Format
from kron.rules.finding import Finding
from kron.rules.telling import error_text
from kron.theory.trace import Header

if TYPE_CHECKING:
    from kron.hosts.krond.listening import Listening

_PARTING = 1.0  # seconds that whoever reads the events has for the last of them
_TURN = 0.0005  # seconds that a thread may keep others from running: a reload must not hold up a start


@dataclass(frozen=True, slots=True)
class Options:
    """What the command line says."""

    configs: Sequence[str]
    form: Format | None
    state: Path | None
    listen: str | None
    watch: bool


@click.command()
@CONFIG
@FORMAT
@click.option("--state", type=GivenPath(path_type=Path), help="The state directory, made if it is missing.")
@click.option(
    "--listen", metavar="HOST:PORT|unix:PATH|off", help="Where to show what happens, instead of what the files say."
)
@click.option("--watch", is_flag=True, help="Reload when a job file changes, as `[krond] watch = true` does.")
@click.option("--log", type=click.Choice(["json", "text"]), help="Form of the events. [default: text on a terminal]")
def run(
    configs: tuple[str, ...],
    form: str | None,
    *,
    state: Path | None,
    listen: str | None,
    watch: bool,
    log: str | None,
) -> None:
    """Run the jobs of these files until SIGTERM, which waits for what runs; a second one ends it. SIGHUP reloads.

    Files with errors are left out, and shown by `krond status`.

    Exit 0 ended as asked, 1 it could not start or go on, 2 wrong usage or a [krond] table that cannot be read.
    """
    address = None if listen is None else read_listen("listen", listen)
    options = Options(configs, read_form(configs, form), state, address, watch)
    sys.setswitchinterval(_TURN)
    as_text = log == "text" or (log is None and sys.stderr.isatty())
    telling = Telling(system_now)
    outlet = Outlet(sys.stderr.fileno())
    form_of_events = TextSink if as_text else JsonLinesSink
    sink = OutletSink(form_of_events(outlet.as_text(), telling.now), outlet)
    try:
        try:
            before = take_snapshot(options.configs, options.form)  # a change while they are read is a change
            found = _read_or_exit(options, None if as_text else sink)
            living = _live(options, found, before, Output(sink, telling))
            del found
            asyncio.run(living)
            sink(event("KrondStopped"))
        finally:
            sink.tell_dropped()
            outlet.finish(_PARTING)
    except KronError as error:
        click.secho(f"krond: error: {error.message}", fg="red", err=True)
        click.get_current_context().exit(1)


def _read_or_exit(options: Options, sink: Sink | None) -> Answer:
    """Return what stands in the files; what is only a warning goes to the sink, if that is who listens.

    Nobody but who asks may keep the answer: after a reload it is not needed any more.
    """
    found = read_files(Question(options.configs, options.form))
    if sink is None or not found.is_usable:
        print_findings(found.findings)
    else:
        for finding in found.findings:
            if finding.level != "error":  # FileFailed has the errors
                tell_finding(Emitter(sink), finding)
    if not found.is_usable:
        click.get_current_context().exit(2)
    return found


async def _live(options: Options, found: Answer, before: Snapshot, output: Output) -> None:
    settings = found.settings
    state = State((options.state or (Path(settings.state) if settings.state else default_state())).absolute())
    state.take()
    listening: Listening | None = None
    try:
        listening = _listen(options.listen or settings.listen, settings, state, output.in_turn())
        serving = _serve(options, found, before, output, state, listening)
        del found
        await serving
    finally:
        output.telling.flush()
        if listening is not None:
            await listening.close()
        state.release()


def _listen(address: str, settings: Settings, state: State, sink: Sink) -> "Listening | None":
    """Take the address to listen on, if there is one; what that needs beside the daemon is only loaded then."""
    if address == "off":
        return None
    try:
        from kron.hosts.krond.listening import Listening
    except ModuleNotFoundError as error:
        package = (error.name or "").partition(".")[0]
        if package in ("", "kron"):
            raise
        fix = "pip install 'kron-scheduler[krond]'"
        raise ListenError(address=address, reason=f"needs a package that is missing, {package}", fix=fix) from error
    return Listening(address, Path(settings.token_file or state.token), Emitter(sink))


async def _serve(
    options: Options,
    found: Answer,
    before: Snapshot,
    output: Output,
    state: State,
    listening: "Listening | None",
) -> None:
    settings, (sink, telling) = found.settings, output
    metrics = None if listening is None else listening.metrics
    watched = sink if listening is None else listening.beside(sink)
    monitor = Monitor(Header("kron", slack=settings.slack // timedelta(milliseconds=1)), watched)
    recorder = JobRecorder(telling.now, monitor.take, settings.slack)
    chronicler = Chronicler(sink, recorder, *([] if metrics is None else [metrics]))
    chronicler.last.update(_last(state))
    watching = Watching(recorder, monitor, telling, metrics)
    daemon = Daemon(state, settings, telling.sink(watched), telling.chronicle(chronicler), watching)
    chronicler.add(daemon.notifier.alarms)
    chronicler.on_dropped.append(daemon.notifier.alarms.on_given_up)
    reloading, question = asyncio.Lock(), Question(options.configs, options.form)

    async def reload() -> dict[str, object]:
        async with reloading:
            answer = await reload_files(daemon, question, settings, files.note)
            files.switch(on=not daemon.surface.ended and (options.watch or daemon.settings.watch))
            return answer

    async def on_change() -> None:
        try:
            await reload()
        except Exception as error:  # no caller waits for the answer
            daemon.emitter.tell("ReloadFailed", errors=[error_text(error)])

    files = FileWatch(options.configs, options.form, on_change)
    files.note(before)
    operations = Operations(daemon, reload, chronicler, options.configs)
    control = Control(state.control, operations.handlers(), lambda uid: daemon.emitter.tell("PeerRefused", uid=uid))
    loop = asyncio.get_running_loop()
    loop.set_exception_handler(Mishaps(daemon.emitter))
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, daemon.on_signal)

    hangups = Hangups(on_change)
    loop.add_signal_handler(signal.SIGHUP, hangups)
    try:
        async with reloading:  # whoever asks for that meanwhile waits until there is something to reload
            signal.pthread_sigmask(signal.SIG_UNBLOCK, HELD)
            with state.in_use():
                await control.open()
            if listening is not None:
                await listening.open(daemon, chronicler, operations.handlers(), with_token=sys.stderr.isatty())
            works = await asyncio.to_thread(list, found.jobs)
            for finding in await asyncio.to_thread(start_warnings, works, options.configs, daemon.state.ledger):
                tell_finding(daemon.emitter, finding)
            for message, fix in state.warnings:
                tell_finding(daemon.emitter, Finding("warning", "state", message, fix, str(state.path), 1))
            await daemon.begin(works, found.failed_files)
        del found
        files.switch(on=options.watch or settings.watch)
        await daemon.wait()
    finally:
        files.switch(on=False)
        await hangups.close()
        await control.close()


def _last(state: State) -> dict[str, tuple[str, str | None]]:
    """Return how each job ended in earlier lives; of a ledger that cannot be read, whoever opens it says why."""
    try:
        return JobHistory(state.ledger).last()
    except LedgerUnusableError:
        return {}
