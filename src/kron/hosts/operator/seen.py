"""SeenKronJob, SeenJob: what the operator keeps of the documents of a cluster, and no more: there may be many."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from kron.errors import InvalidInstantError
from kron.instant import Instant, parse_instant
from kron.rules.finding import Finding
from kron.rules.kronjob.definition_hash import definition_hash
from kron.rules.kronjob.kronjob import API_VERSION, GROUP, KIND, KronJob
from kron.rules.kronjob.limits import LARGEST_STATUS, is_too_deep, json_bytes
from kron.rules.kronjob.names import LONGEST_NAME, LONGEST_NAMESPACE
from kron.rules.kronjob.reading import read_kronjob, told
from kron.rules.kronjob.status import INVALID_SPEC, conditions_of
from kron.rules.work import Work

Key = tuple[str, str]  # namespace and name
_LONGEST_UID = 64  # characters; a server's has 36, but an owner reference may have any
_SMALL_STATUS = 4_000  # bytes of JSON: a larger one is kept as JSON, and read when it is needed
_LONGEST_IDENTITY = LONGEST_NAMESPACE + 1 + LONGEST_NAME


@dataclass(slots=True)
class SeenKronJob:
    """A KronJob as the server last told it."""

    namespace: str
    name: str
    uid: str
    version: str  # resourceVersion
    generation: int
    created: Instant
    kept_status: Mapping[str, Any] | bytes  # a large one as JSON
    definition_hash: str
    kronjob: KronJob | None  # None: it is wrong
    errors: str  # what is wrong with it
    work: Work | None
    defined_at: Instant | None = None  # when this definition was first seen; None: when the operator came
    resumed_at: Instant | None = None  # when it was last seen to go on after a suspension

    @property
    def identity(self) -> str:
        """Namespace and name, as one text."""
        return f"{self.namespace}/{self.name}"

    @property
    def status(self) -> Mapping[str, Any]:
        """Its status, as the server last sent it."""
        kept = self.kept_status
        return json.loads(kept) if isinstance(kept, bytes) else kept


def is_suspended(seen: SeenKronJob) -> bool:
    """Whether its spec holds it."""
    return seen.kronjob is not None and seen.kronjob.policy.suspend


def see_kronjob(document: Mapping[str, Any], before: SeenKronJob | None) -> SeenKronJob:
    """Return what is kept of a document; what has not changed since before is not read again."""
    metadata = document["metadata"]
    generation = int(metadata.get("generation") or 0)
    fields: dict[str, Any] = {
        "version": str(metadata.get("resourceVersion") or ""),
        "kept_status": _kept_status(document.get("status")),
    }
    if before is not None and before.uid == metadata["uid"] and before.generation == generation:
        return replace(before, **fields)
    namespace, name = metadata["namespace"], metadata["name"]
    spec = document.get("spec")
    found = read_kronjob({"apiVersion": API_VERSION, "kind": KIND, "metadata": metadata, "spec": spec})
    kronjob, errors = (found, "") if isinstance(found, KronJob) else (None, _told(found))
    hashed = definition_hash(spec if isinstance(spec, dict) else {}) if kronjob is None else kronjob.definition_hash
    return SeenKronJob(
        namespace,
        name,
        metadata["uid"],
        generation=generation,
        created=parse_instant(metadata["creationTimestamp"]),
        definition_hash=hashed,
        kronjob=kronjob,
        errors=errors,
        work=None if kronjob is None else _work(kronjob, generation),
        **fields,
    )


def _kept_status(status: object) -> Mapping[str, Any] | bytes:
    """Return what is kept of a status; one that the operator cannot have written counts as none, and is replaced."""
    if not isinstance(status, dict) or is_too_deep(status):
        return {}
    text = json_bytes(status)
    if len(text) <= _SMALL_STATUS:
        return status
    return text if len(text) <= LARGEST_STATUS else {}


def _told(findings: list[Finding]) -> str:
    return told(findings) or "spec: cannot be read"


def _work(kronjob: KronJob, generation: int) -> Work:
    """Return a KronJob as the engine declares it; whatever was edited, the text is another one."""
    text = {"uid": kronjob.uid, "generation": generation, "hash": kronjob.definition_hash}
    definition = json.dumps(text, sort_keys=True)
    return Work(kronjob.identity, kronjob.identity, kronjob.timing, kronjob.policy, definition, payload=kronjob)


# --- Jobs -------------------------------------------------------------------------------------------------------------

_SUCCEEDED, _FAILED = "Complete", "Failed"


@dataclass(frozen=True, slots=True)
class SeenJob:
    """A Job as the server last told it: whose it is, of which period, and how it goes."""

    namespace: str
    name: str
    uid: str
    version: str
    owner: str  # the uid of the KronJob that controls it, empty: none does
    identity: str  # as its annotations say; empty: it is not one of ours, or lies in another namespace
    nominal: Instant | None
    chosen: Instant | None
    succeeded: bool | None  # None: it is active
    ended: Instant | None = None

    @property
    def is_active(self) -> bool:
        """Whether it is not over; one that is being deleted is not, until it is gone."""
        return self.succeeded is None


def see_job(document: Mapping[str, Any]) -> SeenJob:
    """Return what is kept of a document."""
    metadata = document["metadata"]
    notes = metadata.get("annotations") or {}
    nominal, chosen = (_instant(notes.get(f"{GROUP}/{key}")) for key in ("period-id", "chosen-time"))
    status = document.get("status") or {}
    over = {each["type"]: each for each in status.get("conditions") or () if each.get("status") == "True"}
    succeeded = True if _SUCCEEDED in over else False if _FAILED in over else None
    ended = _instant(status.get("completionTime"))
    if ended is None and succeeded is not None:
        ended = _instant(over[_SUCCEEDED if succeeded else _FAILED].get("lastTransitionTime"))
    owners = [each for each in metadata.get("ownerReferences") or () if each.get("controller")]
    owner = owners[0] if owners and owners[0].get("kind") == KIND else {}
    namespace, name, identity = metadata["namespace"], metadata["name"], str(notes.get(f"{GROUP}/identity") or "")
    return SeenJob(
        namespace,
        name,
        metadata["uid"],
        str(metadata.get("resourceVersion") or ""),
        str(owner.get("uid") or "")[:_LONGEST_UID],
        identity if identity.startswith(f"{namespace}/") and len(identity) <= _LONGEST_IDENTITY else "",
        nominal,
        chosen,
        succeeded,
        ended,
    )


def _instant(text: object) -> Instant | None:
    try:
        return parse_instant(text) if isinstance(text, str) else None
    except InvalidInstantError:
        return None


def stored_errors(seen: SeenKronJob) -> str | None:
    """Return what the status says is wrong, so that a restart does not tell it again."""
    found = (each.get("message") for each in conditions_of(seen.status) if each["type"] == INVALID_SPEC)
    return next(found, None)
