"""kron-operator on a real cluster: what users see of KronJobs."""

from typing import Any

import pytest

from kron.instant import Instant, format_instant
from kron.kronjob.kronjob import job_name
from tests.cluster.conftest import Replicas
from tests.cluster.load import now
from tests.cluster.plane import ControlPlane
from tests.cluster.sight import NamespaceReader, template
from tests.cluster.soon import Due, due_soon
from tests.cluster.wait import wait_until
from tests.kronjob.kronjob_documents import document

pytestmark = pytest.mark.cluster


def first_name(due: Due) -> str:
    """Return the name of the Job of the period that is due soon."""
    metadata = due.document["metadata"]
    return job_name(f"{metadata['namespace']}/{metadata['name']}", due.first.nominal_time)


def test_a_job_is_created_at_its_second_and_its_end_is_reported(
    plane: ControlPlane, namespace: str, sight: NamespaceReader, replica: Replicas
) -> None:
    operator = replica().start()
    due = due_soon(now(), namespace)

    plane.admin.create(due.document)
    wait_until(lambda: "lastSuccessfulTime" in sight.status(), what="lastSuccessfulTime")

    (job,) = plane.admin.list("Job", namespace)
    chosen, nominal = due.first.chosen_time, due.first.nominal_time
    assert chosen is not None
    assert job["metadata"]["name"] == first_name(due)
    assert job["metadata"]["annotations"]["kron.io/chosen-time"] == format_instant(chosen)
    (made,) = [row for row in operator.asked() if (row.verb, row.resource) == ("create", "jobs")]
    assert made.at >= chosen
    found = sight.status()
    assert (found["lastOutcome"], found["lastNominalTime"]) == ("executed", format_instant(nominal))
    assert sight.outcomes() == [("executed", "")]
    expected = {("Normal", "SuccessfulCreate"), ("Normal", "SawCompletedJob")}
    wait_until(lambda: expected <= sight.reasons(), what="events")


def test_a_failed_job_is_reported_and_kept_by_its_own_limit(
    plane: ControlPlane, namespace: str, sight: NamespaceReader, replica: Replicas
) -> None:
    replica().start()
    failing = template("failed", backoffLimit=0)
    due = due_soon(now(), namespace, jobTemplate=failing, failedJobsHistoryLimit=0)

    plane.admin.create(due.document)

    wait_until(lambda: ("Normal", "SuccessfulDelete") in sight.reasons(), what="the event of the deletion")
    wait_until(lambda: sight.jobs() == {}, what="the Job deleted")
    assert sight.outcomes() == [("executed", "")]
    assert "lastSuccessfulTime" not in sight.status()


def test_a_suspended_kronjob_has_no_next_and_gets_one_when_it_is_resumed(
    plane: ControlPlane, namespace: str, sight: NamespaceReader, replica: Replicas
) -> None:
    replica().start()
    due = due_soon(now(), namespace, first=(60, 120), second=(60, 600), policy={"suspend": True})
    plane.admin.create(due.document)
    wait_until(lambda: sight.conditions().get("Ready") == ("True", "Suspended"), what="Suspended")
    assert "nextChosenTime" not in sight.status()

    plane.admin.patch("KronJob", namespace, "soon", {"spec": {"policy": {"suspend": False}}})

    wait_until(lambda: sight.conditions().get("Ready") == ("True", "Scheduled"), what="Scheduled")
    chosen = due.first.chosen_time
    assert chosen is not None
    assert sight.status()["nextChosenTime"] == format_instant(chosen)
    wait_until(lambda: ("Normal", "Resumed") in sight.reasons(), what="Resumed")


def test_a_wrong_spec_is_reported_under_its_field_until_it_is_repaired(
    plane: ControlPlane, namespace: str, sight: NamespaceReader, replica: Replicas
) -> None:
    replica().start()
    plane.admin.create(document("wrong", namespace, timeZone="Mars/Base"))
    wait_until(lambda: sight.conditions("wrong").get("InvalidSpec", ("",))[0] == "True", what="InvalidSpec")
    assert sight.complaint("InvalidSpec", "wrong").startswith("spec.timeZone: ")
    assert sight.conditions("wrong").get("Ready") == ("False", "InvalidSpec")

    plane.admin.patch("KronJob", namespace, "wrong", {"spec": {"timeZone": "Europe/Paris"}})

    wait_until(lambda: sight.conditions("wrong").get("Ready") == ("True", "Scheduled"), what="Ready")
    assert sight.conditions("wrong").get("InvalidSpec") == ("False", "AsExpected")


def test_forbid_skips_the_period_that_comes_while_a_job_runs(
    plane: ControlPlane, namespace: str, sight: NamespaceReader, replica: Replicas
) -> None:
    replica().start()
    due = due_soon(now(), namespace, second=(10, 20), jobTemplate=template("running"))

    plane.admin.create(due.document)

    expected = [("executed", ""), ("skipped", "ConcurrencyForbid")]
    wait_until(lambda: sight.outcomes()[:2] == expected, what="the second period skipped")
    assert set(sight.jobs()) == {first_name(due)}


def test_what_a_deleted_kronjob_left_is_collected_and_nothing_new_comes(
    plane: ControlPlane, namespace: str, sight: NamespaceReader, replica: Replicas
) -> None:
    operator = replica().start()
    due = due_soon(now(), namespace, second=(15, 20), jobTemplate=template("running"))
    plane.admin.create(due.document)
    wait_until(sight.jobs, what="the Job")

    plane.admin.delete("KronJob", namespace, "soon")

    wait_until(lambda: not sight.jobs(), what="the Job collected")
    second = due.decisions[1].chosen_time
    assert second is not None
    wait_until(lambda: _renewed_after(operator, second), what="the second period over")
    assert sight.jobs() == {}


def test_a_kronjob_that_is_not_due_causes_no_write(
    plane: ControlPlane, namespace: str, sight: NamespaceReader, replica: Replicas
) -> None:
    operator = replica().start()
    plane.admin.create(document("yearly", namespace, schedule="0 0 29 2 *"))
    wait_until(lambda: sight.conditions("yearly").get("Ready", ("",))[0] == "True", what="Ready")
    wait_until(lambda: operator.asked()[-1].resource == "leases", what="all written")
    before = len(operator.asked())

    wait_until(lambda: len(operator.asked()) >= before + 10, what="ten renewals of the lease")

    assert {(row.verb, row.resource) for row in operator.asked()[before:]} <= {
        ("get", "leases"),
        ("update", "leases"),
        ("watch", "kronjobs"),
        ("watch", "jobs"),
    }


def _renewed_after(operator: Any, at: Instant) -> bool:
    return any(row.resource == "leases" and row.at > at for row in operator.asked())
