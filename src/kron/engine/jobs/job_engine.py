"""JobEngine: the loop and the planner of jobs as verbs: declare, recover, start, suspend, resume, trigger, drain."""

import asyncio
import traceback
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from datetime import timedelta
from functools import partial

from kron.engine.active_runs import ActiveRuns
from kron.engine.emitter import Emitter, Observers
from kron.engine.gc_pause import gc_paused
from kron.engine.jobs.control import CloseDowntime, Recover, Suspend, Trigger, backlogged, unfinished_runs
from kron.engine.jobs.declaration import JobDeclaration, JobsApplied, jobs_needing_history
from kron.engine.jobs.job_state import JobState
from kron.engine.jobs.planner import PeriodPlanner
from kron.engine.jobs.preparation import Basis, PreparedJob, prepare_in_parts, still_valid
from kron.engine.ledger import HandledByJob, JobBatch, JobLedger
from kron.engine.loop import Engine
from kron.engine.ports import Clock, FailedLedger, Runner
from kron.engine.runs import JobRun
from kron.errors import LedgerError, SchedulerNotRunningError
from kron.errors.base import describe_exception
from kron.instant import Instant
from kron.rules.contract import JOB_CONTRACT, Contract
from kron.rules.effort import finish
from kron.rules.job_record import ResultCode
from kron.rules.job_spec import JobSpec

_DEFINITIONS = 500  # written together before a declaration: a start waits no longer than for those
_TOGETHER = 200  # jobs that are suspended or resumed in one step: what is due meanwhile starts between two of them


class JobEngine:
    """One life of a host's jobs: open, apply, recover, start; then any verb; drain or crash.

    A verb that the ledger cannot record raises its error and changes nothing, except that many jobs are suspended and
    resumed in parts. What takes long is computed in a thread.
    """

    def __init__(
        self,
        clock: Clock,
        ledger: JobLedger,
        runner: Runner[JobRun],
        emitter: Emitter,
        observers: Observers[JobRun],
        instance_id: str,
        *,
        slack: timedelta,
        max_active: int = 0,
        boot_id: str = "",
        run_token: Callable[[], str] = str,
        contract: Contract = JOB_CONTRACT,
        gc_guard: Callable[[], AbstractContextManager[object]] = gc_paused,
    ) -> None:
        """`gc_guard` surrounds the making of thousands of objects that are nearly all kept."""
        self._clock, self._ledger, self._runner = clock, ledger, runner
        self._emitter, self._gc_guard = emitter, gc_guard
        self._runs = ActiveRuns(clock, runner, max_active=max_active)
        self.running = self._runs.running  # by the ids of the runs, the oldest first
        self.planner = PeriodPlanner(
            self.running, instance_id, boot_id=boot_id, slack=slack, run_token=run_token, contract=contract
        )  # to be read: what changes it is a verb
        self.planner.on_aside = self._on_aside
        engine = self._engine = Engine(clock, ledger, self.planner, self._runs, emitter, observers)
        self.open, self.start, self.drain, self.crash = engine.open, engine.arm, engine.drain, engine.crash
        self.pause_starts, self.stop_runs = engine.pause_starts, partial(self._runs.stop_all, ResultCode.STOPPED)

    async def recover(self) -> None:
        """Reattach the runs that survived, record which are gone, and close what is over of the downtime.

        Called once, after the jobs are declared for the first time and before anything starts. If a stop is asked for
        meanwhile, the next life finds the rest.
        """
        unfinished = unfinished_runs(self.planner)
        alive = await self._runner.reattach(unfinished, self._runs)
        survivors = await self._engine.apply(lambda now: Recover(self.planner, unfinished, alive, now))
        self._runs.adopt(survivors, self._clock.now())
        with self._clock.busy():
            for job in await asyncio.to_thread(backlogged, self.planner, self._clock.now()):
                if not self.is_draining:
                    await self._close_downtime(job)

    async def _close_downtime(self, job: JobState) -> None:
        now = self._clock.now()
        try:
            found = await asyncio.to_thread(job.judge_downtime, now)
            await self._engine.apply(lambda _: CloseDowntime(self.planner, job, found, now))
        except LedgerError:
            raise
        except Exception as error:  # of this job alone
            self.planner.set_aside(job.record.identity, error)

    # --- what changes the jobs ----------------------------------------------------------------------------------------

    async def apply(self, specs: Sequence[JobSpec], *, spares_absent: bool = False) -> JobsApplied:
        """Declare these jobs and no others; runs continue. Due jobs start while the declaration is prepared.

        `spares_absent`: a job that is recorded, and was not declared in this life, is neither run nor removed.
        """
        if not self.planner.is_armed:
            ask = partial(self._declare_first, specs, spares_absent=spares_absent)
            return await self._engine.apply_after(ask, lambda declaration, _: declaration)
        valid = dict[str, PreparedJob]()
        with self._clock.busy():
            prepared = await self._prepare(specs)

        async def look_up(now: Instant) -> HandledByJob:
            valid.update(still_valid(self.planner, prepared, now))
            return await self._ledger.handled(jobs_needing_history(self.planner, specs, now, valid))

        def declare(handled: HandledByJob, now: Instant) -> JobDeclaration:
            with self._gc_guard():
                return JobDeclaration(self.planner, specs, now, handled, valid, spares_absent=spares_absent)

        return await self._engine.apply_after(look_up, declare)

    async def _declare_first(self, specs: Sequence[JobSpec], now: Instant, *, spares_absent: bool) -> JobDeclaration:
        """Compute it in a thread: what an old definition leaves behind may take as long as a recovery."""
        handled = await self._ledger.handled(jobs_needing_history(self.planner, specs, now))
        with self._gc_guard():
            make = partial(JobDeclaration, self.planner, specs, now, handled, spares_absent=spares_absent)
            declaration = await asyncio.to_thread(make)
            await asyncio.to_thread(declaration.look_ahead)
        return declaration

    async def _prepare(self, specs: Sequence[JobSpec]) -> Mapping[str, PreparedJob]:
        """Compute what takes long, and write new definitions, which have no effect without their jobs."""
        now = self._clock.now()
        asked = await asyncio.to_thread(jobs_needing_history, self.planner, specs, now)
        bases = {identity: Basis.of(self.planner, identity) for identity in asked}
        handled = await self._ledger.handled(asked)
        named = {spec.identity for spec in specs}
        leaving = [identity for identity in self.planner.jobs if identity not in named]
        with self._gc_guard():
            parts = prepare_in_parts(self.planner, specs, now, handled, leaving, bases)
            prepared = await asyncio.to_thread(finish, parts)
        texts = [
            (each.job.work.definition_key, each.job.work.definition)
            for each in prepared.values()
            if each.job is not None
        ]
        for first in range(0, len(texts), _DEFINITIONS):
            await self._engine.append(JobBatch(definitions=dict(texts[first : first + _DEFINITIONS])))
        return prepared

    async def suspend(self, identities: Sequence[str], until: Instant | None = None) -> None:
        """Suspend jobs until an instant, or until they are resumed."""
        await self._suspend(identities, suspended=True, until=until)

    async def resume(self, identities: Sequence[str]) -> None:
        """Resume jobs: what came meanwhile is late, or over."""
        await self._suspend(identities, suspended=False, until=None)

    async def _suspend(self, identities: Sequence[str], *, suspended: bool, until: Instant | None) -> None:
        for first in range(0, len(identities), _TOGETHER):
            part = identities[first : first + _TOGETHER]
            await self._engine.apply(partial(Suspend, self.planner, part, suspended=suspended, until=until))

    async def trigger(self, identity: str) -> str:
        """Start a run outside the periods of a job, and return its id. SchedulerNotRunningError while it drains."""

        def trigger(now: Instant) -> Trigger:
            if self.is_draining:  # a stop may have been asked for while this waited
                raise SchedulerNotRunningError
            return Trigger(self.planner, identity, now, has_room=self._runs.free_slots() > 0)

        return await self._engine.apply(trigger)

    def apply_settings(self, *, slack: timedelta, max_active: int) -> None:
        """Go on with another slack, and another limit of runs at once; 0 is none."""
        self.planner.slack, self._runs.max_active = slack, max_active
        self._engine.wake_up()

    # --- what is asked of it ------------------------------------------------------------------------------------------

    @property
    def is_running(self) -> bool:
        """Whether runs are started when they are due, or at least waited for."""
        return self._engine.is_running

    @property
    def is_draining(self) -> bool:
        """Whether it was asked to start nothing more."""
        return self._engine.is_draining

    @property
    def failed_ledger(self) -> FailedLedger | None:
        """Since when and why the ledger takes no records, None if it does."""
        return self._engine.failed_ledger

    @property
    def set_aside(self) -> Mapping[str, str]:
        """The identities of jobs that cannot be judged, and the errors."""
        return self.planner.aside

    def specs(self) -> dict[str, JobSpec]:
        """Return the declared jobs by identity."""
        return {identity: job.work for identity, job in self.planner.jobs.items()}

    def expected_starts(self) -> dict[str, Instant]:
        """Return by identity when the first run that has not begun is expected; a run that is late is in the past."""
        expected = ((identity, self.planner.next_expected(job)) for identity, job in self.planner.jobs.items())
        return {identity: at for identity, at in expected if at is not None}

    def name_of(self, identity: str) -> str:
        """Return the name of a job, also of one that is gone."""
        job = self.planner.jobs.get(identity)
        return identity.rpartition(":")[2] if job is None else job.work.name

    def _on_aside(self, identity: str, error: Exception) -> None:
        trace = "".join(traceback.format_exception(error))
        said, name = describe_exception(error), self.name_of(identity)
        self._emitter.tell("JobSetAside", identity=identity, name=name, error=said, trace=trace)
