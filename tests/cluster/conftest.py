"""Fixtures: one control plane for a session, a namespace for a test; without its programs the tests are skipped."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from kron.kronjob.crd import crd
from tests.cluster.build import folder, missing
from tests.cluster.load import Load
from tests.cluster.operator import Operator, install, shipped
from tests.cluster.plane import ControlPlane
from tests.cluster.role import compare
from tests.cluster.sight import NamespaceReader


@pytest.fixture(scope="session")
def plane(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ControlPlane]:
    """A control plane that serves KronJobs. A test that hurts it mends it; one that cannot makes one of its own."""
    programs = folder()
    if wanted := missing(programs):
        pytest.skip(f"NOT tested on a real server: no {', '.join(wanted)} in {programs}; see `make test-cluster`")
    found = ControlPlane(tmp_path_factory.mktemp("plane"), programs)
    try:
        found.start(crd()).watch_jobs()
        yield found
    finally:
        found.stop()


@pytest.fixture
def namespace(plane: ControlPlane) -> Iterator[str]:
    """A namespace of the test's own."""
    name = plane.namespace()
    yield name
    plane.admin.delete("Namespace", "", name)


class Replicas:
    """Makes replicas of the operator for one namespace."""

    def __init__(self, plane: ControlPlane, namespace: str, folder: Path) -> None:
        self._plane, self._namespace, self._folder = plane, namespace, folder
        self.made: list[Operator] = []

    def __call__(self, *flags: str) -> Operator:
        """Return one that is not started yet."""
        self.made.append(Operator(self._plane, self._namespace, self._folder, "--namespace", self._namespace, *flags))
        return self.made[-1]


@pytest.fixture
def replica(plane: ControlPlane, namespace: str, tmp_path: Path) -> Iterator[Replicas]:
    """Replicas for the namespace of the test; in the end none of them has asked for what it never may."""
    install(plane, shipped("namespaced.yaml", namespace))
    replicas = Replicas(plane, namespace, tmp_path)
    yield replicas
    for each in replicas.made:
        each.kill()
    assert compare([], replicas.made[0].asked()).refused == frozenset()


@pytest.fixture
def sight(plane: ControlPlane, namespace: str) -> NamespaceReader:
    """What a user sees in the namespace of the test."""
    return NamespaceReader(plane, namespace)


@pytest.fixture
def load(plane: ControlPlane, namespace: str) -> Load:
    """Many KronJobs in the namespace of the test."""
    return Load(plane, namespace)
