"""The horizon: times in a status or a Job count only if they are plausible."""

from datetime import UTC, datetime, timedelta

import pytest

from kron.instant import Instant
from kron.kronjob.status import (
    MOST_COUNTED,
    MOST_ENTRIES,
    PeriodStatus,
    StatusHorizon,
    parse_periods,
    parse_status,
    trim_periods,
)
from kron.rules.verdict import Outcome

NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)
HOUR, DAY = timedelta(hours=1), timedelta(days=1)
FIRST, LAST = datetime.min.replace(tzinfo=UTC), datetime.max.replace(microsecond=0, tzinfo=UTC)
HORIZON = StatusHorizon(NOON, NOON + 5 * HOUR, HOUR)


def one(nominal: Instant, chosen: Instant | None = None) -> PeriodStatus:
    return PeriodStatus(nominal, nominal, 1, chosen, Outcome.EXECUTED)


def span(first: Instant, last: Instant, chosen: Instant | None = None) -> PeriodStatus:
    return PeriodStatus(first, last, 7, chosen, Outcome.MISSED)


@pytest.mark.parametrize(
    "entry",
    [
        one(NOON + HOUR, NOON + HOUR),
        one(NOON, NOON + HOUR),
        one(NOON - HOUR, NOON + HOUR / 2),  # the window began before the creation
        one(NOON + 6 * HOUR),  # its window has begun
        one(NOON + 300 * DAY, NOON + HOUR),  # the window of an earlier definition was longer
        one(NOON + 20 * HOUR, NOON + 20 * HOUR),  # the clock was set back
        span(NOON + HOUR, NOON + 4 * HOUR, NOON + 4 * HOUR),
    ],
)
def test_plausible_times_are_kept(entry: PeriodStatus) -> None:
    assert HORIZON.clip(entry) == entry


@pytest.mark.parametrize(
    "entry",
    [one(FIRST), one(LAST), one(NOON, NOON), one(NOON + HOUR, LAST), one(LAST, NOON + HOUR), one(NOON + 31 * HOUR)],
)
def test_a_period_that_cannot_have_been_handled_is_none(entry: PeriodStatus) -> None:
    assert HORIZON.clip(entry) is None


def test_a_span_is_cut_to_creation_and_present() -> None:
    assert HORIZON.clip(span(FIRST, LAST, LAST)) == span(NOON - HOUR, NOON + 6 * HOUR + DAY)
    assert HORIZON.clip(span(FIRST, NOON - 2 * HOUR)) is None
    assert HORIZON.clip(span(NOON + 40 * HOUR, LAST)) is None


@pytest.mark.parametrize("at", [FIRST, LAST])
def test_a_horizon_at_an_end_of_the_calendar_has_an_end(at: Instant) -> None:
    assert StatusHorizon(at, at, 300 * 365 * DAY).clip(span(FIRST, LAST)) is not None


def test_a_definition_is_in_force_between_creation_and_present() -> None:
    assert [HORIZON.defined_at(at) for at in (FIRST, NOON + HOUR, LAST)] == [NOON, NOON + HOUR, NOON + 5 * HOUR]


def test_the_past_of_a_status_is_clipped_as_a_whole() -> None:
    last = "9999-12-31T23:59:59Z"
    times = dict.fromkeys(("definedAt", "nextNominalTime", "nextChosenTime", "lastSuccessfulTime"), last)
    past = parse_status({**times, "handledPeriods": [{"periodID": last, "outcome": "missed"}]}).within(HORIZON)

    assert (past.defined_at, past.next, past.last_successful_time, past.periods) == (HORIZON.now, None, None, ())


def test_of_too_many_entries_the_last_are_read_and_the_youngest_are_kept() -> None:
    said = [one(NOON + timedelta(seconds=number)).to_dict() for number in range(MOST_ENTRIES + 5)]

    found = parse_periods({"handledPeriods": said})
    assert [found[0].first, len(found)] == [NOON + timedelta(seconds=5), MOST_ENTRIES]
    late = one(NOON - HOUR)
    assert trim_periods((*found, late), NOON, DAY) == found


@pytest.mark.parametrize(("count", "right"), [(-3, 1), (0, 1), (10**30, MOST_COUNTED), (7, 7)])
def test_a_count_is_bounded(count: int, right: int) -> None:
    (entry,) = parse_periods({"handledPeriods": [{**one(NOON).to_dict(), "count": count}]})

    assert entry.period_count == right
