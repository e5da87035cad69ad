"""kron-operator confined like its container, as far as namespaces allow; the image is not built here."""

import json
import os
import shutil
import signal
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cluster.operator import ACCOUNT, install, shipped
from tests.cluster.plane import ControlPlane, free_ports
from tests.cluster.wait import wait_until
from tests.kronjob.kronjob_documents import document
from tests.packaging.sandbox import UNPRIVILEGED, confined, copy_packages, why_not

pytestmark = pytest.mark.cluster

MAIN = "from kron.entry_points import kron_operator_main; kron_operator_main()"
PACKAGES = (
    "kron", "click", "tzdata", "yaml", "prometheus_client", "starlette", "uvicorn", "anyio", "h11", "idna",
    "aiohttp", "aiohappyeyeballs", "aiosignal", "attr", "attrs", "frozenlist", "multidict", "propcache", "yarl",
)  # fmt: skip


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder that everybody may read."""
    found = Path(tempfile.mkdtemp(prefix="kron-sandbox-"))
    found.chmod(0o755)
    yield found
    shutil.rmtree(found)


def test_the_operator_works_as_unprivileged_process_1_on_a_read_only_root_and_ends_on_request(
    plane: ControlPlane, namespace: str, folder: Path
) -> None:
    if reason := why_not():
        pytest.skip(f"kron-operator as process 1 of a namespace was NOT tested here: {reason}")
    install(plane, shipped("namespaced.yaml", namespace))
    copy_packages(folder, PACKAGES)
    config = folder / "kubeconfig"
    shutil.copy(plane.kubeconfig(plane.token(namespace, ACCOUNT), namespace), config)
    config.chmod(0o644)
    plane.admin.create(document(namespace=namespace))
    variables = {"KUBECONFIG": str(config), "KRON_OPERATOR_NAMESPACE": namespace}

    process = confined(folder, "-c", MAIN, "run", f"--listen=127.0.0.1:{free_ports(1)[0]}", **variables)
    try:
        wait_until(lambda: "status" in plane.admin.get("KronJob", namespace, "db-backup"), what="a status")
        inside = int(Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text("ascii"))
        facts = Path(f"/proc/{inside}/status").read_text("ascii")
        os.kill(inside, signal.SIGTERM)
        _, log = process.communicate(timeout=30)
    finally:
        process.kill()
        process.wait()

    words = {line.split(":")[0]: line.split()[1:] for line in facts.splitlines()}
    assert (words["NSpid"][-1], set(words["Uid"]), words["CapEff"]) == ("1", {str(UNPRIVILEGED)}, ["0000000000000000"])
    assert process.returncode == 0
    assert all(isinstance(json.loads(line), dict) for line in log.splitlines())
