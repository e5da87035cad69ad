"""The cost of a long outage, counted in decisions and searches."""

from datetime import UTC, datetime, timedelta

import pytest

from kron.cron.schedule import Schedule
from kron.decision.decide import decide
from kron.rules.outage import MOST_DECIDED, cost_of, recover
from kron.rules.periods import HandledPeriods
from kron.rules.verdict import Outcome
from tests.calls import counted
from tests.rules.test_outage import DAY, MINUTE, gap, policy
from tests.rules.test_period_queue import HOUR, timing

YEAR = gap(datetime(2025, 1, 1, tzinfo=UTC), datetime(2026, 1, 1, tzinfo=UTC))
MINUTES = 365 * 24 * 60


@pytest.mark.parametrize("line", ["* * * * *", "* * * * * @tz(America/New_York)", "* * * * * @win(after,1m)"])
@pytest.mark.parametrize("deadline", [timedelta(), 30 * DAY, 180 * DAY, 375 * DAY], ids=str)
def test_the_cost_of_a_year_is_that_of_a_few_periods(line: str, deadline: timedelta) -> None:
    with counted(decide, Schedule.next, Schedule.previous) as calls:
        found = recover(timing(line), policy(deadline), YEAR, YEAR.until)

    assert sum(each.period_count for each in found.closed_before) + (found.runs is not None) == MINUTES
    assert len(found.closed_before) <= 4
    assert sum(calls.values()) < 60


def test_a_year_within_the_deadline_is_one_run_and_one_closing() -> None:
    found = recover(timing("* * * * *"), policy(9000 * HOUR), YEAR, YEAR.until)

    assert found.runs is not None
    assert found.runs.nominal_time == YEAR.until
    (closing,) = found.closed_before
    assert (closing.outcome, closing.reason, closing.period_count) == (Outcome.SKIPPED, "superseded", MINUTES - 1)
    assert closing.first.nominal_time == YEAR.since + MINUTE
    assert closing.last_effective == YEAR.until - MINUTE


def test_the_cost_of_overlapping_windows_is_that_of_a_window_at_each_end() -> None:
    line = timing("* * * * * @win(around,12h)")

    with counted(decide) as calls:
        found = recover(line, policy(180 * DAY), YEAR, YEAR.until)

    periods = sum(each.period_count for each in found.closed_before) + 1
    assert abs(periods - MINUTES) < 720
    assert calls["decide"] < 4 * 720


def test_handled_periods_divide_a_long_range() -> None:
    middle = YEAR.since + 100 * DAY
    handled = HandledPeriods(((middle, middle + 9 * MINUTE), (middle + DAY, middle + DAY)))

    with counted(decide) as calls:
        found = recover(timing("* * * * *"), policy(9000 * HOUR), YEAR, YEAR.until, handled)

    assert [each.period_count for each in found.closed_before] == [100 * 1440 - 1, 1430, MINUTES - 101 * 1440 - 1]
    assert calls["decide"] < 20


def test_thousands_of_handled_periods_cost_no_search_of_all_of_them_for_each_period() -> None:
    handled = HandledPeriods.from_nominals(YEAR.since + 2 * number * MINUTE for number in range(1, 2_001))
    line = timing("* * * * * @win(after,7h)")

    with counted(HandledPeriods.has, HandledPeriods.apart, decide, Schedule.next) as calls:
        found = recover(line, policy(timedelta()), gap(YEAR.since, YEAR.since + 3 * DAY), YEAR.until, handled)

    assert 1_900 < sum(each.period_count for each in found.closed_before) < 2_740
    assert sum(calls.values()) < 20_000


@pytest.mark.parametrize(
    "deadline", [pytest.param(timedelta(), marks=pytest.mark.slow), pytest.param(9000 * HOUR)], ids=str
)
def test_of_a_long_time_with_constraints_the_newest_periods_are_decided_one_by_one(deadline: timedelta) -> None:
    line = timing("* * * * * @avoid(between=00:00-11:59)")

    with counted(decide) as calls:
        found = recover(line, policy(deadline), YEAR, YEAR.until)

    decided = [each for each in found.closed_before if each.last.nominal_time > YEAR.until - MOST_DECIDED * MINUTE]
    assert 10_000 <= calls["decide"] < 10_010
    assert {each.outcome for each in decided if each.period_count > 700} == {
        Outcome.SKIPPED if deadline else Outcome.MISSED,
        Outcome.UNSCHEDULABLE,
    }
    assert (
        sum(each.period_count for each in found.closed_before + found.closed_after) + (found.runs is not None)
        == MINUTES
    )
    assert found.closed_before[0].period_count >= MINUTES - MOST_DECIDED
    assert found.closed_before[0].outcome is (Outcome.SKIPPED if deadline else Outcome.MISSED)


@pytest.mark.slow
def test_older_periods_are_missed_if_constraints_leave_the_newest_ones_without_a_time() -> None:
    of = YEAR._replace(until=YEAR.until - DAY)

    found = recover(timing("* * * * * @only(months=JAN)"), policy(9000 * HOUR), of, of.until)

    assert found.runs is None
    assert [(each.outcome, each.reason) for each in found.closed_before] == [
        (Outcome.MISSED, "downtime"),
        (Outcome.UNSCHEDULABLE, "the only second is not allowed"),
    ]


@pytest.mark.parametrize(
    ("line", "least", "most"),
    [
        ("* * * * *", 0, 10),
        ("* * * * * @avoid(dow=MON)", MOST_DECIDED, MOST_DECIDED + 10),
        ("0 0 * * * @avoid(dow=MON)", 364, 370),
        ("* * * * * @win(after,24h)", 1440, 4 * 1440),
    ],
)
def test_the_cost_of_a_gap_is_known_before_it_is_judged(line: str, least: int, most: int) -> None:
    assert least <= cost_of(timing(line), YEAR.since, YEAR.until) <= most
    assert cost_of(timing(line), YEAR.until - HOUR, YEAR.until) in (0, 2 * 1440)
