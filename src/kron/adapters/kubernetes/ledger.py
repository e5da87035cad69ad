"""ClusterLedger: the engine's ledger of KronJobs, kept in their statuses and in their Jobs."""

import asyncio
from collections.abc import Callable, Generator, Mapping, Sequence
from datetime import timedelta

from kron.adapters.kubernetes.cache import PART, ClusterCache
from kron.adapters.kubernetes.client import KRONJOB_STATUS, KRONJOBS, ResourceClient
from kron.adapters.kubernetes.kronjob_record import KronJobRecord, NextPeriod, hash_of
from kron.adapters.kubernetes.responses import ErrorClass, LoopShare, classify, retry_delay
from kron.adapters.kubernetes.work_queue import Priority, WorkQueue
from kron.decision.decision import Decision
from kron.engine.jobs.job_state import JobState
from kron.engine.jobs.planner import PeriodPlanner
from kron.engine.ledger import JobBatch, JobSnapshot
from kron.engine.ports import Refusal
from kron.errors import ApiError, ApiRefusedError
from kron.instant import ZERO, Instant
from kron.kronjob.snapshot import ChildJob, KronJobSnapshot
from kron.kronjob.status import (
    DEFINITION_CHANGED,
    SUPERSEDED,
    CreateFailure,
    PeriodStatus,
    StatusHorizon,
    merge_patch,
    merge_periods,
    new_periods,
    parse_periods,
    parse_status,
    served_until,
    trim_periods,
    trimmed_before,
)
from kron.rules.effort import AT_ONCE, Effort
from kron.rules.override import DefinitionChange, compare_definition, is_closed
from kron.rules.periods import HandledPeriods, NextRun, PeriodQueue
from kron.rules.verdict import Outcome


class NextPeriods:
    """Finds the next period of each KronJob that has a chosen second; a search continues where it was."""

    def __init__(self, share: LoopShare) -> None:
        self.planner: PeriodPlanner | None = None  # None: it is not made yet
        self._share = share
        self._searches: dict[str, tuple[PeriodQueue, NextRun]] = {}  # by identity: from what on, and how far

    async def prepare(self, identity: str) -> bool:
        """Return whether the next period is known; if not, look for it for one part.

        Then other coroutines had a turn, so it returns False also if the period is known now.
        """
        if self._advance(identity, Effort(AT_ONCE)):
            return True
        async with self._share.part():
            self._advance(identity, Effort())
        return False

    def get(self, identity: str) -> NextPeriod:
        """Return what is known of the next period."""
        job = self._job(identity)
        if not self._advance(identity, Effort(AT_ONCE)) or job is None or job.coming is None or job.is_suspended:
            return NextPeriod()
        _, search = self._searches.get(identity, (None, None))
        return NextPeriod(job.coming.first()) if search is None else NextPeriod(search.found, search.is_beyond)

    def _job(self, identity: str) -> JobState | None:
        return None if self.planner is None else self.planner.jobs.get(identity)

    def _advance(self, identity: str, effort: Effort) -> bool:
        """Look on; return whether all is known that a status says of the next period."""
        job = self._job(identity)
        if job is None or job.coming is None or job.is_suspended or job.work.timing is None:
            self._searches.pop(identity, None)
            return True
        if not job.coming.advance(effort):
            return False
        first = job.coming.first()
        if first is None or first.chosen_time is not None:
            self._searches.pop(identity, None)
            return True
        coming, search = self._searches.get(identity, (None, None))
        if search is None or coming is not job.coming:  # another definition, or other periods are handled
            search = NextRun(job.work.timing, job.reached, job.handled, first)
            self._searches[identity] = job.coming, search
        return search.advance(first, effort)


class StatusWriter:
    """One write at a time for each KronJob; what changes meanwhile comes with the next. The ledger owns it."""

    def __init__(
        self,
        api: ResourceClient,
        cache: ClusterCache,
        queue: WorkQueue,
        records: Mapping[str, KronJobRecord],
        following: NextPeriods,
        on_conflict: Callable[[], object],
        now: Callable[[], Instant],
        slack: timedelta,
    ) -> None:
        """`on_conflict` hears that another client wrote a status meanwhile."""
        self._api, self._cache, self._queue, self._records = api, cache, queue, records
        self._following, self._on_conflict, self._now, self._slack = following, on_conflict, now, slack
        self._tries: dict[str, int] = {}

    def enqueue(self, identity: str) -> None:
        """Let a status be written, if it turns out to have changed."""
        self._queue.add(Priority.STATUS, identity.partition("/")[0], identity, lambda: self._write(identity))

    async def _write(self, identity: str) -> float | None:
        if not await self._following.prepare(identity):
            return 0.0  # behind the statuses of other namespaces; the queue asks again whether this replica may write
        kronjob, record = self._cache.kronjob(identity), self._records.get(identity)
        if kronjob is None or record is None or record.uid != kronjob.uid:
            self._tries.pop(identity, None)
            return None
        record.entries = trim_periods(record.entries, self._now(), self._span(kronjob))
        written, before = record.entries, kronjob.status
        status = record.to_status(kronjob, self._cache.owned_jobs(kronjob), self._following.get(identity))
        said = status.to_dict(before, self._now())
        patch = merge_patch(before, said)
        if patch:
            body = {"metadata": {"resourceVersion": kronjob.resource_version}, "status": patch}
            try:
                answer = await self._api.request("patch", KRONJOB_STATUS, kronjob.namespace, kronjob.name, body=body)
                record.last_listed = hash_of(said["handledPeriods"])
                self._cache.kronjobs.take(answer)
            except ApiError as error:
                record.is_refused = not _is_conflict(error)  # which is over within a moment
                return await self._on_refusal(kronjob, error)
        self._tries.pop(identity, None)
        record.is_refused = False
        record.must_be_written = record.must_be_written and record.entries is not written
        return None

    async def _on_refusal(self, kronjob: KronJobSnapshot, error: ApiError) -> float | None:
        tries = self._tries[kronjob.identity] = self._tries.get(kronjob.identity, 0) + 1
        if _is_conflict(error):
            self._on_conflict()
            return await self._read_again(kronjob, tries)
        if classify(error) in (ErrorClass.NOT_FOUND, ErrorClass.NAMESPACE_TERMINATING):
            del self._tries[kronjob.identity]
            return None  # what has gone is soon seen to be gone
        return retry_delay(error, tries)

    async def _read_again(self, kronjob: KronJobSnapshot, tries: int) -> float:
        """Read what another client has written; a single KronJob may only be listed."""
        try:
            query = {"fieldSelector": f"metadata.name={kronjob.name}"}
            answer = await self._api.request("list", KRONJOBS, kronjob.namespace, query=query)
        except ApiError as error:
            return retry_delay(error, tries)
        for document in answer.get("items") or ():
            self._cache.kronjobs.take(document)
        return 0.0 if tries == 1 else min(1.0, 0.02 * 2.0**tries)

    def _span(self, kronjob: KronJobSnapshot) -> timedelta:
        """Return how long the outcome of a period may still be asked for."""
        spec = kronjob.kronjob
        return self._slack + (ZERO if spec is None else spec.timing.window.duration + spec.policy.deadline)


def _is_conflict(error: ApiError) -> bool:
    return isinstance(error, ApiRefusedError) and error.code == 409


class ClusterLedger:
    """What is remembered of each KronJob, in memory; its status follows, written by the StatusWriter of this ledger.

    After a crash the Jobs are there, which are created before anything is noted here, and the statuses, which follow:
    the next leader finds both. What a Job supersedes is written before the Job is created.

    Of the port it keeps that closed periods are handled, that the first outcome of a period counts, and that a batch
    may be repeated. It lacks four clauses, which the cluster keeps. Jobs: KronJobs are declared with their records, so
    `load` returns nothing. Runs: a start is recorded by creating its Job, an end by its end. Refusals: the name of a
    Job is the claim to its period, and the API server refuses the second one; a second outcome is dropped. Possession:
    the Lease decides which replica leads, and the work queue asks before each write. `append` is not durable, either:
    what it has closed and no status lists yet is judged again by the next leader.
    """

    def __init__(
        self,
        api: ResourceClient,
        cache: ClusterCache,
        queue: WorkQueue,
        share: LoopShare,
        *,
        on_outcome: Callable[[KronJobSnapshot, Decision, PeriodStatus, str, str], object],
        on_conflict: Callable[[], object],
        now: Callable[[], Instant],
        slack: timedelta,
    ) -> None:
        """`on_outcome` gets each outcome of a run once, with the name of its Job and what the server objected to.

        `on_conflict` hears that another client wrote a status meanwhile. `share` is for searching next periods.
        """
        self._cache, self._on_outcome, self._now = cache, on_outcome, now
        self._records: dict[str, KronJobRecord] = {}  # by identity
        self._following = NextPeriods(share)
        self._writer = StatusWriter(api, cache, queue, self._records, self._following, on_conflict, now, slack)

    def follow(self, planner: PeriodPlanner) -> None:
        """Say in statuses what this planner expects next; it is made after its runner, which needs this ledger."""
        self._following.planner = planner

    def write_status(self, identity: str) -> None:
        """Let the status of a KronJob be written, if it turns out to have changed."""
        self._writer.enqueue(identity)

    # --- records ------------------------------------------------------------------------------------------------------

    def record(self, identity: str) -> KronJobRecord | None:
        """Return what is remembered of a KronJob."""
        return self._records.get(identity)

    def open_record(self, kronjob: KronJobSnapshot) -> Generator[None, None, KronJobRecord]:
        """Make a record of what a status says and of the Jobs that are found, part by part; it is not kept yet."""
        horizon = kronjob.horizon(self._now())
        stored = parse_status(kronjob.status).within(horizon)
        found = dict[str, PeriodStatus | None]()  # by name; some may come between two parts
        while left := [job for job in self._cache.jobs_by_identity(kronjob.identity) if job.name not in found]:
            found |= {job.name: job.outcome(horizon) for job in left[:PART]}
            if len(left) > PART:
                yield
        oldest = trimmed_before(stored.periods)
        relevant = (
            each for each in found.values() if each is not None and (oldest is None or each.effective_time >= oldest)
        )
        entries = merge_periods(stored.periods, sorted(relevant, key=lambda entry: entry.effective_time))
        recorded = (stored.definition_hash, stored.was_invalid) if stored.definition_hash else None
        change = compare_definition(recorded, kronjob.definition)
        if change is DefinitionChange.ADDED:  # no operator has seen it yet: it was declared when it was made
            defined_at = kronjob.created
        elif change is DefinitionChange.SAME:
            defined_at = stored.defined_at or kronjob.created
        else:
            defined_at = kronjob.defined_at or self._now()
            timing = None if kronjob.kronjob is None else kronjob.kronjob.timing
            if stored.next is not None and is_closed(stored.next.first, timing, defined_at):
                entries = merge_periods(entries, [stored.next._replace(reason=DEFINITION_CHANGED)])
        # A Job that was found does not begin the list: what was closed before it, and not written, is judged again.
        served = served_until(stored.periods, defined_at)
        record = KronJobRecord(
            kronjob.uid,
            kronjob.definition_hash,
            defined_at,
            served,
            entries,
            stored.last_successful_time,
            stored.create_failure,
        )
        for job in self._cache.owned_jobs(kronjob):
            _note_success(record, job, horizon)
        record.must_be_written = len(record.entries) > len(stored.periods)
        return record

    def keep(self, identity: str, record: KronJobRecord) -> None:
        """Have a record from now on."""
        self._records[identity] = record

    def forget(self, identity: str) -> None:
        """Drop the record of a KronJob that is gone."""
        self._records.pop(identity, None)

    def set_definition(self, kronjob: KronJobSnapshot, now: Instant) -> bool:
        """Take note of the present definition; return whether it is another one."""
        record = self._records[kronjob.identity]
        if compare_definition(record.definition_hash, kronjob.definition_hash) is DefinitionChange.SAME:
            return False
        record.definition_hash, record.defined_at = kronjob.definition_hash, now
        return True

    def set_create_failure(self, identity: str, failure: CreateFailure | None) -> None:
        """Remember why a Job could not be created, until one is."""
        record = self._records.get(identity)
        if record is not None and record.create_failure != failure:
            record.create_failure = failure
            self.write_status(identity)

    def note_success(self, kronjob: KronJobSnapshot, job: ChildJob) -> None:
        """Remember when a Job of a KronJob succeeded."""
        record = self._records.get(kronjob.identity)
        if record is not None:
            _note_success(record, job, kronjob.horizon(self._now()))

    # --- outcomes -----------------------------------------------------------------------------------------------------

    def record_outcome(
        self,
        kronjob: KronJobSnapshot,
        decision: Decision,
        outcome: Outcome,
        reason: str = "",
        *,
        job: str = "",
        message: str = "",
    ) -> None:
        """Remember the outcome of a period, unless it has one, and report it."""
        nominal = decision.nominal_time
        entry = PeriodStatus(nominal, nominal, 1, decision.chosen_time, outcome, reason)
        if self._add(kronjob.identity, [entry]):
            self._on_outcome(kronjob, decision, entry, job, message)

    def record_existing_job(self, identity: str, entry: PeriodStatus) -> bool:
        """Remember a period whose Job another client has created; return whether that is news."""
        if not self._add(identity, [entry]):
            return False
        self._records[identity].must_be_written = True
        return True

    def merge_status(self, kronjob: KronJobSnapshot) -> bool:
        """Take in what another client has written into a status; return whether any of it is news."""
        record = self._records.get(kronjob.identity)
        if record is None:
            return False
        status = kronjob.status
        listed = hash_of(status.get("handledPeriods"))
        if listed == record.last_listed:
            return False
        record.last_listed = listed
        theirs = kronjob.horizon(self._now()).clip_all(parse_periods(status))
        if not new_periods(theirs, record.handled):
            return False
        record.entries = merge_periods(theirs, record.entries)
        return True

    def _add(self, identity: str, entries: Sequence[PeriodStatus]) -> bool:
        """Remember the outcomes of periods that have none; return whether one of them is news."""
        record = self._records.get(identity)
        news = [] if record is None else new_periods(entries, record.handled)
        if record is None or not news:
            return False
        record.entries = (*record.entries, *news)
        # A crash after the Job that supersedes them and before the status: the next leader would run them after it.
        record.must_be_written = record.must_be_written or any(entry.reason == SUPERSEDED for entry in news)
        self.write_status(identity)
        return True

    # --- the engine's ledger ------------------------------------------------------------------------------------------

    async def open(self) -> None:
        """Nothing is to be taken into possession: the lease is elsewhere."""

    async def load(self) -> JobSnapshot:
        """Return nothing: jobs are declared with what their records say."""
        return JobSnapshot()

    async def append(self, batch: JobBatch) -> Sequence[Refusal]:
        """Remember what was closed."""
        closed: dict[str, list[PeriodStatus]] = {}
        for record in batch.closed:
            closed.setdefault(record.identity, []).append(PeriodStatus.of(record))
        for identity, entries in closed.items():
            self._add(identity, entries)
        await asyncio.sleep(0)  # others get a turn, as with any ledger: a thousand Jobs may be due at once
        return ()

    async def handled(self, since: Mapping[str, Instant]) -> Mapping[str, HandledPeriods]:
        """Return by identity the periods that have their outcome."""
        return {identity: record.handled for identity in since if (record := self._records.get(identity)) is not None}

    async def close(self) -> None:
        """Nothing is to be given back."""


def _note_success(record: KronJobRecord, job: ChildJob, horizon: StatusHorizon) -> None:
    if job.succeeded and job.ended is not None and horizon.saw(job.ended):
        record.last_successful_time = max(record.last_successful_time or job.ended, job.ended)
