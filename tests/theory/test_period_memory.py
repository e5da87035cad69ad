"""Periods: memory is bounded, and forgotten periods are not run again."""

import tracemalloc
from collections.abc import Iterator

import pytest

from kron.theory.checker import Checker
from kron.theory.formula import TruthValue
from kron.theory.trace_format import TraceEvent, TraceHeader, TracePosition
from tests.theory.period_traces import decision, judge_positions, minute, period_trace
from tests.theory.traces import finding, violated


@pytest.mark.slow
def test_memory_stays_flat_over_twenty_thousand_periods() -> None:
    checker = Checker(TraceHeader("kron"))
    sizes = []
    try:
        for number, position in enumerate(days(20_000)):
            if number == 60_000:  # by then it knows all that it will ever know, and tracing takes its time
                tracemalloc.start()
            checker.read(position)
            if number in (70_000, 80_000):
                sizes.append(tracemalloc.get_traced_memory()[0])
    finally:
        tracemalloc.stop()

    assert checker.report().verdict is TruthValue.HOLDS
    assert max(sizes) < 1_000_000
    assert sizes[1] < sizes[0] * 1.1


def days(periods: int) -> Iterator[TracePosition]:
    """Yield the life of a minutely job: each period is decided, run, ended and closed."""
    yield from period_trace("I")
    for number in range(1, periods + 1):
        fields, t = {"task": "a", "period": minute(number)}, number * 60_000 + 30_000
        yield TraceEvent(t, "Decision", decision(number, minute(number, 30)))
        yield TraceEvent(t, "RunStart", fields)
        yield TraceEvent(t + 1, "RunSuccess", fields)
        yield TraceEvent(t + 1, "Outcome", {"identity": "a", "period": minute(number), "outcome": "executed"})


def test_periods_that_are_never_closed_are_forgotten_as_well() -> None:
    decided = [TraceEvent(0, "Decision", decision(number, minute(number, 30))) for number in range(1, 5_000)]
    checker = Checker(TraceHeader("kron"))
    tracemalloc.start()
    try:
        sizes = []
        for position in decided:
            checker.read(position)
            sizes.append(tracemalloc.get_traced_memory()[0])
    finally:
        tracemalloc.stop()

    assert sizes[-1] < max(sizes[:2_500]) * 1.1


def test_an_execution_of_a_period_that_is_forgotten_is_a_replay() -> None:
    late = TraceEvent(10**9, "RunStart", {"task": "a", "period": minute(3)})

    report = judge_positions([*days(400), late])

    assert violated(report) == {"I4"}
    assert finding(report, "I4").line == 2 + 4 * 400
    assert finding(report, "I4").instance == f"a {minute(3)}"


def test_a_run_is_remembered_however_old_it_is() -> None:
    first = {"task": "a", "period": minute(0)}
    start, end = TraceEvent(0, "RunStart", first), TraceEvent(10**9, "RunSuccess", first)

    assert judge_positions([start, *days(400), end]).verdict is TruthValue.HOLDS


def test_a_period_that_waits_is_remembered_while_a_day_of_later_ones_passes() -> None:
    waits = TraceEvent(0, "Decision", {**decision(0, minute(1_500)), "windowEnd": minute(1_500)})
    runs = TraceEvent(1_500 * 60_000, "RunStart", {"task": "a", "period": minute(0)})

    assert judge_positions([waits, *days(1_440), runs]).verdict is TruthValue.HOLDS


def test_periods_of_a_long_window_may_be_closed_in_the_order_of_their_chosen_seconds() -> None:
    closed = []
    for number in (*range(101, 500), 100):  # the first one is chosen last
        decided = {**decision(number, minute(550 if number == 100 else 510)), "windowEnd": minute(number + 960)}
        outcome = {"identity": "a", "period": minute(number), "outcome": "missed"}
        closed += [TraceEvent(600 * 60_000, "Decision", decided), TraceEvent(600 * 60_000, "Outcome", outcome)]

    assert judge_positions([*period_trace("I"), *closed]).verdict is TruthValue.HOLDS


def test_a_second_execution_is_caught_whether_the_first_is_remembered_or_not() -> None:
    late = [TraceEvent(10**9, "RunStart", {"task": "a", "period": minute(number)}) for number in range(1, 201)]
    caught = [violated(judge_positions([*days(200), again])) for again in late[50:80]]

    assert {"I2"} in caught
    assert {"I4"} in caught
    assert set() not in caught


def test_a_period_that_was_only_closed_is_forgotten_like_one_that_ran() -> None:
    missed = [
        TraceEvent(0, "Outcome", {"identity": "a", "period": minute(number), "outcome": "missed"})
        for number in range(1, 401)
    ]
    late = TraceEvent(0, "RunStart", {"task": "a", "period": minute(3)})

    assert violated(judge_positions([*missed, late])) == {"I4"}


def test_a_run_cut_off_by_a_crash_runs_no_more_and_is_forgotten_in_time() -> None:
    first = {"task": "a", "period": minute(0)}
    crash = [TraceEvent(0, "RunStart", first), TraceEvent(0, "UnexpectedShutdown")]
    late = TraceEvent(10**9, "RunStart", first)

    assert violated(judge_positions([*crash, *days(400), late])) == {"I4"}
