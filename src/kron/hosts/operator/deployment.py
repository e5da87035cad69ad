"""The objects that deploy the operator, and the rules of its role, as plain data."""

from typing import Any, NamedTuple

from kron._version import __version__
from kron.kronjob.kronjob import GROUP, OPERATOR_NAME, PLURAL

LEASE_NAME = OPERATOR_NAME  # the name that the lease has unless a flag says otherwise


class PolicyRule(NamedTuple):
    """Verbs on a resource; where names are given, on those objects alone."""

    group: str  # empty: core
    resource: str
    verbs: tuple[str, ...]
    names: tuple[str, ...] = ()

    def to_rule(self) -> dict[str, list[str]]:
        """Return the right as a rule of a Role."""
        named = {"resourceNames": [*self.names]} if self.names else {}
        return {"apiGroups": [self.group], "resources": [self.resource], **named, "verbs": [*self.verbs]}


# Where KronJobs are: nothing of a KronJob but its status is ever written.
KRONJOB_RULES = (
    PolicyRule(GROUP, PLURAL, ("list", "watch")),
    PolicyRule(GROUP, f"{PLURAL}/status", ("patch",)),
    PolicyRule("batch", "jobs", ("create", "delete", "get", "list", "watch")),
    PolicyRule("", "events", ("create", "patch")),
)
# Where the lease is. A right to create cannot be limited by name: the name is not known when it is asked for.
LEASE_RULES = (
    PolicyRule("coordination.k8s.io", "leases", ("create",)),
    PolicyRule("coordination.k8s.io", "leases", ("get", "update"), (LEASE_NAME,)),
)


Objects = list[dict[str, Any]]

NAME = OPERATOR_NAME
OPERATOR_NAMESPACE = "kron-system"
REPOSITORY = NAME  # none is published: each deployment builds its own
IMAGE = f"{REPOSITORY}:{__version__}"
REPLICAS = 2  # one leads, the other is ready to
RESOURCES = {"requests": {"cpu": "50m", "memory": "128Mi"}, "limits": {"memory": "512Mi"}}

RESTRICTED = {"pod-security.kubernetes.io/enforce": "restricted"}  # of the operator's namespace
METRICS = {"kron.io/metrics": "allowed"}  # of a namespace whose Pods may ask for the metrics

_LABELS = {"app.kubernetes.io/name": NAME}
_RBAC = "rbac.authorization.k8s.io"
_PORT = 8080
_USER = 10001  # that of deploy/Containerfile
_PRIORITY = 1_000_000  # above what has none, so that a full node does not stop the schedule; below the system's own


def cluster_objects(namespace: str = OPERATOR_NAMESPACE, image: str = IMAGE) -> Objects:
    """Return what runs the operator for the KronJobs of all namespaces."""
    deployment = _deployment(namespace, image)
    deployment["spec"]["template"]["spec"]["priorityClassName"] = NAME
    return [
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace, "labels": {**_LABELS, **RESTRICTED}}},
        _account(namespace),
        *_role_with_binding("ClusterRole", KRONJOB_RULES, namespace),
        *_role_with_binding("Role", LEASE_RULES, namespace),
        _priority_class(),
        deployment,
        _disruption_budget(namespace),
        _network_policy(namespace),
        _service(namespace),
    ]


def namespaced_objects(namespace: str = OPERATOR_NAMESPACE, image: str = IMAGE) -> Objects:
    """Return what runs the operator for the KronJobs of the namespace that it is in; nothing is outside of it.

    A priority class would: its Pods have the priority of any other.
    """
    deployment = _deployment(namespace, image)
    (container,) = deployment["spec"]["template"]["spec"]["containers"]
    own = {"name": "KRON_OPERATOR_NAMESPACE", "valueFrom": {"fieldRef": {"fieldPath": "metadata.namespace"}}}
    container["env"] = [own]
    return [
        _account(namespace),
        *_role_with_binding("Role", (*KRONJOB_RULES, *LEASE_RULES), namespace),
        deployment,
        _disruption_budget(namespace),
        _network_policy(namespace),
    ]


def _metadata(namespace: str) -> dict[str, Any]:
    return {"name": NAME, **({"namespace": namespace} if namespace else {}), "labels": {**_LABELS}}


def _account(namespace: str) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": _metadata(namespace)}


def _role_with_binding(kind: str, rights: tuple[PolicyRule, ...], namespace: str) -> Objects:
    """Return a role, and its binding to the account."""
    where = "" if kind == "ClusterRole" else namespace
    rules = [right.to_rule() for right in rights]
    return [
        {"apiVersion": f"{_RBAC}/v1", "kind": kind, "metadata": _metadata(where), "rules": rules},
        {
            "apiVersion": f"{_RBAC}/v1",
            "kind": f"{kind}Binding",
            "metadata": _metadata(where),
            "roleRef": {"apiGroup": _RBAC, "kind": kind, "name": NAME},
            "subjects": [{"kind": "ServiceAccount", "name": NAME, "namespace": namespace}],
        },
    ]


def _deployment(namespace: str, image: str) -> dict[str, Any]:
    apart = {
        "maxSkew": 1,
        "topologyKey": "kubernetes.io/hostname",
        "whenUnsatisfiable": "ScheduleAnyway",
        "labelSelector": {"matchLabels": {**_LABELS}},
    }
    pod = {
        "serviceAccountName": NAME,
        "securityContext": {
            "runAsNonRoot": True,
            "runAsUser": _USER,
            "runAsGroup": _USER,
            "seccompProfile": {"type": "RuntimeDefault"},
        },
        "topologySpreadConstraints": [apart],
        "containers": [_container(image)],
    }
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": _metadata(namespace),
        "spec": {
            "replicas": REPLICAS,
            "selector": {"matchLabels": {**_LABELS}},
            "template": {"metadata": {"labels": {**_LABELS}}, "spec": pod},
        },
    }


def _container(image: str) -> dict[str, Any]:
    return {
        "name": NAME,
        "image": image,
        "imagePullPolicy": "IfNotPresent",
        "args": ["run", f"--listen=0.0.0.0:{_PORT}"],
        "ports": [{"name": "http", "containerPort": _PORT}],
        "startupProbe": {
            "httpGet": {"path": "/healthz", "port": "http"},
            "timeoutSeconds": 5,
            "periodSeconds": 2,
            "failureThreshold": 60,
        },
        "livenessProbe": {"httpGet": {"path": "/healthz", "port": "http"}, "timeoutSeconds": 5},
        "readinessProbe": {"httpGet": {"path": "/readyz", "port": "http"}, "timeoutSeconds": 5},
        "resources": {key: {**value} for key, value in RESOURCES.items()},
        "securityContext": {
            "allowPrivilegeEscalation": False,
            "capabilities": {"drop": ["ALL"]},
            "readOnlyRootFilesystem": True,
        },
    }


def _priority_class() -> dict[str, Any]:
    return {
        "apiVersion": "scheduling.k8s.io/v1",
        "kind": "PriorityClass",
        "metadata": _metadata(""),
        "description": "kron-operator: Pods without a priority give way to it on a full node.",
        "value": _PRIORITY,
    }


def _disruption_budget(namespace: str) -> dict[str, Any]:
    """Return what lets a drain evict one replica at a time; a single replica can be evicted, too."""
    spec = {"maxUnavailable": 1, "selector": {"matchLabels": {**_LABELS}}}
    return {"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": _metadata(namespace), "spec": spec}


def _network_policy(namespace: str) -> dict[str, Any]:
    """Return the namespaces that may reach the listener: those an administrator labelled; probes come from the node."""
    allowed = {
        "from": [{"namespaceSelector": {"matchLabels": {**METRICS}}}],
        "ports": [{"protocol": "TCP", "port": "http"}],
    }
    spec = {"podSelector": {"matchLabels": {**_LABELS}}, "policyTypes": ["Ingress"], "ingress": [allowed]}
    about = _metadata(namespace)
    return {"apiVersion": "networking.k8s.io/v1", "kind": "NetworkPolicy", "metadata": about, "spec": spec}


def _service(namespace: str) -> dict[str, Any]:
    ports = [{"name": "http", "port": _PORT, "targetPort": "http"}]
    spec = {"selector": {**_LABELS}, "ports": ports}
    return {"apiVersion": "v1", "kind": "Service", "metadata": _metadata(namespace), "spec": spec}
