"""delay and freeze: how late a wake-up is, and when that means that the host stood still."""

from datetime import timedelta

import pytest

from kron.instant import MICROSECOND, SECOND, ZERO, parse_instant
from kron.rules.freeze import Freeze, LedgerWait, Plan, delay, freeze, outstanding

NOON = parse_instant("2026-03-02T12:00:00Z")
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


def test_what_was_due_at_the_last_step_is_not_part_of_a_freeze() -> None:
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
