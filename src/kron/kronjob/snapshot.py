"""What is kept of the documents of a server: KronJobs and their Jobs, for the operator and for `kron k8s why`."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from kron.errors import InvalidInstantError, KronError
from kron.errors.diagnostics import Diagnostic
from kron.instant import Instant, parse_instant
from kron.kronjob.child_job import is_canonical_job
from kron.kronjob.kronjob import API_VERSION, GROUP, KIND, LONGEST_NAME, LONGEST_NAMESPACE, KronJob
from kron.kronjob.parser import invalid_spec_message, parse_kronjob
from kron.kronjob.spec_fields import MAX_STATUS_BYTES, definition_hash, exceeds_max_depth, json_bytes
from kron.kronjob.status import INVALID_SPEC, conditions_of
from kron.rules.job_spec import JobSpec
from kron.rules.override import DefinitionChange, compare_definition

_LONGEST_UID = 64  # characters; a server's has 36, but an owner reference may have any
_SMALL_STATUS = 4_000  # bytes of JSON: a larger one is kept as JSON, and read when it is needed
_LONGEST_IDENTITY = LONGEST_NAMESPACE + 1 + LONGEST_NAME


@dataclass(slots=True)
class KronJobSnapshot:
    """A KronJob as the server last told it."""

    namespace: str
    name: str
    uid: str
    resource_version: str  # resourceVersion
    generation: int
    created: Instant
    kept_status: Mapping[str, Any] | bytes  # a large one as JSON
    definition_hash: str
    kronjob: KronJob | None  # None: it is wrong
    errors: str  # what is wrong with it
    job_spec: JobSpec | None  # None: nothing of it is started, because it is wrong or is being deleted
    defined_at: Instant | None = None  # when this definition was first seen; None: when the operator came
    resumed_at: Instant | None = None  # when it was last seen to go on after a suspension

    @property
    def identity(self) -> str:
        """Namespace and name, as one text."""
        return f"{self.namespace}/{self.name}"

    @property
    def definition(self) -> tuple[str, bool]:
        """What tells its definition from another one: what decides about periods, and whether it is invalid."""
        return self.definition_hash, bool(self.errors)

    @property
    def status(self) -> Mapping[str, Any]:
        """Its status, as the server last sent it."""
        kept = self.kept_status
        return json.loads(kept) if isinstance(kept, bytes) else kept


def is_suspended(seen: KronJobSnapshot) -> bool:
    """Whether its spec holds it."""
    return seen.kronjob is not None and seen.kronjob.policy.suspend


def parse_snapshot(document: Mapping[str, Any], before: KronJobSnapshot | None, now: Instant) -> KronJobSnapshot:
    """Return what is kept of a document; what has not changed since before is not read again."""
    metadata = document["metadata"]
    generation = int(metadata.get("generation") or 0)
    fields: dict[str, Any] = {
        "resource_version": str(metadata.get("resourceVersion") or ""),
        "kept_status": _kept_status(document.get("status")),
    }
    is_leaving = metadata.get("deletionTimestamp") is not None  # a finalizer may keep it for long
    if before is not None and before.uid != metadata["uid"]:
        before = None
    if before is not None and before.generation == generation:
        return replace(before, **fields, job_spec=None if is_leaving else before.job_spec)
    namespace, name = metadata["namespace"], metadata["name"]
    spec = document.get("spec")
    found = parse_kronjob({"apiVersion": API_VERSION, "kind": KIND, "metadata": metadata, "spec": spec})
    kronjob, errors = (found, "") if isinstance(found, KronJob) else (None, _told(found))
    hashed = definition_hash(spec if isinstance(spec, dict) else {}) if kronjob is None else kronjob.definition_hash
    after = KronJobSnapshot(
        namespace,
        name,
        metadata["uid"],
        generation=generation,
        created=parse_instant(metadata["creationTimestamp"]),
        definition_hash=hashed,
        kronjob=kronjob,
        errors=errors,
        job_spec=None if kronjob is None or is_leaving else _work(kronjob, generation),
        **fields,
    )
    if before is not None:
        is_same = compare_definition(before.definition, after.definition) is DefinitionChange.SAME
        after.defined_at = before.defined_at if is_same else now
        after.resumed_at = now if is_suspended(before) and not is_suspended(after) else before.resumed_at
    return after


def unreadable_kronjob(document: Mapping[str, Any], error: str) -> KronJobSnapshot:
    """Return a KronJob whose spec raises an error when it is read, as one that is wrong: its status can say so."""
    metadata = document["metadata"]
    return KronJobSnapshot(
        metadata["namespace"],
        metadata["name"],
        metadata["uid"],
        resource_version=str(metadata.get("resourceVersion") or ""),
        generation=int(metadata.get("generation") or 0),
        created=parse_instant(metadata["creationTimestamp"]),
        kept_status=_kept_status(document.get("status")),
        definition_hash=definition_hash({}),  # that of no valid spec: when it is repaired, nothing is made up for
        kronjob=None,
        errors=f"spec: cannot be read: {error}",
        job_spec=None,
    )


def _kept_status(status: object) -> Mapping[str, Any] | bytes:
    """Return what is kept of a status; one that the operator cannot have written counts as none, and is replaced."""
    if not isinstance(status, dict) or exceeds_max_depth(status):
        return {}
    text = json_bytes(status)
    if len(text) <= _SMALL_STATUS:
        return status
    return text if len(text) <= MAX_STATUS_BYTES else {}


def _told(findings: list[Diagnostic]) -> str:
    return invalid_spec_message(findings) or "spec: cannot be read"


def _work(kronjob: KronJob, generation: int) -> JobSpec:
    """Return a KronJob as the engine declares it; whatever was edited, the text is another one."""
    text = {"uid": kronjob.uid, "generation": generation, "hash": kronjob.definition_hash}
    definition = json.dumps(text, sort_keys=True)
    return JobSpec(kronjob.identity, kronjob.identity, kronjob.timing, kronjob.policy, definition, payload=kronjob)


# --- Jobs -------------------------------------------------------------------------------------------------------------

_SUCCEEDED, _FAILED = "Complete", "Failed"


@dataclass(frozen=True, slots=True)
class ChildJob:
    """A Job as the server last told it: whose it is, of which period, and how it goes."""

    namespace: str
    name: str
    uid: str
    resource_version: str
    owner: str  # the uid of the KronJob that controls it, empty: none does
    identity: str  # as its annotations say; empty: it is not one of ours, or lies in another namespace
    nominal: Instant | None
    chosen: Instant | None
    succeeded: bool | None  # None: it is active
    ended: Instant | None = None
    is_record: bool = False  # whether it has the name of its period's own Job; a copy has another one

    @property
    def is_active(self) -> bool:
        """Whether it is not over; one that is being deleted is not, until it is gone."""
        return self.succeeded is None


def parse_job(document: Mapping[str, Any]) -> ChildJob:
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
    return ChildJob(
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
        nominal is not None and is_canonical_job(identity, nominal, namespace, name),
    )


def _instant(text: object) -> Instant | None:
    try:
        return parse_instant(text) if isinstance(text, str) else None
    except InvalidInstantError:
        return None


def stored_errors(seen: KronJobSnapshot) -> str | None:
    """Return what the status says is wrong, so that a restart does not tell it again."""
    found = (each.get("message") for each in conditions_of(seen.status) if each["type"] == INVALID_SPEC)
    return next(found, None)


_ENDS = {"Complete": "succeeded", "Failed": "failed"}


class JobEvidence(NamedTuple):
    """A Job of a period."""

    name: str
    nominal: Instant
    chosen: Instant
    created: Instant | None
    state: str  # running, succeeded or failed


def job_evidence(identity: str, jobs: Iterable[Mapping[str, Any]]) -> list[JobEvidence]:
    """Return the Jobs that carry the annotations of this KronJob's periods, whoever owns them."""
    return [child for job in jobs if (child := _child(identity, job)) is not None]


def instant_of(text: object) -> Instant | None:
    """Return the instant that a text of the cluster names, None if it names none."""
    try:
        return parse_instant(text) if isinstance(text, str) else None
    except KronError:
        return None


def _child(identity: str, job: Mapping[str, Any]) -> JobEvidence | None:
    metadata = job.get("metadata") or {}
    notes = metadata.get("annotations") or {}
    nominal, chosen = (instant_of(notes.get(f"{GROUP}/{key}")) for key in ("period-id", "chosen-time"))
    if notes.get(f"{GROUP}/identity") != identity or nominal is None or chosen is None:
        return None
    name = str(metadata.get("name"))
    if not is_canonical_job(identity, nominal, str(metadata.get("namespace")), name):
        return None
    return JobEvidence(name, nominal, chosen, instant_of(metadata.get("creationTimestamp")), _state(job))


def _state(job: Mapping[str, Any]) -> str:
    for condition in (job.get("status") or {}).get("conditions") or ():
        if condition.get("status") == "True" and condition.get("type") in _ENDS:
            return _ENDS[condition["type"]]
    return "running"
