"""trace_pipeline(sink, …) -> observers of a scheduler that record a trace, judge it, or both."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from kron.adapters.system_time import system_now
from kron.console.program import file_errors
from kron.engine.ports import SchedulerObserver, Sink
from kron.rules.contract import PRESETS
from kron.theory.properties import SUITES
from kron.theory.trace_format import TraceEvent, TraceHeader, TracePosition, read_trace
from kron.trace.crash_repair import CrashRepair
from kron.trace.due_events import DueEventInserter
from kron.trace.file import TraceFile
from kron.trace.monitor import OnlineMonitor
from kron.trace.recorder import TraceRecorder


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
    """Let everybody know what earlier lives have left; if the last one broke off, its crash is told first."""
    if readers or file.crash is not None:
        with file.path.open(encoding="utf-8") as lines:
            for position in read_trace(lines, SUITES)[1]:
                for reader in (*readers, telling.replay):
                    reader(position)
    if file.crash is not None:
        telling(file.crash)
