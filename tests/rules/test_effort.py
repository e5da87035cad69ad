"""Long work done in parts has the same result as done at once."""

from datetime import UTC, datetime, timedelta

from kron.decision.timing import Timing
from kron.rules.effort import PART, Effort, Ongoing
from kron.rules.outage import Outage, recover, recover_in_parts
from kron.rules.periods import LOOKED_AHEAD, NO_PERIODS, NextRun, PeriodQueue
from kron.rules.policy import Policy
from kron.rules.verdict import Reason

NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)
PICKY = Timing.parse("* * * * * @win(after,3h) @only(between=12:00-12:04)", identity="a")
NEVER = Timing.parse("* * * * * @win(after,3h) @only(date=2040-01-01)", identity="a")


def test_an_outage_in_parts_is_the_outage_at_once() -> None:
    gap = Outage(NOON - timedelta(days=1), NOON, Reason.DOWNTIME)
    policy = Policy(deadline=timedelta(hours=2))
    ongoing, turns = Ongoing(recover_in_parts(PICKY, policy, gap, NOON)), 1
    while (found := ongoing.advance(Effort())) is None:
        turns += 1

    assert found == recover(PICKY, policy, gap, NOON)
    assert turns > 5


def test_the_work_of_one_part_exceeds_its_effort_by_one_decision_at_most() -> None:
    effort = Effort(500)

    assert not PeriodQueue(PICKY, NOON).advance(effort)
    assert -(64 + 8) < effort.left <= 0


def test_the_result_is_the_same_in_parts() -> None:
    in_parts, turns = PeriodQueue(PICKY, NOON), 0
    while not in_parts.advance(Effort(500)):
        turns += 1

    assert in_parts.first() == PeriodQueue(PICKY, NOON).first()
    assert turns > 2


def test_the_next_run_goes_one_period_further_for_each_that_passes() -> None:
    coming = PeriodQueue(NEVER, NOON)
    first = coming.first()
    assert first is not None
    search = NextRun(NEVER, NOON, NO_PERIODS, first)
    while not search.advance(first, Effort()):
        pass
    assert search.is_beyond
    coming.pop(first.window_start)
    second = coming.first()
    assert second is not None
    effort = Effort()

    assert search.advance(second, effort)
    assert search.is_beyond
    assert PART - effort.left < 3 * (64 + 8 + 8)  # not a thousand of them


def test_the_next_run_finds_a_period_within_a_thousand() -> None:
    timing = Timing.parse("* * * * * @only(date=2026-03-03)", identity="a")
    first = PeriodQueue(timing, NOON).first()
    assert first is not None
    search = NextRun(timing, NOON, NO_PERIODS, first)
    while not search.advance(first, Effort()):
        pass

    assert search.found is not None
    assert search.found.nominal_time == datetime(2026, 3, 3, tzinfo=UTC)
    assert (search.found.nominal_time - first.nominal_time) < timedelta(minutes=LOOKED_AHEAD)


def test_an_effort_of_nothing_is_spent() -> None:
    assert Effort(0).is_spent
    assert not Effort(1).is_spent
