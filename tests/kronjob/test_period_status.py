"""What a status remembers of periods, and for how long."""

from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from kron.instant import Instant
from kron.kronjob.period_status import (
    PeriodStatus,
    handled_periods,
    merge_periods,
    parse_periods,
    served_until,
    trim_periods,
)
from kron.rules.verdict import Outcome

NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)
MINUTE = timedelta(minutes=1)


def entry(
    minute: int, *, until: int | None = None, outcome: Outcome = Outcome.EXECUTED, reason: str = ""
) -> PeriodStatus:
    last = minute if until is None else until
    number = last - minute + 1
    return PeriodStatus(NOON + minute * MINUTE, NOON + last * MINUTE, number, NOON + last * MINUTE, outcome, reason)


entries = st.builds(
    lambda minute, length, outcome, reason: entry(minute, until=minute + length, outcome=outcome, reason=reason),
    st.integers(-1000, 1000),
    st.integers(0, 3),
    st.sampled_from(Outcome),
    st.sampled_from(["", "ConcurrencyForbid", "Rejected"]),
)


@given(st.lists(entries))
def test_what_is_written_is_read_again(written: list[PeriodStatus]) -> None:
    assert parse_periods({"handledPeriods": [each.to_dict() for each in written]}) == tuple(written)


def test_an_outage_names_its_first_and_last_period_and_how_many_they_are() -> None:
    said = entry(0, until=59, outcome=Outcome.MISSED, reason="DeadlineExceeded").to_dict()

    assert said == {
        "periodID": "2026-03-02T12:00:00Z",
        "lastPeriodID": "2026-03-02T12:59:00Z",
        "count": 60,
        "chosenTime": "2026-03-02T12:59:00Z",
        "outcome": "missed",
        "reason": "DeadlineExceeded",
    }


def test_what_a_stranger_wrote_into_the_list_is_left_out() -> None:
    good = entry(0).to_dict()
    found = [good, None, 7, {}, {**good, "outcome": "eaten"}, {**good, "periodID": "noon"}, {**good, "count": "many"}]

    assert parse_periods({"handledPeriods": found}) == (entry(0),)


def test_a_status_without_a_list_has_no_entries() -> None:
    assert parse_periods({}) == parse_periods({"handledPeriods": "none"}) == ()


def test_of_a_period_that_two_have_written_the_entry_that_was_there_first_counts() -> None:
    theirs, ours = entry(1, outcome=Outcome.SKIPPED), entry(1)

    assert merge_periods([theirs], [ours, entry(2)]) == (theirs, entry(2))


def test_a_period_inside_of_an_outage_is_known() -> None:
    outage = entry(0, until=9, outcome=Outcome.MISSED)

    assert merge_periods([outage], [entry(5)]) == (outage,)


@given(st.lists(st.integers(-500, 0), unique=True), st.integers(0, 600))
def test_what_is_dropped_is_older_than_the_span_and_than_all_that_is_kept(minutes: list[int], span: int) -> None:
    given_ = [entry(minute) for minute in minutes]

    left = trim_periods(given_, NOON, span * MINUTE)

    gone = [each for each in given_ if each not in left]
    assert all(NOON - each.effective_time > span * MINUTE for each in gone)
    assert not gone or max(each.effective_time for each in gone) < min(each.effective_time for each in left)
    assert len(left) >= min(10, len(given_))
    assert list(left) == [each for each in given_ if each in left]


def test_from_the_oldest_entry_of_a_long_list_on_everything_that_is_not_listed_is_not_handled() -> None:
    assert served_until([entry(minute) for minute in (3, 1, 2, *range(4, 11))], NOON) == NOON + MINUTE


def test_a_short_list_hides_nothing_before_its_oldest_entry() -> None:
    assert served_until([entry(minute) for minute in range(1, 10)], NOON) == NOON


def test_without_an_entry_everything_since_the_declaration_is_not_handled() -> None:
    assert served_until([], NOON) == NOON


def test_what_was_handled_under_an_older_definition_does_not_reach_back_behind_the_present_one() -> None:
    declared: Instant = NOON + 5 * MINUTE

    assert served_until([entry(minute) for minute in range(-9, 2)], declared) == declared


def test_a_listed_period_is_handled() -> None:
    handled = handled_periods([entry(1), entry(5, until=7)])

    assert [minute for minute in range(10) if handled.has(NOON + minute * MINUTE)] == [1, 5, 6, 7]
