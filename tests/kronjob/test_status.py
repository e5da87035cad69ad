"""Reading a status, and writing the parts that changed."""

from datetime import UTC, datetime, timedelta
from typing import Any

from hypothesis import given, strategies as st

from kron.instant import Instant
from kron.kronjob.status import (
    CreateFailure,
    KronJobStatus,
    ObjectReference,
    PeriodStatus,
    StoredStatus,
    handled_periods,
    merge_patch,
    merge_periods,
    parse_periods,
    parse_status,
    served_until,
    trim_periods,
)
from kron.rules.verdict import Outcome

NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)
LATER = NOON + timedelta(hours=1)
DONE = PeriodStatus(NOON, NOON, 1, NOON, Outcome.EXECUTED)
NOWHERE = PeriodStatus(NOON, NOON, 1, None, Outcome.UNSCHEDULABLE, "NoCandidate")


def standing(**more: Any) -> KronJobStatus:
    return KronJobStatus(3, "abc", NOON, **more)


def conditions(status: dict[str, Any]) -> dict[str, tuple[str, str]]:
    return {each["type"]: (each["status"], each["reason"]) for each in status["conditions"]}


def test_all_four_conditions_are_always_there() -> None:
    assert conditions(standing().to_dict({}, NOON)) == {
        "Ready": ("True", "Scheduled"),
        "InvalidSpec": ("False", "AsExpected"),
        "SchedulingError": ("False", "AsExpected"),
        "Unschedulable": ("False", "AsExpected"),
    }


def test_a_condition_that_does_not_turn_keeps_its_time() -> None:
    before = standing().to_dict({}, NOON)

    after = standing(create_failure=CreateFailure("Rejected", "no")).to_dict(before, LATER)

    times = {each["type"]: each["lastTransitionTime"] for each in after["conditions"]}
    assert times["Ready"] == "2026-03-02T12:00:00Z"
    assert times["SchedulingError"] == "2026-03-02T13:00:00Z"


def test_a_wrong_spec_is_not_ready_and_says_what_is_wrong() -> None:
    found = standing(errors="spec.timeZone: is unknown").to_dict({}, NOON)

    assert conditions(found)["Ready"] == ("False", "InvalidSpec")
    assert found["conditions"][1]["message"] == "spec.timeZone: is unknown"


def test_the_last_entry_is_reported_and_an_unschedulable_one_sets_its_condition() -> None:
    found = standing(periods=(DONE, NOWHERE)).to_dict({}, NOON)

    assert (found["lastPeriodID"], found["lastOutcome"]) == ("2026-03-02T12:00:00Z", "unschedulable")
    assert "lastChosenTime" not in found
    assert conditions(found)["Unschedulable"] == ("True", "NoCandidate")


def test_active_jobs_are_listed_and_counted() -> None:
    found = standing(active=(ObjectReference("ns", "a-1", "u"),)).to_dict({}, NOON)

    assert found["activeJobs"] == 1
    assert found["active"] == [{"apiVersion": "batch/v1", "kind": "Job", "namespace": "ns", "name": "a-1", "uid": "u"}]


def test_a_status_that_has_not_changed_is_not_written() -> None:
    before = standing(periods=(DONE,)).to_dict({}, NOON)

    assert merge_patch(before, standing(periods=(DONE,)).to_dict(before, LATER)) == {}


documents = st.dictionaries(st.sampled_from("abcd"), st.integers(0, 3))


@given(documents, documents)
def test_a_patch_turns_one_status_into_the_other(old: dict[str, Any], new: dict[str, Any]) -> None:
    patched = {**old, **merge_patch(old, new)}

    assert {key: value for key, value in patched.items() if value is not None} == new


def test_the_operators_part_of_a_status_is_read_back() -> None:
    trouble = CreateFailure("Rejected", "no")
    said = standing(periods=(DONE,), last_successful_time=LATER, create_failure=trouble).to_dict({}, NOON)

    assert parse_status(said) == StoredStatus("abc", NOON, (DONE,), None, LATER, trouble)


def test_an_unwritten_status_has_no_entries() -> None:
    assert parse_status({}) == StoredStatus()


def test_a_status_with_nonsense_in_it_says_nothing() -> None:
    nonsense = {"definedAt": 7, "conditions": "all", "handledPeriods": {}, "nextNominalTime": "soon"}

    assert parse_status(nonsense) == StoredStatus()


# --- the periods of a status ------------------------------------------------------------------------------------------

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
def test_a_written_status_is_read_back(written: list[PeriodStatus]) -> None:
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


def test_invalid_entries_of_the_list_are_left_out() -> None:
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
def test_dropped_entries_are_older_than_the_span_and_than_all_kept_ones(minutes: list[int], span: int) -> None:
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


def test_periods_handled_under_an_older_definition_end_where_the_present_one_begins() -> None:
    declared: Instant = NOON + 5 * MINUTE

    assert served_until([entry(minute) for minute in range(-9, 2)], declared) == declared


def test_a_listed_period_is_handled() -> None:
    handled = handled_periods([entry(1), entry(5, until=7)])

    assert [minute for minute in range(10) if handled.has(NOON + minute * MINUTE)] == [1, 5, 6, 7]
