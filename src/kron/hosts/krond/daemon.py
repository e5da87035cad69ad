"""Daemon: one krond, from locking its state directory until no run is active."""

import asyncio
import gc
import os
import secrets
import traceback
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Literal

from kron.adapters.files.job_files import is_in_any
from kron.adapters.files.trust import absolute_path
from kron.adapters.passing_ledger import FreeingLedger
from kron.adapters.process.host_runner import HostRunner
from kron.adapters.process.procfs import boot_id
from kron.adapters.sqlite.job_history import SqliteJobHistory
from kron.adapters.sqlite.job_ledger import SqliteJobLedger
from kron.adapters.system_clock import SystemClock
from kron.engine.emitter import Emitter, Observers
from kron.engine.jobs.declaration import JobsApplied
from kron.engine.jobs.job_engine import JobEngine
from kron.engine.jobs.job_state import JobState
from kron.engine.ledger import HistoryReader
from kron.engine.ports import RunObserver, Sink
from kron.engine.runs import JobRun
from kron.errors import ControlError, KronError, StateDirectoryError
from kron.errors.base import describe_exception
from kron.hosts.krond.daemon_status import DaemonStatus, FailedFile, places_of
from kron.hosts.krond.events import EventQueue
from kron.hosts.krond.file_reader import FailedFiles, UnchangedJob
from kron.hosts.krond.hook_delivery import HookDispatcher
from kron.hosts.krond.own_process import gc_frozen, notify, trim_memory
from kron.hosts.krond.retention import Retention
from kron.hosts.krond.state_directory import StateDirectory
from kron.instant import SECOND
from kron.jobfile.host_job import HostJob
from kron.jobfile.settings import Settings
from kron.rules.job_record import LastResult
from kron.rules.job_spec import JobSpec
from kron.trace.job_recorder import JobRecorder
from kron.trace.monitor import OnlineMonitor
from kron.web.queries import JobQueries

if TYPE_CHECKING:
    from kron.adapters.prometheus import JobMetrics
import errno
from collections.abc import Callable
from pathlib import Path

from kron.engine.ports import FailedLedger
from kron.engine.tasks.events import failure_text
from kron.errors import LedgerWriteError
from kron.instant import Instant

_ROOM = 1 << 16  # bytes that a disk must have left: a few starts are recorded in so many
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EROFS)
_PATIENCE = 2.0  # seconds for a look at the disk: a client that asks for the status waits five
_NO_FILES: FailedFiles = {}
_TOKEN = 8  # random bytes in a run's name: a user who knows the names of its own runs cannot guess another's


class LedgerHealth:
    """Asks the engine, whose failures are the truth, and the disk: before anything is due, the engine has not tried."""

    def __init__(self, engine: JobEngine, ledger: Path, now: Callable[[], Instant]) -> None:
        self._engine, self._ledger, self._now = engine, ledger, now
        self._since: Instant | None = None  # the disk is known to take nothing
        self._looking: asyncio.Task[FailedLedger | None] | None = None

    async def ask(self) -> FailedLedger | None:
        """Return since when and why nothing can be recorded, None if it can. A disk that hangs is not waited for."""
        if (failure := self._engine.failed_ledger) is not None:  # the disk need not be asked
            return failure
        if self._looking is None or self._looking.done():  # one at a time: a disk that hangs keeps one thread
            self._looking = asyncio.create_task(asyncio.to_thread(self.look))
        done, _ = await asyncio.wait([self._looking], timeout=_PATIENCE)
        return self._looking.result() if done else self._failed("its disk does not answer")

    def look(self) -> FailedLedger | None:
        """Return the same, as soon as the disk has answered. From any thread."""
        if (failure := self._engine.failed_ledger) is not None:
            return failure
        if (reason := _refusal(self._ledger.parent)) is not None:
            return self._failed(reason)
        self._since = None
        return None

    def _failed(self, reason: str) -> FailedLedger:
        self._since = self._since or self._now()
        return FailedLedger(self._since, failure_text(LedgerWriteError(path=str(self._ledger), reason=reason)))


def _refusal(folder: Path) -> str | None:
    """Return why a disk takes nothing more, None if it does: a file without a name is written, and gone at once."""
    try:
        descriptor = os.open(folder, os.O_TMPFILE | os.O_WRONLY | os.O_CLOEXEC, 0o600)
        try:
            os.posix_fallocate(descriptor, 0, _ROOM)
        finally:
            os.close(descriptor)
    except OSError as error:  # any other is not about the disk, or this file system has no such files
        return f"the disk is full or read-only: {error.strerror}" if error.errno in _FULL else None
    return None


def _placed(work: JobSpec, read: JobSpec | UnchangedJob) -> tuple[str, HostJob]:
    """Return the identity of a job, and the job with its present file and line."""
    assert isinstance(work.payload, HostJob)
    return work.identity, read.of(work.payload) if isinstance(read, UnchangedJob) else work.payload


class Daemon:
    """Composition only: it builds the ports, hands them over, and passes on what signals and people ask for."""

    def __init__(
        self,
        state: StateDirectory,
        settings: Settings,
        sink: Sink,
        observers: list[RunObserver[JobRun]],
        recorder: JobRecorder,
        monitor: OnlineMonitor,
        queue: EventQueue,
        metrics: "JobMetrics | None" = None,
    ) -> None:
        """`recorder` and `monitor` write and judge the trace; `queue` calls the observers when there is time."""
        self.state, self.settings = state, settings
        self._recorder, self.monitor, self._queue, self._metrics = recorder, monitor, queue, metrics
        self.clock = SystemClock()
        self.emitter = Emitter(sink)
        self._ledger = SqliteJobLedger(state.ledger, retention=settings.retention, guard=state.hold)
        self.history: HistoryReader = SqliteJobHistory(state.ledger)
        self.runner = HostRunner(state.output, self.history, self.clock.now, lost=self._on_lost, killed=self._on_killed)
        queue.hold_while(self.runner.is_starting)
        self._notifier = HookDispatcher(self.runner, self.emitter, metrics)
        self._retention = Retention(state.output, settings.output_retention, self.clock.now)
        self.observers = Observers([*observers, self._notifier.alarms], defer=queue, failed=_on_observer_failed)
        self.engine = JobEngine(
            self.clock,
            FreeingLedger(self._ledger, self.runner.free_space),
            self.runner,
            self.emitter,
            self.observers,
            secrets.token_hex(4),
            slack=settings.slack,
            max_active=settings.max_active,
            boot_id=boot_id(),
            run_token=partial(secrets.token_hex, _TOKEN),
            gc_guard=gc_frozen,
        )
        self.ledger_health = LedgerHealth(self.engine, state.ledger, self.clock.now)
        self.surface = DaemonStatus(self.clock.now())
        self._asked = asyncio.Event()  # to stop
        self._is_signalled = False
        self._death: KronError | None = None  # why it starts no more runs although it was not asked to stop

    async def start(self, jobs: Sequence[JobSpec | UnchangedJob], failed: FailedFiles = _NO_FILES) -> JobsApplied:
        """Recover what a crash left, declare the jobs, and begin to run them. `failed` are files with errors."""
        self.mark_failed(failed)
        loop = asyncio.get_running_loop()
        self.state.on_taken = lambda error: loop.call_soon_threadsafe(self._on_taken, error)
        with self.state.reporting_errors():
            await self.runner.open()
        await self.engine.open()
        declared = await self.declare(jobs, failed)
        await self.engine.recover()
        self.engine.start(on_death=self._on_loop_crash)
        self._retention.start()
        self.surface.ready = True
        notify("READY=1")
        self.emitter.tell("KrondReady", pid=os.getpid(), jobs=len(jobs), state=str(self.state.path))
        return declared

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

    async def declare(self, read: Sequence[JobSpec | UnchangedJob], failed: FailedFiles = _NO_FILES) -> JobsApplied:
        """Replace the declared jobs; runs continue. A known job keeps its definition, wherever it is written now.

        A job of a failed file keeps its last definition. One that krond has only in its ledger is neither run nor
        removed while a file is failed: the ledger does not say which file a job is from.
        """
        read = [*read, *self._kept(read, failed)]
        known = self.engine.specs()
        specs = [known[each.identity] if isinstance(each, UnchangedJob) else each for each in read]
        del known  # definitions that go are no longer there when memory is trimmed
        jobs = await asyncio.to_thread(lambda: dict(map(_placed, specs, read)))
        if not self.surface.ready:
            await self._notifier.recall(jobs, self.history)
        await self._notifier.learn(jobs.values(), self.history)
        declared = await self.engine.apply(specs, spares_absent=bool(failed))
        self.runner.prepare_for(jobs.values())
        self.surface.jobs = jobs
        self._queue(self._recorder.on_declared)
        if self._metrics is not None:
            self._metrics.retain(jobs)
        gc.freeze()  # of thousands of jobs
        await asyncio.to_thread(trim_memory)
        return declared

    def _kept(self, read: Sequence[JobSpec | UnchangedJob], failed: FailedFiles) -> list[UnchangedJob]:
        """Return the declared jobs of failed files, but for those that other files define now."""
        named = {each.identity for each in read} if failed else set()
        jobs = [job for job in self.surface.jobs.values() if job.identity not in named] if failed else []
        gone = {file for file in {job.file for job in jobs} if is_in_any(file, failed)}
        return [UnchangedJob(job.identity, job.file, job.line, job.line_offsets) for job in jobs if job.file in gone]

    def queries(self, last_results: Mapping[str, LastResult]) -> JobQueries:
        """Return what commands and pages read of the jobs; `last_results` are by identity."""
        planner, errors = self.engine.planner, self.surface.errors
        return JobQueries(planner, self.history, self.clock.now, last_results, self._host_job, file_errors=errors)

    def _host_job(self, job: JobState) -> HostJob:
        """Return a job as its file has it; one that is just being removed, as it had it."""
        found = self.surface.jobs.get(job.record.identity, job.work.payload)
        assert isinstance(found, HostJob)
        return found

    def apply_settings(self, settings: Settings) -> None:
        """Go on with other settings; those that need a restart are as they were."""
        self.settings = settings
        self._ledger.set_retention(settings.retention)
        self._retention.retention = settings.output_retention
        self.engine.apply_settings(slack=settings.slack, max_active=settings.max_active)

    async def run(self) -> None:
        """Return when a stop was requested and no run is active. Raise the error that ends krond earlier."""
        await self._asked.wait()
        self.surface.draining = True
        notify("STOPPING=1")
        alarm, limit = None, self.settings.drain_timeout
        if limit is not None:
            alarm = asyncio.get_running_loop().call_later(limit / SECOND, self.terminate_runs)
        failure = self._death or await self._drain()
        self.surface.ended = True
        self._retention.stop()
        await self._notifier.close()
        await self.runner.close(wait=self._death is None)
        if alarm is not None:
            alarm.cancel()
        if self._death is not None:  # active runs continue, and the next krond finds them
            with suppress(Exception):  # nothing that follows matters more
                await self.engine.crash()
        if failure is not None:
            raise failure

    async def _drain(self) -> Exception | None:
        """Wait until no run is active; return the error that ended the loop, if any."""
        self.emitter.tell("KrondDraining", active=len(self.engine.running))
        self._queue(self._recorder.on_stop)
        try:
            return await self.engine.drain()
        except Exception:
            if self._death is None:
                raise
            return self._death
        finally:
            self._queue(self._recorder.on_stopped)
            self._queue.flush()
            self.monitor.flush()

    def _on_loop_crash(self, error: Exception) -> None:
        """End as well: a krond that is there and starts nothing would be taken for one that works."""
        said, trace = describe_exception(error), "".join(traceback.format_exception(error))
        self.emitter.tell("ErrorCaught", error=said, times=1, trace=trace)
        self._death = ControlError(reason=f"it cannot go on, which is a bug of it; please report this: {said}")
        self._notifier.hurry()
        self._asked.set()

    def _on_taken(self, error: StateDirectoryError) -> None:
        """End without waiting for runs: another krond has the directory and the runs that are recorded there."""
        if self._death is None:
            self.emitter.tell("StateTaken", error=error.message)
            self._death = error
            self.engine.pause_starts()
            self._notifier.hurry()
            self._asked.set()

    def on_stop_signal(self) -> None:
        """Stop; a second signal ends what runs."""
        if self._is_signalled:
            self.terminate_runs()
        self._is_signalled = True
        self.stop()

    def stop(self) -> None:
        """Start no more runs, and end when none is active."""
        self.engine.pause_starts()
        self._asked.set()

    def _on_lost(self, run_id: str, lines: int) -> None:
        self.emitter.tell("OutputLost", run_id=run_id, lines=lines)

    def _on_killed(self, run_id: str) -> None:
        reason = "it allocated disk space beyond its output_limit again and again"
        self.emitter.tell("RunKilled", run_id=run_id, reason=reason)

    def terminate_runs(self) -> None:
        """Terminate all active runs, and wait for no hook; if no run is active, kill what is still being terminated."""
        self._notifier.hurry()
        if self.engine.running:
            self.engine.stop_runs()
        else:
            self.runner.kill_terminating()


def _on_observer_failed(error: BaseException) -> None:
    asyncio.get_running_loop().call_exception_handler({"message": "An observer of runs failed", "exception": error})
