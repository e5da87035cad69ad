"""The invariant checker finds a violation of each invariant."""

from datetime import UTC, datetime, timedelta
from typing import Any

from kron.instant import format_instant
from kron.kronjob.kronjob import job_name
from tests.cluster.audit import Row
from tests.cluster.client import Document
from tests.cluster.invariants import NamespaceSnapshot, open_periods, periods, violations
from tests.kronjob.kronjob_documents import document, kronjob

CREATED = datetime(2026, 3, 2, 12, 0, 30, tzinfo=UTC)
UNTIL = CREATED + timedelta(minutes=4)
SECOND, MINUTE = timedelta(seconds=1), timedelta(minutes=1)


def row(name: str, at: datetime) -> Row:
    return Row(
        "create", "batch", "jobs", "", "ns", name, 201, is_allowed=True, at=at, user="operator", stage="", uri=""
    )


def entry(number: int, outcome: str = "executed", **more: Any) -> Document:
    nominal = format_instant(CREATED + 30 * SECOND + number * MINUTE)
    return {"periodID": nominal, "chosenTime": nominal, "outcome": outcome, "reason": "", **more}


def snapshot(*entries: Document, late: timedelta = SECOND, **policy: str) -> NamespaceSnapshot:
    """Return a KronJob with four periods, a Job created for each, and these entries in its status."""
    given = document("a", "ns", schedule="* * * * *", policy={"concurrency": "allow", **policy})
    given["metadata"]["creationTimestamp"] = format_instant(CREATED)
    given["status"] = {"handledPeriods": list(entries)}
    one = kronjob(name="a", namespace="ns")
    rows = [row(job_name(one.identity, each.nominal_time), each.nominal_time + late) for each in periods(given, UNTIL)]
    return NamespaceSnapshot([given], [], rows, UNTIL)


ALL = [entry(number) for number in range(4)]


def test_what_is_whole_has_no_violation() -> None:
    assert len(snapshot().rows) == 4
    assert violations(snapshot(*ALL), UNTIL) == []
    assert open_periods(snapshot(*ALL).kronjobs, UNTIL) == []
    assert violations(snapshot(*ALL[:3]), UNTIL - MINUTE) == []


def test_a_period_without_an_outcome_is_one() -> None:
    assert violations(snapshot(*ALL[1:]), UNTIL) == ["ns/a 2026-03-02T12:01:00Z: 0 outcomes"]
    assert open_periods(snapshot(*ALL[1:]).kronjobs, UNTIL) == ["ns/a 2026-03-02T12:01:00Z"]


def test_two_outcomes_of_a_period_are_one() -> None:
    assert violations(snapshot(ALL[0], *ALL), UNTIL) == ["ns/a 2026-03-02T12:01:00Z: 2 outcomes"]


def test_two_jobs_of_a_period_are_one_also_if_the_first_is_gone() -> None:
    found = snapshot(*ALL)
    again = found.rows[1]

    assert violations(found._replace(rows=[*found.rows, again]), UNTIL) == ["ns/a 2026-03-02T12:02:00Z: 2 Jobs"]


def test_a_job_of_a_period_that_was_missed_is_one_and_so_is_none_of_one_that_was_executed() -> None:
    found = snapshot(*ALL[:3], entry(3, "missed"))
    assert violations(found, UNTIL) == ["ns/a 2026-03-02T12:04:00Z: missed with 1 Jobs"]

    found = snapshot(*ALL)
    assert violations(found._replace(rows=found.rows[1:]), UNTIL) == ["ns/a 2026-03-02T12:01:00Z: executed with 0 Jobs"]


def test_a_job_that_only_the_watch_saw_counts() -> None:
    """The client died before the answer, so the audit log has no 201, and the Job is deleted by now."""
    found = snapshot(*ALL)
    name, labels = found.rows[0].name, {"app.kubernetes.io/managed-by": "kron-operator"}
    first = {"name": name, "uid": "1", "labels": labels, "creationTimestamp": format_instant(CREATED + 31 * SECOND)}

    assert violations(found._replace(rows=found.rows[1:], stored=[first]), UNTIL) == []
    assert violations(found._replace(stored=[first, {**first, "uid": "2"}]), UNTIL) == [
        "ns/a 2026-03-02T12:01:00Z: 2 Jobs"
    ]


def test_an_outage_is_the_outcome_of_its_periods() -> None:
    outage = {**entry(0, "missed"), "lastPeriodID": entry(3)["periodID"], "count": 4}

    assert violations(snapshot(outage)._replace(rows=[]), UNTIL) == []


def test_an_outcome_before_its_second_is_one() -> None:
    found = snapshot(*ALL, entry(4, "missed"))

    assert violations(found, UNTIL) == ["ns/a 2026-03-02T12:05:00Z: an outcome before its second"]


def test_a_job_before_its_second_or_after_its_last_one_is_one() -> None:
    assert len(violations(snapshot(*ALL, late=-SECOND), UNTIL)) == 4
    assert violations(snapshot(*ALL, late=35 * SECOND), UNTIL) == []
    assert len(violations(snapshot(*ALL, late=36 * SECOND), UNTIL)) == 4
    assert violations(snapshot(*ALL, late=36 * SECOND, deadline="1s"), UNTIL) == []
    assert violations(snapshot(*ALL, late=36 * SECOND, concurrency="replace"), UNTIL) == []


def test_a_job_of_no_period_or_without_an_owner_is_one() -> None:
    found = snapshot(*ALL)
    labels = {"app.kubernetes.io/managed-by": "kron-operator"}
    metadata = {"name": "stray", "labels": labels, "creationTimestamp": format_instant(CREATED)}

    assert violations(found._replace(jobs=[{"metadata": metadata}]), UNTIL) == [
        "Job stray is of no period",
        "Job stray has no owner",
    ]
    assert violations(found._replace(jobs=[{"metadata": {"name": "foreign"}}]), UNTIL) == []
