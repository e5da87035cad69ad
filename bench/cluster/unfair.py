"""Measure how much later a tenant's Jobs are while another tenant, or a stranger, overloads the operator."""

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from datetime import UTC, date, datetime, timedelta
from time import sleep, time
from typing import Any

from tests.cluster.plane import ControlPlane

from bench.cluster.rig import OPERATOR, create, kronjobs, make_namespace, rig
from bench.cluster.subjects import MeasuredOperator, operator
from bench.cluster.trail import JOBS, STATUSES, Trail
from bench.daemons.daemon import next_minute, wait_until
from bench.disk import disk_folder
from bench.suite import Measurement

_VICTIM, _PLAIN, _EDITOR, _COSTLY, _REFUSED = "victim", "plain", "editor", "costly", "refused"  # namespaces
_JOBS, _EDITED = 20, 100  # KronJobs of the victim, each due every minute, and of the editor
_EDITS, _CONNECTIONS = 375, 64  # a second; at a time
_COSTLY_JOBS, _COSTLY_EDITS = 30, 22  # KronJobs, each of which takes long to declare; a second
_MINUTES = 2  # for which each is measured
_MINUTE = timedelta(minutes=1)
_LEAD = 10.0  # seconds of an attack before the first minute
_LONGEST, _LOOK = 300.0, 0.5  # seconds
_QUOTA = "resourcequota-controller"


def measure_fairness(size: int) -> Measurement:
    """Measure a tenant alone, beside edits, costly edits, a flood of /metrics, and so many KronJobs over quota."""
    found = Measurement()
    with ExitStack() as stack:
        plane, folder = stack.enter_context(rig(controllers=(_QUOTA,))), stack.enter_context(disk_folder())
        trail = Trail(plane)
        for namespace in (_VICTIM, _PLAIN, _EDITOR, _COSTLY, _REFUSED):
            make_namespace(plane, namespace)
        _forbid_jobs(plane, _REFUSED)
        create(plane, kronjobs(_VICTIM, _JOBS, "* * * * *"))
        edited = list(kronjobs(_EDITOR, _EDITED, "0 0 1 1 *"))
        create(plane, edited)
        subject = stack.enter_context(operator(plane, folder, "--lease-namespace", OPERATOR))
        subject.sync(_LONGEST)
        trail.wait(STATUSES, _VICTIM, _JOBS, _LONGEST)
        _take(found, "alone", plane, trail)
        with attacking(found, "edits", _edits(plane, _EDITOR, edited, _EDITS)):
            _take(found, "edits", plane, trail)
        costly = list(_costly())
        create(plane, costly)
        trail.wait(STATUSES, _COSTLY, _COSTLY_JOBS, _LONGEST)
        with attacking(found, "costly", _edits(plane, _COSTLY, costly, _COSTLY_EDITS) | {"salts": True}):
            _take(found, "costly", plane, trail)
        _delete(plane, costly)
        with attacking(found, "metrics", _flood(subject)):
            _take(found, "metrics", plane, trail)
        create(plane, kronjobs(_REFUSED, size, "* * * * *"))
        trail.wait(STATUSES, _REFUSED, size, _LONGEST)
        _take(found, "quota", plane, trail)
    figures = found.figures
    for attack in ("edits", "costly", "metrics", "quota"):
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


def _costly() -> Iterator[dict[str, Any]]:
    """Return KronJobs that are due every minute within sixteen hours, but not on every second of a thousand days."""
    days = [date(2026, 1, 1) + timedelta(days=2 * each) for each in range(999)]
    constraints = {"avoid": [f"dates={day}..{day}" for day in days]}
    for each in kronjobs(_COSTLY, _COSTLY_JOBS, "* * * * *", window="16h"):
        yield {**each, "spec": {**each["spec"], "constraints": constraints}}


def _delete(plane: ControlPlane, documents: list[dict[str, Any]]) -> None:
    for each in documents:
        plane.admin.delete("KronJob", each["metadata"]["namespace"], each["metadata"]["name"])


def _edits(plane: ControlPlane, namespace: str, edited: list[dict[str, Any]], number: int) -> dict[str, Any]:
    """Return the orders for so many edits a second, by a service account that may edit this namespace only."""
    about = {"name": "editor", "namespace": namespace}
    plane.admin.create({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": about})
    rules = [{"apiGroups": ["kron.io"], "resources": ["kronjobs"], "verbs": ["get", "patch"]}]
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
    who = {"server": plane.server, "authority": plane.authority, "token": plane.token(namespace, "editor")}
    names = [each["metadata"]["name"] for each in edited]
    return {**who, "namespace": namespace, "names": names, "edits": number, "salts": False}


def _flood(subject: MeasuredOperator) -> dict[str, Any]:
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
