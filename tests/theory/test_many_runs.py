"""Tests of Checker.read_runs: many runs at once are judged like one after the other."""

from itertools import groupby

import pytest
from hypothesis import given, settings, strategies as st

from kron.theory.checker import Checker
from kron.theory.results import TraceReport
from kron.theory.trace_format import TraceEvent, TraceHeader
from tests.theory.test_checker import traces

TOGETHER = ("RunStart", "RunSuccess")
MINUTE = 60_000
CRONS = {"a": "* * * * *", "b": "* * * * *", "c": "* * * * *", "d": "*/2 * * * *"}


@st.composite
def busy_traces(draw: st.DrawFn) -> list[TraceEvent]:
    """Draw traces in which runs come in bursts."""
    positions: list[TraceEvent] = []
    for position in draw(traces()):
        positions.append(position)
        names = draw(st.lists(st.sampled_from("abcd"), max_size=6)) if position.kind in TOGETHER else []
        positions += [TraceEvent(position.time_ms, position.kind, {"task": name}) for name in names]
    return positions


@st.composite
def lively_traces(draw: st.DrawFn) -> list[TraceEvent]:
    """Draw minutes in which tasks are due and most of them run: as they should, or twice, or not at all."""
    delay = draw(st.sampled_from([30_000, 90_000]))
    listed = [{"name": name, "cron": cron, "retryDelayMs": delay} for name, cron in CRONS.items()]
    positions = [
        TraceEvent(5, "InitStart", {"call": 1, "registrations": listed}),
        TraceEvent(5, "InitSuccess", {"call": 1}),
    ]
    orders = st.one_of(st.just([*CRONS]), st.lists(st.sampled_from([*CRONS]), max_size=6))
    for minute in range(draw(st.integers(1, 5))):
        t = minute * MINUTE + draw(st.sampled_from([6, 40_000]))
        for event in draw(st.sampled_from([("RunStart", "RunSuccess"), ("RunStart",), ("RunSuccess",), ()])):
            failing = draw(st.sets(st.sampled_from([*CRONS]), max_size=1)) if event == "RunSuccess" else ()
            for name in draw(orders):
                positions.append(TraceEvent(t, "RunFailure" if name in failing else event, {"task": name}))
            t += draw(st.sampled_from([0, 1]))
    return positions


def one_by_one(positions: list[TraceEvent], contract: str, *, adds: bool) -> TraceReport:
    checker = Checker(TraceHeader(contract), adds_due=adds, adds_retry_due=adds)
    for position in positions:
        checker.read(position)
    return checker.report()


def together(positions: list[TraceEvent], contract: str, *, adds: bool) -> TraceReport:
    checker = Checker(TraceHeader(contract), adds_due=adds, adds_retry_due=adds)
    for (t, event), group in groupby(positions, lambda position: (position.time_ms, position.kind)):
        if event in TOGETHER:
            checker.read_batch(t, event, [position.subject for position in group])
        else:
            for position in group:
                checker.read(position)
    return checker.report()


@pytest.mark.parametrize("adds", [True, False], ids=["with added pulses", "without"])
@pytest.mark.parametrize("contract", ["declarative", "polling", "kron"])
@settings(max_examples=60)
@given(positions=busy_traces())
def test_runs_read_together_are_judged_as_runs_read_one_by_one(
    positions: list[TraceEvent], contract: str, *, adds: bool
) -> None:
    if contract == "kron":  # it knows no pulses
        positions = [each for each in positions if each.kind not in ("Due", "RetryDue")]

    assert together(positions, contract, adds=adds) == one_by_one(positions, contract, adds=adds)


@pytest.mark.parametrize("contract", ["declarative", "polling"])
@settings(max_examples=60)
@given(positions=lively_traces())
def test_so_are_runs_that_are_due(positions: list[TraceEvent], contract: str) -> None:
    assert together(positions, contract, adds=True) == one_by_one(positions, contract, adds=True)


def test_no_runs_are_no_position() -> None:
    checker = Checker(TraceHeader("declarative"))

    checker.read_batch(0, "RunStart", [])

    assert checker.report().positions == 0
