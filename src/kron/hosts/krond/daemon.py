"""Daemon: one krond, from taking its state directory until nothing runs any more."""

import asyncio
import os
import secrets
import traceback
from collections.abc import Awaitable, Collection, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Literal, NamedTuple

from kron.adapters.files.job_files import is_in_any
from kron.adapters.files.trust import absolute_path
from kron.adapters.passing_ledger import FreeingLedger
from kron.adapters.process.procfs import boot_id
from kron.adapters.sqlite.job_history import SqliteJobHistory
from kron.adapters.sqlite.job_ledger import SqliteJobLedger
from kron.adapters.system_clock import SystemClock
from kron.engine.active_runs import ActiveRuns
from kron.engine.emitter import Emitter, Observers
from kron.engine.jobs.control import CloseDowntime, Recover, Suspend, backlogged, judge_downtime, unfinished_runs
from kron.engine.jobs.declaration import JobDeclaration, JobsApplied, jobs_needing_history
from kron.engine.jobs.job_state import JobState
from kron.engine.jobs.planner import PeriodPlanner
from kron.engine.jobs.preparation import Basis, PreparedJob, prepare_in_parts, still_valid
from kron.engine.ledger import HistoryReader, JobBatch, JobLedger, JobSnapshot
from kron.engine.loop import Engine
from kron.engine.ports import RunObserver, Sink
from kron.engine.runs import JobRun
from kron.errors import ControlError, KronError, LedgerError, StateDirectoryError
from kron.errors.base import describe_exception
from kron.hosts.krond.daemon_status import DaemonStatus, FailedFile, places_of
from kron.hosts.krond.events import EventQueue
from kron.hosts.krond.file_reader import FailedFiles, UnchangedJob
from kron.hosts.krond.hook_delivery import HookDispatcher
from kron.hosts.krond.ledger_health import LedgerHealth
from kron.hosts.krond.own_process import freeze_gc, gc_frozen, notify, trim_memory
from kron.hosts.krond.processes import Processes
from kron.hosts.krond.retention import Retention
from kron.hosts.krond.state_directory import StateDirectory
from kron.instant import SECOND, Instant
from kron.jobfile.host_job import HostJob
from kron.jobfile.settings import Settings
from kron.rules.effort import finish
from kron.rules.job_record import LastResult, ResultCode
from kron.rules.job_spec import JobSpec
from kron.rules.periods import HandledPeriods
from kron.trace.job_recorder import JobRecorder
from kron.trace.monitor import OnlineMonitor
from kron.web.queries import JobQueries

if TYPE_CHECKING:
    from kron.adapters.prometheus.job_metrics import JobMetrics

_NO_FILES: FailedFiles = {}
_TOKEN = 8  # random bytes in a run's name: a user who knows the names of its own runs cannot guess another's
_TEXTS = 500  # definitions that are written together before a declaration: a start waits no longer than for those


def _placed(work: JobSpec, told: JobSpec | UnchangedJob) -> tuple[str, HostJob]:
    """Return the identity of a job, and the job where it stands now."""
    assert isinstance(work.payload, HostJob)
    return work.identity, told.of(work.payload) if isinstance(told, UnchangedJob) else work.payload


class Watching(NamedTuple):
    """Who records what happens, who judges it, by whom they are told, and who counts it."""

    recorder: JobRecorder
    monitor: OnlineMonitor
    telling: EventQueue
    metrics: "JobMetrics | None" = None


class Daemon:
    """Composition only: it builds the ports, hands them over, and passes on what signals and people ask for."""

    def __init__(
        self,
        state: StateDirectory,
        settings: Settings,
        sink: Sink,
        observers: list[RunObserver[JobRun]],
        watching: Watching,
    ) -> None:
        self.state, self.settings = state, settings
        self.recorder, self.monitor, self.telling, self.metrics = watching
        self.clock = SystemClock()
        self.emitter = Emitter(sink)
        self._file = SqliteJobLedger(state.ledger, retention=settings.retention, guard=state.hold)
        self.history: HistoryReader = SqliteJobHistory(state.ledger)
        self.processes = Processes(
            state.output, self.history, self.clock.now, lost=self._on_lost, killed=self._on_killed
        )
        self.ledger: JobLedger = FreeingLedger(self._file, self.processes.free_space)
        self.telling.hold_while(self.processes.is_starting)
        self.notifier = HookDispatcher(self.processes, self.emitter, self.metrics)
        self.retention = Retention(state.output, settings.output_retention, self.clock.now)
        self.observers = Observers(observers, defer=self.telling, failed=_on_observer_failed)
        self.observers.add(self.notifier.alarms)
        self.runs = ActiveRuns(self.clock, self.processes, max_active=settings.max_active)
        self.book = PeriodPlanner(
            self.runs.running,
            secrets.token_hex(4),
            boot_id=boot_id(),
            slack=settings.slack,
            run_token=partial(secrets.token_hex, _TOKEN),
        )
        self.book.on_aside = self._on_aside
        self.engine: Engine[JobBatch, JobSnapshot, JobRun] = Engine(
            self.clock, self.ledger, self.book, self.runs, self.emitter, self.observers
        )
        self.ledger_health = LedgerHealth(self.engine, state.ledger, self.clock.now)
        self.surface = DaemonStatus(self.clock.now())
        self._asked = asyncio.Event()  # to stop
        self._is_signalled = False
        self._death: KronError | None = None  # why nothing is started any more although nobody asked for that

    async def start(self, told: Sequence[JobSpec | UnchangedJob], failed: FailedFiles = _NO_FILES) -> JobsApplied:
        """Recover what a crash left, declare the jobs, and begin to run them. `failed` are files with errors."""
        self.mark_failed(failed)
        loop = asyncio.get_running_loop()
        self.state.on_taken = lambda error: loop.call_soon_threadsafe(self._on_taken, error)
        with self.state.reporting_errors():
            await self.processes.open()
        await self.engine.open()
        await self.notifier.recall(_host_jobs(told), self.history)
        declared = await self.declare(told, failed)
        unfinished = unfinished_runs(self.book)
        alive = await self.processes.reattach(unfinished, self.runs)
        left = await self.engine.apply(lambda now: Recover(self.book, unfinished, alive, now))
        self.runs.adopt(left, self.clock.now())
        await self._recover()
        self.engine.arm(on_death=self._on_loop_crash)
        self.retention.start()
        self.surface.ready = True
        notify("READY=1")
        self.emitter.tell("KrondReady", pid=os.getpid(), jobs=len(told), state=str(self.state.path))
        return declared

    async def _recover(self) -> None:
        """Judge what came while krond was down, where that takes long: in a thread, so that questions are answered."""
        for job in await asyncio.to_thread(backlogged, self.book, self.clock.now()):
            if self._asked.is_set():  # the next life finds what is left
                return
            await self._recover_job(job)

    async def _recover_job(self, job: JobState) -> None:
        now = self.clock.now()
        try:
            found = await asyncio.to_thread(judge_downtime, job, now)
            await self.engine.apply(lambda _: CloseDowntime(self.book, job, found, now))
        except LedgerError:
            raise
        except Exception as error:  # of this job alone
            self.book.set_aside(job.record.identity, error)

    def mark_failed(self, failed: FailedFiles) -> None:
        """Show these files, and no others, as failed."""
        earlier = {each.file: each.since for each in self.surface.failed_files}
        since: Literal["start", "reload"] = "reload" if self.surface.ready else "start"
        having = places_of(job.file for job in self.surface.jobs.values()) if failed else set()
        self.surface.failed_files = [
            FailedFile(
                file, [each.to_dict() for each in findings], earlier.get(file, since), absolute_path(file) in having
            )
            for file, findings in failed.items()
        ]
        for each in self.surface.failed_files:
            self.emitter.tell("FileFailed", file=each.file, findings=each.findings)

    async def declare(self, told: Sequence[JobSpec | UnchangedJob], failed: FailedFiles = _NO_FILES) -> JobsApplied:
        """Replace the declared jobs; runs continue. A known job keeps its definition, wherever it is written now.

        A job of a failed file keeps its last definition. One that krond has only in its ledger is neither run nor
        removed while a file is failed: the ledger does not say which file a job is from.
        """
        told = [*told, *self._kept(told, failed)]
        works = [self.book.jobs[each.identity].work if isinstance(each, UnchangedJob) else each for each in told]
        jobs = await asyncio.to_thread(lambda: dict(map(_placed, works, told)))
        await self.notifier.learn(jobs.values(), self.history)
        declared = await self._declare(works, await self._prepare(works), spares_absent=bool(failed))
        self.processes.expect(jobs.values())
        self.surface.jobs = jobs
        self.telling(self.recorder.on_declared)
        if self.metrics is not None:
            self.metrics.retain(self.surface.jobs)
        freeze_gc()
        await asyncio.to_thread(trim_memory)
        return declared

    def _kept(self, told: Sequence[JobSpec | UnchangedJob], failed: FailedFiles) -> list[UnchangedJob]:
        """Return the declared jobs of failed files, but for those that other files define now."""
        named = {each.identity for each in told} if failed else set()
        jobs = [job for job in self.surface.jobs.values() if job.identity not in named] if failed else []
        gone = {file for file in {job.file for job in jobs} if is_in_any(file, failed)}
        return [UnchangedJob(job.identity, job.file, job.line, job.line_offsets) for job in jobs if job.file in gone]

    async def _prepare(self, works: Sequence[JobSpec]) -> Mapping[str, PreparedJob]:
        """Do what takes long before the jobs are declared: until then, everything goes on."""
        if not self.book.is_armed:
            return {}
        now = self.clock.now()
        asked = await asyncio.to_thread(jobs_needing_history, self.book, works, now)
        bases = {identity: Basis.of(self.book, identity) for identity in asked}
        handled = await self.ledger.handled(asked)
        named = {work.identity for work in works}
        leaving = [identity for identity in self.book.jobs if identity not in named]
        with gc_frozen():
            parts = prepare_in_parts(self.book, works, now, handled, leaving, bases)
            prepared = await asyncio.to_thread(finish, parts)
        works = [each.job.work for each in prepared.values() if each.job is not None]
        for start in range(0, len(works), _TEXTS):
            texts = {work.definition_key: work.definition for work in works[start : start + _TEXTS]}
            await self.engine.write_ahead(JobBatch(definitions=texts))  # of no effect without their jobs
        return prepared

    async def _declare(
        self, works: Sequence[JobSpec], prepared: Mapping[str, PreparedJob], *, spares_absent: bool
    ) -> JobsApplied:
        if not self.book.is_armed:
            return await self._declare_first(works, spares_absent=spares_absent)
        valid: dict[str, PreparedJob] = {}

        def ask(now: Instant) -> Awaitable[Mapping[str, Collection[Instant] | HandledPeriods]]:
            valid.update(still_valid(self.book, prepared, now))
            return self.ledger.handled(jobs_needing_history(self.book, works, now, valid))

        def declaration(handled: Mapping[str, Collection[Instant] | HandledPeriods], now: Instant) -> JobDeclaration:
            with gc_frozen():
                return JobDeclaration(self.book, works, now, handled, valid, spares_absent=spares_absent)

        return await self.engine.apply_after(ask, declaration)

    async def _declare_first(self, works: Sequence[JobSpec], *, spares_absent: bool) -> JobsApplied:
        """Declare the jobs of a start in a thread, so that questions are answered: nothing else changes before a run.

        What an old definition leaves behind after a long time may take as long as the recovery does.
        """
        now = self.clock.now()
        handled = await self.ledger.handled(jobs_needing_history(self.book, works, now))
        with gc_frozen():
            make = partial(JobDeclaration, self.book, works, now, handled, spares_absent=spares_absent)
            declaration = await asyncio.to_thread(make)
            await asyncio.to_thread(declaration.look_ahead)
        return await self.engine.apply(lambda _: declaration)

    def queries(self, last_results: Mapping[str, LastResult]) -> JobQueries:
        """Return what commands and pages read of the jobs; `last_results` are by identity."""
        errors = self.surface.errors
        return JobQueries(self.book, self.history, self.clock.now, last_results, self._host_job, file_errors=errors)

    def _host_job(self, job: JobState) -> HostJob:
        """Return a job as its file has it; one that is just being removed, as it had it."""
        found = self.surface.jobs.get(job.record.identity, job.work.payload)
        assert isinstance(found, HostJob)
        return found

    def apply_settings(self, settings: Settings) -> None:
        """Go on with other settings; those that need a restart are as they were."""
        self.settings = settings
        self._file.set_retention(settings.retention)
        self.retention.retention = settings.output_retention
        self.book.slack, self.runs.max_active = settings.slack, settings.max_active
        self.engine.wake_up()

    async def suspend(self, identities: Sequence[str], until: Instant | None) -> None:
        """Hold jobs, until an instant or until somebody resumes them."""
        await self.engine.apply(lambda now: Suspend(self.book, identities, now, suspended=True, until=until))

    async def resume(self, identities: Sequence[str]) -> None:
        """Let jobs go on."""
        await self.engine.apply(lambda now: Suspend(self.book, identities, now, suspended=False))

    async def run(self) -> None:
        """Return when somebody has asked to stop, and nothing runs any more. Raise what ends it before."""
        await self._asked.wait()
        self.surface.draining = True
        notify("STOPPING=1")
        alarm, limit = None, self.settings.drain_timeout
        if limit is not None:
            alarm = asyncio.get_running_loop().call_later(limit / SECOND, self.terminate_runs)
        failure = self._death or await self._drain()
        self.surface.ended = True
        self.retention.stop()
        await self.notifier.close()
        await self.processes.close(patient=self._death is None)
        if alarm is not None:
            alarm.cancel()
        if self._death is not None:  # what runs goes on, and whoever starts krond again finds it
            with suppress(Exception):  # nothing that follows matters more
                await self.engine.crash()
        if failure is not None:
            raise failure

    async def _drain(self) -> Exception | None:
        """Wait until nothing runs any more; return what went wrong."""
        self.emitter.tell("KrondDraining", active=len(self.runs.running))
        self.telling(self.recorder.on_stop)
        try:
            return await self.engine.drain()
        except Exception:
            if self._death is None:
                raise
            return self._death
        finally:
            self.telling(self.recorder.on_stopped)
            self.telling.flush()
            self.monitor.flush()

    def _on_loop_crash(self, error: Exception) -> None:
        """End as well: a krond that is there and starts nothing would be taken for one that works."""
        said, trace = describe_exception(error), "".join(traceback.format_exception(error))
        self.emitter.tell("ErrorCaught", error=said, times=1, trace=trace)
        self._death = ControlError(reason=f"it cannot go on, which is a bug of it; please report this: {said}")
        self.notifier.hurry()
        self._asked.set()

    def _on_taken(self, error: StateDirectoryError) -> None:
        """End without waiting for runs: another krond has the directory and the runs that are recorded there."""
        if self._death is None:
            self.emitter.tell("StateTaken", error=error.message)
            self._death = error
            self.engine.pause_starts()
            self.notifier.hurry()
            self._asked.set()

    def _on_aside(self, identity: str, error: Exception) -> None:
        """Report a job that cannot be judged; the others go on."""
        name = self.name_of(identity)
        trace = "".join(traceback.format_exception(error))
        self.emitter.tell("JobSetAside", identity=identity, name=name, error=describe_exception(error), trace=trace)

    def name_of(self, identity: str) -> str:
        """Return the name of a job, also of one that is gone."""
        job = self.book.jobs.get(identity)
        return identity.rpartition(":")[2] if job is None else job.work.name

    def on_stop_signal(self) -> None:
        """Stop; a second signal ends what runs."""
        if self._is_signalled:
            self.terminate_runs()
        self._is_signalled = True
        self.stop()

    def stop(self) -> None:
        """Start nothing any more, and end when nothing runs."""
        self.engine.pause_starts()
        self._asked.set()

    def _on_lost(self, run_id: str, lines: int) -> None:
        self.emitter.tell("OutputLost", run_id=run_id, lines=lines)

    def _on_killed(self, run_id: str) -> None:
        reason = "it allocated disk space beyond its output_limit again and again"
        self.emitter.tell("RunKilled", run_id=run_id, reason=reason)

    def terminate_runs(self) -> None:
        """Ask everything that runs to end, and wait for no hook; nor for who is left, if nothing runs any more."""
        self.notifier.hurry()
        if self.runs.running:
            self.runs.stop_all(ResultCode.STOPPED)
        else:
            self.processes.hurry()


def _on_observer_failed(error: BaseException) -> None:
    asyncio.get_running_loop().call_exception_handler({"message": "An observer of runs failed", "exception": error})


def _host_jobs(told: Sequence[JobSpec | UnchangedJob]) -> dict[str, HostJob]:
    works = (each for each in told if isinstance(each, JobSpec))
    return {work.identity: work.payload for work in works if isinstance(work.payload, HostJob)}
