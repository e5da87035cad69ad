"""crd() -> the CustomResourceDefinition of KronJobs, as plain data."""

from typing import Any

from kron.rules.kronjob.kronjob import GROUP, KIND, VERSION
from kron.rules.kronjob.schema import spec_schema, status_schema

PLURAL = "kronjobs"
MISSING = "the cluster knows no KronJobs: apply their definition first, kron-operator crd | kubectl apply -f -"
_COLUMNS: tuple[tuple[str, str, str, int], ...] = (  # a priority above 0 is shown by `-o wide` only
    ("Schedule", "string", ".spec.schedule", 0),
    ("Time Zone", "string", ".spec.timeZone", 1),
    ("Suspend", "boolean", ".spec.policy.suspend", 0),
    ("Active", "integer", ".status.activeJobs", 1),
    ("Last Outcome", "string", ".status.lastOutcome", 0),
    ("Last", "date", ".status.lastChosenTime", 0),
    ("Next", "string", ".status.nextChosenTime", 0),
    ("Age", "date", ".metadata.creationTimestamp", 0),
)


def crd() -> dict[str, Any]:
    """Return the definition; no part of it is shared, so that every writer prints it whole."""
    schema = {
        "type": "object",
        "description": "A job with windows: one exact, reproducible second for every period.",
        "required": ["spec"],
        "properties": {
            "apiVersion": {"type": "string"},
            "kind": {"type": "string"},
            "metadata": {"type": "object"},
            "spec": spec_schema(),
            "status": status_schema(),
        },
    }
    columns = [
        {"name": name, "type": kind, "jsonPath": path, **({"priority": priority} if priority else {})}
        for name, kind, path, priority in _COLUMNS
    ]
    version = {
        "name": VERSION,
        "served": True,
        "storage": True,
        "schema": {"openAPIV3Schema": schema},
        "subresources": {"status": {}},
        "additionalPrinterColumns": columns,
    }
    names = {
        "plural": PLURAL,
        "singular": KIND.lower(),
        "kind": KIND,
        "listKind": f"{KIND}List",
        "shortNames": ["kj"],
        "categories": ["all"],
    }
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{PLURAL}.{GROUP}"},
        "spec": {"group": GROUP, "scope": "Namespaced", "names": names, "versions": [version]},
    }
