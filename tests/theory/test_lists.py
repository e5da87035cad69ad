"""Consecutive lists: what each of them owes, and how long removed tasks are remembered."""

import pytest

from kron.theory.checker import Checker
from kron.theory.formula import TruthValue
from kron.theory.results import TraceReport
from kron.theory.trace_format import TraceEvent, TraceHeader
from tests.theory.traces import HOURLY, finding, violated

MINUTE = 60_000
OTHER = {**HOURLY, "name": "b"}
DUE = 5 * MINUTE  # of each hour


def lists(*items: tuple[int, list[dict[str, object]]]) -> list[TraceEvent]:
    """Return the lists that are accepted, each at its instant."""
    calls = ((number, *item) for number, item in enumerate(items, 1))
    return [
        position
        for number, t, registrations in calls
        for position in (
            TraceEvent(t, "InitStart", {"call": number, "registrations": registrations}),
            TraceEvent(t, "InitSuccess", {"call": number}),
        )
    ]


def judge(*positions: TraceEvent, contract: str = "polling") -> TraceReport:
    checker = Checker(TraceHeader(contract))
    for position in sorted(positions, key=lambda each: each.time_ms):
        checker.read(position)
    return checker.report()


def start(t: int, task: str = "a") -> TraceEvent:
    return TraceEvent(t, "RunStart", {"task": task})


@pytest.mark.parametrize(
    "registrations",
    [[HOURLY, OTHER], [{**HOURLY, "retryDelayMs": 1}]],
    ids=["another task comes", "its own delay changes"],
)
def test_a_changed_list_restarts_the_time_limit_of_owed_runs(registrations: list[dict[str, object]]) -> None:
    changed = lists((0, [HOURLY]), (DUE + 50_000, registrations))

    report = judge(*changed, start(DUE + 70_000))

    assert violated(report) == set()


def test_the_same_list_again_does_not() -> None:
    report = judge(*lists((0, [HOURLY]), (DUE + 50_000, [HOURLY])), start(DUE + 70_000))

    assert violated(report) == {"P13"}


def test_a_changed_list_restarts_the_time_limit_of_an_interrupted_run() -> None:
    listed = lists((0, [HOURLY]), (DUE + 2_000, [HOURLY]), (DUE + 52_000, [HOURLY, OTHER]))

    report = judge(*listed, start(DUE), TraceEvent(DUE + 1, "UnexpectedShutdown"), start(DUE + 72_000))

    assert violated(report) == set()


@pytest.mark.parametrize(("contract", "late"), [("polling", {"P13"}), ("declarative", set[str]())])
def test_a_long_list_gives_more_time_only_where_the_contract_says_so(contract: str, late: set[str]) -> None:
    many = [{**HOURLY, "name": f"{number}"} for number in range(20_001)]
    started = [start(DUE + 90_000, f"{number}") for number in range(20_001)]

    assert violated(judge(*lists((0, many)), *started, contract=contract)) == late


def test_a_task_that_left_the_list_is_not_taken_for_a_stranger() -> None:
    listed = lists((0, [HOURLY]), (DUE + MINUTE, [OTHER]))
    ended = TraceEvent(DUE + 2 * MINUTE, "RunSuccess", {"task": "a"})

    report = judge(*listed, start(DUE), TraceEvent(DUE + 1, "UnexpectedShutdown"), ended)

    assert finding(report, "P1").verdict is TruthValue.HOLDS  # it has its own earlier start, crashes aside


def test_those_that_left_longest_ago_are_forgotten_in_the_end() -> None:
    checker = Checker(TraceHeader("declarative"))

    for number in range(12):
        many = [{**HOURLY, "name": f"{number}-{each}"} for each in range(1_000)]
        for position in lists((number, many)):
            call = {**position.fields, "call": number}
            checker.read(TraceEvent(position.time_ms, position.kind, call))

    assert len(list(checker._runs.members())) == 1_000 + 10_000


@pytest.mark.parametrize("delay", [float("nan"), float("inf"), 1e300])
def test_a_delay_that_never_passes_calls_for_no_retry(delay: float) -> None:
    listed = lists((0, [{**HOURLY, "retryDelayMs": delay}]))
    failed = TraceEvent(DUE + 1, "RunFailure", {"task": "a"})

    report = judge(*listed, start(DUE), failed, contract="declarative")

    assert violated(report) == {"S6"}
