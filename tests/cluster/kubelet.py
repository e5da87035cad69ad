"""A node without containers, whose Pods end as their annotation says: python -m tests.cluster.kubelet KUBECONFIG"""

import json
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from enum import Enum
from http.client import HTTPException
from pathlib import Path
from typing import Any

from tests.cluster.client import ClusterClient, Document, Refused, path
from tests.cluster.kubeconfig import read_client

ORDER = "kron.test/outcome"  # the annotation: one of Outcome's values, succeeded without one; it may change later
NODE = "node-1"
_WORKERS = 4
_PAUSE = 0.2  # seconds before the server is asked again
_ENDED = ("Succeeded", "Failed")


class Outcome(Enum):
    """What a Pod does, by its command."""

    SUCCEEDED = "succeeded"
    FAILED = "failed"
    RUNNING = "running"  # until it is deleted, or gets another instruction
    STUCK = "stuck"  # as running, but deletion does not end it


class Step(Enum):
    """What the kubelet does next for a Pod; WAIT is nothing."""

    BIND = "bind"
    RUN = "Running"
    SUCCEED = "Succeeded"
    FAIL = "Failed"
    REMOVE = "remove"
    WAIT = "wait"


_NEXT = {
    Outcome.SUCCEEDED: Step.SUCCEED,
    Outcome.FAILED: Step.FAIL,
    Outcome.RUNNING: Step.RUN,
    Outcome.STUCK: Step.RUN,
}


def next_step(pod: Document) -> Step:
    """Return what is to be done for a Pod, by what is known of it."""
    metadata = pod["metadata"]
    phase = pod.get("status", {}).get("phase", "Pending")
    outcome = Outcome((metadata.get("annotations") or {}).get(ORDER, Outcome.SUCCEEDED.value))
    if not pod.get("spec", {}).get("nodeName"):
        return Step.WAIT if metadata.get("deletionTimestamp") else Step.BIND
    if metadata.get("deletionTimestamp") and outcome is not Outcome.STUCK:
        if phase not in _ENDED:
            return Step.FAIL
        is_last_word = metadata.get("deletionGracePeriodSeconds") == 0
        return Step.WAIT if is_last_word else Step.REMOVE
    step = _NEXT[outcome]
    return Step.WAIT if phase in (*_ENDED, step.value) else step


class Kubelet:
    """Follows all Pods and does for each what comes next; an answer that comes too late for a Pod is no matter."""

    def __init__(self, client: ClusterClient) -> None:
        self._client = client

    def run(self) -> None:
        """Go on until the process is ended; a server that is away is waited for."""
        with ThreadPoolExecutor(_WORKERS) as workers:
            while True:
                with suppress(OSError, HTTPException, Refused, json.JSONDecodeError):
                    self._join()
                    self._follow(workers)
                time.sleep(_PAUSE)

    def _join(self) -> None:
        with suppress(Refused):  # it is there
            self._client.create({"apiVersion": "v1", "kind": "Node", "metadata": {"name": NODE}})
        capacity = {"cpu": "1000", "memory": "1Ti", "pods": "100000"}
        ready = {"type": "Ready", "status": "True", "reason": "KubeletReady", "message": ""}
        status = {"capacity": capacity, "allocatable": capacity, "conditions": [ready]}
        self._client.patch("Node", "", NODE, {"status": status}, part="status")

    def _follow(self, workers: ThreadPoolExecutor) -> None:
        found = self._client.ask("GET", path("Pod", ""))
        for pod in found["items"]:
            workers.submit(self._do, pod)
        for kind, pod in self._client.watch("Pod", found["metadata"]["resourceVersion"]):
            if kind == "ERROR":
                return
            if kind != "DELETED":
                workers.submit(self._do, pod)

    def _do(self, pod: Document) -> None:
        namespace, name, uid = (pod["metadata"][key] for key in ("namespace", "name", "uid"))
        with suppress(OSError, Refused):
            match next_step(pod):
                case Step.WAIT:
                    pass
                case Step.BIND:
                    binding = {"metadata": {"name": name, "uid": uid}, "target": {"kind": "Node", "name": NODE}}
                    self._client.ask("POST", path("Pod", namespace, name, "binding"), binding)
                case Step.REMOVE:
                    self._client.delete("Pod", namespace, name, gracePeriodSeconds=0, preconditions={"uid": uid})
                case step:
                    change: dict[str, Any] = {"metadata": {"uid": uid}, "status": {"phase": step.value}}
                    self._client.patch("Pod", namespace, name, change, part="status")


if __name__ == "__main__":
    Kubelet(read_client(Path(sys.argv[1]))).run()
