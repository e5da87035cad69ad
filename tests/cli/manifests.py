"""Manifests for the tests of `kron k8s`."""

import json
from pathlib import Path
from typing import Any

from tests.kronjob.kronjob_documents import document

GOOD: dict[str, Any] = {
    "window": {"duration": "3h"},
    "seed": {"salt": "backup"},
    "policy": {"deadline": "10m"},
}
FIRST, CHOSEN = "2026-03-01T00:00:00Z", "2026-03-01T02:32:20Z"  # a period of such a KronJob, prod/db-backup


def written(folder: Path, *documents: dict[str, Any]) -> str:
    """Write documents to a file and return its name; JSON is YAML."""
    file = folder / "jobs.yaml"
    file.write_text("\n---\n".join(json.dumps(each, indent=1) for each in documents), "utf-8")
    return str(file)


def good(folder: Path, *names: str) -> str:
    """Write good KronJobs with these names."""
    return written(folder, *(document(name=name, **GOOD) for name in names))


def resource(name: str = "db-backup", namespace: str = "prod", **spec: Any) -> dict[str, Any]:
    """Return a KronJob as a server has it, with an execution in its status."""
    found = document(name, namespace, **(GOOD | spec))
    found["metadata"]["creationTimestamp"] = "2026-01-01T00:00:00Z"
    entry = {"periodID": FIRST, "chosenTime": CHOSEN, "outcome": "executed", "reason": ""}
    found["status"] = {"definitionHash": "x", "handledPeriods": [entry]}
    return found
