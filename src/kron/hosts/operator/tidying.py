"""Tidying: Jobs beyond the limits of a KronJob's history, the oldest first, are deleted."""

from collections.abc import Callable
from functools import partial
from itertools import islice

from kron.adapters.cluster.resources import JOBS
from kron.errors import ApiError
from kron.hosts.operator.accounts import Listed
from kron.hosts.operator.answers import LONGEST_PAUSE, NOT_NOW, is_gone, pause
from kron.hosts.operator.errands import Errands, Lane
from kron.hosts.operator.seen import SeenJob, SeenKronJob
from kron.hosts.operator.sender import Sender
from kron.hosts.operator.teller import Teller
from kron.hosts.operator.world import World
from kron.instant import Instant
from kron.rules.kronjob.kronjob import KronJob

_TURN = 50  # Jobs of one KronJob that are deleted before other writes get their turn


class Tidying:
    """Deletes Jobs that are over; active ones, and those of others, are never touched.

    There is one clean-up for a KronJob at a time, however many of its Jobs end; each looks at all of them once.
    """

    def __init__(
        self,
        api: Sender,
        world: World,
        errands: Errands,
        teller: Teller,
        *,
        may_write: Callable[[], bool],
        now: Callable[[], Instant],
    ) -> None:
        self._api, self._world, self._errands, self._teller = api, world, errands, teller
        self._may_write, self._now = may_write, now
        self._tries: dict[str, int] = {}  # by identity: clean-ups in a row that could not delete everything

    def tidy(self, seen: SeenKronJob) -> None:
        """Let the oldest Jobs beyond the limits of their kinds be deleted."""
        if seen.kronjob is not None:
            clean_up = partial(self._clean_up, seen.namespace, seen.name)
            self._errands.add(Lane.TIDY, seen.namespace, seen.identity, clean_up)

    async def _clean_up(self, namespace: str, name: str) -> float | None:
        seen = self._world.kronjobs.get((namespace, name))
        if seen is None or seen.kronjob is None:
            self._tries.pop(f"{namespace}/{name}", None)
            return None
        if not self._may_write():
            return NOT_NOW
        old, listed = self._beyond(seen, seen.kronjob), Listed(seen, self._now())
        ready = [job for job in old if listed.has(job)]
        for job in islice(ready, _TURN):
            try:
                await self._delete(seen, job)
            except ApiError as error:
                return self._again(seen, error)
        if len(ready) > _TURN:
            return 0.0
        if len(ready) < len(old):
            return self._again(seen)  # the others are the only records of their periods until the status lists these
        self._tries.pop(seen.identity, None)
        return None

    def _beyond(self, seen: SeenKronJob, kronjob: KronJob) -> list[SeenJob]:
        """Return the Jobs beyond the limits."""
        found = []
        over = [job for job in self._world.jobs_of(seen) if not job.is_active]
        for succeeded, limit in ((True, kronjob.successful_limit), (False, kronjob.failed_limit)):
            kind = sorted((job for job in over if job.succeeded is succeeded), key=_age)
            found += kind[: max(0, len(kind) - limit)]
        return found

    async def _delete(self, seen: SeenKronJob, job: SeenJob) -> None:
        body = {"propagationPolicy": "Background", "preconditions": {"uid": job.uid}}
        try:
            await self._api.send("delete", JOBS, job.namespace, job.name, body=body)
        except ApiError as error:
            if not is_gone(error):
                raise
        else:
            self._teller.on_deleted(seen, job)

    def _again(self, seen: SeenKronJob, error: ApiError | None = None) -> float:
        """Return after how many seconds to clean up again: each time later."""
        tries = self._tries[seen.identity] = self._tries.get(seen.identity, 0) + 1
        return min(LONGEST_PAUSE, NOT_NOW * 2.0 ** min(tries, 10)) if error is None else pause(error, tries)


def _age(job: SeenJob) -> tuple[str, str]:
    """Return what orders Jobs by their chosen times, those without one first."""
    return "" if job.chosen is None else job.chosen.isoformat(), job.name
