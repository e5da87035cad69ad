"""Tests of PeriodQueue: every period once, in the order in which they are due."""

from datetime import UTC, datetime, timedelta
from functools import lru_cache

import pytest
from hypothesis import given, settings, strategies as st

from kron.cron.schedule import Schedule
from kron.decision.decide import decide
from kron.decision.decision import Decision
from kron.decision.timing import Timing
from kron.instant import Instant
from kron.rules.periods import HandledPeriods, LongRange, PeriodQueue, effective_time
from tests.calls import counted

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
HOUR = timedelta(hours=1)
LINES = (
    "* * * * *",
    "*/7 * * * *",
    "0 * * * *",
    "* * * * * @win(after,30m)",
    "*/5 * * * * @win(around,2h)",
    "0 * * * * @win(after,90m) @dist(skewLate)",
    "*/10 * * * * @win(after,1h) @only(between=12:00-12:20)",
    "30 2 * * * @tz(Europe/Paris) @win(around,26h)",
)


@lru_cache
def timing(line: str) -> Timing:
    return Timing.parse(line, identity="test/job")


def taken(coming: PeriodQueue, until: Instant) -> list[Decision]:
    found = []
    while (decision := coming.pop(until)) is not None:
        found.append(decision)
    return found


def spans(decisions: list[Decision]) -> HandledPeriods:
    return HandledPeriods(tuple((each.nominal_time, each.nominal_time) for each in decisions))


def by_brute_force(line: str, since: Instant, until: Instant) -> list[Decision]:
    """Decide every period that could matter, and sort."""
    nominals = timing(line).schedule.between(since - 30 * HOUR, until + 30 * HOUR)
    found = [decide(timing(line), nominal) for nominal in nominals]
    return sorted(
        (decision for decision in found if since < effective_time(decision) <= until),
        key=lambda decision: (effective_time(decision), decision.nominal_time),
    )


@settings(max_examples=40)
@given(
    line=st.sampled_from(LINES),
    since=st.integers(-10_000, 10_000).map(lambda seconds: NOON + timedelta(seconds=seconds)),
    hours=st.integers(0, 30),
)
def test_every_period_comes_once_in_the_order_of_effective_times(line: str, since: Instant, hours: int) -> None:
    until = since + hours * HOUR

    assert taken(PeriodQueue(timing(line), since), until) == by_brute_force(line, since, until)


def test_handled_periods_do_not_come_again() -> None:
    since, until = NOON, NOON + HOUR
    everything = by_brute_force(LINES[3], since, until)
    handled = spans(everything[::2])

    assert taken(PeriodQueue(timing(LINES[3]), since, handled), until) == everything[1::2]


def test_a_period_that_is_put_back_comes_again() -> None:
    coming = PeriodQueue(timing("0 * * * *"), NOON)
    first = coming.pop(NOON + HOUR)
    assert first is not None

    coming.put_back(first)

    assert coming.pop(NOON + HOUR) == first


def test_nothing_is_taken_before_its_time() -> None:
    coming = PeriodQueue(timing("0 * * * *"), NOON)

    assert coming.pop(NOON + HOUR - timedelta(microseconds=1)) is None
    assert coming.next_time() == NOON + HOUR


@pytest.mark.parametrize("line", ["0 0 1 1 *", "0 0 1 1 * @win(after,48h)"])
def test_at_the_end_of_the_calendar_nothing_comes(line: str) -> None:
    coming = PeriodQueue(timing(line), datetime(9999, 6, 1, tzinfo=UTC))

    assert coming.next_time() is None


def test_at_its_beginning_the_first_period_comes() -> None:
    coming = PeriodQueue(timing("0 0 * * * @win(after,48h)"), datetime(1, 1, 1, tzinfo=UTC))

    assert coming.first() is not None


def test_a_long_range_of_handled_periods_is_not_walked_through() -> None:
    line, last = timing("* * * * *"), NOON + timedelta(days=365)
    handled = HandledPeriods((), (LongRange(NOON, last, line.schedule),))

    with counted(decide, Schedule.next) as calls:
        first = PeriodQueue(line, NOON - timedelta(minutes=2), handled).first()
        coming = PeriodQueue(line, NOON, handled).first()

    assert first is not None
    assert first.nominal_time == NOON - timedelta(minutes=1)
    assert coming is not None
    assert coming.nominal_time == last + timedelta(minutes=1)
    assert sum(calls.values()) < 20


def test_a_range_of_one_schedule_handles_nothing_that_only_another_one_names() -> None:
    hourly, last = Schedule("0 * * * *"), NOON + timedelta(hours=3)
    handled = HandledPeriods((), (LongRange(NOON, last, hourly),))

    found = taken(PeriodQueue(timing("*/30 * * * *"), NOON - timedelta(minutes=1), handled), last)

    assert [f"{each.nominal_time:%H:%M}" for each in found] == ["12:30", "13:30", "14:30"]
