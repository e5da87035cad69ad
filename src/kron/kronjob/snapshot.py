"""What is kept of the documents of a server: KronJobs and their Jobs, for the operator and for `kron k8s why`."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

from kron.errors.diagnostics import Diagnostic
from kron.instant import Instant, parse_instant
from kron.kronjob.kronjob import API_VERSION, GROUP, KIND, LONGEST_NAME, LONGEST_NAMESPACE, KronJob, is_canonical_job
from kron.kronjob.parser import invalid_spec_message, parse_kronjob
from kron.kronjob.spec_fields import MAX_STATUS_BYTES, definition_hash, exceeds_max_depth, json_bytes
from kron.kronjob.status import (
    INVALID_SPEC,
    PeriodStatus,
    StatusHorizon,
    conditions_of,
    handled_periods,
    instant_of,
    parse_periods,
    trimmed_before,
)
from kron.rules.job_spec import JobSpec
from kron.rules.override import DefinitionChange, compare_definition
from kron.rules.verdict import Outcome

_LONGEST_UID = 64  # characters; a server's has 36, but an owner reference may have any
_SMALL_STATUS = 4_000  # bytes of JSON: a larger one is kept as JSON, and read when it is needed
_LONGEST_IDENTITY = LONGEST_NAMESPACE + 1 + LONGEST_NAME


@dataclass(frozen=True, slots=True)
class InvalidSpec:
    """A spec that cannot be run, and what is wrong with it."""

    errors: str


@dataclass(slots=True)
class KronJobSnapshot:
    """A KronJob as the server last sent it."""

    namespace: str
    name: str
    uid: str
    resource_version: str
    generation: int
    created: Instant
    kept_status: Mapping[str, Any] | bytes  # a large one as JSON
    definition_hash: str
    spec: JobSpec | InvalidSpec  # whose payload is the KronJob
    is_leaving: bool = False  # it is being deleted, which a finalizer may make last: nothing of it is started
    defined_at: Instant | None = None  # when this definition was first seen; None: when the operator came
    resumed_at: Instant | None = None  # when it was last seen to go on after a suspension

    @property
    def identity(self) -> str:
        """Namespace and name, as one text."""
        return f"{self.namespace}/{self.name}"

    @property
    def kronjob(self) -> KronJob | None:
        """What its spec says, None if it is invalid."""
        spec = self.spec
        return None if isinstance(spec, InvalidSpec) else cast("KronJob", spec.payload)

    @property
    def errors(self) -> str:
        """What is wrong with its spec, empty if it is valid."""
        return self.spec.errors if isinstance(self.spec, InvalidSpec) else ""

    @property
    def job_spec(self) -> JobSpec | None:
        """What the engine declares, None if nothing of it is started."""
        return None if self.is_leaving or isinstance(self.spec, InvalidSpec) else self.spec

    @property
    def is_suspended(self) -> bool:
        """Whether its spec holds it."""
        return isinstance(self.spec, JobSpec) and self.spec.policy.suspend

    @property
    def definition(self) -> tuple[str, bool]:
        """A key of its definition: the fields that decide about periods, and whether it is invalid."""
        return self.definition_hash, isinstance(self.spec, InvalidSpec)

    @property
    def status(self) -> Mapping[str, Any]:
        """Its status, as the server last sent it."""
        kept = self.kept_status
        return json.loads(kept) if isinstance(kept, bytes) else kept

    @property
    def stored_errors(self) -> str | None:
        """What its status says is wrong, so that a restart does not report it again."""
        found = (each.get("message") for each in conditions_of(self.status) if each["type"] == INVALID_SPEC)
        return next(found, None)

    def horizon(self, now: Instant) -> StatusHorizon:
        """Return between which instants its status and its Jobs can say the truth."""
        return StatusHorizon.of(self.created, now, self.kronjob)


def parse_snapshot(document: Mapping[str, Any], before: KronJobSnapshot | None, now: Instant) -> KronJobSnapshot:
    """Return what is kept of a document; a spec that has not changed since before is not read again."""
    metadata, spec = document["metadata"], document.get("spec")
    generation = int(metadata.get("generation") or 0)
    if before is not None and before.uid != metadata["uid"]:
        before = None
    if before is not None and before.generation == generation:
        hashed, job_spec = before.definition_hash, before.spec
    else:
        found = parse_kronjob({"apiVersion": API_VERSION, "kind": KIND, "metadata": metadata, "spec": spec})
        if isinstance(found, KronJob):
            hashed, job_spec = found.definition_hash, _job_spec(found, generation)
        else:
            hashed, job_spec = definition_hash(spec if isinstance(spec, dict) else {}), InvalidSpec(_errors(found))
    after = _snapshot(document, hashed, job_spec)
    if before is not None:
        is_same = compare_definition(before.definition, after.definition) is DefinitionChange.SAME
        after.defined_at = before.defined_at if is_same else now
        after.resumed_at = now if before.is_suspended and not after.is_suspended else before.resumed_at
    return after


def unreadable_kronjob(document: Mapping[str, Any], error: str) -> KronJobSnapshot:
    """Return a KronJob whose spec raises an error when it is read, as one that is wrong: its status can say so."""
    # The hash is that of no valid spec: when it is repaired, nothing is made up for.
    return _snapshot(document, definition_hash({}), InvalidSpec(f"spec: cannot be read: {error}"))


def _snapshot(document: Mapping[str, Any], hashed: str, spec: JobSpec | InvalidSpec) -> KronJobSnapshot:
    metadata = document["metadata"]
    return KronJobSnapshot(
        metadata["namespace"],
        metadata["name"],
        metadata["uid"],
        resource_version=str(metadata.get("resourceVersion") or ""),
        generation=int(metadata.get("generation") or 0),
        created=parse_instant(metadata["creationTimestamp"]),
        kept_status=_kept_status(document.get("status")),
        definition_hash=hashed,
        spec=spec,
        is_leaving=metadata.get("deletionTimestamp") is not None,
    )


def _kept_status(status: object) -> Mapping[str, Any] | bytes:
    """Return what is kept of a status; one that the operator cannot have written counts as none, and is replaced."""
    if not isinstance(status, dict) or exceeds_max_depth(status):
        return {}
    text = json_bytes(status)
    if len(text) <= _SMALL_STATUS:
        return status
    return text if len(text) <= MAX_STATUS_BYTES else {}


def _errors(findings: list[Diagnostic]) -> str:
    return invalid_spec_message(findings) or "spec: cannot be read"


def _job_spec(kronjob: KronJob, generation: int) -> JobSpec:
    """Return a KronJob as the engine declares it; whatever was edited, the text is another one."""
    text = {"uid": kronjob.uid, "generation": generation, "hash": kronjob.definition_hash}
    definition = json.dumps(text, sort_keys=True)
    return JobSpec(kronjob.identity, kronjob.identity, kronjob.timing, kronjob.policy, definition, payload=kronjob)


# --- Jobs -------------------------------------------------------------------------------------------------------------

_SUCCEEDED, _FAILED = "Complete", "Failed"


@dataclass(frozen=True, slots=True)
class ChildJob:
    """A Job as the server last sent it: whose it is, of which period, and how it goes."""

    namespace: str
    name: str
    uid: str
    resource_version: str
    owner: str  # the uid of the KronJob that controls it, empty: none does
    identity: str  # as its annotations say; empty: it is not one of ours, or is in another namespace
    nominal: Instant | None
    chosen: Instant | None
    succeeded: bool | None  # None: it is active
    created: Instant | None = None
    ended: Instant | None = None
    is_record: bool = False  # whether it has the name of its period's own Job; a copy has another one

    @property
    def is_active(self) -> bool:
        """Whether it is not over; one that is being deleted is not, until it is gone."""
        return self.succeeded is None

    @property
    def state(self) -> str:
        """How it goes, in one word: running, succeeded or failed."""
        return "running" if self.succeeded is None else "succeeded" if self.succeeded else "failed"

    def outcome(self, horizon: StatusHorizon) -> PeriodStatus | None:
        """Return what it says of its period; a copy, and a Job whose instants cannot be true, say nothing."""
        if self.nominal is None or not self.is_record:
            return None
        return horizon.clip(PeriodStatus(self.nominal, self.nominal, 1, self.chosen, Outcome.EXECUTED))


def parse_job(document: Mapping[str, Any]) -> ChildJob:
    """Return what is kept of a document."""
    metadata = document["metadata"]
    notes = metadata.get("annotations") or {}
    nominal, chosen = (instant_of(notes.get(f"{GROUP}/{key}")) for key in ("period-id", "chosen-time"))
    status = document.get("status") or {}
    over = {each["type"]: each for each in status.get("conditions") or () if each.get("status") == "True"}
    succeeded = True if _SUCCEEDED in over else False if _FAILED in over else None
    ended = instant_of(status.get("completionTime"))
    if ended is None and succeeded is not None:
        ended = instant_of(over[_SUCCEEDED if succeeded else _FAILED].get("lastTransitionTime"))
    owners = [each for each in metadata.get("ownerReferences") or () if each.get("controller")]
    owner = owners[0] if owners and owners[0].get("kind") == KIND else {}
    namespace, identity = (str(text or "") for text in (metadata.get("namespace"), notes.get(f"{GROUP}/identity")))
    return ChildJob(
        namespace,
        metadata["name"],
        str(metadata.get("uid") or ""),
        str(metadata.get("resourceVersion") or ""),
        str(owner.get("uid") or "")[:_LONGEST_UID],
        identity if identity.startswith(f"{namespace}/") and len(identity) <= _LONGEST_IDENTITY else "",
        nominal,
        chosen,
        succeeded,
        instant_of(metadata.get("creationTimestamp")),
        ended,
        nominal is not None and is_canonical_job(identity, nominal, namespace, metadata["name"]),
    )


class ListedPeriods:
    """The periods that the status of a KronJob lists, as far as they can be true; read once for all its Jobs."""

    def __init__(self, kronjob: KronJobSnapshot, now: Instant) -> None:
        self._identity, self._horizon = kronjob.identity, kronjob.horizon(now)
        entries = self._horizon.clip_all(parse_periods(kronjob.status))
        self._handled, self._oldest = handled_periods(entries), trimmed_before(entries)

    def has(self, job: ChildJob) -> bool:
        """Whether the status lacks no record that a Job is: until the period is listed its Job is the only one."""
        entry = job.outcome(self._horizon) if job.identity == self._identity else None
        if entry is None or self._handled.has(entry.first):
            return True
        return self._oldest is not None and entry.effective_time < self._oldest
