"""What a status remembers of periods, and for how long."""

from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from kron.instant import Instant
from kron.rules.kronjob.entry import Entry, handled_of, joined, kept, read_entries, served
from kron.rules.verdict import Outcome

NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)
MINUTE = timedelta(minutes=1)


def entry(minute: int, *, until: int | None = None, outcome: Outcome = Outcome.EXECUTED, reason: str = "") -> Entry:
    last = minute if until is None else until
    number = last - minute + 1
    return Entry(NOON + minute * MINUTE, NOON + last * MINUTE, number, NOON + last * MINUTE, outcome, reason)


entries = st.builds(
    lambda minute, length, outcome, reason: entry(minute, until=minute + length, outcome=outcome, reason=reason),
    st.integers(-1000, 1000),
    st.integers(0, 3),
    st.sampled_from(Outcome),
    st.sampled_from(["", "ConcurrencyForbid", "Rejected"]),
)


@given(st.lists(entries))
def test_what_is_written_is_read_again(written: list[Entry]) -> None:
    assert read_entries({"handledPeriods": [each.to_dict() for each in written]}) == tuple(written)


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

    assert read_entries({"handledPeriods": found}) == (entry(0),)


def test_a_status_without_a_list_has_no_entries() -> None:
    assert read_entries({}) == read_entries({"handledPeriods": "none"}) == ()


def test_of_a_period_that_two_have_written_the_entry_that_was_there_first_counts() -> None:
    theirs, ours = entry(1, outcome=Outcome.SKIPPED), entry(1)

    assert joined([theirs], [ours, entry(2)]) == (theirs, entry(2))


def test_a_period_inside_of_an_outage_is_known() -> None:
    outage = entry(0, until=9, outcome=Outcome.MISSED)

    assert joined([outage], [entry(5)]) == (outage,)


@given(st.lists(st.integers(-500, 0), unique=True), st.integers(0, 600))
def test_what_is_dropped_is_older_than_the_span_and_than_all_that_is_kept(minutes: list[int], span: int) -> None:
    given_ = [entry(minute) for minute in minutes]

    left = kept(given_, NOON, span * MINUTE)

    gone = [each for each in given_ if each not in left]
    assert all(NOON - each.at > span * MINUTE for each in gone)
    assert not gone or max(each.at for each in gone) < min(each.at for each in left)
    assert len(left) >= min(10, len(given_))
    assert list(left) == [each for each in given_ if each in left]


def test_from_the_oldest_entry_on_everything_that_is_not_listed_is_not_handled() -> None:
    assert served([entry(3), entry(1), entry(2)], NOON) == NOON + MINUTE


def test_without_an_entry_everything_since_the_declaration_is_not_handled() -> None:
    assert served([], NOON) == NOON


def test_what_was_handled_under_an_older_definition_does_not_reach_back_behind_the_present_one() -> None:
    declared: Instant = NOON + 5 * MINUTE

    assert served([entry(1)], declared) == declared


def test_a_listed_period_is_handled() -> None:
    handled = handled_of([entry(1), entry(5, until=7)])

    assert [minute for minute in range(10) if handled.has(NOON + minute * MINUTE)] == [1, 5, 6, 7]
