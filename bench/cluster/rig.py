"""A control plane on which only the measured subjects run, with the operator installed."""

from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

from tests.cluster.build import folder, missing
from tests.cluster.operator import install, shipped
from tests.cluster.plane import ControlPlane

from bench.disk import disk_folder
from kron.kronjob.crd import crd

OPERATOR = "kron-system"  # the namespace of the operator itself
CONNECTIONS = 16
_WRITES = [
    {"group": "batch", "resources": ["jobs"]},
    {"group": "kron.io", "resources": ["kronjobs/status"]},
    {"group": "", "resources": ["events"]},
]
_POLICY: dict[str, Any] = {
    "apiVersion": "audit.k8s.io/v1",
    "kind": "Policy",
    "omitStages": ["RequestReceived"],
    "rules": [
        {
            "level": "Metadata",
            "userGroups": ["system:serviceaccounts"],  # the CronJob controller is one of them
            "verbs": ["create", "patch"],
            "resources": _WRITES,
        },
        {"level": "None"},
    ],
}
_JOB = {
    "spec": {
        "template": {
            "spec": {
                "restartPolicy": "Never",
                "containers": [
                    {
                        "name": "main",
                        "image": "registry.example/backup:1.4",
                        "command": ["/bin/backup", "--all"],
                        "env": [{"name": "TARGET", "value": "s3://backups"}],
                        "resources": {"requests": {"cpu": "100m", "memory": "64Mi"}},
                    }
                ],
            }
        }
    }
}


@contextmanager
def rig(*, controllers: Sequence[str] = ()) -> Iterator[ControlPlane]:
    """Start it, without a kubelet and the controller of Jobs, which would use what whom is measured needs."""
    place = folder()
    if absent := missing(place):
        raise RuntimeError(f"SKIPPED, no {', '.join(absent)}: `python -m tests.cluster.build` builds them into {place}")
    with disk_folder() as where:
        plane = ControlPlane(where / "plane", place, controllers=controllers, kubelet=False, policy=_POLICY)
        try:
            plane.start(crd())
            make_namespace(plane, OPERATOR)
            install(plane, shipped("operator.yaml", OPERATOR))
            yield plane
        finally:
            plane.stop()


def make_namespace(plane: ControlPlane, name: str) -> None:
    """Make a namespace."""
    plane.admin.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})


def create(plane: ControlPlane, documents: Iterable[dict[str, Any]]) -> None:
    """Create all of them over some connections."""
    with ThreadPoolExecutor(CONNECTIONS) as pool:
        for _ in pool.map(plane.admin.create, documents):
            pass


def kronjobs(
    namespace: str, number: int, schedule: str, *, prefix: str = "job", window: str = "0s"
) -> Iterator[dict[str, Any]]:
    """Return so many KronJobs that are due together, or within a window; each Job may be late, and run beside others.

    No kubelet ends the Jobs, so that concurrency is `allow`.
    """
    for index in range(number):
        yield {
            "apiVersion": "kron.io/v1alpha1",
            "kind": "KronJob",
            "metadata": {"name": f"{prefix}-{index:05}", "namespace": namespace},
            "spec": {
                "schedule": schedule,
                "window": {"duration": window},
                "policy": {"concurrency": "allow", "deadline": "10m"},
                "jobTemplate": _JOB,
            },
        }


def cronjobs(namespace: str, number: int, schedule: str) -> Iterator[dict[str, Any]]:
    """Return the same as CronJobs."""
    for index in range(number):
        yield {
            "apiVersion": "batch/v1",
            "kind": "CronJob",
            "metadata": {"name": f"job-{index:05}", "namespace": namespace},
            "spec": {"schedule": schedule, "concurrencyPolicy": "Allow", "jobTemplate": _JOB},
        }
