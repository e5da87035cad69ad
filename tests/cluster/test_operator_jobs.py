"""kron-operator on a real cluster: the Jobs that it creates, keeps and deletes."""

from typing import Any

import pytest

from kron.decision.seed import period_id
from kron.instant import SECOND, Instant, format_instant
from kron.kronjob.kronjob import job_name
from tests.cluster.conftest import Replicas
from tests.cluster.load import Load, now
from tests.cluster.plane import ControlPlane
from tests.cluster.sight import NamespaceReader, template
from tests.cluster.soon import Due, due_soon
from tests.cluster.test_plane import job
from tests.cluster.wait import wait_until
from tests.kronjob.kronjob_documents import kronjob

pytestmark = pytest.mark.cluster

LONG = f"{'a' * 50}.{'b' * 60}.{'c' * 60}.{'d' * 80}"
RUNNING = template("running")
ALLOW, REPLACE = {"concurrency": "allow"}, {"concurrency": "replace"}


def child(due: Due, number: int = 0) -> str:
    """Return the name of the Job of one of its periods."""
    metadata = due.document["metadata"]
    one = kronjob(name=metadata["name"], namespace=metadata["namespace"])
    return job_name(one.identity, due.decisions[number].nominal_time)


def test_a_job_says_whose_it_is_and_how_its_second_was_chosen(
    plane: ControlPlane, namespace: str, sight: NamespaceReader, replica: Replicas
) -> None:
    replica().start()
    metadata = {"labels": {"team": "data", "kron.io/kronjob": "mine"}, "annotations": {"note": "x"}}
    due = due_soon(now(), namespace, jobTemplate={**RUNNING, "metadata": metadata})
    plane.admin.create(job("mine", "running"), namespace)  # which blocks no other Job
    uid = plane.admin.create(due.document)["metadata"]["uid"]

    wait_until(lambda: child(due) in sight.jobs(), what="the Job")

    found = sight.jobs()[child(due)]["metadata"]
    nominal, chosen = due.first.nominal_time, due.first.chosen_time
    assert chosen is not None
    labels = {
        "app.kubernetes.io/managed-by": "kron-operator",
        "kron.io/kronjob": "soon",
        "kron.io/kronjob-uid": uid,
        "kron.io/period": f"{nominal:%Y%m%dT%H%M%SZ}",
    }
    assert {key: found["labels"][key] for key in (*labels, "team")} == {**labels, "team": "data"}
    assert (
        found["annotations"].items()
        >= {
            "note": "x",
            "kron.io/identity": f"{namespace}/soon",
            "kron.io/period-id": period_id(nominal),
            "kron.io/nominal-time": format_instant(nominal),
            "kron.io/chosen-time": format_instant(chosen),
            "kron.io/seed-hash": due.first.seed_hash,
            "kron.io/algorithm-version": str(due.first.algorithm_version),
        }.items()
    )
    owner = {"apiVersion": "kron.io/v1alpha1", "kind": "KronJob", "name": "soon", "uid": uid}
    assert found["ownerReferences"] == [{**owner, "controller": True, "blockOwnerDeletion": True}]


def test_a_status_names_what_was_what_runs_and_what_comes(
    plane: ControlPlane, namespace: str, sight: NamespaceReader, replica: Replicas
) -> None:
    operator = replica().start()
    due = due_soon(now(), namespace, jobTemplate=RUNNING)
    plane.admin.create(due.document)

    wait_until(lambda: sight.status().get("active"), what="an active Job in the status")

    status = sight.status()
    first, second = (_text(each.chosen_time) for each in due.decisions[:2])
    entry = {"periodID": period_id(due.first.nominal_time), "chosenTime": first, "outcome": "executed", "reason": ""}
    assert status["handledPeriods"] == [entry]
    assert (status["lastChosenTime"], status["lastOutcome"]) == (first, "executed")
    assert (status["nextChosenTime"], status["observedGeneration"]) == (second, 1)
    assert [each["name"] for each in status["active"]] == [child(due)]
    as_expected = ("False", "AsExpected")
    assert sight.conditions() == {
        "Ready": ("True", "Scheduled"),
        "InvalidSpec": as_expected,
        "SchedulingError": as_expected,
        "Unschedulable": as_expected,
    }
    rows = [(row.at, row.verb, row.resource) for row in operator.asked()]
    (made,) = [at for at, *what in rows if what == ["create", "jobs"]]
    written = [at for at, *what in rows if what == ["patch", "kronjobs"] and at >= made]
    assert (min(written) - made).total_seconds() < 10  # as the requirement says


def test_allow_lets_jobs_run_side_by_side(
    plane: ControlPlane, namespace: str, sight: NamespaceReader, replica: Replicas
) -> None:
    operator = replica().start()
    due = due_soon(now(), namespace, second=(9, 12), policy=ALLOW, jobTemplate=RUNNING)
    plane.admin.create(due.document)

    wait_until(lambda: len(sight.status().get("active", [])) == 2, what="two active Jobs")

    assert set(sight.jobs()) == {child(due), child(due, 1)}
    assert operator.number("kron_active_jobs") == 2


def test_replace_deletes_in_the_foreground(
    plane: ControlPlane, namespace: str, sight: NamespaceReader, replica: Replicas
) -> None:
    operator = replica().start()
    due = due_soon(now(), namespace, second=(9, 12), policy=REPLACE, jobTemplate=template("stuck"))
    plane.admin.create(due.document)
    wait_until(lambda: _is_leaving(sight, child(due)), what="its deletion asked for")

    assert sight.jobs()[child(due)]["metadata"]["finalizers"] == ["foregroundDeletion"]
    sight.let_pods("running")

    wait_until(lambda: child(due, 1) in sight.jobs(), what="the second Job")
    wait_until(lambda: ("Normal", "SuccessfulDelete") in sight.reasons(), what="an event")
    rows = [(row.verb, row.name) for row in operator.asked() if row.resource == "jobs" and row.name]
    assert rows[:3] == [("create", child(due)), ("delete", child(due)), ("create", child(due, 1))]


def test_a_suspension_holds_what_comes_and_touches_no_job(
    plane: ControlPlane, namespace: str, sight: NamespaceReader, load: Load, replica: Replicas
) -> None:
    operator = replica().start()
    policy = {"concurrency": "allow", "deadline": "5m"}
    due = due_soon(now(), namespace, second=(12, 15), policy=policy, jobTemplate=RUNNING)
    plane.admin.create(due.document)
    wait_until(sight.outcomes, what="the first Job")

    plane.admin.patch("KronJob", namespace, "soon", {"spec": {"policy": {"suspend": True}}})
    wait_until(lambda: ("Normal", "Suspended") in sight.reasons(), what="an event")
    second = due.decisions[1].chosen_time
    assert second is not None
    wait_until(lambda: now() > second + SECOND, what="the second period")
    (running,) = sight.jobs().values()
    assert "deletionTimestamp" not in running["metadata"]
    assert "nextChosenTime" not in sight.status()

    plane.admin.patch("KronJob", namespace, "soon", {"spec": {"policy": {"suspend": False}}})
    wait_until(lambda: child(due, 1) in sight.jobs(), what="the second Job, within its deadline")
    wait_until(lambda: ("Normal", "Resumed") in sight.reasons(), what="an event")
    load.settle([operator])


def test_only_as_many_jobs_as_its_limit_are_kept_also_when_that_is_lowered_and_after_a_restart(
    plane: ControlPlane, namespace: str, sight: NamespaceReader, replica: Replicas
) -> None:
    operator = replica().start()
    due = due_soon(now(), namespace, second=(9, 12), policy=ALLOW, successfulJobsHistoryLimit=2)
    plane.admin.create(due.document)
    plane.admin.create(job("mine", "succeeded"), namespace)
    names = {child(due), child(due, 1)}
    wait_until(lambda: len(sight.outcomes()) == 2 and set(sight.jobs()) == {"mine", *names}, what="both kept")

    _limit(plane, namespace, 1)
    wait_until(lambda: set(sight.jobs()) == {"mine", child(due, 1)}, what="the older one deleted")
    operator.kill()
    _limit(plane, namespace, 0)
    operator.start()
    wait_until(lambda: set(sight.jobs()) == {"mine"}, what="the other one deleted")
    Load(plane, namespace).settle([operator])


def test_a_job_that_removes_itself_stays_executed(
    plane: ControlPlane, namespace: str, sight: NamespaceReader, replica: Replicas
) -> None:
    operator = replica().start()
    due = due_soon(now(), namespace, jobTemplate=template("succeeded", ttlSecondsAfterFinished=1))
    plane.admin.create(due.document)

    wait_until(lambda: sight.outcomes() and not sight.jobs(), what="the Job removed")

    assert sight.outcomes() == [("executed", "")]
    assert [row.verb for row in operator.asked() if row.name == child(due)] == ["create"]


def test_names_of_253_characters_have_jobs_and_events(
    plane: ControlPlane, namespace: str, sight: NamespaceReader, replica: Replicas
) -> None:
    assert len(LONG) == 253
    operator = replica().start()
    due = due_soon(now(), namespace, LONG)
    plane.admin.create(due.document)

    wait_until(lambda: "lastSuccessfulTime" in sight.status(LONG), what="its Job's success")

    (found,) = sight.jobs().values()
    assert found["metadata"]["name"] == child(due)
    assert len(found["metadata"]["name"]) <= 63
    assert found["metadata"]["labels"]["kron.io/kronjob"] == LONG[:63]
    wait_until(lambda: ("Normal", "SawCompletedJob") in sight.reasons(LONG), what="an event")
    Load(plane, namespace).settle([operator])


def test_what_was_executed_before_a_kronjob_was_made_again_is_not_executed_again(
    plane: ControlPlane, namespace: str, sight: NamespaceReader, replica: Replicas
) -> None:
    operator = replica().start()
    due = due_soon(now(), namespace, first=(12, 18), policy=ALLOW)
    ours = {"kron.io/identity": f"{namespace}/soon", "kron.io/period-id": period_id(due.first.nominal_time)}
    left = job(child(due), "running")
    left["metadata"]["annotations"] = {**ours, "kron.io/chosen-time": _text(due.first.chosen_time)}
    left["metadata"]["labels"] = {"app.kubernetes.io/managed-by": "kron-operator"}
    plane.admin.create(left, namespace)

    plane.admin.create(due.document)

    wait_until(lambda: sight.outcomes() == [("executed", "")], what="executed")
    assert sight.status()["active"] == []
    chosen = due.first.chosen_time
    assert chosen is not None
    wait_until(lambda: now() > chosen and sight.status()["nextChosenTime"] == _text(due.decisions[1].chosen_time))
    assert [row for row in operator.asked() if (row.verb, row.resource) == ("create", "jobs")] == []


def _text(at: Instant | None) -> str:
    assert at is not None
    return format_instant(at)


def _is_leaving(sight: NamespaceReader, name: str) -> bool:
    found: dict[str, Any] = sight.jobs().get(name, {}).get("metadata", {})
    return "deletionTimestamp" in found


def _limit(plane: ControlPlane, namespace: str, number: int) -> None:
    plane.admin.patch("KronJob", namespace, "soon", {"spec": {"successfulJobsHistoryLimit": number}})
