"""Suspend, Trigger, Recover: changes by a command, and the recovery of unfinished runs when a host starts."""

from collections.abc import Collection, Sequence

from kron.engine.emitter import Observers
from kron.engine.jobs.job_state import JobState, RunRequest, served_before
from kron.engine.jobs.judge import enqueue
from kron.engine.jobs.planner import PeriodPlanner
from kron.engine.jobs.step import closed_by
from kron.engine.ledger import JobBatch, PendingRetry
from kron.engine.planner import Change
from kron.engine.ports import Refusal, RunObserver
from kron.engine.runs import JobRun
from kron.errors import JobActiveError, UnknownJobError
from kron.instant import Instant
from kron.rules.contract import InterruptedRun
from kron.rules.job_record import JobRecord, ResultCode, RunEnd, RunKind, UnfinishedRun
from kron.rules.outage import Recovery
from kron.rules.verdict import OverlapAction, decide_overlap

_LONG = 1_000  # decisions: some hundredths of a second


class Suspend(Change[JobBatch, list[JobRecord], JobRun]):
    """Suspend jobs by command, until they are resumed or until an instant; or resume them."""

    def __init__(
        self,
        planner: PeriodPlanner,
        identities: Sequence[str],
        now: Instant,
        *,
        suspended: bool,
        until: Instant | None = None,
    ) -> None:
        self._planner, self._now = planner, now
        jobs = [_job(planner, identity) for identity in identities]
        self._suspended: list[JobRecord] = []
        self._records = {job: job.record._replace(is_suspended=suspended, suspended_until=until) for job in jobs}
        self.batch = JobBatch(jobs=list(self._records.values()))

    def commit(self, refused: Sequence[Refusal]) -> list[JobRecord]:
        """Apply the committed change; a job that the ledger refuses stays as it was, and its error is raised."""
        gone = {each.identity for each in refused}
        for job, record in self._records.items():
            if record.identity in gone:
                continue
            was_suspended = job.is_suspended
            job.record = record
            self._suspended.append(record)
            if was_suspended and not job.is_suspended:
                job.armed = self._now  # what came meanwhile is late
            elif job.is_suspended:
                job.unqueue_periods()
            self._planner.reschedule(job, self._now)
        if refused:
            raise refused[0].error
        return list(self._records.values())

    def report(self, observers: Observers[JobRun]) -> None:
        """Report the jobs that are suspended or resumed."""
        for record in self._suspended:
            observers.report(RunObserver.on_suspended, record.identity, suspended=record.is_suspended)


class Trigger(Change[JobBatch, str, JobRun]):
    """A run outside the periods, started by command. It is an execution like any other.

    If it can, it begins at once: it is recorded before its id is returned. Else it waits for its turn, and is recorded
    when it begins, or when it is clear that it never will.
    """

    def __init__(self, planner: PeriodPlanner, identity: str, now: Instant, *, has_room: bool) -> None:
        """`has_room`: another run may start."""
        self._planner, self._now = planner, now
        self._job = job = _job(planner, identity)
        overlap = decide_overlap(job.work.policy.concurrency, active=job.is_active)
        if overlap is OverlapAction.SKIP:
            raise JobActiveError(identity=identity)
        self._accepted = RunRequest(RunKind.TRIGGER, planner.new_run_id())
        self._replaces = overlap is OverlapAction.REPLACE
        must_wait = self._replaces or bool(job.queue) or not planner.is_armed or not has_room
        self._run = None if must_wait else job.manual_run(self._accepted, planner.boot_id, now)
        self._record = job.record
        if self._replaces and any(each.kind is RunKind.BOOT for each in job.unstarted_requests()):
            self._record = job.record._replace(last_boot_id=planner.boot_id)  # that one is not due again
        self.batch = JobBatch(
            jobs=[] if self._record is job.record else [self._record],
            begun=[] if self._run is None else [self._run.attempt],
        )
        self.starts = () if self._run is None else (self._run,)

    def commit(self, refused: Sequence[Refusal]) -> str:
        """Let it begin, or wait for its turn, and return its name."""
        if refused:
            raise refused[0].error
        if self._run is None:
            self._wait()
        else:
            self._job.active[self._run.run_id] = self._run
        return self._accepted.run_id

    def report(self, observers: Observers[JobRun]) -> None:
        """Report the run, if it starts."""
        if self.starts:
            observers.report(RunObserver.on_started, self.starts)

    def _wait(self) -> None:
        planner, job = self._planner, self._job
        replaced = enqueue(job, self._accepted, replaces=self._replaces)
        self.stops = [(run, ResultCode.REPLACED) for run in replaced.runs]
        planner.dropped_retries += replaced.given_up
        planner.drop_requests(job, replaced.displaced, self._now)
        job.record = self._record
        planner.queued[job.record.identity] = job
        planner.agenda.schedule(job, self._now)


def unfinished_runs(planner: PeriodPlanner) -> list[JobRun]:
    """Return the runs of earlier lives of which no end is recorded, under the jobs as they are declared now."""
    return [_unfinished_run(planner, each) for each in planner.snapshot.unfinished]


def _unfinished_run(planner: PeriodPlanner, unfinished: UnfinishedRun) -> JobRun:
    record = planner.record(unfinished.attempt.identity)
    assert record is not None, "the job of a run is recorded"
    run = JobRun(unfinished.attempt, planner.work(record))
    run.handle, run.was_started = unfinished.process, True
    return run


class Recover(Change[JobBatch, list[JobRun], JobRun]):
    """Recover unfinished runs when a host starts: some still run, and others ended while no host was watching."""

    def __init__(
        self, planner: PeriodPlanner, unfinished: Sequence[JobRun], alive: Collection[str], now: Instant
    ) -> None:
        """`alive` are the ids of the unfinished runs that go on."""
        self._planner, self._now = planner, now
        self._alive = [run for run in unfinished if run.run_id in alive]
        self._gone = [run for run in unfinished if run.run_id not in alive]
        is_owed = planner.contract.interrupted_run is InterruptedRun.RESTART
        self._restarts = [run for run in self._gone if is_owed and run.attempt.identity in planner.jobs]
        self._ends = [
            RunEnd(run.run_id, now, ResultCode.UNKNOWN, retry_at=now if run in self._restarts else None)
            for run in self._gone
        ]
        self._lost = list(zip(self._gone, self._ends, strict=True))
        self.batch = JobBatch(ended=self._ends)

    def commit(self, refused: Sequence[Refusal]) -> list[JobRun]:
        """Apply the committed change, and return the runs that survived: they are active.

        A job that the ledger refuses is set aside: the next start of the host looks at its runs again.
        """
        planner, left = self._planner, {each.identity for each in refused}
        self._lost = [each for each in self._lost if each[0].attempt.identity not in left]
        for run in self._alive:
            planner.reattach(run)
        for run in self._restarts:
            if run.attempt.identity in left:
                continue
            job = planner.jobs[run.attempt.identity]
            job.retries += (PendingRetry(run.attempt, self._now),)
            planner.reschedule(job, self._now)
        planner.load_retries(self._now)
        for refusal in refused:
            planner.take_refusal(refusal, self._now)
        return self._alive

    def report(self, observers: Observers[JobRun]) -> None:
        """Report the runs that are gone."""
        for each in self._lost:
            observers.report(RunObserver.on_ended, (each,))


def _job(planner: PeriodPlanner, identity: str) -> JobState:
    """Return a job; it may have been removed since the command was sent."""
    if identity not in planner.jobs:
        raise UnknownJobError(job=identity)
    return planner.jobs[identity]


def backlogged(planner: PeriodPlanner, now: Instant) -> list[JobState]:
    """Return the jobs whose downtime takes long to judge."""
    return [job for job in planner.jobs.values() if job.backlog(now) >= _LONG]


class CloseDowntime(Change[JobBatch, None, JobRun]):
    """What is over of the downtime of a job. The period that may still run and what follows are left to the first step.

    A crash after it was recorded: the next life begins behind what is over, and finds the rest as this one did.
    """

    def __init__(self, planner: PeriodPlanner, job: JobState, found: Recovery, until: Instant) -> None:
        """`until` is when the downtime was judged; the first step judges later periods, too."""
        self._planner, self._job, self._found, self._until = planner, job, found, until
        served = max((each.last_effective for each in found.closed_before), default=job.record.handled_until)
        if found.runs is not None:
            served = min(served, served_before(found.runs))
        self._record = job.record._replace(handled_until=max(served, job.record.handled_until))
        self._closed = [(job.work, closed_by(job.record, each, until), each.last) for each in found.closed_before]
        self.batch = JobBatch(
            jobs=[] if self._record == job.record else [self._record], closed=[record for _, record, _ in self._closed]
        )

    def commit(self, refused: Sequence[Refusal]) -> None:
        """Continue after the closed periods; if the ledger refuses them, the first step judges all of the downtime."""
        planner, job, found = self._planner, self._job, self._found
        if refused:
            planner.take_refusal(refused[0], self._until)
            self._closed = []
            return
        job.record = self._record
        job.keep_apart(found.closed_before)
        job.seek(max(job.reached, self._until))
        job.recovered = None if found.runs is None else Recovery([], found.runs, found.closed_after)
        planner.reschedule(job, self._until)

    def report(self, observers: Observers[JobRun]) -> None:
        """Report the periods that are closed."""
        for work, record, last in self._closed:
            observers.report(RunObserver.on_closed, work, record, last)
