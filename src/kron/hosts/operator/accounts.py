"""Accounts: what the cluster remembers of KronJobs, as the engine's ledger: their statuses, and their Jobs."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from hashlib import sha256

from kron.engine.jobs.store import JobBatch, JobStored
from kron.hosts.operator.seen import SeenJob, SeenKronJob
from kron.hosts.operator.world import World
from kron.instant import ZERO, Instant
from kron.rules.handled import NONE, Handled
from kron.rules.kronjob.child import is_own
from kron.rules.kronjob.entry import (
    DEFINITION_CHANGED,
    Entry,
    handled_of,
    is_forgotten,
    joined,
    kept,
    read_entries,
    reason_word,
    served,
    unknown,
)
from kron.rules.kronjob.horizon import Horizon
from kron.rules.kronjob.limits import json_bytes
from kron.rules.kronjob.status import Trouble, read_past
from kron.rules.redefinition import owns
from kron.rules.verdict import Outcome


@dataclass(slots=True)
class Account:
    """What is remembered of one KronJob, and will stand in its status."""

    uid: str
    definition_hash: str
    defined_at: Instant
    entries: tuple[Entry, ...]
    succeeded_at: Instant | None = None
    trouble: Trouble | None = None
    said: bytes = b""  # the hash of its periods as a status was last seen to list them
    owes: bool = False  # whether something that was found among the Jobs is to be written before another one is created
    _handled: tuple[tuple[Entry, ...], Handled] = ((), NONE)  # the entries that it was made of, and what it is

    @property
    def handled(self) -> Handled:
        """The periods that have their outcome."""
        if self._handled[0] is not self.entries:  # thousands may be asked for between two changes
            self._handled = self.entries, handled_of(self.entries)
        return self._handled[1]

    @property
    def served(self) -> Instant:
        """Up to when everything is handled."""
        return served(self.entries, self.defined_at)


class Accounts:
    """A ledger in memory. What survives a crash are the Jobs, which are created before anything is noted here, and the
    statuses, which follow: whoever comes next finds them.
    """

    def __init__(self, world: World, now: Callable[[], Instant], on_change: Callable[[str], object]) -> None:
        """`on_change` is told the identity of a KronJob whose status is to be written."""
        self._world, self._now, self._on_change = world, now, on_change
        self._accounts: dict[str, Account] = {}

    def of(self, identity: str) -> Account | None:
        """Return what is remembered of a KronJob."""
        return self._accounts.get(identity)

    def open_account(self, seen: SeenKronJob) -> Account:
        """Begin with what its status says, and with what is found among the Jobs."""
        horizon = horizon_of(seen, self._now())
        past = read_past(seen.status).within(horizon)
        found = (entry_of(job, horizon) for job in self._world.jobs_named(seen.identity))
        relevant = (each for each in found if each is not None and not is_forgotten(each.at, past.entries))
        entries = joined(past.entries, sorted(relevant, key=lambda entry: entry.at))
        if not past.definition_hash:  # nobody has seen it yet: it was declared when it was made
            defined_at = seen.created
        elif (past.definition_hash, past.was_invalid) == (seen.definition_hash, bool(seen.errors)):
            defined_at = past.defined_at or seen.created
        else:
            defined_at = seen.defined_at or self._now()
            if past.coming is not None and _is_over(past.coming.first, seen, defined_at):
                entries = joined(entries, [past.coming._replace(reason=DEFINITION_CHANGED)])
        account = Account(seen.uid, seen.definition_hash, defined_at, entries, past.succeeded_at, past.trouble)
        for job in self._world.jobs_of(seen):
            self._note_success(account, job, horizon)
        account.owes = len(account.entries) > len(past.entries)
        self._accounts[seen.identity] = account
        return account

    def on_success(self, seen: SeenKronJob, job: SeenJob) -> None:
        """Remember when a Job of a KronJob succeeded."""
        account = self._accounts.get(seen.identity)
        if account is not None:
            self._note_success(account, job, horizon_of(seen, self._now()))

    def _note_success(self, account: Account, job: SeenJob, horizon: Horizon) -> None:
        if job.succeeded and job.ended is not None and horizon.saw(job.ended):
            account.succeeded_at = max(account.succeeded_at or job.ended, job.ended)

    def drop(self, identity: str) -> None:
        """Forget a KronJob that is gone."""
        self._accounts.pop(identity, None)

    def redefine(self, seen: SeenKronJob, now: Instant) -> bool:
        """Take note of another definition; return whether it is one."""
        account = self._accounts[seen.identity]
        if account.definition_hash == seen.definition_hash:
            return False
        account.definition_hash, account.defined_at = seen.definition_hash, now
        return True

    def settle(self, identity: str, entry: Entry) -> bool:
        """Remember what became of a period, once; return whether that is news."""
        return self._settle(identity, [entry])

    def _settle(self, identity: str, entries: Sequence[Entry]) -> bool:
        account = self._accounts.get(identity)
        news = [] if account is None else unknown(entries, account.handled)
        if account is None or not news:
            return False
        account.entries = (*account.entries, *news)
        self._on_change(identity)
        return True

    def find(self, identity: str, entry: Entry) -> bool:
        """Remember a period whose Job somebody else has created; return whether that is news."""
        if not self.settle(identity, entry):
            return False
        self._accounts[identity].owes = True
        return True

    def trouble(self, identity: str, trouble: Trouble | None) -> None:
        """Remember why a Job could not be created, until one is."""
        account = self._accounts.get(identity)
        if account is not None and account.trouble != trouble:
            account.trouble = trouble
            self._on_change(identity)

    def learn(self, seen: SeenKronJob) -> bool:
        """Take in what somebody else has written into a status; return whether there was anything new."""
        account = self._accounts.get(seen.identity)
        if account is None:
            return False
        status = seen.status
        said = hash_of(status.get("handledPeriods"))
        if said == account.said:
            return False
        account.said = said
        theirs = horizon_of(seen, self._now()).clip_all(read_entries(status))
        if not unknown(theirs, account.handled):
            return False
        account.entries = joined(theirs, account.entries)
        return True

    def trim(self, identity: str, span: timedelta) -> None:
        """Drop what is older than anybody can ask for."""
        account = self._accounts[identity]
        account.entries = kept(account.entries, self._now(), span)

    # --- the engine's ledger ------------------------------------------------------------------------------------------

    async def open(self) -> None:
        """Nothing is to be taken into possession: the lease is elsewhere."""

    async def load(self) -> JobStored:
        """Return nothing: jobs are declared with what their accounts say."""
        return JobStored()

    async def append(self, batch: JobBatch) -> None:
        """Remember what was closed; what begins is remembered by its Job, or when that could not be."""
        closed: dict[str, list[Entry]] = {}
        for record in batch.closed:
            reason = reason_word(record.outcome, record.reason)
            entry = Entry(record.first, record.last, record.number, record.chosen, record.outcome, reason)
            closed.setdefault(record.identity, []).append(entry)
        for identity, entries in closed.items():
            self._settle(identity, entries)
        await asyncio.sleep(0)  # others get a turn, as with any ledger: a thousand Jobs may be due at once

    async def handled(self, since: Mapping[str, Instant]) -> Mapping[str, Handled]:
        """Return by identity the periods that have their outcome."""
        return {
            identity: account.handled if (account := self._accounts.get(identity)) is not None else NONE
            for identity in since
        }

    async def close(self) -> None:
        """Nothing is to be given back."""


def hash_of(listed: object) -> bytes:
    """Return what changes whenever a list of periods does: the list itself would be kept a second time."""
    return sha256(json_bytes(listed)).digest()


def _is_over(nominal: Instant, seen: SeenKronJob, defined_at: Instant) -> bool:
    """Whether a period had begun under a definition that is gone, and is not run by the present one."""
    return nominal <= defined_at and (seen.kronjob is None or not owns(seen.kronjob.timing, nominal, defined_at))


def horizon_of(seen: SeenKronJob, now: Instant) -> Horizon:
    """Return between which instants a status and Jobs can say the truth about a KronJob."""
    return Horizon(seen.created, now, ZERO if seen.kronjob is None else seen.kronjob.timing.window.duration)


class Listed:
    """The periods that the status of a KronJob lists, as far as they can be true; read once for all its Jobs."""

    def __init__(self, seen: SeenKronJob, now: Instant) -> None:
        self._identity, self._horizon = seen.identity, horizon_of(seen, now)
        self._entries = self._horizon.clip_all(read_entries(seen.status))
        self._handled = handled_of(self._entries)

    def has(self, job: SeenJob) -> bool:
        """Whether a Job is no record that the status lacks: until the period is listed its Job is the only one."""
        entry = entry_of(job, self._horizon) if job.identity == self._identity else None
        return entry is None or self._handled.has(entry.first) or is_forgotten(entry.at, self._entries)


def entry_of(job: SeenJob, horizon: Horizon) -> Entry | None:
    """Return what a Job says of its period; a copy, which has another name, and what cannot be true say nothing."""
    if job.nominal is None or not is_own(job.identity, job.nominal, job.namespace, job.name):
        return None
    return horizon.clip(Entry(job.nominal, job.nominal, 1, job.chosen, Outcome.EXECUTED))
