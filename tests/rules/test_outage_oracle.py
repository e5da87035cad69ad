"""Tests of outage against an oracle that judges every period of the gap by itself."""

from collections import Counter
from datetime import UTC, datetime, timedelta

from hypothesis import given, strategies as st

from kron.cron.schedule import Schedule
from kron.decision.decide import decide
from kron.decision.timing import Timing
from kron.instant import SECOND, Instant
from kron.rules.outage import ClosedPeriods, Outage, Recovery, close_period, followed, merge_adjacent, recover
from kron.rules.periods import NO_PERIODS, HandledPeriods, effective_time
from kron.rules.policy import Policy
from kron.rules.verdict import Outcome, Reason, lateness
from tests.rules.test_outage import MINUTE, gap, policy
from tests.rules.test_period_queue import HOUR, LINES, NOON, timing


def one_by_one(line: Timing, rule: Policy, of: Outage, now: Instant, handled: HandledPeriods = NO_PERIODS) -> Recovery:
    """Decide every period, look at each on its own, and join what are neighbours."""
    wide = timedelta(seconds=line.terms.width) + MINUTE
    nominals = line.schedule.between(of.since - wide, of.until + wide)
    decisions = [decide(line, nominal) for nominal in nominals if not handled.has(nominal)]
    decisions = sorted(
        (each for each in decisions if of.since < effective_time(each) <= of.until),
        key=lambda each: (effective_time(each), each.nominal_time),
    )
    closings: list[ClosedPeriods] = []
    in_time = []
    for each in decisions:
        if each.chosen_time is None:
            closings.append(close_period(each, Outcome.UNSCHEDULABLE, each.reason or ""))
        elif SECOND * lateness(each.chosen_time, now) > rule.deadline:
            closings.append(close_period(each, Outcome.MISSED, of.reason.value))
        else:
            in_time.append(each)
    if not in_time:
        return Recovery(merge_adjacent(line.schedule, closings), None, [])
    latest = in_time[-1]
    until_then = decisions[: decisions.index(latest)]
    before = [each for each in closings if each.first in until_then]
    before += [close_period(each, Outcome.SKIPPED, Reason.SUPERSEDED.value) for each in in_time[:-1]]
    later = [each for each in closings if each.first not in until_then]
    return Recovery(merge_adjacent(line.schedule, before), latest, merge_adjacent(line.schedule, later))


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
    handled = HandledPeriods(tuple((at, at + long * MINUTE) for at, long in data.draw(ends)))

    assert recover(timing(line), rule, of, now, handled) == one_by_one(timing(line), rule, of, now, handled)


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

    parts = (
        recover(timing(line), rule, gap(NOON, middle), middle),
        recover(timing(line), rule, gap(middle, until), until),
    )
    found, whole = followed(schedule, *parts), recover(timing(line), rule, gap(NOON, until), until)

    assert whole.runs is None or found.runs == whole.runs
    assert closed_by(schedule, found) == closed_by(schedule, whole)
    assert len(found.closed_before) <= len(merge_adjacent(schedule, found.closed_before))


def closed_by(schedule: Schedule, found: Recovery) -> Counter[Instant]:
    periods = Counter(() if found.runs is None else [found.runs.nominal_time])
    for each in found.closed_before + found.closed_after:
        periods.update(schedule.between(each.first.nominal_time - SECOND, each.last.nominal_time))
    return periods
