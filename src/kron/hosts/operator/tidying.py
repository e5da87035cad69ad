"""Tidying: Jobs beyond the limits of a KronJob's history, the oldest first, are deleted."""

from collections.abc import Callable
from functools import partial

from kron.adapters.cluster.resources import JOBS
from kron.errors import ApiError
from kron.hosts.operator.accounts import is_listed
from kron.hosts.operator.answers import NOT_NOW, is_gone, pause
from kron.hosts.operator.errands import Errands, Lane
from kron.hosts.operator.seen import SeenJob, SeenKronJob
from kron.hosts.operator.sender import Sender
from kron.hosts.operator.teller import Teller
from kron.hosts.operator.world import World

_TRIES = 3  # as if so many had failed: nobody is in a hurry


class Tidying:
    """Deletes Jobs that are over; active ones, and those of others, are never touched."""

    def __init__(
        self, api: Sender, world: World, errands: Errands, teller: Teller, may_write: Callable[[], bool]
    ) -> None:
        self._api, self._world, self._errands, self._teller = api, world, errands, teller
        self._may_write = may_write

    def tidy(self, seen: SeenKronJob) -> None:
        """Let the oldest Jobs beyond the limits of their kinds be deleted."""
        kronjob = seen.kronjob
        if kronjob is None:
            return
        over = [job for job in self._world.jobs_of(seen) if not job.is_active]
        for succeeded, limit in ((True, kronjob.successful_limit), (False, kronjob.failed_limit)):
            kind = sorted((job for job in over if job.succeeded is succeeded), key=_age)
            for job in kind[: max(0, len(kind) - limit)]:
                self._errands.add(Lane.TIDY, job.namespace, job.name, partial(self._remove, seen, job))

    async def _remove(self, seen: SeenKronJob, job: SeenJob) -> float | None:
        present = self._world.kronjobs.get((seen.namespace, seen.name))
        if present is None or (job.namespace, job.name) not in self._world.jobs:
            return None
        if not self._may_write() or not is_listed(job, present):
            return NOT_NOW
        body = {"propagationPolicy": "Background", "preconditions": {"uid": job.uid}}
        try:
            await self._api.send("delete", JOBS, job.namespace, job.name, body=body)
        except ApiError as error:
            return None if is_gone(error) else pause(error, _TRIES)
        self._teller.on_deleted(seen, job)
        return None


def _age(job: SeenJob) -> tuple[str, str]:
    """Return what orders Jobs by their chosen times, those without one first."""
    return "" if job.chosen is None else job.chosen.isoformat(), job.name
