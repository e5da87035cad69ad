"""What a status says, and what of it is written."""

from datetime import UTC, datetime, timedelta
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from kron.kronjob.period_status import PeriodStatus
from kron.kronjob.status import CreateFailure, KronJobStatus, ObjectReference, StoredStatus, merge_patch, parse_status
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


def test_the_last_entry_is_told_and_an_unschedulable_one_turns_its_condition() -> None:
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


def test_what_a_status_says_of_the_time_before_is_read_again() -> None:
    trouble = CreateFailure("Rejected", "no")
    said = standing(periods=(DONE,), last_successful_time=LATER, create_failure=trouble).to_dict({}, NOON)

    assert parse_status(said) == StoredStatus("abc", NOON, (DONE,), None, LATER, trouble)


def test_a_status_that_nobody_has_written_says_nothing() -> None:
    assert parse_status({}) == StoredStatus()


def test_a_status_with_nonsense_in_it_says_nothing() -> None:
    nonsense = {"definedAt": 7, "conditions": "all", "handledPeriods": {}, "nextNominalTime": "soon"}

    assert parse_status(nonsense) == StoredStatus()
