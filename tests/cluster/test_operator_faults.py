"""kron-operator while the cluster around it fails: the invariants hold afterwards."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from threading import Event, Thread

import pytest

from kron.instant import SECOND
from tests.cluster.conftest import Replicas
from tests.cluster.load import MOST_HANDLES, Load, handles, now
from tests.cluster.plane import ControlPlane
from tests.cluster.quota import forbid_jobs
from tests.cluster.sight import NamespaceReader, template
from tests.cluster.soon import due_soon
from tests.cluster.wait import wait_until

pytestmark = pytest.mark.cluster


def test_a_killed_api_server_is_waited_for(plane: ControlPlane, load: Load, replica: Replicas) -> None:
    operator = replica().start()
    load.add()
    load.wait_for(3)

    for _ in range(2):
        plane.kill_api_server()
        plane.start_api_server()
        load.wait_for(3)

    load.settle([operator])
    assert handles(operator) <= MOST_HANDLES
    assert operator.process.poll() is None


def test_changes_compacted_during_an_operators_absence_are_listed_again(
    plane: ControlPlane, load: Load, replica: Replicas
) -> None:
    operator = replica().start()
    load.add(40)
    load.wait_for(2)
    operator.process.send_signal(signal.SIGSTOP)

    plane.kill_api_server()
    plane.start_api_server()
    load.add(20, "later")
    plane.compact()
    operator.process.send_signal(signal.SIGCONT)

    wait_until(lambda: 'cause="expired"' in operator.answer("/metrics")[1], what="a watch from a compacted version")
    load.wait_for(3)
    load.settle([operator])


def test_an_operator_that_was_down_makes_up_for_what_is_inside_its_deadline(
    plane: ControlPlane, sight: NamespaceReader, load: Load, replica: Replicas
) -> None:
    operator = replica().start()
    load.add(30)
    load.add(120, "strict", policy={"concurrency": "allow", "deadline": "0s"})
    load.wait_for(2)
    operator.kill()
    until = now() + 6 * SECOND
    wait_until(lambda: now() > until, what="an outage of some seconds")
    plane.compact()

    operator.start()

    load.settle([operator])
    assert any(("missed", "DeadlineExceeded") in sight.outcomes(f"strict-{index}") for index in range(120))


def test_two_operators_that_both_lead_do_the_work_of_one(load: Load, replica: Replicas) -> None:
    operators = [replica("--leader-elect=false").start() for _ in range(2)]
    load.add(90)

    load.wait_for(15)

    load.settle(operators)
    assert [each.number("kron_operator_leader") for each in operators] == [1, 1]
    assert not any(row.resource == "leases" for row in operators[0].asked())


def test_statuses_with_a_constant_foreign_writer_are_complete(
    plane: ControlPlane, namespace: str, load: Load, sight: NamespaceReader, replica: Replicas
) -> None:
    operator = replica().start()
    names = [f"soon-{index}" for index in range(10)]
    begun = now()
    for name in names:
        plane.admin.create(due_soon(begun, namespace, name, first=(5, 10)).document)

    with storm(plane, namespace):
        wait_until(lambda: all(map(sight.outcomes, names)), what="an outcome for each")
        for number, name in enumerate(names * 20):  # each edit is a status more to write, which may conflict
            if operator.number("kron_status_conflicts_total") > 0:
                break
            plane.admin.patch("KronJob", namespace, name, {"spec": {"failedJobsHistoryLimit": 2 + number}})

    wait_until(lambda: operator.number("kron_status_conflicts_total") > 0, what="a conflict in the metrics")
    load.settle([operator])


def test_a_job_deleted_by_hand_is_over_and_never_made_again(
    plane: ControlPlane, namespace: str, sight: NamespaceReader, load: Load, replica: Replicas
) -> None:
    operator = replica().start()
    policy = {"concurrency": "forbid", "deadline": "5m"}
    due = due_soon(now(), namespace, second=(14, 20), policy=policy, jobTemplate=template("running"))
    plane.admin.create(due.document)
    wait_until(sight.outcomes, what="the first Job in the status")
    (first,) = sight.jobs()

    plane.admin.delete("Job", namespace, first)
    operator.kill()
    operator.start()

    wait_until(lambda: len(sight.outcomes()) >= 2, what="the second period")
    assert sight.outcomes()[:2] == [("executed", ""), ("executed", "")]
    assert first not in sight.jobs()
    load.settle([operator])


def test_a_quota_that_forbids_jobs_is_reported_and_waited_for(
    plane: ControlPlane, namespace: str, sight: NamespaceReader, load: Load, replica: Replicas
) -> None:
    operator = replica().start()
    forbid_jobs(plane, namespace)
    plane.admin.create(due_soon(now(), namespace, policy={"concurrency": "allow", "deadline": "5m"}).document)
    load.add(20)
    wait_until(lambda: sight.conditions().get("SchedulingError") == ("True", "FailedCreate"), what="FailedCreate")
    assert "exceeded quota" in sight.complaint("SchedulingError")
    wait_until(lambda: ("Warning", "FailedCreate") in sight.reasons(), what="an event")

    plane.admin.delete("ResourceQuota", namespace, "none")

    wait_until(lambda: sight.outcomes() == [("executed", "")], what="executed")
    wait_until(lambda: sight.conditions()["SchedulingError"] == ("False", "AsExpected"), what="the end of the error")
    load.settle([operator])


def test_what_a_quota_forbids_beyond_deadline_and_slack_is_missed(
    plane: ControlPlane, namespace: str, sight: NamespaceReader, replica: Replicas
) -> None:
    operator = replica("--slack", "3s").start()
    forbid_jobs(plane, namespace)
    plane.admin.create(due_soon(now(), namespace).document)

    wait_until(lambda: sight.outcomes() == [("missed", "DeadlineExceeded")], what="missed")

    wait_until(lambda: ("Warning", "Missed") in sight.reasons(), what="an event")
    Load(plane, namespace).settle([operator])
    assert sight.jobs() == {}


# --- faults -----------------------------------------------------------------------------------------------------------


@contextmanager
def storm(plane: ControlPlane, namespace: str) -> Iterator[None]:
    """Write into every status, again and again."""
    ended = Event()
    admin = plane.admin  # each thread has a connection of its own

    def write() -> None:
        for number in count():
            for each in admin.list("KronJob", namespace):
                if ended.is_set():
                    return
                change = {"status": {"lastSuccessfulTime": f"2026-01-01T00:00:{number % 60:02}Z"}}
                admin.patch("KronJob", namespace, each["metadata"]["name"], change, part="status")

    threads = [Thread(target=write) for _ in range(3)]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        ended.set()
        for thread in threads:
            thread.join()
