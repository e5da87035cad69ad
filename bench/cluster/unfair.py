"""measure_fairness(size) -> how much later a tenant's Jobs are while another tenant, or a stranger, does too much."""

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime, timedelta
from time import sleep, time
from typing import Any

from tests.cluster.plane import ControlPlane

from bench.cluster.rig import OPERATOR, create, kronjobs, make_namespace, rig
from bench.cluster.subjects import Measured, operator
from bench.cluster.trail import JOBS, STATUSES, Trail
from bench.daemons.daemon import next_minute, wait_until
from bench.disk import disk_folder
from bench.suite import Measurement

_VICTIM, _PLAIN, _EDITOR, _REFUSED = "victim", "plain", "editor", "refused"  # namespaces
_JOBS, _EDITED = 20, 100  # KronJobs of the victim, each due every minute, and of the editor
_EDITS, _CONNECTIONS = 375, 64  # a second; at a time
_MINUTES = 2  # for which each is measured
_MINUTE = timedelta(minutes=1)
_LEAD = 10.0  # seconds of an attack before the first minute
_LONGEST, _LOOK = 300.0, 0.5  # seconds
_QUOTA = "resourcequota-controller"


def measure_fairness(size: int) -> Measurement:
    """Measure a tenant alone, beside edits, beside a flood of /metrics, and beside so many KronJobs over quota."""
    found = Measurement()
    with ExitStack() as stack:
        plane, folder = stack.enter_context(rig(controllers=(_QUOTA,))), stack.enter_context(disk_folder())
        trail = Trail(plane)
        for namespace in (_VICTIM, _PLAIN, _EDITOR, _REFUSED):
            make_namespace(plane, namespace)
        _forbid_jobs(plane, _REFUSED)
        create(plane, kronjobs(_VICTIM, _JOBS, "* * * * *"))
        edited = list(kronjobs(_EDITOR, _EDITED, "0 0 1 1 *"))
        create(plane, edited)
        subject = stack.enter_context(operator(plane, folder, "--lease-namespace", OPERATOR))
        subject.sync(_LONGEST)
        trail.wait(STATUSES, _VICTIM, _JOBS, _LONGEST)
        _take(found, "alone", plane, trail)
        with attacking(found, "edits", _edits(plane, [each["metadata"]["name"] for each in edited])):
            _take(found, "edits", plane, trail)
        with attacking(found, "metrics", _flood(subject)):
            _take(found, "metrics", plane, trail)
        create(plane, kronjobs(_REFUSED, size, "* * * * *"))
        trail.wait(STATUSES, _REFUSED, size, _LONGEST)
        _take(found, "quota", plane, trail)
    figures = found.figures
    for attack in ("edits", "metrics", "quota"):
        figures[f"{attack} later"] = figures[f"{attack} last"] - figures["alone last"]
        figures[f"{attack} server"] = figures[f"{attack} plain"] - figures["alone plain"]
    return found


def _take(found: Measurement, name: str, plane: ControlPlane, trail: Trail) -> None:
    """Measure how late the victim's Jobs are in the coming minutes, and those of a client that only creates them."""
    begin = next_minute(_LEAD)
    ours, plain = [], []
    for number in range(_MINUTES):
        due = begin + number * _MINUTE.total_seconds()
        wait_until(due - 1.0)
        trail.read()
        known = len(trail.times(JOBS, _VICTIM))
        wait_until(due)
        create(plane, _plain(f"{name}-{number}"))
        plain.append(time() - due)
        made = trail.wait(JOBS, _VICTIM, known + _JOBS, _LONGEST, _LOOK)[known : known + _JOBS]
        ours += [at - due for at in made]
    ours.sort()
    found.figures |= {f"{name} p50": ours[len(ours) // 2], f"{name} last": ours[-1], f"{name} plain": max(plain)}
    found.facts[f"{name} from"] = datetime.fromtimestamp(begin, UTC).isoformat()


def _plain(prefix: str) -> Iterator[dict[str, Any]]:
    """Return as many Jobs as the victim's, to be created without an operator: so late is the server itself."""
    for each in kronjobs(_PLAIN, _JOBS, "* * * * *", prefix=prefix):
        yield {"apiVersion": "batch/v1", "kind": "Job", "metadata": each["metadata"], **each["spec"]["jobTemplate"]}


def _forbid_jobs(plane: ControlPlane, namespace: str) -> None:
    """Set a quota that leaves no room for a Job, and return when it is in force."""
    about = {"name": "none", "namespace": namespace}
    spec = {"hard": {"count/jobs.batch": "0"}}
    plane.admin.create({"apiVersion": "v1", "kind": "ResourceQuota", "metadata": about, "spec": spec})
    end = time() + _LONGEST
    while not plane.admin.get("ResourceQuota", namespace, "none").get("status", {}).get("hard"):
        if time() > end:
            raise RuntimeError(f"the quota was not in force within {_LONGEST:.0f} s")
        sleep(_LOOK)


def _edits(plane: ControlPlane, names: list[str]) -> dict[str, Any]:
    plane.admin.create(
        {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "editor", "namespace": _EDITOR}}
    )
    rules = [{"apiGroups": ["kron.io"], "resources": ["kronjobs"], "verbs": ["get", "patch"]}]
    about = {"name": "editor", "namespace": _EDITOR}
    group = "rbac.authorization.k8s.io"
    plane.admin.create({"apiVersion": f"{group}/v1", "kind": "Role", "metadata": about, "rules": rules})
    plane.admin.create(
        {
            "apiVersion": f"{group}/v1",
            "kind": "RoleBinding",
            "metadata": about,
            "roleRef": {"apiGroup": group, "kind": "Role", "name": "editor"},
            "subjects": [{"kind": "ServiceAccount", **about}],
        }
    )
    who = {"server": plane.server, "authority": plane.authority, "token": plane.token(_EDITOR, "editor")}
    return {**who, "namespace": _EDITOR, "names": names, "edits": _EDITS}


def _flood(subject: Measured) -> dict[str, Any]:
    return {"address": f"http://127.0.0.1:{subject.port}/metrics", "connections": _CONNECTIONS}


@contextmanager
def attacking(found: Measurement, name: str, orders: dict[str, Any]) -> Iterator[None]:
    """Attack for as long as the block, and note how many requests a second that were."""
    command = [sys.executable, "-m", "bench.cluster.attacker"]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdin is not None
        process.stdin.write(json.dumps(orders) + "\n")
        process.stdin.flush()
        yield
        out, _ = process.communicate(timeout=_LONGEST)
        did = json.loads(out)
        found.figures[f"{name} rate"] = did["requests"] / did["seconds"]
    finally:
        process.kill()
        process.wait()
