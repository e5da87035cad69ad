"""outage: of what fell into a time without the host at most one period runs, and the rest is closed in few words."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kron.decision.timing import Timing
from kron.instant import SECOND, Instant
from kron.rules.coming import effective
from kron.rules.outage import Gap, outage
from kron.rules.policy import Policy
from kron.rules.verdict import Outcome, Reason, lateness
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


@pytest.mark.slow
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
