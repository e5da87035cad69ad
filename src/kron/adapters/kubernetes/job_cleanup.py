"""JobHistoryCleanup: deletes Jobs beyond the limits of a KronJob's history, the oldest first."""

import asyncio
from collections.abc import Callable
from functools import partial
from itertools import islice

from kron.adapters.kubernetes.cache import PART, ClusterCache
from kron.adapters.kubernetes.client import JOBS, ResourceClient
from kron.adapters.kubernetes.event_recorder import EventRecorder
from kron.adapters.kubernetes.responses import LEADER_RECHECK, MAX_RETRY_DELAY, is_already_deleted, retry_delay
from kron.adapters.kubernetes.work_queue import Priority, WorkQueue
from kron.errors import ApiError
from kron.instant import Instant
from kron.kronjob.kronjob import KronJob
from kron.kronjob.snapshot import ChildJob, KronJobSnapshot, ListedPeriods

_TURN = 50  # Jobs of one KronJob that are deleted before other writes get their turn


class JobHistoryCleanup:
    """Deletes Jobs that are over; active ones, and those of others, are never touched.

    There is one clean-up for a KronJob at a time, however many of its Jobs end; each looks at all of them once.
    """

    def __init__(
        self,
        api: ResourceClient,
        cache: ClusterCache,
        queue: WorkQueue,
        events: EventRecorder,
        *,
        now: Callable[[], Instant],
    ) -> None:
        self._api, self._cache, self._queue, self._events = api, cache, queue, events
        self._now = now
        self._tries: dict[str, int] = {}  # by identity: clean-ups in a row that could not delete everything

    def enqueue(self, seen: KronJobSnapshot) -> None:
        """Let the oldest Jobs beyond the limits of a KronJob be deleted."""
        if seen.kronjob is not None:
            clean_up = partial(self._clean_up, seen.identity)
            self._queue.add(Priority.CLEANUP, seen.namespace, seen.identity, clean_up)

    async def _clean_up(self, identity: str) -> float | None:
        seen = self._cache.kronjob(identity)
        if seen is None or seen.kronjob is None:
            self._tries.pop(identity, None)
            return None
        old, listed = self._beyond(seen, seen.kronjob), ListedPeriods(seen, self._now())
        ready, looked = list[ChildJob](), 0
        while looked < len(old) and len(ready) < _TURN:
            ready += [job for job in old[looked : looked + PART] if listed.has(job)]
            looked += PART
            await asyncio.sleep(0)  # noqa: TID251  # a turn, no time
        for job in islice(ready, _TURN):
            if not self._queue.may_write():
                return 0.0  # when the queue may run it again
            try:
                await self._delete(seen, job)
            except ApiError as error:
                return self._again(seen, error)
        if looked < len(old) or len(ready) > _TURN:
            return 0.0
        if len(ready) < len(old):
            return self._again(seen)  # the others are the only records of their periods until the status lists these
        self._tries.pop(seen.identity, None)
        return None

    def _beyond(self, seen: KronJobSnapshot, kronjob: KronJob) -> list[ChildJob]:
        """Return the Jobs beyond the limits."""
        found = []
        over = [job for job in self._cache.owned_jobs(seen) if not job.is_active]
        for succeeded, limit in ((True, kronjob.successful_limit), (False, kronjob.failed_limit)):
            kind = sorted((job for job in over if job.succeeded is succeeded), key=_age)
            found += kind[: max(0, len(kind) - limit)]
        return found

    async def _delete(self, seen: KronJobSnapshot, job: ChildJob) -> None:
        body = {"propagationPolicy": "Background", "preconditions": {"uid": job.uid}}
        try:
            await self._api.request("delete", JOBS, job.namespace, job.name, body=body)
        except ApiError as error:
            if not is_already_deleted(error):
                raise
        else:
            self._events.record_deletion(seen, job)

    def _again(self, seen: KronJobSnapshot, error: ApiError | None = None) -> float:
        """Return after how many seconds to clean up again: each time later."""
        tries = self._tries[seen.identity] = self._tries.get(seen.identity, 0) + 1
        return (
            min(MAX_RETRY_DELAY, LEADER_RECHECK * 2.0 ** min(tries, 10)) if error is None else retry_delay(error, tries)
        )


def _age(job: ChildJob) -> tuple[str, str]:
    """Return what orders Jobs by their chosen times, those without one first."""
    return "" if job.chosen is None else job.chosen.isoformat(), job.name
