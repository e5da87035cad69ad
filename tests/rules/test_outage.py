"""outage: of what fell into a time without the host at most one period runs, and the rest is closed in few words."""

from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kron.cron.schedule import Schedule
from kron.decision.decide import decide
from kron.decision.timing import Timing
from kron.instant import SECOND, Instant
from kron.rules.coming import effective
from kron.rules.handled import NONE, Handled
from kron.rules.outage import MOST_DECIDED, Closing, Gap, Outage, close, cost_of, followed, join, outage
from kron.rules.policy import Policy
from kron.rules.verdict import Outcome, Reason, lateness
from tests.rules.calls import counted
from tests.rules.test_coming import HOUR, LINES, NOON, by_brute_force, spans, timing

DAY = timedelta(days=1)
MINUTE = timedelta(minutes=1)


def gap(since: Instant, until: Instant) -> Gap:
    return Gap(since, until, Reason.DOWNTIME)


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
    found = outage(timing(line), policy(deadline), gap(since, until), until)

    everything = by_brute_force(line, since, until)
    in_time = [
        each for each in everything
        if each.chosen_time is not None and SECOND * lateness(each.chosen_time, until) <= deadline
    ]  # fmt: skip
    closings = [*found.closings, *found.later]
    assert sum(closing.number for closing in closings) + (found.latest is not None) == len(everything)
    assert found.latest == (in_time[-1] if in_time else None)
    superseded = sum(each.number for each in closings if each.reason == "superseded")
    assert superseded == max(0, len(in_time) - 1)
    missed = sum(each.number for each in closings if each.outcome is Outcome.MISSED)
    assert missed == sum(each.chosen_time is not None for each in everything) - len(in_time)


def test_neighbours_with_the_same_outcome_are_one_closing() -> None:
    found = outage(timing("0 * * * *"), policy(2 * HOUR), gap(NOON, NOON + 5 * HOUR + MINUTE), NOON + 5 * HOUR + MINUTE)

    assert [(each.outcome.value, each.reason, each.number) for each in found.closings] == [
        ("missed", "downtime", 3),
        ("skipped", "superseded", 1),
    ]
    assert found.latest is not None
    assert found.latest.nominal_time == NOON + 5 * HOUR


@given(
    line=st.sampled_from(LINES),
    since=st.integers(-10_000, 10_000).map(lambda seconds: NOON + timedelta(seconds=seconds)),
    hours=st.integers(0, 60),
    minutes=st.integers(0, 200),
)
def test_all_that_lies_between_the_ends_of_a_closing_is_closed_by_it(
    line: str, since: Instant, hours: int, minutes: int
) -> None:
    until = since + hours * HOUR
    found = outage(timing(line), policy(minutes * MINUTE), gap(since, until), until)

    everything = {each.nominal_time: each for each in by_brute_force(line, since, until)}
    closed: list[Instant] = []
    for closing in found.closings + found.later:
        first, last = closing.first.nominal_time, closing.last.nominal_time
        inside = list(timing(line).schedule.between(first - SECOND, last))
        assert len(inside) == closing.number
        assert closing.reached >= max(effective(everything[nominal]) for nominal in inside)
        closed += inside
    latest = [] if found.latest is None else [found.latest.nominal_time]
    assert sorted(closed + latest) == sorted(everything)


def test_a_year_of_overlapping_windows_is_a_few_closings_at_its_ends_and_one_between() -> None:
    since = datetime(2025, 1, 1, tzinfo=UTC)
    until = since + 365 * DAY

    found = outage(timing("* * * * * @win(after,30m)"), policy(timedelta()), gap(since, until), until + SECOND)

    numbers = sorted(each.number for each in found.closings)
    assert numbers[-1] > 365 * 24 * 60 - 60
    assert len(numbers) < 30
    assert {each.reason for each in found.closings} == {"downtime"}


@pytest.mark.parametrize("line", ["* * * * *", "* * * * * @tz(America/New_York)"])
def test_a_year_is_one_closing(line: str) -> None:
    since = datetime(2025, 1, 1, tzinfo=UTC)
    until = since + 365 * DAY

    found = outage(timing(line), policy(timedelta()), gap(since, until), until + SECOND)

    assert [(each.outcome, each.reason) for each in found.closings] == [(Outcome.MISSED, "downtime")]
    assert found.closings[0].number == 365 * 24 * 60
    assert found.closings[0].first.nominal_time <= since + MINUTE
    assert until - 31 * MINUTE <= found.closings[0].last.nominal_time


def test_a_window_over_a_year_counts_as_brute_force_does_at_both_ends() -> None:
    line, since = "*/3 * * * * @win(around,4h)", datetime(2025, 1, 1, tzinfo=UTC)
    until = since + 20 * DAY

    found = outage(timing(line), policy(HOUR), gap(since, until), until)

    everything = by_brute_force(line, since, until)
    assert sum(each.number for each in found.closings) + 1 == len(everything)
    assert found.closings[-1].reached <= until


def test_handled_periods_are_not_closed_again() -> None:
    everything = by_brute_force("* * * * * @win(after,30m)", NOON, NOON + 3 * HOUR)
    handled = spans(everything[:50])
    line = timing("* * * * * @win(after,30m)")

    found = outage(line, policy(timedelta()), gap(NOON, NOON + 3 * HOUR), NOON + 4 * HOUR, handled)

    assert sum(each.number for each in found.closings) == len(everything) - 50


def test_a_deadline_longer_than_the_calendar_never_passes() -> None:
    line = Timing.parse("0 * * * *", identity="job")

    found = outage(line, policy(timedelta.max), gap(NOON, NOON + 3 * HOUR), NOON + 3 * HOUR)

    assert found.latest is not None
    assert [each.reason for each in found.closings] == ["superseded"]


# --- the same as one by one -------------------------------------------------------------------------------------------


def one_by_one(line: Timing, rule: Policy, of: Gap, now: Instant, handled: Handled = NONE) -> Outage:
    """Decide every period, look at each on its own, and join what are neighbours."""
    wide = timedelta(seconds=line.terms.width) + MINUTE
    nominals = line.schedule.between(of.since - wide, of.until + wide)
    decisions = [decide(line, nominal) for nominal in nominals if not handled.has(nominal)]
    decisions = sorted(
        (each for each in decisions if of.since < effective(each) <= of.until),
        key=lambda each: (effective(each), each.nominal_time),
    )
    closings: list[Closing] = []
    in_time = []
    for each in decisions:
        if each.chosen_time is None:
            closings.append(close(each, Outcome.UNSCHEDULABLE, each.reason or ""))
        elif SECOND * lateness(each.chosen_time, now) > rule.deadline:
            closings.append(close(each, Outcome.MISSED, of.reason.value))
        else:
            in_time.append(each)
    if not in_time:
        return Outage(join(line.schedule, closings), None, [])
    latest = in_time[-1]
    until_then = decisions[: decisions.index(latest)]
    before = [each for each in closings if each.first in until_then]
    before += [close(each, Outcome.SKIPPED, Reason.SUPERSEDED.value) for each in in_time[:-1]]
    later = [each for each in closings if each.first not in until_then]
    return Outage(join(line.schedule, before), latest, join(line.schedule, later))


MORE_LINES = (
    *LINES,
    "*/2 * * * * @win(around,30m) @dist(skewEarly)",
    "*/15 * * * * @win(around,3h) @tz(America/New_York) @dst(repeated=first)",
    "*/20 * * * * @tz(Europe/Paris) @dst(gap=shift)",
    "*/15 * * * * @avoid(between=13:00-16:30)",
    "*/30 * * * * @win(around,4h) @only(between=09:00-09:30)",
)
MOMENTS = (NOON, datetime(2026, 3, 8, 6, tzinfo=UTC), datetime(2026, 3, 29, 1, tzinfo=UTC))  # clocks are set ahead then


@given(
    line=st.sampled_from(MORE_LINES),
    since=st.builds(
        lambda at, seconds: at + timedelta(seconds=seconds), st.sampled_from(MOMENTS), st.integers(0, 9999)
    ),
    minutes=st.integers(0, 600),
    deadline=st.integers(0, 700),
    late=st.timedeltas(timedelta(), timedelta(minutes=2)),
    data=st.data(),
)
def test_a_gap_has_the_result_of_a_decision_for_each_period(
    line: str, since: Instant, minutes: int, deadline: int, late: timedelta, data: st.DataObject
) -> None:
    of, now, rule = gap(since, since + minutes * MINUTE), since + minutes * MINUTE + late, policy(deadline * MINUTE)
    nominals = list(timing(line).schedule.between(of.since - HOUR, of.until))
    ends = st.lists(st.tuples(st.sampled_from(nominals or [NOON]), st.integers(0, 90)), max_size=4)
    handled = Handled(tuple((at, at + long * MINUTE) for at, long in data.draw(ends)))

    assert outage(timing(line), rule, of, now, handled) == one_by_one(timing(line), rule, of, now, handled)


@given(
    line=st.sampled_from(MORE_LINES),
    minutes=st.lists(st.integers(0, 400), min_size=2, max_size=2),
    deadline=st.integers(0, 500),
)
def test_a_gap_that_is_judged_in_two_parts_has_the_same_periods_and_the_same_latest_one(
    line: str, minutes: list[int], deadline: int
) -> None:
    middle, rule, schedule = NOON + minutes[0] * MINUTE, policy(deadline * MINUTE), timing(line).schedule
    until = middle + minutes[1] * MINUTE

    parts = outage(timing(line), rule, gap(NOON, middle), middle), outage(timing(line), rule, gap(middle, until), until)
    found, whole = followed(schedule, *parts), outage(timing(line), rule, gap(NOON, until), until)

    assert whole.latest is None or found.latest == whole.latest
    assert closed_by(schedule, found) == closed_by(schedule, whole)
    assert len(found.closings) <= len(join(schedule, found.closings))


def closed_by(schedule: Schedule, found: Outage) -> Counter[Instant]:
    periods = Counter(() if found.latest is None else [found.latest.nominal_time])
    for each in found.closings + found.later:
        periods.update(schedule.between(each.first.nominal_time - SECOND, each.last.nominal_time))
    return periods


# --- the cost of a long gap -------------------------------------------------------------------------------------------


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
    assert calls["decide"] < MOST_DECIDED + 10
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
