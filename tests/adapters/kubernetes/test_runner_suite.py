"""The runner of Kubernetes Jobs passes the part of the port's suite that covers what it keeps itself."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import timedelta
from itertools import count

import pytest

from kron.adapters.kubernetes.cache import ClusterCache
from kron.adapters.kubernetes.event_recorder import EventRecorder
from kron.adapters.kubernetes.job_runner import KubernetesRunner
from kron.adapters.kubernetes.kronjob_record import KronJobRecord
from kron.adapters.kubernetes.ledger import ClusterLedger
from kron.adapters.kubernetes.namespace_backoff import NamespaceBackoff
from kron.adapters.kubernetes.responses import LoopShare
from kron.adapters.kubernetes.work_queue import WorkQueue
from kron.decision.decide import decide
from kron.engine.jobs.planner import PeriodPlanner
from kron.engine.runs import JobRun, RunResult
from kron.kronjob.kronjob import job_name
from kron.kronjob.snapshot import ChildJob, parse_snapshot
from kron.rules.job_record import RunHandle, RunKind, RunStart
from tests.hosts.operator.fake_cluster import STRICT
from tests.hosts.operator.replica import NOON, at_noon
from tests.ports.runner_suite import RunnerCheck, RunnerClause, runner_suite

LACKING = {RunnerClause.HANDLES, RunnerClause.SURVIVAL, RunnerClause.FORCE}
STEP, STEPS = timedelta(milliseconds=250), 240


def fail(_key: object, error: Exception) -> None:
    raise error


class JobTrial:
    """KronJobs with one run each; a Job lasts until the cluster finishes it."""

    def __init__(self) -> None:
        self.cluster = at_noon()
        clock = self.clock = self.cluster.clock
        self.cache = ClusterCache(clock.now, STRICT)
        self.queue = WorkQueue(16, clock, may_write=lambda: True, on_bug=fail)
        self._ledger = ClusterLedger(
            self.cluster,
            self.cache,
            self.queue,
            LoopShare(clock.monotonic),
            on_outcome=lambda *_: None,
            on_conflict=lambda: None,
            now=clock.now,
            slack=timedelta(seconds=30),
        )
        self._ledger.follow(PeriodPlanner({}, "life"))
        self.runner = KubernetesRunner(
            self.cluster,
            self.cache,
            self._ledger,
            self.queue,
            NamespaceBackoff(clock.monotonic),
            EventRecorder(self.cluster, self.queue, clock.now),
            STRICT,
            on_created=lambda _: None,
            refresh=self._refresh,
            now=clock.now,
        )
        self.cluster.show(self.cache)
        self.cache.jobs.on_change = self._on_job_changed
        self._names = (f"a{number}" for number in count(1))

    async def _refresh(self) -> None:
        self.cluster.hide(self.cache)
        self.cluster.show(self.cache)

    def _on_job_changed(self, before: ChildJob | None, after: ChildJob | None) -> None:
        job = after or before
        assert job is not None
        self.runner.on_job_changed((job.namespace, job.name), after)

    def run(self) -> JobRun:
        name = next(self._names)
        self.cluster.kronjob(name)
        seen = parse_snapshot(self.cluster.objects["kronjobs", "ns", name], None, NOON)
        spec = seen.job_spec
        assert spec is not None
        assert spec.timing is not None
        self._ledger.keep(seen.identity, KronJobRecord(seen.uid, seen.definition_hash, NOON, NOON, ()))
        decision = decide(spec.timing, NOON)
        key = spec.definition_key
        start = RunStart(name, seen.identity, RunKind.PERIOD, NOON, decision.chosen_time, 1, NOON, key, "")
        run = JobRun(start, spec)
        run.decision = decision
        return run

    def unheeding_run(self) -> JobRun:
        raise AssertionError("it lacks the clause")

    def unstartable_run(self) -> JobRun:
        run = self.run()
        self.cluster.job(job_of(run))  # another Job has its name
        return run

    def begun(self) -> list[str]:
        return [job["metadata"]["annotations"]["kron.io/identity"].removeprefix("ns/") for _, job in self.cluster.made]

    async def finish(self, run: JobRun, *, succeeded: bool = True) -> None:
        self.cluster.finish(job_of(run), succeeded=succeeded)

    async def until(self, claim: Callable[[], bool]) -> None:
        for _ in range(STEPS):
            if claim():
                return
            await self.clock.advance(STEP)
        raise TimeoutError

    async def settle(self) -> None:
        await self.clock.advance(4 * STEP)

    async def crash(self) -> None:
        raise AssertionError("it lacks the clause")

    async def revive(self) -> None:
        raise AssertionError("it lacks the clause")


def job_of(run: JobRun) -> str:
    """Return the name of the Job of a run."""
    return job_name(run.attempt.identity, NOON)


@asynccontextmanager
async def trial() -> AsyncIterator[JobTrial]:
    found = JobTrial()
    yield found
    await found.queue.close(1.0)


@pytest.mark.parametrize("check", runner_suite(lacking=LACKING), ids=lambda check: check.__name__)
def test_jobs(check: RunnerCheck) -> None:
    asyncio.run(check(trial))


class Ends:
    """A listener that counts ends."""

    def __init__(self) -> None:
        self.ended: list[JobRun] = []

    def on_started(self, run: JobRun, handle: RunHandle) -> None: ...

    def on_ended(self, run: JobRun, _: RunResult) -> None:
        self.ended.append(run)


async def test_a_job_that_is_deleted_while_it_is_stopped_has_one_end() -> None:
    async with trial() as found:
        run, ends = found.run(), Ends()
        found.runner.start([run], ends)
        await found.settle()

        found.runner.stop(run)
        found.cluster.delete("jobs", job_of(run))  # the server answers "not found" after the watch has reported it
        await found.settle()

        assert ends.ended == [run]
