"""Tests of the control plane that the other cluster tests rely on."""

import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.cluster.client import Refused
from tests.cluster.kubelet import ORDER
from tests.cluster.plane import ControlPlane
from tests.cluster.wait import wait_until
from tests.kronjob.kronjob_documents import document

pytestmark = pytest.mark.cluster

PROGRAMS = ("etcd", "kube-apiserver", "kube-controller-manager", "kubelet")
CHILD = f"""
import sys, time
from pathlib import Path
from tests.cluster.build import folder
from tests.cluster.plane import ControlPlane
plane = ControlPlane(Path(sys.argv[1]), folder()).start()
print(*(plane.pid(name) for name in {PROGRAMS!r}), flush=True)
time.sleep(600)
"""


def job(name: str, order: str) -> dict[str, Any]:
    """Return a Job whose Pod does what its command says."""
    template = {
        "metadata": {"annotations": {ORDER: order}},
        "spec": {"restartPolicy": "Never", "containers": [{"name": "c", "image": "none"}]},
    }
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": name},
        "spec": {"backoffLimit": 0, "template": template},
    }


def conditions(plane: ControlPlane, namespace: str, name: str) -> set[str]:
    """Return the conditions that hold for a Job."""
    found = plane.admin.get("Job", namespace, name)["status"].get("conditions", [])
    return {each["type"] for each in found if each["status"] == "True"}


def phases(plane: ControlPlane, namespace: str) -> list[str]:
    return [pod["status"]["phase"] for pod in plane.admin.list("Pod", namespace)]


@pytest.mark.parametrize(("order", "condition"), [("succeeded", "Complete"), ("failed", "Failed")])
def test_a_job_ends_as_its_pod_says(plane: ControlPlane, namespace: str, order: str, condition: str) -> None:
    plane.admin.create(job("j", order), namespace)

    wait_until(lambda: condition in conditions(plane, namespace, "j"), what=condition)


def test_a_running_pod_runs_until_its_instruction_changes(plane: ControlPlane, namespace: str) -> None:
    plane.admin.create(job("j", "running"), namespace)
    wait_until(lambda: phases(plane, namespace) == ["Running"], what="the Pod running")
    (pod,) = plane.admin.list("Pod", namespace)

    change = {"metadata": {"annotations": {ORDER: "succeeded"}}}
    plane.admin.patch("Pod", namespace, pod["metadata"]["name"], change)

    wait_until(lambda: "Complete" in conditions(plane, namespace, "j"), what="Complete")


def test_a_job_deleted_in_the_foreground_is_gone_after_its_pods(plane: ControlPlane, namespace: str) -> None:
    plane.admin.create(job("j", "running"), namespace)
    wait_until(lambda: phases(plane, namespace) == ["Running"], what="the Pod running")

    plane.admin.delete("Job", namespace, "j", "Foreground")

    wait_until(lambda: not plane.admin.list("Job", namespace), what="the Job gone")
    assert phases(plane, namespace) == []


def test_a_job_with_a_stuck_pod_stays_until_that_is_let_go(plane: ControlPlane, namespace: str) -> None:
    plane.admin.create(job("j", "stuck"), namespace)
    wait_until(lambda: phases(plane, namespace) == ["Running"], what="the Pod running")
    plane.admin.delete("Job", namespace, "j", "Foreground")
    wait_until(lambda: "deletionTimestamp" in plane.admin.list("Pod", namespace)[0]["metadata"], what="deletion")
    assert plane.admin.list("Job", namespace)

    (pod,) = plane.admin.list("Pod", namespace)
    plane.admin.patch("Pod", namespace, pod["metadata"]["name"], {"metadata": {"annotations": {ORDER: "running"}}})

    wait_until(lambda: not plane.admin.list("Job", namespace), what="the Job gone")


def test_the_jobs_of_a_deleted_kronjob_go_with_it(plane: ControlPlane, namespace: str) -> None:
    owner = plane.admin.create(document("k", namespace))
    reference = {key: owner[key] for key in ("apiVersion", "kind")} | {
        key: owner["metadata"][key] for key in ("name", "uid")
    }
    owned = job("j", "succeeded")
    owned["metadata"]["ownerReferences"] = [reference]
    plane.admin.create(owned, namespace)

    plane.admin.delete("KronJob", namespace, "k")

    wait_until(lambda: not plane.admin.list("Job", namespace), what="the Job gone")


def test_a_service_account_may_do_what_it_is_granted_and_the_audit_log_shows_it(
    plane: ControlPlane, namespace: str
) -> None:
    rule = {"apiGroups": ["batch"], "resources": ["jobs"], "verbs": ["list"]}
    group = "rbac.authorization.k8s.io"
    user = f"system:serviceaccount:{namespace}:default"
    subject = {"kind": "ServiceAccount", "name": "default", "namespace": namespace}
    role = {"apiGroup": group, "kind": "Role", "name": "r"}
    metadata = {"name": "r", "namespace": namespace}
    plane.admin.create({"apiVersion": f"{group}/v1", "kind": "Role", "metadata": metadata, "rules": [rule]})
    binding = {"kind": "RoleBinding", "metadata": metadata, "subjects": [subject], "roleRef": role}
    plane.admin.create({"apiVersion": f"{group}/v1", **binding})
    client = plane.client(plane.token(namespace, "default"))

    wait_until(lambda: not _is_refused(client.list, "Job", namespace), what="the right to list")
    with pytest.raises(Refused):
        client.delete("Job", namespace, "j")

    rows = [row for row in plane.audit() if row.user == user]
    found = {(row.verb, row.group, row.resource, row.name, row.code) for row in rows}
    assert {("list", "batch", "jobs", "", 200), ("delete", "batch", "jobs", "j", 403)} <= found


def test_a_killed_api_server_comes_back_with_all_it_knew(plane: ControlPlane, namespace: str) -> None:
    plane.admin.create(document("k", namespace))
    before = plane.server

    plane.kill_api_server()
    with pytest.raises(OSError):
        plane.admin.list("KronJob", namespace)
    plane.start_api_server()

    assert plane.server == before
    wait_until(lambda: not _is_refused(plane.admin.list, "KronJob", namespace), what="the CRD served again")
    assert [each["metadata"]["name"] for each in plane.admin.list("KronJob", namespace)] == ["k"]


def test_after_a_compaction_an_old_watch_is_answered_by_410(plane: ControlPlane, namespace: str) -> None:
    old = plane.admin.create(document("k", namespace))["metadata"]["resourceVersion"]
    plane.admin.patch("KronJob", namespace, "k", {"spec": {"timeZone": "Europe/Paris"}})
    plane.kill_api_server()
    plane.compact()
    plane.start_api_server()
    wait_until(lambda: not _is_refused(plane.admin.list, "KronJob", namespace), what="the CRD served again")

    kind, found = next(plane.admin.watch("KronJob", old))

    assert (kind, found["code"], found["reason"]) == ("ERROR", 410, "Expired")
    with pytest.raises(Refused) as refused:
        plane.admin.list("KronJob", namespace, resourceVersion=old, resourceVersionMatch="Exact")
    assert refused.value.code == 410


def test_every_process_dies_with_a_killed_test_session(plane: ControlPlane, tmp_path: Path) -> None:
    assert plane.server  # so that there are programs
    with subprocess.Popen(
        [sys.executable, "-c", CHILD, tmp_path], stdout=subprocess.PIPE, text=True, cwd=Path(__file__).parents[2]
    ) as session:
        assert session.stdout is not None
        pids = [int(word) for word in session.stdout.readline().split()]
        session.send_signal(signal.SIGKILL)

    assert len(pids) == len(PROGRAMS)
    for pid in pids:
        wait_until(lambda pid=pid: not _is_alive(pid), what=f"the end of {pid}")  # type: ignore[misc]


def _is_alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text("ascii").rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


def _is_refused(ask: Any, *words: str) -> bool:
    try:
        ask(*words)
    except (Refused, OSError):
        return True
    return False
