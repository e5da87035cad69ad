"""KronJobRecord: what the ledger remembers of one KronJob, and the status that stores it."""

from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import sha256

from kron.decision.decision import Decision
from kron.instant import Instant
from kron.kronjob.snapshot import ChildJob, KronJobSnapshot
from kron.kronjob.spec_fields import json_bytes
from kron.kronjob.status import CreateFailure, KronJobStatus, ObjectReference, PeriodStatus, handled_periods
from kron.rules.periods import NO_PERIODS, HandledPeriods


@dataclass(frozen=True, slots=True)
class DeclaredSpec:
    """What a status says of the spec that the engine has."""

    generation: int
    is_suspended: bool
    errors: str

    @classmethod
    def of(cls, kronjob: KronJobSnapshot) -> "DeclaredSpec":
        """Return that of a KronJob as it is now."""
        return cls(kronjob.generation, kronjob.is_suspended, kronjob.errors)


@dataclass(frozen=True, slots=True)
class NextPeriod:
    """The next period that has a chosen second, as far as it is known."""

    decision: Decision | None = None
    is_beyond: bool = False  # it is beyond the look-ahead, if there is one


@dataclass(slots=True)
class KronJobRecord:
    """What is remembered of one KronJob. The ledger owns it; its status follows."""

    uid: str
    definition_hash: str
    defined_at: Instant
    served_until: Instant  # up to when everything was handled when it was opened
    entries: tuple[PeriodStatus, ...]
    last_successful_time: Instant | None = None
    create_failure: CreateFailure | None = None
    declared: DeclaredSpec | None = None  # a later spec may wait for its turn
    last_listed: bytes = b""  # the hash of its periods as a status was last seen to list them
    must_be_written: bool = False  # before another Job is created
    is_refused: bool = False  # whether its status could not be written when that was last tried
    # the entries that it was made of, and what it is
    _handled: tuple[tuple[PeriodStatus, ...], HandledPeriods] = ((), NO_PERIODS)

    @property
    def handled(self) -> HandledPeriods:
        """The periods that have their outcome."""
        if self._handled[0] is not self.entries:  # thousands may be asked for between two changes
            self._handled = self.entries, handled_periods(self.entries)
        return self._handled[1]

    def to_status(self, kronjob: KronJobSnapshot, jobs: Iterable[ChildJob], following: NextPeriod) -> KronJobStatus:
        """Return what the status is to say; `jobs` are those that the KronJob owns."""
        declared = self.declared or DeclaredSpec.of(kronjob)
        active = sorted((job for job in jobs if job.is_active), key=lambda job: job.name)
        return KronJobStatus(
            declared.generation,
            self.definition_hash,
            self.defined_at,
            self.entries,
            declared.is_suspended,
            declared.errors,
            following.decision,
            tuple(ObjectReference(job.namespace, job.name, job.uid) for job in active),
            self.last_successful_time,
            self.create_failure,
            following.is_beyond,
        )


def hash_of(listed: object) -> bytes:
    """Return what changes whenever a list of periods does: the list itself would be kept a second time."""
    return sha256(json_bytes(listed)).digest()
