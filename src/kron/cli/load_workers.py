"""count_load(entries, span, durations) -> Load: the slices of a span, counted on all cores where that pays."""

import os
import signal
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import timedelta
from functools import partial
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import TypeAlias

from kron.console.output import progress
from kron.engine.gc_pause import gc_paused
from kron.forecast.load import Load, count_starts, series_unit, slices
from kron.forecast.runs import ForecastJob, TimeSpan

_DAY = timedelta(days=1)
_SAMPLE = 20  # entries from which the work is estimated
_WORTH_PROCESSES = 50_000  # periods: half a second's work; starting processes costs a tenth of it

_Count: TypeAlias = Callable[[TimeSpan], Load]
_Left: TypeAlias = dict[Connection, tuple[BaseProcess, list[TimeSpan]]]


def count_load(
    entries: Sequence[ForecastJob], span: TimeSpan, durations: Mapping[str, timedelta] | None = None
) -> Load:
    """Return the load of a span."""
    a_day = _periods_a_day(entries, slices(span)[0])
    parts, load = slices(span, a_day), Load()
    count = partial(_count, entries, series_unit(span), durations or {})
    heavy = a_day * (span.until - span.since) / _DAY > _WORTH_PROCESSES
    with progress("counting", len(parts), shown=heavy) as advance:
        for counted in _in_processes(count, parts) if heavy else map(count, parts):
            load.add(counted)
            advance(1)
    return load


def _periods_a_day(entries: Sequence[ForecastJob], part: TimeSpan) -> float:
    """Return about how many periods there are in a day, from some of the entries in one slice."""
    sample = entries[:: -(-len(entries) // _SAMPLE) or 1]
    length = (part.until - part.since) / _DAY
    if not sample or not length:
        return 0.0
    return count_starts(sample, part).nominal.total / length * len(entries) / len(sample)


def _in_processes(count: _Count, parts: Sequence[TimeSpan]) -> Iterator[Load]:
    workers = min(len(os.sched_getaffinity(0)), len(parts))
    if workers == 1:
        yield from map(count, parts)
        return
    # Forked processes inherit what they count. An executor waits for slices at Ctrl-C, and outlives SIGTERM: ADR 0051.
    context = get_context("fork")
    left: _Left = {}
    try:
        with _interrupt_later():
            for number in range(workers):
                reader, writer = context.Pipe(duplex=False)
                process = context.Process(target=_count_all, args=(count, parts[number::workers], writer), daemon=True)
                process.start()
                writer.close()
                left[reader] = process, list(parts[number::workers])
        yield from _received(count, left)
    finally:
        for child, _ in left.values():
            child.kill()
            child.join()


@contextmanager
def _interrupt_later() -> Iterator[None]:
    """Let an interrupt wait: within a fork it would be swallowed, and right after it one child would be overlooked.

    Children are born with this and keep it: who interrupts means the process that waits, and that one ends them.
    """
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _received(count: _Count, left: _Left) -> Iterator[Load]:
    """Yield what processes send; what one of them leaves behind when it dies is counted here."""
    while left:
        for reader in wait(list(left)):
            assert isinstance(reader, Connection)
            process, parts = left[reader]
            try:
                counted = reader.recv()
            except EOFError:
                process.join()
                del left[reader]
                yield from map(count, parts)
                continue
            del parts[0]
            yield counted


def _count_all(count: _Count, parts: Sequence[TimeSpan], writer: Connection) -> None:
    for part in parts:
        writer.send(count(part))


def _count(entries: Sequence[ForecastJob], unit: str, durations: Mapping[str, timedelta], part: TimeSpan) -> Load:
    with gc_paused():
        return count_starts(entries, part, unit, durations=durations)
