"""The operator's role matches the audit log: no request is refused, and no right is unused."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from kron.adapters.system_clock import SystemClock
from kron.kronjob.kronjob import job_name
from tests.cluster.operator import Operator, install, shipped
from tests.cluster.plane import ControlPlane
from tests.cluster.quota import forbid_jobs
from tests.cluster.role import Comparison, compare
from tests.cluster.soon import due_soon
from tests.cluster.test_plane import job
from tests.cluster.wait import wait_until

pytestmark = pytest.mark.cluster

EXACT = Comparison(refused=frozenset(), unnamed=frozenset(), unused=frozenset())


@pytest.fixture(params=["operator.yaml", "namespaced.yaml"])
def file(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def operator(plane: ControlPlane, namespace: str, file: str, tmp_path: Path) -> Iterator[Operator]:
    """An operator for all namespaces, or for its own."""
    install(plane, shipped(file, namespace))
    flags = ("--namespace", namespace) if file == "namespaced.yaml" else ()
    found = Operator(plane, namespace, tmp_path, *flags)
    yield found
    found.kill()


def test_the_role_is_what_the_operator_needs_and_nothing_more(
    plane: ControlPlane, namespace: str, file: str, operator: Operator
) -> None:
    operator.start()
    now = SystemClock().now()
    soon = due_soon(now, namespace, "runs", successfulJobsHistoryLimit=0)
    taken = due_soon(now, namespace, "taken")
    foreign = job_name(f"{namespace}/taken", taken.first.nominal_time)
    plane.admin.create(job(foreign, "succeeded"), namespace)
    plane.admin.create(soon.document)
    plane.admin.create(taken.document)
    wait_until(lambda: _has(operator, "delete", "jobs"), what="a Job that is over deleted")
    wait_until(lambda: _has(operator, "get", "jobs"), what="a foreign Job looked at")
    forbid_jobs(plane, namespace)
    plane.admin.create(due_soon(SystemClock().now(), namespace, "full").document)
    wait_until(lambda: _has(operator, "patch", "events"), what="an event repeated")

    roles = [each for each in shipped(file, namespace) if each["kind"] in ("Role", "ClusterRole")]
    assert compare(roles, operator.asked()) == EXACT


def _has(operator: Operator, verb: str, resource: str) -> bool:
    return any((row.verb, row.resource) == (verb, resource) for row in operator.asked())
