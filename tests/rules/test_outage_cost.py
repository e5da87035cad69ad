"""outage: the cost of a long gap, counted in decisions and searches."""

from datetime import UTC, datetime, timedelta

import pytest

from kron.cron.schedule import Schedule
from kron.decision.decide import decide
from kron.rules.handled import Handled
from kron.rules.outage import MOST_DECIDED, cost_of, outage
from kron.rules.verdict import Outcome
from tests.calls import counted
from tests.rules.test_coming import HOUR, timing
from tests.rules.test_outage import DAY, MINUTE, gap, policy

YEAR = gap(datetime(2025, 1, 1, tzinfo=UTC), datetime(2026, 1, 1, tzinfo=UTC))
MINUTES = 365 * 24 * 60


@pytest.mark.parametrize("line", ["* * * * *", "* * * * * @tz(America/New_York)", "* * * * * @win(after,1m)"])
@pytest.mark.parametrize("deadline", [timedelta(), 30 * DAY, 180 * DAY, 375 * DAY], ids=str)
def test_the_cost_of_a_year_is_that_of_a_few_periods(line: str, deadline: timedelta) -> None:
    with counted(decide, Schedule.next, Schedule.previous) as calls:
        found = outage(timing(line), policy(deadline), YEAR, YEAR.until)

    assert sum(each.number for each in found.closings) + (found.latest is not None) == MINUTES
    assert len(found.closings) <= 4
    assert sum(calls.values()) < 60


def test_a_year_within_the_deadline_is_one_run_and_one_closing() -> None:
    found = outage(timing("* * * * *"), policy(9000 * HOUR), YEAR, YEAR.until)

    assert found.latest is not None
    assert found.latest.nominal_time == YEAR.until
    (closing,) = found.closings
    assert (closing.outcome, closing.reason, closing.number) == (Outcome.SKIPPED, "superseded", MINUTES - 1)
    assert closing.first.nominal_time == YEAR.since + MINUTE
    assert closing.reached == YEAR.until - MINUTE


def test_the_cost_of_overlapping_windows_is_that_of_a_window_at_each_end() -> None:
    line = timing("* * * * * @win(around,12h)")

    with counted(decide) as calls:
        found = outage(line, policy(180 * DAY), YEAR, YEAR.until)

    periods = sum(each.number for each in found.closings) + 1
    assert abs(periods - MINUTES) < 720
    assert calls["decide"] < 4 * 720


def test_handled_periods_divide_a_long_range() -> None:
    middle = YEAR.since + 100 * DAY
    handled = Handled(((middle, middle + 9 * MINUTE), (middle + DAY, middle + DAY)))

    with counted(decide) as calls:
        found = outage(timing("* * * * *"), policy(9000 * HOUR), YEAR, YEAR.until, handled)

    assert [each.number for each in found.closings] == [100 * 1440 - 1, 1430, MINUTES - 101 * 1440 - 1]
    assert calls["decide"] < 20


def test_thousands_of_handled_periods_cost_no_search_of_all_of_them_for_each_period() -> None:
    handled = Handled.of(YEAR.since + 2 * number * MINUTE for number in range(1, 2_001))
    line = timing("* * * * * @win(after,7h)")

    with counted(Handled.has, Handled.apart, decide, Schedule.next) as calls:
        found = outage(line, policy(timedelta()), gap(YEAR.since, YEAR.since + 3 * DAY), YEAR.until, handled)

    assert 1_900 < sum(each.number for each in found.closings) < 2_740
    assert sum(calls.values()) < 20_000


@pytest.mark.parametrize(
    "deadline", [pytest.param(timedelta(), marks=pytest.mark.slow), pytest.param(9000 * HOUR)], ids=str
)
def test_of_a_long_time_with_constraints_the_newest_periods_are_decided_one_by_one(deadline: timedelta) -> None:
    line = timing("* * * * * @avoid(between=00:00-11:59)")

    with counted(decide) as calls:
        found = outage(line, policy(deadline), YEAR, YEAR.until)

    decided = [each for each in found.closings if each.last.nominal_time > YEAR.until - MOST_DECIDED * MINUTE]
    assert 10_000 <= calls["decide"] < 10_010
    assert {each.outcome for each in decided if each.number > 700} == {
        Outcome.SKIPPED if deadline else Outcome.MISSED,
        Outcome.UNSCHEDULABLE,
    }
    assert sum(each.number for each in found.closings + found.later) + (found.latest is not None) == MINUTES
    assert found.closings[0].number >= MINUTES - MOST_DECIDED
    assert found.closings[0].outcome is (Outcome.SKIPPED if deadline else Outcome.MISSED)


@pytest.mark.slow
def test_older_periods_are_missed_if_constraints_leave_the_newest_ones_without_a_time() -> None:
    of = YEAR._replace(until=YEAR.until - DAY)

    found = outage(timing("* * * * * @only(months=JAN)"), policy(9000 * HOUR), of, of.until)

    assert found.latest is None
    assert [(each.outcome, each.reason) for each in found.closings] == [
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
