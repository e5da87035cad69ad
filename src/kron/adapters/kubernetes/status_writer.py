"""StatusWriter: writes the statuses of KronJobs when they have changed, and never over what another client wrote."""

from collections.abc import Callable, Mapping
from datetime import timedelta

from kron.adapters.kubernetes.cache import ClusterCache
from kron.adapters.kubernetes.client import ResourceClient
from kron.adapters.kubernetes.kronjob_record import KronJobRecord, NextPeriod, hash_of
from kron.adapters.kubernetes.resources import KRONJOB_STATUS, KRONJOBS
from kron.adapters.kubernetes.responses import ErrorClass, LoopShare, classify, retry_delay
from kron.adapters.kubernetes.work_queue import Priority, WorkQueue
from kron.engine.jobs.job_state import JobState
from kron.engine.jobs.planner import PeriodPlanner
from kron.errors import ApiError, ApiRefusedError
from kron.instant import ZERO, Instant
from kron.kronjob.snapshot import KronJobSnapshot
from kron.kronjob.status import merge_patch, trim_periods
from kron.rules.effort import AT_ONCE, Effort
from kron.rules.periods import NextRun, PeriodQueue


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
