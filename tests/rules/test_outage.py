"""Tests of outage: at most one period of a downtime runs, and the others are closed in ranges."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings, strategies as st

from kron.decision.timing import Timing
from kron.instant import MICROSECOND, SECOND, ZERO, Instant
from kron.rules.outage import Freeze, LedgerWait, Outage, Plan, delay, freeze, outstanding, recover
from kron.rules.periods import effective_time
from kron.rules.policy import Policy
from kron.rules.verdict import Outcome, Reason, lateness
from tests.rules.test_period_queue import HOUR, LINES, NOON, by_brute_force, spans, timing

DAY = timedelta(days=1)
MINUTE = timedelta(minutes=1)


def gap(since: Instant, until: Instant) -> Outage:
    return Outage(since, until, Reason.DOWNTIME)


def policy(deadline: timedelta) -> Policy:
    return replace(Policy(), deadline=deadline)


@settings(max_examples=40)
@given(
    line=st.sampled_from(LINES),
    since=st.integers(-10_000, 10_000).map(lambda seconds: NOON + timedelta(seconds=seconds)),
    hours=st.integers(0, 30),
    minutes=st.integers(0, 200),
)
def test_each_period_of_a_gap_is_closed_or_the_latest_that_may_run(
    line: str, since: Instant, hours: int, minutes: int
) -> None:
    until, deadline = since + hours * HOUR, minutes * MINUTE
    found = recover(timing(line), policy(deadline), gap(since, until), until)

    everything = by_brute_force(line, since, until)
    in_time = [
        each for each in everything
        if each.chosen_time is not None and SECOND * lateness(each.chosen_time, until) <= deadline
    ]  # fmt: skip
    closings = [*found.closed_before, *found.closed_after]
    assert sum(closing.period_count for closing in closings) + (found.runs is not None) == len(everything)
    assert found.runs == (in_time[-1] if in_time else None)
    superseded = sum(each.period_count for each in closings if each.reason == "superseded")
    assert superseded == max(0, len(in_time) - 1)
    missed = sum(each.period_count for each in closings if each.outcome is Outcome.MISSED)
    assert missed == sum(each.chosen_time is not None for each in everything) - len(in_time)


def test_neighbours_with_the_same_outcome_are_one_closing() -> None:
    found = recover(
        timing("0 * * * *"), policy(2 * HOUR), gap(NOON, NOON + 5 * HOUR + MINUTE), NOON + 5 * HOUR + MINUTE
    )

    assert [(each.outcome.value, each.reason, each.period_count) for each in found.closed_before] == [
        ("missed", "downtime", 3),
        ("skipped", "superseded", 1),
    ]
    assert found.runs is not None
    assert found.runs.nominal_time == NOON + 5 * HOUR


@pytest.mark.slow
@given(
    line=st.sampled_from(LINES),
    since=st.integers(-10_000, 10_000).map(lambda seconds: NOON + timedelta(seconds=seconds)),
    hours=st.integers(0, 60),
    minutes=st.integers(0, 200),
)
def test_every_period_between_the_ends_of_a_closed_range_is_closed(
    line: str, since: Instant, hours: int, minutes: int
) -> None:
    until = since + hours * HOUR
    found = recover(timing(line), policy(minutes * MINUTE), gap(since, until), until)

    everything = {each.nominal_time: each for each in by_brute_force(line, since, until)}
    closed: list[Instant] = []
    for closing in found.closed_before + found.closed_after:
        first, last = closing.first.nominal_time, closing.last.nominal_time
        inside = list(timing(line).schedule.between(first - SECOND, last))
        assert len(inside) == closing.period_count
        assert closing.last_effective >= max(effective_time(everything[nominal]) for nominal in inside)
        closed += inside
    latest = [] if found.runs is None else [found.runs.nominal_time]
    assert sorted(closed + latest) == sorted(everything)


def test_a_year_of_overlapping_windows_is_a_few_closings_at_its_ends_and_one_between() -> None:
    since = datetime(2025, 1, 1, tzinfo=UTC)
    until = since + 365 * DAY

    found = recover(timing("* * * * * @win(after,30m)"), policy(timedelta()), gap(since, until), until + SECOND)

    numbers = sorted(each.period_count for each in found.closed_before)
    assert numbers[-1] > 365 * 24 * 60 - 60
    assert len(numbers) < 30
    assert {each.reason for each in found.closed_before} == {"downtime"}


@pytest.mark.parametrize("line", ["* * * * *", "* * * * * @tz(America/New_York)"])
def test_a_year_is_one_closing(line: str) -> None:
    since = datetime(2025, 1, 1, tzinfo=UTC)
    until = since + 365 * DAY

    found = recover(timing(line), policy(timedelta()), gap(since, until), until + SECOND)

    assert [(each.outcome, each.reason) for each in found.closed_before] == [(Outcome.MISSED, "downtime")]
    assert found.closed_before[0].period_count == 365 * 24 * 60
    assert found.closed_before[0].first.nominal_time <= since + MINUTE
    assert until - 31 * MINUTE <= found.closed_before[0].last.nominal_time


def test_a_window_over_a_year_counts_as_brute_force_does_at_both_ends() -> None:
    line, since = "*/3 * * * * @win(around,4h)", datetime(2025, 1, 1, tzinfo=UTC)
    until = since + 20 * DAY

    found = recover(timing(line), policy(HOUR), gap(since, until), until)

    everything = by_brute_force(line, since, until)
    assert sum(each.period_count for each in found.closed_before) + 1 == len(everything)
    assert found.closed_before[-1].last_effective <= until


def test_handled_periods_are_not_closed_again() -> None:
    everything = by_brute_force("* * * * * @win(after,30m)", NOON, NOON + 3 * HOUR)
    handled = spans(everything[:50])
    line = timing("* * * * * @win(after,30m)")

    found = recover(line, policy(timedelta()), gap(NOON, NOON + 3 * HOUR), NOON + 4 * HOUR, handled)

    assert sum(each.period_count for each in found.closed_before) == len(everything) - 50


def test_a_deadline_longer_than_the_calendar_never_passes() -> None:
    line = Timing.parse("0 * * * *", identity="job")

    found = recover(line, policy(timedelta.max), gap(NOON, NOON + 3 * HOUR), NOON + 3 * HOUR)

    assert found.runs is not None
    assert [each.reason for each in found.closed_before] == ["superseded"]


# --- a freeze ---------------------------------------------------------------------------------------------------------

SLACK = 30 * SECOND


def test_a_wake_up_before_its_time_is_not_late() -> None:
    assert delay(Plan(NOON, NOON - 60 * SECOND), NOON - SECOND) == ZERO


def test_delay_counts_from_the_planned_instant_and_not_from_the_last_step() -> None:
    assert delay(Plan(NOON, NOON - 60 * SECOND), NOON + 1.2 * SECOND) == 1.2 * SECOND


def test_delay_counts_from_the_last_step_if_something_was_left_over() -> None:
    assert delay(Plan(NOON - 60 * SECOND, NOON), NOON + 5 * SECOND) == 5 * SECOND


@pytest.mark.parametrize(
    ("began", "ended", "stood_still", "late"),
    [
        (-50, -10, 0, 40),  # before it was due: that made nothing late
        (-50, 10, 0, 30),  # only what came after that counts
        (10, 20, 0, 30),
        (0, 40, 0, 0),
        (0, 40, 35, 35),  # for the rest of the time the process did not run
        (0, 40, 60, 40),
    ],
)
def test_waiting_for_the_ledger_is_no_delay_as_far_as_the_process_ran(
    began: int, ended: int, stood_still: int, late: int
) -> None:
    wait = LedgerWait(NOON + began * SECOND, NOON + ended * SECOND, stood_still * SECOND)

    assert delay(Plan(NOON, NOON - 60 * SECOND), NOON + 40 * SECOND, [wait]) == late * SECOND


@pytest.mark.parametrize("late", [ZERO, SECOND, SLACK])
def test_a_delay_of_at_most_the_slack_is_no_freeze(late: timedelta) -> None:
    assert freeze(Plan(NOON, NOON - SECOND), NOON + late, late, SLACK) is None


def test_a_freeze_begins_with_the_planned_instant() -> None:
    now = NOON + SLACK + MICROSECOND

    assert freeze(Plan(NOON, NOON - SECOND), now, now - NOON, SLACK) == Freeze(NOON - MICROSECOND, now)


def test_a_period_due_at_the_last_step_is_not_part_of_a_freeze() -> None:
    now = NOON + SLACK + MICROSECOND

    assert freeze(Plan(NOON - SECOND, NOON), now, now - NOON, SLACK) == Freeze(NOON, now)


BEFORE = Freeze(NOON - 60 * SECOND, NOON)


def test_a_freeze_is_outstanding_until_nothing_of_it_is_left() -> None:
    assert outstanding(BEFORE, None, NOON, NOON + SECOND) == BEFORE
    assert outstanding(BEFORE, None, NOON + MICROSECOND, NOON + SECOND) is None
    assert outstanding(BEFORE, None, None, NOON + SECOND) is None


def test_two_freezes_that_are_one_last_from_the_earlier_beginning_to_the_later_end() -> None:
    after, earlier = Freeze(NOON, NOON + 90 * SECOND), Freeze(NOON - 90 * SECOND, NOON - 10 * SECOND)

    assert outstanding(BEFORE, after, NOON, after.until) == Freeze(BEFORE.since, after.until)
    assert outstanding(BEFORE, earlier, earlier.since, earlier.until) == earlier  # the clock was set back


def test_instants_that_a_clock_set_back_has_yet_to_show_are_not_of_a_freeze() -> None:
    now = NOON - 10 * SECOND

    assert outstanding(BEFORE, None, now, now) == BEFORE._replace(until=now)
    assert outstanding(BEFORE, None, now + SECOND, now) is None
