"""One control plane a session, a namespace a test; where its programs are missing, a test says so and is skipped."""

from collections.abc import Iterator

import pytest

from kron.rules.kronjob.crd import crd
from tests.cluster.build import folder, missing
from tests.cluster.plane import ControlPlane


@pytest.fixture(scope="session")
def plane(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ControlPlane]:
    """A control plane that serves KronJobs. A test that hurts it mends it; one that cannot makes one of its own."""
    programs = folder()
    if wanted := missing(programs):
        pytest.skip(f"NOT tested on a real server: no {', '.join(wanted)} in {programs}; see `make test-cluster`")
    found = ControlPlane(tmp_path_factory.mktemp("plane"), programs)
    try:
        yield found.start(crd())
    finally:
        found.stop()


@pytest.fixture
def namespace(plane: ControlPlane) -> Iterator[str]:
    """A namespace of the test's own."""
    name = plane.namespace()
    yield name
    plane.admin.delete("Namespace", "", name)
