"""NamespaceReader: what a user sees of the KronJobs of a namespace."""

from typing import Any, NamedTuple

from tests.cluster.client import Document
from tests.cluster.kubelet import ORDER
from tests.cluster.plane import ControlPlane
from tests.kronjob.kronjob_documents import TEMPLATE


class EventSummary(NamedTuple):
    """An event."""

    kind: str
    reason: str
    message: str
    times: int


def template(order: str, **spec: Any) -> Document:
    """Return a template whose Pods do what their command says."""
    pod = {**TEMPLATE["spec"]["template"], "metadata": {"annotations": {ORDER: order}}}
    return {"spec": {"template": pod, **spec}}


class NamespaceReader:
    """Reads the statuses and events of KronJobs in a namespace, from the server at each call."""

    def __init__(self, plane: ControlPlane, namespace: str) -> None:
        self._admin, self._namespace = plane.admin, namespace

    def status(self, name: str = "soon") -> Document:
        found: Document = self._admin.get("KronJob", self._namespace, name).get("status", {})
        return found

    def outcomes(self, name: str = "soon") -> list[tuple[str, str]]:
        """Return outcome and reason of the periods that were handled."""
        return [(each["outcome"], each["reason"]) for each in self.status(name).get("handledPeriods", [])]

    def conditions(self, name: str = "soon") -> dict[str, tuple[str, str]]:
        """Return status and reason of each condition."""
        return {each["type"]: (each["status"], each["reason"]) for each in self.status(name).get("conditions", [])}

    def complaint(self, kind: str, name: str = "soon") -> str:
        """Return the message of a condition that is true, or nothing."""
        found = self.status(name).get("conditions", [])
        return next((each["message"] for each in found if (each["type"], each["status"]) == (kind, "True")), "")

    def events(self, name: str = "soon") -> list[EventSummary]:
        """Return the events of a KronJob."""
        found = self._admin.list("Event", self._namespace)
        return [
            EventSummary(each["type"], each["reason"], each["message"], each["count"])
            for each in found
            if each["involvedObject"]["name"] == name
        ]

    def reasons(self, name: str = "soon") -> set[tuple[str, str]]:
        """Return kind and reason of its events."""
        return {(each.kind, each.reason) for each in self.events(name)}

    def jobs(self) -> dict[str, Document]:
        """Return the Jobs by their names."""
        return {each["metadata"]["name"]: each for each in self._admin.list("Job", self._namespace)}

    def let_pods(self, order: str) -> None:
        """Tell every Pod that is there what it is to do from now on."""
        for pod in self._admin.list("Pod", self._namespace):
            change = {"metadata": {"annotations": {ORDER: order}}}
            self._admin.patch("Pod", self._namespace, pod["metadata"]["name"], change)
