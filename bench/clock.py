"""Timing inside one process: functions in, rates and percentiles out.

A shared machine changes its pace without a trace in its own counters, by a factor of two and within a second. So work
is timed in slices of some milliseconds with a yardstick between them, a fixed loop of plain Python, and slices beside a
slow yardstick do not count. Slices are random samples of the work, so leaving some out favours no peer. The clock is
that of the thread, which stands still while others hold the core: the work measured here never waits for anything else.
"""

import gc
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, repeat
from time import perf_counter, thread_time
from typing import Any, Generic, TypeVar

Call = tuple[Callable[[Any], object], Any]
T = TypeVar("T")
R = TypeVar("R")

_SLICE_SECONDS = 0.006
_SLOW = 1.2  # times the fastest yardstick that this process has seen
_LONGEST = 0.6  # seconds after which fewer clean slices than were wanted must do


class Yardstick:
    """The yardstick, and the fastest that it has been."""

    def __init__(self) -> None:
        self.best = 1.0
        for _ in range(50):
            self.now()

    def now(self) -> float:
        """Return the seconds that a fixed loop takes now: some 0.2 milliseconds."""
        value = 0
        start = thread_time()
        for number in range(3000):
            value = value * 3 + number & 0xFFFF
        taken = thread_time() - start
        self.best = min(self.best, taken)
        return taken

    def is_full(self, taken: float) -> bool:
        """Whether a yardstick says that the machine ran at full pace."""
        return taken <= self.best * _SLOW


@dataclass(frozen=True, slots=True)
class Slice(Generic[R]):
    """A part of the work: how many elements, how many seconds, what came out, and the slower yardstick beside it."""

    size: int
    seconds: float
    result: R
    yardstick: float


PACE = Yardstick()


def clean_slices(
    run: Callable[[Sequence[T]], R],
    parts: Iterable[Sequence[T]],
    *,
    enough: int,
    seconds: float = 0.0,
    clock: Callable[[], float] = thread_time,
) -> list[Slice[R]]:
    """Run part after part until so many elements and seconds were clean; return the clean ones, or all if none was."""
    gc.collect()
    taken: list[Slice[R]] = []
    clean_size, clean_seconds = 0, 0.0
    before, begin = PACE.now(), perf_counter()
    for part in parts:
        start = clock()
        result = run(part)
        end = clock()
        after = PACE.now()
        taken.append(Slice(len(part), end - start, result, max(before, after)))
        before = after
        if PACE.is_full(taken[-1].yardstick):
            clean_size += len(part)
            clean_seconds += end - start
        if (clean_size >= enough and clean_seconds >= seconds) or perf_counter() - begin > _LONGEST:
            break
    return [one for one in taken if PACE.is_full(one.yardstick)] or taken


def per_second(slices: Sequence[Slice[Any]]) -> float:
    """Return elements per second."""
    return sum(one.size for one in slices) / sum(one.seconds for one in slices)


def rate(calls: Sequence[Call], *, seconds: float, enough: int = 1000) -> float:
    """Return calls per second; the clock is read around slices, not calls, so that it does not weigh on fast ones."""
    return per_second(clean_slices(_call_all, _forever(calls), enough=min(enough, len(calls)), seconds=seconds))


def rate_once_each(function: Callable[[T], object], arguments: Sequence[T], *, part: int, enough: int) -> float:
    """Return calls per second when no argument is used twice: there must be more of them than enough."""

    def run(some: Sequence[T]) -> None:
        for argument in some:
            function(argument)

    return per_second(clean_slices(run, parts_of(arguments, part), enough=enough))


def microseconds(function: Callable[[Any], object], argument: Any, *, seconds: float) -> float:
    """Return what one call takes when it is repeated."""
    return 1e6 / rate([(function, argument)], seconds=seconds)


def percentile_99(calls: Sequence[Call], *, seconds: float) -> float:
    """Return the 99th percentile of single calls in microseconds; reading the clock, some 0.05 of them, included."""

    def run(part: Sequence[Call]) -> list[float]:
        durations = []
        for function, argument in part:
            start = perf_counter()
            function(argument)
            durations.append(perf_counter() - start)
        return durations

    slices = clean_slices(run, _forever(calls), enough=min(1000, len(calls)), seconds=seconds)
    durations = sorted(chain.from_iterable(one.result for one in slices))
    return durations[int(len(durations) * 0.99)] * 1e6


def parts_of(elements: Sequence[T], size: int) -> Iterator[Sequence[T]]:
    """Yield the elements in parts of that size."""
    return (elements[first : first + size] for first in range(0, len(elements), size))


def _call_all(part: Sequence[Call]) -> None:
    for function, argument in part:
        function(argument)


def _forever(calls: Sequence[Call]) -> Iterator[Sequence[Call]]:
    """Yield the calls over and over, in parts that take about as long as a slice should."""
    start = thread_time()
    _call_all(calls[:20])
    size = max(1, int(len(calls[:20]) * _SLICE_SECONDS / (thread_time() - start)))
    parts = list(parts_of(list(calls) * -(-size // len(calls)), size))
    return chain.from_iterable(repeat(parts))
