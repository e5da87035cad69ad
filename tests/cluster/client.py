"""ClusterClient: a small API client for tests, independent of Kron's own."""

import json
import ssl
import threading
from collections.abc import Iterator, Mapping
from http.client import HTTPException, HTTPResponse, HTTPSConnection
from types import MappingProxyType
from typing import Any
from urllib.parse import urlencode, urlsplit

Document = dict[str, Any]

KINDS = {  # kind: (where it is served, plural, whether it is in a namespace)
    "Namespace": ("/api/v1", "namespaces", False),
    "Node": ("/api/v1", "nodes", False),
    "Pod": ("/api/v1", "pods", True),
    "Event": ("/api/v1", "events", True),
    "Service": ("/api/v1", "services", True),
    "ServiceAccount": ("/api/v1", "serviceaccounts", True),
    "ResourceQuota": ("/api/v1", "resourcequotas", True),
    "Job": ("/apis/batch/v1", "jobs", True),
    "CronJob": ("/apis/batch/v1", "cronjobs", True),
    "Deployment": ("/apis/apps/v1", "deployments", True),
    "PodDisruptionBudget": ("/apis/policy/v1", "poddisruptionbudgets", True),
    "NetworkPolicy": ("/apis/networking.k8s.io/v1", "networkpolicies", True),
    "PriorityClass": ("/apis/scheduling.k8s.io/v1", "priorityclasses", False),
    "Lease": ("/apis/coordination.k8s.io/v1", "leases", True),
    "Role": ("/apis/rbac.authorization.k8s.io/v1", "roles", True),
    "RoleBinding": ("/apis/rbac.authorization.k8s.io/v1", "rolebindings", True),
    "ClusterRole": ("/apis/rbac.authorization.k8s.io/v1", "clusterroles", False),
    "ClusterRoleBinding": ("/apis/rbac.authorization.k8s.io/v1", "clusterrolebindings", False),
    "CustomResourceDefinition": ("/apis/apiextensions.k8s.io/v1", "customresourcedefinitions", False),
    "KronJob": ("/apis/kron.io/v1alpha1", "kronjobs", True),
}
MERGE = "application/merge-patch+json"
_NOTHING: Mapping[str, str] = MappingProxyType({})
_TIMEOUT = 60.0  # seconds


class Refused(Exception):  # noqa: N818 # an answer of the server, which tests ask for
    """The server said no."""

    def __init__(self, code: int, status: Document) -> None:
        super().__init__(f"{code} {status.get('message', status)}")
        self.code = code
        self.reason = str(status.get("reason", ""))
        self.message = str(status.get("message", ""))
        self.fields = [str(each.get("field", "")) for each in (status.get("details") or {}).get("causes") or []]


class ClusterClient:
    """A client with one token at one server. Each thread keeps its own connection open."""

    def __init__(self, server: str, authority: str, token: str) -> None:
        self._address = urlsplit(server).netloc
        self._tls = ssl.create_default_context(cadata=authority)
        self._headers = {"Authorization": f"Bearer {token}"}
        self._own = threading.local()
        self._open: set[HTTPSConnection] = set()

    def close(self) -> None:
        """Close what is open."""
        for connection in self._open:
            connection.close()

    def get(self, kind: str, namespace: str, name: str, *, accept: str = "application/json") -> Document:
        """Return one object."""
        return self.ask("GET", path(kind, namespace, name), accept=accept)

    def list(self, kind: str, namespace: str = "", **query: str) -> list[Document]:
        """Return all objects of a kind in a namespace, or everywhere."""
        items: list[Document] = self.ask("GET", path(kind, namespace), query=query)["items"]
        return items

    def create(self, document: Document, namespace: str = "", **query: str) -> Document:
        """Create what the document says, in its namespace or in this one, and return it as it was kept."""
        where = namespace or document["metadata"].get("namespace", "")
        return self.ask("POST", path(document["kind"], where), document, query=query)

    def replace(self, document: Document, part: str = "") -> Document:
        """Replace an object, or a subresource of it; an old resource version is refused."""
        found = document["metadata"]
        return self.ask("PUT", path(document["kind"], found.get("namespace", ""), found["name"], part), document)

    def patch(self, kind: str, namespace: str, name: str, change: Document, *, part: str = "") -> Document:
        """Merge a change into an object, or a part of it such as its status, and return it."""
        return self.ask("PATCH", path(kind, namespace, name, part), change, content=MERGE)

    def delete(self, kind: str, namespace: str, name: str, policy: str = "Background", **options: object) -> None:
        """Delete an object; what it owns goes as the policy says."""
        self.ask("DELETE", path(kind, namespace, name), {"propagationPolicy": policy, **options})

    def ask(
        self,
        method: str,
        where: str,
        body: Document | None = None,
        *,
        query: Mapping[str, str] = _NOTHING,
        content: str = "application/json",
        accept: str = "application/json",
    ) -> Document:
        """Send one request, and return the answer, or raise Refused; OSError if there is none."""
        code, text = self._exchange(method, where, body, query, {"Content-Type": content, "Accept": accept})
        answer: Document = json.loads(text) if text.startswith(b"{") else {"message": text.decode("utf-8")}
        if code >= 300:
            raise Refused(code, answer)
        return answer

    def watch(self, kind: str, since: str, *, seconds: int = 300) -> Iterator[tuple[str, Document]]:
        """Return what happens to objects of a kind everywhere; it ends after some seconds or with the server."""
        query = {"watch": "1", "resourceVersion": since, "timeoutSeconds": str(seconds)}
        connection = self._connect(timeout=seconds + _TIMEOUT)
        try:
            connection.request("GET", f"{path(kind, '')}?{urlencode(query)}", headers=self._headers)
            for line in connection.getresponse():
                event = json.loads(line)
                yield event["type"], event["object"]
        finally:
            connection.close()

    def _exchange(
        self, method: str, where: str, body: Document | None, query: Mapping[str, str], headers: Mapping[str, str]
    ) -> tuple[int, bytes]:
        address = f"{where}?{urlencode(query)}" if query else where
        data = None if body is None else json.dumps(body).encode("utf-8")
        was_open = hasattr(self._own, "connection")
        if not was_open:
            self._own.connection = self._connect(_TIMEOUT)
            self._open.add(self._own.connection)
        connection: HTTPSConnection = self._own.connection
        try:
            connection.request(method, address, data, {**self._headers, **headers})
            answer: HTTPResponse = connection.getresponse()
            return answer.status, answer.read()
        except (OSError, HTTPException) as error:
            connection.close()
            self._open.discard(connection)
            del self._own.connection
            if was_open:  # the server may have closed it, or have been killed, since it was used last
                return self._exchange(method, where, body, query, headers)
            raise OSError(f"no answer from {self._address}: {error}") from error

    def _connect(self, timeout: float) -> HTTPSConnection:
        return HTTPSConnection(self._address, context=self._tls, timeout=timeout)


def path(kind: str, namespace: str, name: str = "", part: str = "") -> str:
    """Return where something is: one object, a part of it, or all of a kind."""
    prefix, plural, is_inside = KINDS[kind]
    words = [prefix, *(("namespaces", namespace) if is_inside and namespace else ()), plural, name, part]
    return "/".join(word for word in words if word)
