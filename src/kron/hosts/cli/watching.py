"""watched(sink, …) -> a sink that also records a trace, judges it, or both."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import click

from kron.adapters.system_now import system_now
from kron.engine.ports import Sink
from kron.hosts.monitor import Monitor
from kron.hosts.named_dues import NamedDues
from kron.hosts.reconciliation import Reconciliation
from kron.hosts.recorder import Recorder, Tap
from kron.hosts.trace_file import TraceFile
from kron.rules.contract import PRESETS
from kron.theory.properties import SUITES
from kron.theory.trace import Header, Line, Position, read_trace


@contextmanager
def watched(sink: Sink, header: Header, trace: Path | None, *, verify: bool) -> Iterator[tuple[Sink, Monitor | None]]:
    """Yield the sink to give to a scheduler, and the monitor, if there is to be one."""
    if trace is None and not verify:
        yield sink, None
        return
    monitor = Monitor(header, sink) if verify else None
    file = _open(trace, header) if trace is not None else None

    def take(position: Line) -> None:
        if file is not None:
            file.write(position)
        if monitor is not None:
            monitor.take(position)

    naming = NamedDues(PRESETS[header.contract], header.timezone, take) if header.names_dues else None
    put: Callable[[Position], object] = naming or take
    telling = Reconciliation(put)
    together = monitor.take_runs if monitor is not None and file is None and naming is None else None
    try:
        if file is not None:
            readers = [*([monitor.take] if monitor else ()), *([naming.recall] if naming else ())]
            _recall(file, readers, telling)
        last = file.last if file is not None else None
        yield Tap(sink, Recorder(system_now, put if file is None else telling, together, last=last)), monitor
    finally:
        telling.flush()
        if monitor is not None:
            monitor.flush()
        if file is not None:
            file.close()


def _recall(file: TraceFile, readers: list[Callable[[Line], None]], telling: Reconciliation) -> None:
    """Let everybody know what earlier lives have left; if the last one broke off, its crash is told first."""
    if readers or file.crash is not None:
        with file.path.open(encoding="utf-8") as lines:
            for position in read_trace(lines, SUITES)[1]:
                for reader in (*readers, telling.recall):
                    reader(position)
    if file.crash is not None:
        telling(file.crash)


def _open(path: Path, header: Header) -> TraceFile:
    try:
        return TraceFile(path, header, holds_crash=True)
    except OSError as error:
        raise click.UsageError(f"{path}: {error.strerror}") from error
