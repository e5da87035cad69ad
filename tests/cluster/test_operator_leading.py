"""kron-operator: leadership, load, and the namespaces that it watches."""

from pathlib import Path

import pytest

from kron.hosts.operator.deployment import LEASE_NAME
from tests.cluster.client import Document
from tests.cluster.conftest import Replicas
from tests.cluster.load import Load, now
from tests.cluster.operator import Operator, install, shipped
from tests.cluster.plane import ControlPlane
from tests.cluster.sight import NamespaceReader
from tests.cluster.soon import due_soon
from tests.cluster.wait import wait_until

pytestmark = pytest.mark.cluster


def test_sigterm_hands_the_lease_over(plane: ControlPlane, namespace: str, replica: Replicas) -> None:
    patient = ("--lease-duration", "10m", "--renew-deadline", "5m")
    first = replica(*patient).start()
    wait_until(lambda: first.number("kron_operator_leader") == 1, what="a leader")
    second = replica(*patient).start()
    assert second.number("kron_operator_leader") == 0
    load = Load(plane, namespace)
    load.add(60)
    load.wait_for(2)

    assert first.stop() == 0

    wait_until(lambda: second.number("kron_operator_leader") == 1, 30, what="the other leads, long before it is old")
    assert first.lines("stopped")[-1]["time"] < second.lines("leading")[-1]["time"]
    load.wait_for(3)
    load.settle([second])


def test_a_leader_that_is_killed_is_followed_when_its_lease_is_old(
    plane: ControlPlane, namespace: str, replica: Replicas
) -> None:
    haste = ("--lease-duration", "4s", "--renew-deadline", "3s", "--retry-period", "500ms")
    first = replica(*haste).start()
    wait_until(lambda: first.number("kron_operator_leader") == 1, what="a leader")
    second = replica(*haste).start()
    load = Load(plane, namespace)
    load.add(60, policy={"concurrency": "allow", "deadline": "0s"})
    load.wait_for(2)

    first.kill()

    wait_until(lambda: second.number("kron_operator_leader") == 1, what="the other leads")
    assert plane.admin.get("Lease", namespace, LEASE_NAME)["spec"]["leaseTransitions"] == 1
    load.wait_for(3)
    load.settle([second])
    sight = NamespaceReader(plane, namespace)  # a standby is armed: with its slack, nothing is missed
    outcomes = [outcome for index in range(60) for outcome, _ in sight.outcomes(f"load-{index}")]
    assert set(outcomes) == {"executed"}


def test_a_leader_that_cannot_renew_starts_nothing_and_comes_back(
    plane: ControlPlane, namespace: str, replica: Replicas
) -> None:
    operator = replica("--lease-duration", "4s", "--renew-deadline", "3s", "--retry-period", "500ms").start()
    load = Load(plane, namespace)
    load.add(60)
    load.wait_for(2)
    lease = plane.admin.get("Lease", namespace, LEASE_NAME)
    lease["spec"] |= {"holderIdentity": "another-holder", "leaseDurationSeconds": 5}
    plane.admin.patch("Lease", namespace, LEASE_NAME, {"spec": lease["spec"]})

    wait_until(lambda: operator.lines("standing by"), what="standing by")
    assert operator.number("kron_operator_leader") == 0

    wait_until(lambda: operator.number("kron_operator_leader") == 1, what="leading again")
    load.wait_for(2)
    load.settle([operator])


def test_it_sees_two_namespaces_and_asks_for_nothing_beyond_them(
    plane: ControlPlane, namespace: str, tmp_path: Path
) -> None:
    other = plane.namespace()
    install(plane, shipped("namespaced.yaml", namespace))
    _create(plane, [_bound(each, namespace) for each in shipped("namespaced.yaml", other)])
    operator = Operator(plane, namespace, tmp_path, "--namespace", namespace, "--namespace", other)
    try:
        operator.start()
        for each in (namespace, other):
            plane.admin.create(due_soon(now(), each).document)
        for each in (namespace, other):
            wait_until(NamespaceReader(plane, each).outcomes, what=f"a Job in {each}")

        asked = operator.asked()
        assert {row.namespace for row in asked if row.uri != "/apis/kron.io/v1alpha1"} == {namespace, other}
        assert [row for row in asked if not row.is_allowed] == []
    finally:
        operator.kill()
        plane.admin.delete("Namespace", "", other)


def test_a_namespace_that_is_deleted_is_left_in_peace(plane: ControlPlane, namespace: str, tmp_path: Path) -> None:
    install(plane, shipped("operator.yaml", namespace))
    operator = Operator(plane, namespace, tmp_path)
    try:
        operator.start()
        other = plane.namespace()
        load = Load(plane, other)
        load.add(60)
        load.wait_for(2)

        plane.admin.delete("Namespace", "", other)

        wait_until(lambda: not _is_there(plane, other), 120, what="the namespace gone")
        wait_until(lambda: operator.number("kron_queue_depth") == 0, what="nothing waits")
        wait_until(lambda: operator.number("kron_kronjobs") == 0, 120, what="no KronJob known")
        assert operator.bugs() == []
        plane.admin.create(due_soon(now(), namespace).document)
        wait_until(NamespaceReader(plane, namespace).outcomes, what="a Job elsewhere")
    finally:
        operator.kill()


def _is_there(plane: ControlPlane, namespace: str) -> bool:
    return namespace in {each["metadata"]["name"] for each in plane.admin.list("Namespace")}


def _create(plane: ControlPlane, objects: list[Document]) -> None:
    for each in objects:
        plane.admin.create(each)


def _bound(given: Document, namespace: str) -> Document:
    """Return an object whose rights are those of the account of a namespace."""
    if given["kind"] == "RoleBinding":
        given["subjects"] = [{**each, "namespace": namespace} for each in given["subjects"]]
    return given
