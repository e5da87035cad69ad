"""The outcome of a KronJob's period: from its status, from an existing Job, or computed."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, strategies as st

from kron.decision.decide import decide
from kron.instant import Instant, parse_instant
from kron.kronjob.kronjob import KronJob, build_job, job_name
from kron.kronjob.parser import parse_kronjob
from kron.rules.periods import effective_time
from kron.why.cluster import ClusterExplanation, ClusterRecords, RecordedBy, cluster_sentence
from kron.why.explanation import ExplainedPeriod
from tests.kronjob.kronjob_documents import document, kronjob

NIGHTLY = {"window": {"duration": "3h"}, "seed": {"salt": "backup"}, "policy": {"deadline": "10m"}}
FIRST, CHOSEN = "2026-03-01T00:00:00Z", "2026-03-01T02:32:20Z"  # as the worked cases have them
JANUARY = "2026-01-01T00:00:00Z"
NOON, LATER = parse_instant("2026-03-01T12:00:00Z"), parse_instant("2026-04-01T00:00:00Z")


def entry(period: str = FIRST, outcome: str = "executed", reason: str = "", **more: Any) -> dict[str, Any]:
    """Return an entry of a status."""
    return {"periodID": period, "outcome": outcome, "reason": reason, **more}


def outage(first: str, last: str) -> dict[str, Any]:
    """Return the entry of an outage."""
    return entry(first, "missed", "DeadlineExceeded", lastPeriodID=last, count=9)


def records(
    *entries: dict[str, Any], jobs: Any = (), created: str = JANUARY, defined: str = JANUARY, **spec: Any
) -> ClusterRecords:
    """Return what a cluster has of a KronJob whose present definition its operator has seen."""
    resource = document(**(NIGHTLY | spec))
    resource["metadata"]["creationTimestamp"] = created
    found = parse_kronjob(resource)
    job = found if isinstance(found, KronJob) else None
    seen = {"definitionHash": job.definition_hash if job else "x", "definedAt": defined}
    resource["status"] = {**seen, "handledPeriods": list(entries)}
    return ClusterRecords("prod/db-backup", resource, job, jobs)


def child(period: str = FIRST, **status: Any) -> dict[str, Any]:
    """Return the Job of a period."""
    owner = kronjob(**NIGHTLY)
    return {**build_job(owner, decide(owner.timing, parse_instant(period))), "status": status}


def asked(known: ClusterRecords, at: str = CHOSEN, now: Instant = NOON) -> ClusterExplanation:
    """Return the account of an instant."""
    return ClusterExplanation(known, parse_instant(at), now)


def period_of(answer: ClusterExplanation) -> ExplainedPeriod:
    assert answer.period is not None
    return answer.period


def nominal_of(answer: ClusterExplanation) -> Instant:
    return period_of(answer).nominal


def outcome_of(answer: ClusterExplanation) -> object:
    return answer.to_dict()["outcome"]


def job_of(answer: ClusterExplanation) -> object:
    return answer.to_dict()["job"]


def said(known: ClusterRecords, at: str = CHOSEN) -> str:
    """Return the account in words."""
    return cluster_sentence(asked(known, at))


# --- from the status --------------------------------------------------------------------------------------------------


def test_the_outcome_of_a_listed_period_is_that_of_the_status() -> None:
    found = asked(records(entry(chosenTime=CHOSEN)))

    assert found.to_dict() == {
        "identity": "prod/db-backup",
        "period_id": FIRST,
        "nominal_time": FIRST,
        "chosen_time": CHOSEN,
        "outcome": "executed",
        "reason": "",
        "source": "status",
        "job": job_name(kronjob().identity, parse_instant(FIRST)),
    }


def test_a_period_that_did_not_run_has_no_job() -> None:
    found = asked(records(entry(outcome="skipped", reason="ConcurrencyForbid")))

    assert (outcome_of(found), found.reason, job_of(found), found.ran) == ("skipped", "ConcurrencyForbid", None, False)


def test_the_status_is_believed_about_the_second_also_where_it_would_be_another_today() -> None:
    found = asked(records(entry(chosenTime="2026-03-01T01:00:00Z")), at=FIRST)

    assert found.chosen == parse_instant("2026-03-01T01:00:00Z")


def test_a_period_of_an_outage_is_one_of_several() -> None:
    found = asked(records(outage("2026-02-25T00:00:00Z", "2026-03-02T00:00:00Z")))

    assert found.to_dict()["period_id"] == FIRST
    assert (outcome_of(found), found.recorded_by, found.chosen) == ("missed", RecordedBy.STATUS, parse_instant(CHOSEN))
    assert period_of(found).row.first == parse_instant("2026-02-25T00:00:00Z")


def test_an_entry_of_its_own_counts_more_than_the_outage_around_it() -> None:
    found = asked(records(entry(), outage("2026-02-25T00:00:00Z", "2026-03-02T00:00:00Z")))

    assert outcome_of(found) == "executed"


def test_an_outage_names_no_period_that_the_definition_does_not_have() -> None:
    found = asked(records(outage("2026-02-25T00:00:00Z", "2026-03-02T00:00:00Z")), at="2026-02-27T12:00:00Z")

    assert found.reason == "NoPeriod"


@pytest.mark.parametrize("at", ["2026-03-01T07:30:00Z", "2026-03-01T09:45:30Z"], ids=["first", "last"])
def test_the_ends_of_an_outage_are_known_also_if_the_definition_does_not_have_them(at: str) -> None:
    assert outcome_of(asked(records(outage("2026-03-01T07:30:00Z", "2026-03-01T09:45:00Z")), at)) == "missed"


@pytest.mark.parametrize("at", ["2026-03-01T07:30:00Z", "2026-03-01T07:41:59Z"], ids=["its minute", "its second"])
def test_a_period_of_an_earlier_definition_is_found_by_its_minutes(at: str) -> None:
    found = asked(records(entry("2026-03-01T07:30:00Z", "missed", chosenTime="2026-03-01T07:41:10Z")), at)

    assert (outcome_of(found), period_of(found).decided) == ("missed", None)


# --- from a Job -------------------------------------------------------------------------------------------------------


def test_a_job_that_is_there_is_an_execution_also_before_the_status_lists_it() -> None:
    found = asked(records(jobs=[child()]))

    assert (outcome_of(found), found.recorded_by, found.chosen) == ("executed", RecordedBy.JOB, parse_instant(CHOSEN))
    assert job_of(found) == child()["metadata"]["name"]


def test_a_job_is_believed_about_its_second_and_its_name_also_if_the_spec_is_invalid_now() -> None:
    for known in (records(jobs=[child()], seed={"salt": "x"}), records(entry(), jobs=[child()], timeZone="Mars")):
        found = asked(known, at=FIRST)
        assert (found.chosen, job_of(found)) == (parse_instant(CHOSEN), child()["metadata"]["name"])


def test_the_status_goes_before_the_job() -> None:
    assert asked(records(entry(), jobs=[child()])).recorded_by is RecordedBy.STATUS


def test_a_job_counts_more_than_an_outage_around_it() -> None:
    found = asked(records(outage("2026-02-25T00:00:00Z", "2026-03-02T00:00:00Z"), jobs=[child()]))

    assert (outcome_of(found), found.recorded_by) == ("executed", RecordedBy.JOB)


def test_a_job_that_was_created_late_is_found_by_that_minute_too() -> None:
    late = child()
    late["metadata"]["creationTimestamp"] = "2026-03-01T04:10:00Z"

    found = asked(records(jobs=[late]), at="2026-03-01T04:10:30Z")
    assert (nominal_of(found), period_of(found).decided is None) == (parse_instant(FIRST), False)
    assert asked(records(jobs=[late]), at="2026-03-01T04:11:00Z").reason == "NoPeriod"


def test_a_job_without_our_annotations_is_none_of_ours() -> None:
    foreign = child()
    foreign["metadata"]["annotations"]["kron.io/identity"] = "prod/other"

    assert asked(records(jobs=[foreign, {"metadata": {"name": "x"}}])).recorded_by is RecordedBy.COMPUTED


@pytest.mark.parametrize(
    ("status", "words"),
    [
        ({}, "which is running."),
        ({"conditions": [{"type": "Complete", "status": "True"}]}, "which has succeeded."),
        (
            {"conditions": [{"type": "Suspended", "status": "True"}, {"type": "Failed", "status": "True"}]},
            "has failed.",
        ),
        ({"conditions": [{"type": "Failed", "status": "False"}]}, "which is running."),
    ],
)
def test_a_job_gives_how_it_ended(status: dict[str, Any], words: str) -> None:
    found = said(records(entry(chosenTime=CHOSEN), jobs=[child(**status)]))

    assert found.startswith(f"Yes: the period {FIRST}, due at {CHOSEN}, was executed by the Job db-backup-")
    assert found.endswith(words)


def test_a_missing_job_is_gone_unless_access_to_jobs_is_denied() -> None:
    assert said(records(entry())).endswith(", which is gone.")
    assert "gone" not in said(records(entry(), jobs=None))


# --- computed: why nothing is recorded --------------------------------------------------------------------------------


def many(count: int) -> list[dict[str, Any]]:
    """Return entries of the days from the second of March on."""
    return [entry(f"2026-03-{day:02}T00:00:00Z") for day in range(2, 2 + count)]


@pytest.mark.parametrize(
    ("known", "now", "reason"),
    [
        (records(), parse_instant("2026-03-01T02:32:19Z"), "Planned"),
        (records(), parse_instant("2026-03-01T02:32:20Z"), "NotHandled"),
        (records(policy={"suspend": True}), NOON, "Suspended"),
        (records(created=CHOSEN), NOON, "BeforeCreation"),
        (records(created="2026-03-01T02:32:19Z"), NOON, "NotHandled"),
        (records(defined=CHOSEN), NOON, "EarlierDefinition"),
        (records(defined="2026-03-01T02:32:19Z"), NOON, "NotHandled"),
        (records(*many(10)), LATER, "Forgotten"),
        (records(*many(9)), LATER, "NotHandled"),
        (records(entry("2026-02-01T00:00:00Z"), *many(10)), LATER, "NotHandled"),
    ],
)
def test_where_nothing_is_recorded_the_reason_says_why(known: ClusterRecords, now: Instant, reason: str) -> None:
    found = asked(known, now=now)

    assert (found.recorded_by, outcome_of(found), found.reason, job_of(found)) == (
        RecordedBy.COMPUTED,
        None,
        reason,
        None,
    )
    assert found.chosen == parse_instant(CHOSEN)
    assert said(known).startswith(f"No: the period {FIRST}, due at {CHOSEN}, ")


@pytest.mark.parametrize("status", [None, {}, {"definitionHash": "another", "definedAt": CHOSEN}])
def test_a_definition_that_no_operator_has_seen_has_no_outcomes(status: dict[str, str] | None) -> None:
    known = records()
    unseen = replace(known, document={**known.document, "status": status})

    assert asked(unseen).reason == "NotSeen"


def test_a_period_without_an_allowed_second_has_none_chosen() -> None:
    known = records(constraints={"only": ["between=12:00-13:00"]})

    assert asked(known).chosen is None
    assert said(known).endswith("no second of its window that is tried is allowed.")


def test_where_there_is_no_period_its_neighbours_are_named() -> None:
    found = asked(records(), at="2026-03-01T12:00:00Z")

    assert (found.reason, found.recorded_by, found.to_dict()["period_id"]) == ("NoPeriod", RecordedBy.COMPUTED, None)
    assert said(records(), "2026-03-01T12:00:00Z").endswith(
        f"the nearest before is {CHOSEN}, the nearest after is 2026-03-02T00:38:36Z."
    )


def test_an_invalid_spec_is_the_reason_that_nothing_ran() -> None:
    known = records(timeZone="Mars")

    assert asked(known).reason == "InvalidSpec"
    assert "the spec is invalid: spec.timeZone: must be" in said(known)


def test_outcomes_recorded_before_the_spec_became_invalid_are_shown() -> None:
    found = asked(records(entry(outcome="skipped", reason="DefinitionChanged"), timeZone="Mars"), at=FIRST)

    assert (outcome_of(found), found.reason) == ("skipped", "DefinitionChanged")


# --- which period is meant --------------------------------------------------------------------------------------------

HOURLY: dict[str, Any] = {"schedule": "0 * * * *", "window": {"duration": "3h"}}  # three windows are open at a time


@given(st.integers(0, 23), st.integers(0, 2))
def test_a_chosen_second_means_its_period_and_so_does_a_nominal_time(hour: int, entries: int) -> None:
    known = records(*many(entries), **HOURLY)
    assert known.kronjob is not None
    nominal = parse_instant(f"2026-03-01T{hour:02}:00:00Z")
    chosen = decide(known.kronjob.timing, nominal).chosen_time
    assert chosen is not None

    assert nominal_of(ClusterExplanation(known, chosen, NOON)) == nominal
    assert nominal_of(ClusterExplanation(known, nominal, NOON)) == nominal


def test_a_chosen_second_counts_more_than_a_nominal_time() -> None:
    known = records(entry("2026-03-01T03:00:00Z", chosenTime="2026-03-01T05:00:00Z"), **HOURLY)

    assert nominal_of(asked(known, at="2026-03-01T05:00:00Z")) == parse_instant("2026-03-01T03:00:00Z")


def test_of_several_windows_the_nearest_second_is_meant() -> None:
    known = records(**HOURLY)
    assert known.kronjob is not None
    at = parse_instant("2026-03-01T05:30:07Z")
    starts = [parse_instant(f"2026-03-01T{hour:02}:00:00Z") for hour in (3, 4, 5)]
    seconds = [effective_time(decide(known.kronjob.timing, start)) for start in starts]

    assert ClusterExplanation(known, at, NOON).chosen == min(seconds, key=lambda second: abs(second - at))


@pytest.mark.parametrize("reason", ["Superseded", "DeadlineExceeded", "NameTaken", "Rejected", "NoCandidate", "New"])
def test_every_reason_has_words(reason: str) -> None:
    found = said(records(entry(outcome="missed", reason=reason)))

    assert f"was missed ({reason}): " in found


def test_the_far_future_of_a_forged_status_is_not_shown() -> None:
    forged = records(outage("0001-01-01T00:00:00Z", "9999-12-31T00:00:00Z"))

    inside, beyond = asked(forged), asked(forged, "2026-03-20T02:00:00Z")

    assert (inside.recorded_by, outcome_of(inside)) == (RecordedBy.STATUS, "missed")
    assert (beyond.recorded_by, beyond.reason) == (RecordedBy.COMPUTED, "Planned")


def test_a_forged_job_of_a_time_before_the_creation_is_not_shown() -> None:
    found = asked(records(jobs=[child()], created="2026-03-02T00:00:00Z"), now=LATER)

    assert (found.recorded_by, found.reason) == (RecordedBy.COMPUTED, "BeforeCreation")
