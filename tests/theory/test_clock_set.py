"""Tests of ClockSet: after a clock is set back, owed runs are counted from the new time."""

from typing import Any

import pytest

from kron.theory.checker import Checker
from kron.theory.results import TraceReport
from kron.theory.trace_format import TraceEvent, TraceHeader
from tests.theory.traces import violated

HOUR, MINUTE = 3_600_000, 60_000
LATER = 80 * HOUR  # where the clock was, by mistake
HOURLY = [{"name": "a", "cron": "0 * * * *", "retryDelayMs": 5 * MINUTE}]


def judge(*lines: tuple[Any, ...], contract: str = "declarative") -> TraceReport:
    """Return the report on lines of t, clock, event and fields, after a list of an hourly task and its run ahead."""
    checker = Checker(TraceHeader(contract))
    begun = [
        TraceEvent(LATER - MINUTE, "InitStart", {"call": 1, "registrations": HOURLY}),
        TraceEvent(LATER - MINUTE, "InitSuccess", {"call": 1}),
        TraceEvent(LATER, "RunStart", {"task": "a"}),
        TraceEvent(LATER, "RunSuccess", {"task": "a"}),
    ]
    for position in begun:
        checker.read(position)
    for t, clock, event, *rest in lines:
        fields = rest[0] if rest else {"task": "a"} if event.startswith("Run") else {}
        checker.read(TraceEvent(t, event, fields if clock == t else {**fields, "clock": clock}))
    return checker.report()


NOW = 8 * HOUR + 30 * MINUTE


def test_after_the_clock_was_set_back_by_days_the_next_time_is_owed() -> None:
    found = judge((LATER, NOW, "ClockSet"), (LATER, 9 * HOUR, "RunStart"), (LATER, 9 * HOUR, "RunSuccess"))

    assert violated(found) == set()


@pytest.mark.parametrize(("contract", "name"), [("declarative", "L1"), ("polling", "P13")])
def test_a_scheduler_that_waits_for_the_old_future_is_late(contract: str, name: str) -> None:
    found = judge((LATER, NOW, "ClockSet"), (LATER, 9 * HOUR + 2 * MINUTE, "Thaw"), contract=contract)

    assert name in violated(found)


def test_before_the_next_time_nothing_is_owed() -> None:
    found = judge((LATER, NOW, "ClockSet"), (LATER, NOW + MINUTE, "RunStart"))

    assert "S1" in violated(found)


def test_up_to_an_hour_the_old_time_is_waited_for() -> None:
    back = LATER - HOUR

    assert violated(judge((LATER, back, "ClockSet"), (LATER, back + 2 * MINUTE, "Thaw"))) == set()
    assert "S1" in violated(judge((LATER, back, "ClockSet"), (LATER, LATER, "RunStart")))


def test_a_time_that_the_clock_has_yet_to_show_again_is_not_owed() -> None:
    lines: list[tuple[Any, ...]] = [
        (LATER + HOUR - MINUTE, LATER + HOUR - MINUTE, "StopStart", {"call": 1}),
        (LATER + HOUR - MINUTE, LATER + HOUR - MINUTE, "StopEnd", {"call": 1}),
        (LATER + HOUR + 1, LATER + HOUR + 1, "InitStart", {"call": 2, "registrations": HOURLY}),
        (LATER + HOUR + 1, NOW, "InitSuccess", {"call": 2}),
        (LATER + HOUR + 1, NOW + 5 * MINUTE, "Thaw"),
    ]

    assert violated(judge(*lines)) == set()
    assert "S1" in violated(judge(*lines, (LATER + HOUR + 1, NOW + 6 * MINUTE, "RunStart")))


def test_a_list_after_the_correction_counts_from_the_clock() -> None:
    lines: list[tuple[Any, ...]] = [
        (LATER, LATER, "UnexpectedShutdown"),
        (LATER, NOW, "InitStart", {"call": 2, "registrations": HOURLY}),
        (LATER, NOW, "InitSuccess", {"call": 2}),
    ]

    assert violated(judge(*lines, (LATER, 9 * HOUR, "RunStart"))) == set()
    assert "L1" in violated(judge(*lines, (LATER, 9 * HOUR + 2 * MINUTE, "Thaw")))
    assert "S1" in violated(judge(*lines, (LATER, NOW, "RunStart")))


def test_the_clamp_in_the_ledger_counts_if_a_crash_kept_it_out_of_the_trace() -> None:
    memory = {**HOURLY[0], "task": "a", "first": 0, "lastStart": NOW - HOUR}
    lines: list[tuple[Any, ...]] = [
        (LATER, LATER, "UnexpectedShutdown"),
        (LATER, NOW, "InitStart", {"call": 2, "registrations": HOURLY}),
        (LATER, NOW, "InitSuccess", {"call": 2, "remembered": [memory]}),
        (LATER, NOW, "RunStart"),
    ]

    assert violated(judge(*lines)) == set()


def test_a_retry_of_the_wrong_clock_waits_its_delay_from_the_correction() -> None:
    def after(clock: int) -> set[str]:
        return violated(
            judge(
                (LATER + HOUR, LATER + HOUR, "RunStart"),
                (LATER + HOUR, LATER + HOUR, "RunFailure"),
                (LATER + HOUR, NOW, "ClockSet"),
                (LATER + HOUR, clock, "RunStart"),
            )
        )

    assert after(NOW + 5 * MINUTE) == set()
    assert "S1" in after(NOW + 5 * MINUTE - 1)
    assert "L1" in after(NOW + 7 * MINUTE)


def test_a_start_that_is_not_far_ahead_stays_served_though_its_failure_is_far_ahead() -> None:
    started, failed = LATER + HOUR, LATER + HOUR + 35 * MINUTE
    back = started - 30 * MINUTE
    retry = back + 5 * MINUTE

    def after(*starts: int) -> set[str]:
        lines: list[tuple[Any, ...]] = [(started, started, "RunStart"), (failed, failed, "RunFailure")]
        lines += [(failed, back, "ClockSet")]
        for clock in starts:
            lines += [(max(failed, clock), clock, "RunStart"), (max(failed, clock), clock, "RunSuccess")]
        return violated(judge(*lines))

    assert after(retry, started + HOUR) == set()
    assert "S1" in after(retry, started)


@pytest.mark.parametrize(("remembered", "name"), [(LATER, "S1"), (NOW, "L1")])
def test_after_a_crash_the_ledger_says_whether_a_baseline_was_clamped(remembered: int, name: str) -> None:
    near = LATER - 30 * MINUTE  # the start of the wrong clock is not far ahead any longer
    memory = {**HOURLY[0], "task": "a", "first": 0, "lastStart": remembered}
    lines: list[tuple[Any, ...]] = [
        (LATER, NOW, "ClockSet"),
        (LATER, NOW, "UnexpectedShutdown"),
        (LATER, near, "InitStart", {"call": 2, "registrations": HOURLY}),
        (LATER, near, "InitSuccess", {"call": 2, "remembered": [memory]}),
    ]
    start = (LATER, near, "RunStart")

    assert (name in violated(judge(*lines, start))) == (remembered == LATER)
    assert (name in violated(judge(*lines, (LATER, near + 2 * MINUTE, "Thaw")))) == (remembered == NOW)


def test_a_task_that_a_list_makes_another_one_forgets_what_the_ledger_remembers_of_a_wrong_clock() -> None:
    other = [{**HOURLY[0], "retryDelayMs": MINUTE}]
    memory = {**HOURLY[0], "task": "a", "first": 0, "lastStart": NOW - 2 * HOUR, "lastFailure": LATER}
    lines: list[tuple[Any, ...]] = [
        (LATER, LATER, "UnexpectedShutdown"),
        (LATER, NOW, "InitStart", {"call": 2, "registrations": other}),
        (LATER, NOW, "InitSuccess", {"call": 2, "remembered": [{**memory, "retryAt": LATER + MINUTE}]}),
        (LATER, NOW + 10 * MINUTE, "Thaw"),
    ]

    assert violated(judge(*lines, contract="polling")) == set()
