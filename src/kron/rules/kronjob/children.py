"""children_of(identity, jobs) -> the Jobs that are executions of a KronJob's periods, by their annotations."""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from kron.errors import KronError
from kron.instant import Instant, parse_instant
from kron.rules.kronjob.child import is_own
from kron.rules.kronjob.kronjob import GROUP

_ENDS = {"Complete": "succeeded", "Failed": "failed"}


class Child(NamedTuple):
    """A Job of a period."""

    name: str
    nominal: Instant
    chosen: Instant
    created: Instant | None
    state: str  # running, succeeded or failed


def children_of(identity: str, jobs: Iterable[Mapping[str, Any]]) -> list[Child]:
    """Return the Jobs that carry the annotations of this KronJob's periods, whoever owns them."""
    return [child for job in jobs if (child := _child(identity, job)) is not None]


def instant_of(text: object) -> Instant | None:
    """Return the instant that a text of the cluster names, None if it names none."""
    try:
        return parse_instant(text) if isinstance(text, str) else None
    except KronError:
        return None


def _child(identity: str, job: Mapping[str, Any]) -> Child | None:
    metadata = job.get("metadata") or {}
    notes = metadata.get("annotations") or {}
    nominal, chosen = (instant_of(notes.get(f"{GROUP}/{key}")) for key in ("period-id", "chosen-time"))
    if notes.get(f"{GROUP}/identity") != identity or nominal is None or chosen is None:
        return None
    name = str(metadata.get("name"))
    if not is_own(identity, nominal, str(metadata.get("namespace")), name):
        return None
    return Child(name, nominal, chosen, instant_of(metadata.get("creationTimestamp")), _state(job))


def _state(job: Mapping[str, Any]) -> str:
    for condition in (job.get("status") or {}).get("conditions") or ():
        if condition.get("status") == "True" and condition.get("type") in _ENDS:
            return _ENDS[condition["type"]]
    return "running"
