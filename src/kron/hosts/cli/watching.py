"""watched(sink, …) -> a sink that also records a trace, judges it, or both."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click

from kron.adapters.system_clock import system_now
from kron.engine.ports import Sink
from kron.hosts.monitor import Monitor
from kron.hosts.named_dues import NamedDues
from kron.hosts.recorder import Recorder, Tap
from kron.hosts.trace_file import TraceFile
from kron.rules.contract import PRESETS
from kron.theory.properties import SUITES
from kron.theory.trace import Header, Position, read_trace


@contextmanager
def watched(sink: Sink, header: Header, trace: Path | None, *, verify: bool) -> Iterator[tuple[Sink, Monitor | None]]:
    """Yield the sink to give to a scheduler, and the monitor, if there is to be one."""
    if trace is None and not verify:
        yield sink, None
        return
    monitor = Monitor(header, sink) if verify else None
    file = _open(trace, header) if trace is not None else None

    def take(position: Position) -> None:
        if file is not None:
            file.write(position)
        if monitor is not None:
            monitor.take(position)

    naming = NamedDues(PRESETS[header.contract], header.timezone, take) if header.names_dues else None
    readers = [monitor.take] if monitor is not None else []
    readers += [naming.recall] if naming is not None else []
    if file is not None and readers:
        with file.path.open(encoding="utf-8") as lines:  # what earlier lives have left
            for position in read_trace(lines, SUITES)[1]:
                for reader in readers:
                    reader(position)

    together = monitor.take_runs if monitor is not None and file is None and naming is None else None
    last = file.last if file is not None else None
    try:
        yield Tap(sink, Recorder(system_now, naming or take, together, last=last)), monitor
    finally:
        if monitor is not None:
            monitor.flush()
        if file is not None:
            file.close()


def _open(path: Path, header: Header) -> TraceFile:
    try:
        return TraceFile(path, header)
    except OSError as error:
        raise click.UsageError(f"{path}: {error.strerror}") from error
