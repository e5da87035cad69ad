"""kron-operator waits for a cluster that is not ready, and logs why."""

from pathlib import Path

import pytest

from kron.kronjob.crd import crd
from tests.cluster.build import folder
from tests.cluster.conftest import Replicas
from tests.cluster.operator import Operator, install, shipped
from tests.cluster.plane import ControlPlane
from tests.cluster.sight import NamespaceReader
from tests.cluster.wait import wait_until
from tests.kronjob.kronjob_documents import document

pytestmark = pytest.mark.cluster


def test_a_server_that_is_away_at_the_start_is_waited_for(
    plane: ControlPlane, namespace: str, replica: Replicas
) -> None:
    operator = replica()
    plane.kill_api_server()

    wait_until_it_waits(operator)
    plane.start_api_server()

    wait_until(lambda: operator.answer("/readyz")[0] == 200, what="/readyz")
    plane.admin.create(document("seen", namespace))
    wait_until(
        lambda: NamespaceReader(plane, namespace).conditions("seen").get("Ready") == ("True", "Scheduled"),
        what="the KronJob seen",
    )


def test_rights_that_come_later_are_waited_for(plane: ControlPlane, namespace: str, replica: Replicas) -> None:
    (binding,) = [each for each in shipped("namespaced.yaml", namespace) if each["kind"] == "RoleBinding"]
    plane.admin.delete("RoleBinding", namespace, binding["metadata"]["name"])
    operator = replica()

    wait_until_it_waits(operator)
    wait_until(lambda: [row for row in operator.asked() if not row.is_allowed], what="a refusal")
    plane.admin.create(binding)

    wait_until(lambda: operator.answer("/readyz")[0] == 200, what="/readyz")
    wait_until(lambda: operator.number("kron_operator_leader") == 1, what="a leader")


def test_a_definition_that_comes_later_is_waited_for(plane: ControlPlane, tmp_path: Path) -> None:
    assert plane.server  # so that there are programs
    bare = ControlPlane(tmp_path / "plane", folder())
    try:
        namespace = bare.start().namespace()
        install(bare, shipped("namespaced.yaml", namespace))
        operator = Operator(bare, namespace, tmp_path, "--namespace", namespace)
        wait_until_it_waits(operator)
        wait_until(lambda: 404 in {row.code for row in operator.asked()}, what="a resource that is not there")

        bare.apply_crd(crd())

        wait_until(lambda: operator.answer("/readyz")[0] == 200, what="/readyz")
        operator.kill()
    finally:
        bare.stop()


def wait_until_it_waits(operator: Operator) -> None:
    """Start a replica that cannot be ready, and wait until it says so."""
    operator.begin()
    wait_until(lambda: operator.answer("/healthz")[0] == 200, what="/healthz")
    assert operator.answer("/readyz")[0] == 503
