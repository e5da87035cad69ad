"""Tests of Checker: its memory of a task does not grow with the runs that the task owed and got."""

import tracemalloc
from collections.abc import Iterator

from kron.theory.checker import Checker
from kron.theory.formula import TruthValue
from kron.theory.trace_format import ResponseBounds, TraceEvent, TraceHeader

NAMES = ("a", "b", "c")
A_DAY = 86_400_000


def test_served_demands_are_forgotten_long_before_their_time_limit() -> None:
    checker = Checker(TraceHeader("declarative", bounds=ResponseBounds(a=0, b=A_DAY, lag=1)))
    sizes = []
    tracemalloc.start()
    try:
        for number, position in enumerate(retries(2_000)):
            checker.read(position)
            if number % 100 == 0:
                sizes.append(tracemalloc.get_traced_memory()[0])
    finally:
        tracemalloc.stop()

    assert checker.report().verdict is TruthValue.HOLDS
    assert sizes[-1] < max(sizes[: len(sizes) // 2]) * 1.1


def retries(count: int) -> Iterator[TraceEvent]:
    """Yield the life of tasks that fail, and are owed a retry at once, so many times before they succeed."""
    listed = [{"name": name, "cron": "* * * * *", "retryDelayMs": 0} for name in NAMES]
    yield TraceEvent(0, "InitStart", {"call": 1, "registrations": listed})
    yield TraceEvent(0, "InitSuccess", {"call": 1})
    for t in range(count):
        for event in ("RunStart", "RunFailure"):
            yield from (TraceEvent(t, event, {"task": name}) for name in NAMES)
    yield from (TraceEvent(count, "RunStart", {"task": name}) for name in NAMES)
    yield from (TraceEvent(count, "RunSuccess", {"task": name}) for name in NAMES)
