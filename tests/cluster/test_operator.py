"""kron-operator on a real cluster: what becomes of KronJobs, as a user sees it."""

from typing import Any

import pytest

from kron.adapters.system_clock import SystemClock
from kron.instant import Instant, format_instant
from kron.rules.kronjob.child import job_name
from tests.cluster.client import Document
from tests.cluster.conftest import Replicas
from tests.cluster.kubelet import ORDER
from tests.cluster.plane import ControlPlane
from tests.cluster.soon import Due, due_soon
from tests.cluster.wait import wait_until
from tests.rules.kronjob.world import TEMPLATE, document, kronjob

pytestmark = pytest.mark.cluster


def now() -> Instant:
    return SystemClock().now()


def template(order: str) -> dict[str, Any]:
    """Return a template whose Pods do as they are told."""
    return {"spec": {"template": {**TEMPLATE["spec"]["template"], "metadata": {"annotations": {ORDER: order}}}}}


def status(plane: ControlPlane, namespace: str, name: str) -> Document:
    found: Document = plane.admin.get("KronJob", namespace, name).get("status", {})
    return found


def handled(plane: ControlPlane, namespace: str, name: str) -> list[tuple[str, str]]:
    """Return outcomes and reasons of the periods that were handled."""
    entries = status(plane, namespace, name).get("handledPeriods", [])
    return [(each["outcome"], each.get("reason", "")) for each in entries]


def condition(plane: ControlPlane, namespace: str, name: str, kind: str) -> tuple[str, str, str]:
    """Return status, reason and message of a condition."""
    found = status(plane, namespace, name).get("conditions", [])
    return next(
        ((each["status"], each["reason"], each["message"]) for each in found if each["type"] == kind), ("", "", "")
    )


def events(plane: ControlPlane, namespace: str, name: str) -> set[tuple[str, str]]:
    found = plane.admin.list("Event", namespace)
    return {(each["type"], each["reason"]) for each in found if each["involvedObject"]["name"] == name}


def names(plane: ControlPlane, namespace: str) -> set[str]:
    return {each["metadata"]["name"] for each in plane.admin.list("Job", namespace)}


def first_name(due: Due) -> str:
    """Return the name of the Job of the period that is due soon."""
    metadata = due.document["metadata"]
    return job_name(kronjob(name=metadata["name"], namespace=metadata["namespace"]), due.first.nominal_time)


def test_a_job_is_created_at_its_second_and_its_end_is_told(
    plane: ControlPlane, namespace: str, replica: Replicas
) -> None:
    operator = replica().start()
    due = due_soon(now(), namespace)

    plane.admin.create(due.document)
    wait_until(lambda: "lastSuccessfulTime" in status(plane, namespace, "soon"), what="lastSuccessfulTime")

    (job,) = plane.admin.list("Job", namespace)
    chosen, nominal = due.first.chosen_time, due.first.nominal_time
    assert chosen is not None
    assert job["metadata"]["name"] == first_name(due)
    assert job["metadata"]["annotations"]["kron.io/chosen-time"] == format_instant(chosen)
    (made,) = [row for row in operator.asked() if (row.verb, row.resource) == ("create", "jobs")]
    assert made.at >= chosen
    found = status(plane, namespace, "soon")
    assert (found["lastOutcome"], found["lastNominalTime"]) == ("executed", format_instant(nominal))
    assert handled(plane, namespace, "soon") == [("executed", "")]
    told = {("Normal", "SuccessfulCreate"), ("Normal", "SawCompletedJob")}
    wait_until(lambda: told <= events(plane, namespace, "soon"), what="events")


def test_a_failed_job_is_told_and_kept_by_its_own_limit(plane: ControlPlane, namespace: str, replica: Replicas) -> None:
    replica().start()
    failing = template("failed")
    failing["spec"]["backoffLimit"] = 0
    due = due_soon(now(), namespace, jobTemplate=failing, failedJobsHistoryLimit=0)

    plane.admin.create(due.document)

    wait_until(lambda: ("Normal", "SuccessfulDelete") in events(plane, namespace, "soon"), what="deletion told")
    wait_until(lambda: names(plane, namespace) == set(), what="the Job deleted")
    assert handled(plane, namespace, "soon") == [("executed", "")]
    assert "lastSuccessfulTime" not in status(plane, namespace, "soon")


def test_a_suspended_kronjob_has_no_next_and_gets_one_when_it_is_resumed(
    plane: ControlPlane, namespace: str, replica: Replicas
) -> None:
    replica().start()
    due = due_soon(now(), namespace, first=(60, 120), second=(60, 600), policy={"suspend": True})
    plane.admin.create(due.document)
    wait_until(lambda: condition(plane, namespace, "soon", "Ready")[1] == "Suspended", what="Suspended")
    assert "nextChosenTime" not in status(plane, namespace, "soon")

    plane.admin.patch("KronJob", namespace, "soon", {"spec": {"policy": {"suspend": False}}})

    wait_until(lambda: condition(plane, namespace, "soon", "Ready")[1] == "Scheduled", what="Scheduled")
    chosen = due.first.chosen_time
    assert chosen is not None
    assert status(plane, namespace, "soon")["nextChosenTime"] == format_instant(chosen)
    wait_until(lambda: ("Normal", "Resumed") in events(plane, namespace, "soon"), what="Resumed")


def test_a_wrong_spec_is_told_under_its_field_until_it_is_repaired(
    plane: ControlPlane, namespace: str, replica: Replicas
) -> None:
    replica().start()
    plane.admin.create(document("wrong", namespace, timeZone="Mars/Base"))
    wait_until(lambda: condition(plane, namespace, "wrong", "InvalidSpec")[0] == "True", what="InvalidSpec")
    assert condition(plane, namespace, "wrong", "InvalidSpec")[2].startswith("spec.timeZone: ")
    assert condition(plane, namespace, "wrong", "Ready")[:2] == ("False", "InvalidSpec")

    plane.admin.patch("KronJob", namespace, "wrong", {"spec": {"timeZone": "Europe/Paris"}})

    wait_until(lambda: condition(plane, namespace, "wrong", "Ready")[:2] == ("True", "Scheduled"), what="Ready")
    assert condition(plane, namespace, "wrong", "InvalidSpec")[:2] == ("False", "AsExpected")


def test_forbid_skips_the_period_that_comes_while_a_job_runs(
    plane: ControlPlane, namespace: str, replica: Replicas
) -> None:
    replica().start()
    due = due_soon(now(), namespace, second=(10, 20), jobTemplate=template("running"))

    plane.admin.create(due.document)

    expected = [("executed", ""), ("skipped", "ConcurrencyForbid")]
    wait_until(lambda: handled(plane, namespace, "soon")[:2] == expected, what="the second period skipped")
    assert names(plane, namespace) == {first_name(due)}


def test_replace_waits_until_the_job_before_is_gone(plane: ControlPlane, namespace: str, replica: Replicas) -> None:
    replica().start()
    policy = {"concurrency": "replace"}
    due = due_soon(now(), namespace, second=(10, 20), policy=policy, jobTemplate=template("stuck"))
    plane.admin.create(due.document)
    old = first_name(due)
    wait_until(lambda: old in names(plane, namespace), what="the first Job")
    wait_until(
        lambda: "deletionTimestamp" in plane.admin.get("Job", namespace, old)["metadata"], what="its deletion asked for"
    )
    assert names(plane, namespace) == {old}

    for pod in plane.admin.list("Pod", namespace):
        change = {"metadata": {"annotations": {ORDER: "running"}}}
        plane.admin.patch("Pod", namespace, pod["metadata"]["name"], change)

    wait_until(lambda: names(plane, namespace) - {old}, what="the second Job")
    assert old not in names(plane, namespace)


def test_what_a_deleted_kronjob_left_is_collected_and_nothing_new_comes(
    plane: ControlPlane, namespace: str, replica: Replicas
) -> None:
    operator = replica().start()
    due = due_soon(now(), namespace, second=(15, 20), jobTemplate=template("running"))
    plane.admin.create(due.document)
    wait_until(lambda: names(plane, namespace), what="the Job")

    plane.admin.delete("KronJob", namespace, "soon")

    wait_until(lambda: not names(plane, namespace), what="the Job collected")
    second = due.decisions[1].chosen_time
    assert second is not None
    wait_until(lambda: _renewed_after(operator, second), what="the second period over")
    assert names(plane, namespace) == set()


def test_a_kronjob_that_is_not_due_causes_no_write(plane: ControlPlane, namespace: str, replica: Replicas) -> None:
    operator = replica().start()
    plane.admin.create(document("yearly", namespace, schedule="0 0 29 2 *"))
    wait_until(lambda: condition(plane, namespace, "yearly", "Ready")[0] == "True", what="Ready")
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
