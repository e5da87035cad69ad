"""Accounts: what the cluster remembers of KronJobs, as the engine's ledger: their statuses, and their Jobs."""

import asyncio
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from hashlib import sha256
from typing import NamedTuple

from kron.adapters.kubernetes.cache import ClusterCache
from kron.adapters.kubernetes.resource_store import PART
from kron.engine.jobs.store import JobBatch, JobSnapshot
from kron.engine.ports import Refusal
from kron.instant import Instant
from kron.kronjob.period_status import (
    DEFINITION_CHANGED,
    SUPERSEDED,
    PeriodStatus,
    StatusHorizon,
    handled_periods,
    merge_periods,
    new_periods,
    parse_periods,
    served_until,
    status_reason,
    trim_periods,
    trimmed_before,
)
from kron.kronjob.snapshot import ChildJob, KronJobSnapshot
from kron.kronjob.spec_fields import json_bytes
from kron.kronjob.status import CreateFailure, parse_status
from kron.rules.override import DefinitionChange, compare_definition, is_closed
from kron.rules.periods import NO_PERIODS, HandledPeriods


class DeclaredSpec(NamedTuple):
    """What a status says of the spec that the engine has."""

    generation: int
    is_suspended: bool
    errors: str

    @classmethod
    def of(cls, seen: KronJobSnapshot) -> "DeclaredSpec":
        """Return that of a KronJob as it is now."""
        return cls(seen.generation, seen.is_suspended, seen.errors)


@dataclass(slots=True)
class Account:
    """What is remembered of one KronJob, and will stand in its status."""

    uid: str
    definition_hash: str
    defined_at: Instant
    served: Instant  # up to when everything was handled when it was opened
    entries: tuple[PeriodStatus, ...]
    succeeded_at: Instant | None = None
    trouble: CreateFailure | None = None
    declared: DeclaredSpec | None = None  # a later one may wait for its turn
    said: bytes = b""  # the hash of its periods as a status was last seen to list them
    owes: bool = False  # whether something is to be written before another Job is created
    is_refused: bool = False  # whether its status could not be written when that was last tried
    # the entries that it was made of, and what it is
    _handled: tuple[tuple[PeriodStatus, ...], HandledPeriods] = ((), NO_PERIODS)

    @property
    def handled(self) -> HandledPeriods:
        """The periods that have their outcome."""
        if self._handled[0] is not self.entries:  # thousands may be asked for between two changes
            self._handled = self.entries, handled_periods(self.entries)
        return self._handled[1]


class Accounts:
    """A ledger in memory. What survives a crash are the Jobs, which are created before anything is noted here, and the
    statuses, which follow: whoever comes next finds them. What a Job supersedes is written before it is created.
    """

    def __init__(self, cache: ClusterCache, now: Callable[[], Instant], on_change: Callable[[str], object]) -> None:
        """`on_change` is told the identity of a KronJob whose status is to be written."""
        self._cache, self._now, self._on_change = cache, now, on_change
        self._accounts: dict[str, Account] = {}

    def of(self, identity: str) -> Account | None:
        """Return what is remembered of a KronJob."""
        return self._accounts.get(identity)

    def open_account(self, seen: KronJobSnapshot) -> Generator[None, None, Account]:
        """Begin with what its status says, and with what is found among the Jobs, at which it looks in parts."""
        horizon = seen.horizon(self._now())
        past = parse_status(seen.status).within(horizon)
        found = dict[str, PeriodStatus | None]()  # by name; some may come between two parts
        while left := [job for job in self._cache.jobs_by_identity(seen.identity) if job.name not in found]:
            found |= {job.name: job.outcome(horizon) for job in left[:PART]}
            if len(left) > PART:
                yield
        oldest = trimmed_before(past.periods)
        relevant = (
            each for each in found.values() if each is not None and (oldest is None or each.effective_time >= oldest)
        )
        entries = merge_periods(past.periods, sorted(relevant, key=lambda entry: entry.effective_time))
        recorded = (past.definition_hash, past.was_invalid) if past.definition_hash else None
        change = compare_definition(recorded, seen.definition)
        if change is DefinitionChange.ADDED:  # nobody has seen it yet: it was declared when it was made
            defined_at = seen.created
        elif change is DefinitionChange.SAME:
            defined_at = past.defined_at or seen.created
        else:
            defined_at = seen.defined_at or self._now()
            timing = None if seen.kronjob is None else seen.kronjob.timing
            if past.next is not None and is_closed(past.next.first, timing, defined_at):
                entries = merge_periods(entries, [past.next._replace(reason=DEFINITION_CHANGED)])
        # A Job that was found does not begin the list: what was closed before it, and not written, is judged again.
        reached = served_until(past.periods, defined_at)
        account = Account(
            seen.uid, seen.definition_hash, defined_at, reached, entries, past.last_successful_time, past.create_failure
        )
        for job in self._cache.owned_jobs(seen):
            self._note_success(account, job, horizon)
        account.owes = len(account.entries) > len(past.periods)
        return account

    def put(self, identity: str, account: Account) -> None:
        """Have an account from now on."""
        self._accounts[identity] = account

    def on_success(self, seen: KronJobSnapshot, job: ChildJob) -> None:
        """Remember when a Job of a KronJob succeeded."""
        account = self._accounts.get(seen.identity)
        if account is not None:
            self._note_success(account, job, seen.horizon(self._now()))

    def _note_success(self, account: Account, job: ChildJob, horizon: StatusHorizon) -> None:
        if job.succeeded and job.ended is not None and horizon.saw(job.ended):
            account.succeeded_at = max(account.succeeded_at or job.ended, job.ended)

    def drop(self, identity: str) -> None:
        """Forget a KronJob that is gone."""
        self._accounts.pop(identity, None)

    def redefine(self, seen: KronJobSnapshot, now: Instant) -> bool:
        """Take note of another definition; return whether it is one."""
        account = self._accounts[seen.identity]
        if compare_definition(account.definition_hash, seen.definition_hash) is DefinitionChange.SAME:
            return False
        account.definition_hash, account.defined_at = seen.definition_hash, now
        return True

    def settle(self, identity: str, entry: PeriodStatus) -> bool:
        """Remember what became of a period, once; return whether that is news."""
        return self._settle(identity, [entry])

    def _settle(self, identity: str, entries: Sequence[PeriodStatus]) -> bool:
        account = self._accounts.get(identity)
        news = [] if account is None else new_periods(entries, account.handled)
        if account is None or not news:
            return False
        account.entries = (*account.entries, *news)
        # A crash after the Job that supersedes them and before the status: whoever comes next would run them after it.
        account.owes = account.owes or any(entry.reason == SUPERSEDED for entry in news)
        self._on_change(identity)
        return True

    def find(self, identity: str, entry: PeriodStatus) -> bool:
        """Remember a period whose Job somebody else has created; return whether that is news."""
        if not self.settle(identity, entry):
            return False
        self._accounts[identity].owes = True
        return True

    def trouble(self, identity: str, trouble: CreateFailure | None) -> None:
        """Remember why a Job could not be created, until one is."""
        account = self._accounts.get(identity)
        if account is not None and account.trouble != trouble:
            account.trouble = trouble
            self._on_change(identity)

    def learn(self, seen: KronJobSnapshot) -> bool:
        """Take in what somebody else has written into a status; return whether there was anything new."""
        account = self._accounts.get(seen.identity)
        if account is None:
            return False
        status = seen.status
        said = hash_of(status.get("handledPeriods"))
        if said == account.said:
            return False
        account.said = said
        theirs = seen.horizon(self._now()).clip_all(parse_periods(status))
        if not new_periods(theirs, account.handled):
            return False
        account.entries = merge_periods(theirs, account.entries)
        return True

    def trim(self, identity: str, span: timedelta) -> None:
        """Drop what is older than anybody can ask for."""
        account = self._accounts[identity]
        account.entries = trim_periods(account.entries, self._now(), span)

    # --- the engine's ledger ------------------------------------------------------------------------------------------

    async def open(self) -> None:
        """Nothing is to be taken into possession: the lease is elsewhere."""

    async def load(self) -> JobSnapshot:
        """Return nothing: jobs are declared with what their accounts say."""
        return JobSnapshot()

    async def append(self, batch: JobBatch) -> Sequence[Refusal]:
        """Remember what was closed; what begins is remembered by its Job, or when that could not be.

        It refuses nothing: the name of a Job is the claim to its period, and the API server decides about that.
        """
        closed: dict[str, list[PeriodStatus]] = {}
        for record in batch.closed:
            reason = status_reason(record.outcome, record.reason)
            entry = PeriodStatus(record.first, record.last, record.period_count, record.chosen, record.outcome, reason)
            closed.setdefault(record.identity, []).append(entry)
        for identity, entries in closed.items():
            self._settle(identity, entries)
        await asyncio.sleep(0)  # others get a turn, as with any ledger: a thousand Jobs may be due at once
        return ()

    async def handled(self, since: Mapping[str, Instant]) -> Mapping[str, HandledPeriods]:
        """Return by identity the periods that have their outcome."""
        return {
            identity: account.handled if (account := self._accounts.get(identity)) is not None else NO_PERIODS
            for identity in since
        }

    async def close(self) -> None:
        """Nothing is to be given back."""


def hash_of(listed: object) -> bytes:
    """Return what changes whenever a list of periods does: the list itself would be kept a second time."""
    return sha256(json_bytes(listed)).digest()
