"""A quota that leaves no room for another Job."""

from tests.cluster.client import Refused
from tests.cluster.plane import ControlPlane
from tests.cluster.test_plane import job
from tests.cluster.wait import wait_until


def forbid_jobs(plane: ControlPlane, namespace: str) -> None:
    """Set the quota, called none, and return when it is in force."""
    metadata = {"name": "none", "namespace": namespace}
    spec = {"hard": {"count/jobs.batch": "0"}}
    plane.admin.create({"apiVersion": "v1", "kind": "ResourceQuota", "metadata": metadata, "spec": spec})

    def is_refused() -> bool:
        try:
            plane.admin.create(job("probe", "succeeded"), namespace, dryRun="All")
        except Refused:
            return True
        return False

    wait_until(is_refused, what="the quota in force")
