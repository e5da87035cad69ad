"""What a cluster tells of a KronJob's periods: entries of its status, and Jobs that carry its annotations."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from kron.errors import KronError
from kron.instant import Instant, parse_instant
from kron.rules.kronjob.kronjob import GROUP

_ENDS = {"Complete": "succeeded", "Failed": "failed"}
RUNNING = "running"


class Entry(NamedTuple):
    """An entry of `status.handledPeriods`: one period, or all of an outage from the first to the last."""

    first: Instant
    last: Instant
    chosen: Instant | None
    outcome: str
    reason: str

    @property
    def is_range(self) -> bool:
        """Whether it stands for an outage."""
        return self.first != self.last


class Child(NamedTuple):
    """A Job of a period."""

    name: str
    nominal: Instant
    chosen: Instant
    created: Instant | None
    state: str  # running, succeeded or failed


def entries_of(document: Mapping[str, Any]) -> list[Entry]:
    """Return the entries of a KronJob's status, oldest first; what cannot be read tells nothing."""
    status = document.get("status")
    given = status.get("handledPeriods") if isinstance(status, dict) else None
    return list(_entries(given if isinstance(given, list) else ()))


def children_of(identity: str, jobs: Iterable[Mapping[str, Any]]) -> list[Child]:
    """Return the Jobs that are executions of this KronJob's periods, by their annotations."""
    return [child for job in jobs if (child := _child(identity, job)) is not None]


def instant_of(text: object) -> Instant | None:
    """Return the instant that a text of the cluster names, None if it names none."""
    try:
        return parse_instant(text) if isinstance(text, str) else None
    except KronError:
        return None


def _entries(given: Iterable[object]) -> Iterator[Entry]:
    for entry in given:
        if isinstance(entry, dict) and (first := instant_of(entry.get("periodID"))) is not None:
            last = instant_of(entry.get("lastPeriodID")) or first
            chosen = instant_of(entry.get("chosenTime"))
            yield Entry(first, last, chosen, str(entry.get("outcome")), str(entry.get("reason") or ""))


def _child(identity: str, job: Mapping[str, Any]) -> Child | None:
    metadata = job.get("metadata") or {}
    notes = metadata.get("annotations") or {}
    nominal, chosen = (instant_of(notes.get(f"{GROUP}/{key}")) for key in ("period-id", "chosen-time"))
    if notes.get(f"{GROUP}/identity") != identity or nominal is None or chosen is None:
        return None
    return Child(str(metadata.get("name")), nominal, chosen, instant_of(metadata.get("creationTimestamp")), _state(job))


def _state(job: Mapping[str, Any]) -> str:
    for condition in (job.get("status") or {}).get("conditions") or ():
        if condition.get("status") == "True" and condition.get("type") in _ENDS:
            return _ENDS[condition["type"]]
    return RUNNING
