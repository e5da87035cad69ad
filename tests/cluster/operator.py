"""Operator: kron-operator as a process, with the rights of its ServiceAccount in deploy/."""

import json
import os
import signal
import subprocess
import sys
from contextlib import closing, suppress
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from typing import Any

from kron.adapters.kubernetes.manifests import read_manifests
from tests.cluster.audit import Row
from tests.cluster.child import kill_child, start_child
from tests.cluster.client import Document, Refused
from tests.cluster.plane import ControlPlane, free_ports
from tests.cluster.wait import wait_until

ROOT = Path(__file__).parents[2]
ACCOUNT = "kron-operator"
PROGRAM = (sys.executable, "-c", "from kron.entry_points import kron_operator_main; kron_operator_main()")


def shipped(file: str, namespace: str) -> list[Document]:
    """Return the objects of a file of deploy/, for another namespace than kron-system, which is there already."""
    text = (ROOT / "deploy" / file).read_text("utf-8").replace("kron-system", namespace)
    return [each for each in read_manifests(text) if each["kind"] != "Namespace"]


def install(plane: ControlPlane, objects: list[Document]) -> None:
    """Apply the objects, of which some may be there from another test, and return when the last right is in force."""
    for each in objects:
        try:
            plane.admin.create(each)
        except Refused as error:
            if error.reason != "AlreadyExists":
                raise
            found = each["metadata"]
            plane.admin.patch(each["kind"], found.get("namespace", ""), found["name"], each)
    (account,) = [each["metadata"] for each in objects if each["kind"] == "ServiceAccount"]
    user = f"system:serviceaccount:{account['namespace']}:{account['name']}"
    right = {"group": "coordination.k8s.io", "resource": "leases", "verb": "create", "namespace": account["namespace"]}
    review = {"apiVersion": "authorization.k8s.io/v1", "spec": {"user": user, "resourceAttributes": right}}
    where = "/apis/authorization.k8s.io/v1/subjectaccessreviews"
    wait_until(lambda: plane.admin.ask("POST", where, review)["status"]["allowed"], what="rights in force")


class Operator:
    """One replica. It is the account of a namespace where it was installed; more flags may be given."""

    def __init__(self, plane: ControlPlane, namespace: str, folder: Path, *flags: str) -> None:
        self._plane = plane
        self.user = f"system:serviceaccount:{namespace}:{ACCOUNT}"
        self._config = plane.kubeconfig(plane.token(namespace, ACCOUNT), namespace)
        self.log, self._flags = folder / f"{self._config.stem}.log", flags
        self.port = free_ports(1)[0]
        self._process: subprocess.Popen[bytes] | None = None
        self.environment: dict[str, str] = {}  # what it has beside the environment of the tests

    def start(self) -> "Operator":
        """Start it, and return when it is ready."""
        self.begin()
        wait_until(lambda: self.answer("/readyz")[0] == 200, what="the operator's /readyz")
        return self

    def begin(self) -> None:
        """Start it, and return at once."""
        words = ["run", "--kubeconfig", str(self._config), "--listen", f"127.0.0.1:{self.port}", *self._flags]
        self._process = start_child([*PROGRAM, *words], self.log, environment={**os.environ, **self.environment})

    def stop(self) -> int:
        """Ask it to end, and return how it did."""
        process = self.process
        process.send_signal(signal.SIGTERM)
        return process.wait(timeout=30)

    def kill(self) -> None:
        """Kill it with SIGKILL."""
        if self._process is not None:
            kill_child(self._process)

    @property
    def process(self) -> "subprocess.Popen[bytes]":
        """The process that was started last."""
        assert self._process is not None
        return self._process

    def answer(self, where: str) -> tuple[int, str]:
        """Return what its listener says: code and text; 0 if it does not answer."""
        with (
            suppress(OSError, HTTPException),
            closing(HTTPConnection("127.0.0.1", self.port, timeout=10)) as connection,
        ):
            connection.request("GET", where)
            found = connection.getresponse()
            return found.status, found.read().decode("utf-8")
        return 0, ""

    def lines(self, event: str = "") -> list[dict[str, Any]]:
        """Return what it has logged, or those of one event."""
        words = self.log.read_text("utf-8").splitlines()
        found = [json.loads(line) for line in words if line.startswith("{")]
        return [line for line in found if event in ("", line["event"])]

    def bugs(self) -> list[str]:
        """Return the errors that it has logged and that no test caused."""
        lines = self.log.read_text("utf-8").splitlines()
        return [line for line in lines if not line.startswith("{") or json.loads(line)["event"] == "bug"]

    def number(self, name: str) -> float:
        """Return one of its numbers, such as `kron_active_jobs`; the sum of those that begin so."""
        lines = [line.rpartition(" ") for line in self.answer("/metrics")[1].splitlines()]
        return sum(float(value) for label, _, value in lines if label.startswith(name))

    def asked(self) -> list[Row]:
        """Return what its account has asked the server."""
        return [row for row in self._plane.audit() if row.user == self.user]
