"""JobAdoption: makes runs of Jobs that an earlier leader or another replica created."""

import asyncio
from contextlib import AbstractContextManager

from kron.adapters.kubernetes.cache import PART, ClusterCache
from kron.adapters.kubernetes.client import JOBS
from kron.adapters.kubernetes.job_runner import KubernetesRunner
from kron.adapters.kubernetes.ledger import ClusterLedger
from kron.adapters.kubernetes.namespace_backoff import ErrorBoundary
from kron.engine.active_runs import ActiveRuns
from kron.engine.jobs.planner import PeriodPlanner
from kron.engine.ports import Clock
from kron.engine.runs import JobRun
from kron.instant import Instant
from kron.kronjob.snapshot import ChildJob, KronJobSnapshot
from kron.kronjob.status import INTERNAL_ERROR, CreateFailure
from kron.rules.job_record import RunKind, RunStart


class JobAdoption:
    """An error that one Job causes stays with it, and its KronJob says so."""

    def __init__(
        self,
        cache: ClusterCache,
        ledger: ClusterLedger,
        planner: PeriodPlanner,
        runs: ActiveRuns[JobRun],
        runner: KubernetesRunner,
        boundary: ErrorBoundary,
        clock: Clock,
    ) -> None:
        self._cache, self._ledger, self._planner, self._runs = cache, ledger, planner, runs
        self._runner, self._boundary, self._clock = runner, boundary, clock

    def around(self, job: ChildJob) -> AbstractContextManager[None]:
        """Surround work on one Job: if that fails, it alone is set aside."""

        def show(error: str) -> None:
            self._ledger.set_create_failure(job.identity, CreateFailure(INTERNAL_ERROR, f"Job {job.name}: {error}"))

        return self._boundary.around(JOBS.plural, job.namespace, job.name, then=show)

    async def prepare(self, identity: str) -> None:
        """Take the active Jobs of a KronJob that is not declared yet to the runner, in parts: there may be thousands.

        When it is declared, the planner learns of all of them in the same turn, so that `forbid` sees them.
        """
        seen = self._cache.kronjob(identity)
        if seen is None or identity in self._planner.jobs:
            return
        for number, job in enumerate(self._cache.owned_jobs(seen), 1):
            if job.is_active and self._cache.jobs.objects.get((job.namespace, job.name)) is job:
                with self.around(job):
                    self._run(seen, job, self._clock.now())
            if number % PART == 0:
                await asyncio.sleep(0)  # noqa: TID251  # a turn, no time

    def reattach(self, seen: KronJobSnapshot, job: ChildJob, now: Instant) -> None:
        """Wait for the end of an active Job, if its KronJob is declared."""
        run = self._run(seen, job, now) if seen.identity in self._planner.jobs else None
        if run is not None:
            self._planner.reattach(run)
            self._runs.adopt((run,), now)

    def _run(self, seen: KronJobSnapshot, job: ChildJob, now: Instant) -> JobRun | None:
        """Return the run that a Job is; None if it belongs to no period, or nothing of its KronJob is run."""
        if job.nominal is None or seen.job_spec is None:
            return None
        run = self._runner.run_of((job.namespace, job.name))
        if run is None:
            key, run_id = seen.job_spec.definition_key, self._planner.new_run_id()
            attempt = RunStart(run_id, seen.identity, RunKind.PERIOD, job.nominal, job.chosen, 1, now, key, "")
            run = JobRun(attempt, seen.job_spec)
            self._runner.adopt(run, job, self._runs)
        return run
