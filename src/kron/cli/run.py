"""kron run MODULE:NAME: run the registrations of a Python module until a signal comes."""

import asyncio
import importlib
import logging
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import click

from kron.adapters.sinks import JsonLinesSink, LoggingSink
from kron.adapters.system_time import system_now, system_timezone
from kron.cli.options import read_span
from kron.console.program import WordType, file_errors
from kron.engine.ports import SchedulerObserver, Sink
from kron.errors.base import describe_exception
from kron.hosts.library.scheduler import Scheduler, observe, resolve_contract
from kron.rules.contract import DEFAULT, PRESETS
from kron.theory.formula import TruthValue
from kron.theory.properties import SUITES
from kron.theory.trace_format import TraceEvent, TraceHeader, TracePosition, read_trace
from kron.trace.crash_repair import CrashRepair
from kron.trace.due_events import DueEventInserter
from kron.trace.file import TraceFile
from kron.trace.monitor import OnlineMonitor
from kron.trace.recorder import TraceRecorder

_SIGNALS = (signal.SIGTERM, signal.SIGINT)


@click.command()
@click.argument("target", metavar="MODULE:NAME")
@click.option("--ledger", type=click.Path(path_type=Path), help="Record runs in this file. [default: in memory only]")
@click.option("--timezone", metavar="ZONE", help="IANA time zone of the schedules. [default: the host's]")
@click.option("--dialect", type=WordType(["posix", "extended"]), default="posix", help="Cron dialect.")
@click.option("--contract", metavar="NAME", default=DEFAULT.name, help="Rules for late and failed runs.")
@click.option(
    "--max-concurrent-runs", type=click.IntRange(1), metavar="N", help="Limit active runs to N. [default: no limit]"
)
@click.option("--run-timeout", metavar="DURATION", help="Cancel a run after this time: 10m. [default: no limit]")
@click.option(
    "--trace",
    "trace_path",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Record a trace for `kron verify` in this file; an existing trace is continued.",
)
@click.option("--verify", is_flag=True, help="Check the run against the properties of Kron; exit 1 if one is violated.")
@click.option("--json", "as_json", is_flag=True, help="Print each event as a line of JSON instead of logging it.")
@click.option("--verbose", "-v", is_flag=True, help="Also log events of level debug.")
def run(
    target: str, *, run_timeout: str | None, trace_path: Path | None, verify: bool, as_json: bool, verbose: bool,
    **keywords: Any,
) -> None:  # fmt: skip
    """Run the tasks of a Python module until SIGTERM or SIGINT.

    NAME is a list of (name, cron expression, async function, retry delay), or a function that returns one. The module
    is searched in the current directory first. A signal drains: no run starts, and active runs end.
    """
    registrations = load_registrations(target)
    timeout: timedelta | None = None if run_timeout is None else read_span("--run-timeout", run_timeout)
    sink = _sink(as_json=as_json, verbose=verbose)
    contract, timezone = resolve_contract(keywords["contract"]).name, keywords["timezone"] or system_timezone()
    header = TraceHeader(contract, timezone, names_dues=keywords["dialect"] == "extended")  # its lines may have windows
    with trace_pipeline(sink, header, trace_path, verify=verify) as (observers, monitor):
        scheduler = Scheduler(**keywords, run_timeout=timeout, sink=sink)
        for observer in observers:
            observe(scheduler, observer)
        asyncio.run(_run(scheduler, registrations))
    if monitor is not None:
        report = monitor.report()
        click.echo(f"{report.verdict.value}: {report.positions:,} positions judged", err=True)
        click.get_current_context().exit(1 if report.verdict is TruthValue.VIOLATED else 0)


async def _run(scheduler: Scheduler, registrations: Sequence[Any]) -> None:
    loop, stop = asyncio.get_running_loop(), asyncio.Event()

    def ask_to_stop() -> None:
        for number in _SIGNALS:  # a second signal does what it does to any process
            loop.remove_signal_handler(number)
        stop.set()

    for number in _SIGNALS:
        loop.add_signal_handler(number, ask_to_stop)
    await scheduler.initialize(registrations)
    await stop.wait()
    await scheduler.stop()


def _sink(*, as_json: bool, verbose: bool) -> Sink:
    if as_json:
        return JsonLinesSink(sys.stdout, system_now)
    level = logging.DEBUG if verbose else logging.INFO
    logging.basicConfig(stream=sys.stderr, level=level, format="%(asctime)s %(levelname)-7s %(message)s")
    return LoggingSink()


def load_registrations(target: str) -> Sequence[Any]:
    """Return the registrations, or say what is wrong with the module, the name or what is found there."""
    module_name, colon, name = target.partition(":")
    if not (module_name and colon and name):
        raise _wrong(target, "write it as package.module:name")
    sys.path.insert(0, str(Path.cwd()))
    try:
        module = importlib.import_module(module_name)
    except Exception as error:  # the user's own code may raise anything
        raise _wrong(target, f"cannot import {module_name}: {describe_exception(error)}{_place(error)}") from error
    found = getattr(module, name, None)
    if callable(found) and not asyncio.iscoroutinefunction(found):
        try:
            found = found()
        except Exception as error:
            raise _wrong(target, f"{name}() failed: {describe_exception(error)}{_place(error)}") from error
    if not isinstance(found, list | tuple):
        shown = "nothing" if found is None else type(found).__name__
        raise _wrong(target, f"{module_name} has {shown} named {name}; a list of registrations is needed")
    return found


def _place(error: Exception) -> str:
    """Return where in the user's files an exception came from."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    if isinstance(error, SyntaxError) or trace is None or "importlib" in trace.tb_frame.f_code.co_filename:
        return ""
    return f" ({trace.tb_frame.f_code.co_filename}, line {trace.tb_lineno})"


def _wrong(target: str, reason: str) -> click.BadParameter:
    return click.BadParameter(f"{target!r}: {reason}", param_hint="MODULE:NAME")


@contextmanager
def trace_pipeline(
    sink: Sink, header: TraceHeader, trace: Path | None, *, verify: bool
) -> Iterator[tuple[Sequence[SchedulerObserver], OnlineMonitor | None]]:
    """Yield the observers of a scheduler, and the monitor, if there is to be one; the sink gets what that finds."""
    if trace is None and not verify:
        yield (), None
        return
    monitor = OnlineMonitor(header, sink) if verify else None
    file = None
    if trace is not None:
        with file_errors(trace):
            file = TraceFile(trace, header, holds_crash=True)

    def take(position: TracePosition) -> None:
        if file is not None:
            file.write(position)
        if monitor is not None:
            monitor.emit(position)

    naming = DueEventInserter(PRESETS[header.contract], header.timezone, take) if header.names_dues else None
    put: Callable[[TraceEvent], object] = naming or take
    telling = CrashRepair(put)
    together = monitor.emit_batch if monitor is not None and file is None and naming is None else None
    try:
        if file is not None:
            readers = [*([monitor.emit] if monitor else ()), *([naming.replay] if naming else ())]
            _recall(file, readers, telling)
        last = file.last if file is not None else None
        yield (TraceRecorder(system_now, put if file is None else telling, together, last=last),), monitor
    finally:
        telling.flush()
        if monitor is not None:
            monitor.flush()
        if file is not None:
            file.close()


def _recall(file: TraceFile, readers: list[Callable[[TracePosition], None]], telling: CrashRepair) -> None:
    """Replay the trace of earlier processes to all readers; if the last one crashed, record its crash first."""
    if readers or file.crash is not None:
        with file.path.open(encoding="utf-8") as lines:
            for position in read_trace(lines, SUITES)[1]:
                for reader in (*readers, telling.replay):
                    reader(position)
    if file.crash is not None:
        telling(file.crash)
