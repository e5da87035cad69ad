"""Read an audit log: the requests of ServiceAccounts, with time and response."""

import json
from collections.abc import Iterable
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

POLICY: dict[str, Any] = {
    "apiVersion": "audit.k8s.io/v1",
    "kind": "Policy",
    "omitStages": ["RequestReceived"],
    "rules": [
        {"level": "None", "userGroups": ["system:serviceaccounts:kube-system"]},  # the controllers
        {"level": "Metadata", "userGroups": ["system:serviceaccounts"]},
    ],
}


class Row(NamedTuple):
    """One answer; of a watch one when it began (stage ResponseStarted) and one when it ended."""

    verb: str
    group: str
    resource: str  # empty: a path that is no resource, such as /readyz
    subresource: str
    namespace: str
    name: str
    code: int
    is_allowed: bool  # whether the asker had the right, whatever came of it
    at: datetime  # stageTimestamp
    user: str
    stage: str
    uri: str


def read_rows(lines: Iterable[str]) -> list[Row]:
    """Return the rows of a log, oldest first; a last line that is still being written is left out."""
    return [_row(json.loads(line)) for line in lines if line.endswith("\n")]


def read_audit(path: Path) -> list[Row]:
    """Return the rows of a log so far."""
    with path.open(encoding="utf-8") as file:
        return read_rows(file)


def _row(event: dict[str, Any]) -> Row:
    at, found = datetime.fromisoformat(event["stageTimestamp"]), event.get("objectRef", {})
    return Row(
        verb=event["verb"],
        group=found.get("apiGroup", ""),
        resource=found.get("resource", ""),
        subresource=found.get("subresource", ""),
        namespace=found.get("namespace", ""),
        name=found.get("name", ""),
        code=event.get("responseStatus", {}).get("code", 0),
        is_allowed=event["annotations"]["authorization.k8s.io/decision"] == "allow",
        at=at,
        user=event["user"]["username"],
        stage=event["stage"],
        uri=event["requestURI"],
    )
