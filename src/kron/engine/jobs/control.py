"""What people may do to jobs while they run: suspend, resume, trigger; and what a host finds when it comes back."""

from collections.abc import Collection, Sequence

from kron.engine.jobs.absent import is_absent, keep_waiting_retries
from kron.engine.jobs.asked import manual_run
from kron.engine.jobs.execution import Execution
from kron.engine.jobs.job_state import JobState, RunRequest
from kron.engine.jobs.judge import enqueue
from kron.engine.jobs.planner import PeriodPlanner
from kron.engine.jobs.store import JobBatch, PendingRetry
from kron.engine.ports import Refusal
from kron.errors import JobActiveError, UnknownJobError
from kron.instant import Instant
from kron.rules.contract import InterruptedRun
from kron.rules.job_record import JobRecord, ResultCode, RunEnd, RunKind, UnfinishedRun
from kron.rules.verdict import Overlap, decide_overlap


class Suspend:
    """Jobs are held by command, until somebody lifts that, or until an instant; or it is lifted."""

    def __init__(
        self,
        book: PeriodPlanner,
        identities: Sequence[str],
        now: Instant,
        *,
        suspended: bool,
        until: Instant | None = None,
    ) -> None:
        self._book, self._now = book, now
        jobs = [_job(book, identity) for identity in identities]
        self._records = {job: job.record._replace(is_suspended=suspended, suspended_until=until) for job in jobs}
        self.batch = JobBatch(jobs=list(self._records.values()))

    def commit(self, refused: Sequence[Refusal]) -> list[JobRecord]:
        """Let it be so; a job that the ledger refuses stays as it was, and its error is raised."""
        gone = {each.identity for each in refused}
        for job, record in self._records.items():
            if record.identity in gone:
                continue
            was_suspended = job.is_suspended
            job.record = record
            self._book.host.chronicle.on_suspended(record.identity, suspended=record.is_suspended)
            if was_suspended and not job.is_suspended:
                job.armed = self._now  # what came meanwhile is late
            elif job.is_suspended:
                job.unqueue_periods()
            self._book.reschedule(job, self._now)
        if refused:
            raise refused[0].error
        return list(self._records.values())


class Trigger:
    """A run outside the periods, because somebody asked for it. It is an execution like any other.

    If it can, it begins at once: who is told its name knows that it is recorded. Else it waits for its turn, and is
    recorded when it begins, or when it is known that it never will.
    """

    def __init__(self, book: PeriodPlanner, identity: str, now: Instant) -> None:
        self._book, self._now = book, now
        self._job = job = _job(book, identity)
        overlap = decide_overlap(job.work.policy.concurrency, active=job.is_active)
        if overlap is Overlap.SKIP:
            raise JobActiveError(identity=identity)
        self._accepted = RunRequest(RunKind.TRIGGER, book.new_run_id())
        self._replaces = overlap is Overlap.REPLACE
        must_wait = self._replaces or bool(job.queue) or not book.is_armed or book.free_slots() == 0
        self._execution = None if must_wait else manual_run(job, self._accepted, book.host, now)
        self._record = job.record
        if self._replaces and any(each.kind is RunKind.BOOT for each in job.unstarted_requests()):
            self._record = job.record._replace(last_boot_id=book.host.boot)  # it never begins, and does not come again
        self.batch = JobBatch(
            jobs=[] if self._record is job.record else [self._record],
            begun=[] if self._execution is None else [self._execution.attempt],
        )

    def commit(self, refused: Sequence[Refusal]) -> str:
        """Let it begin, or wait for its turn, and return its name."""
        if refused:
            raise refused[0].error
        if self._execution is None:
            self._wait()
        else:
            self._job.active[self._execution.run_id] = self._execution
            self._book.start([self._execution])
            self._book.host.chronicle.on_begun(self._execution, None)
        return self._accepted.run_id

    def _wait(self) -> None:
        book, job = self._book, self._job
        replaced = enqueue(job, self._accepted, replaces=self._replaces)
        book.terminate(replaced.runs, ResultCode.REPLACED)
        book.dropped_retries += replaced.given_up
        book.drop_requests(job, replaced.displaced, self._now)
        job.record = self._record
        book.queued[job.record.identity] = job
        book.check_now(job, self._now)


class Recover:
    """What a host finds when it comes back: runs that go on, and runs that are gone without anybody having seen how."""

    def __init__(self, book: PeriodPlanner, alive: Collection[str], now: Instant) -> None:
        self._book, self._now = book, now
        self._alive = [each for each in book.snapshot.unfinished if each.attempt.run_id in alive]
        self._gone = [each for each in book.snapshot.unfinished if each.attempt.run_id not in alive]
        is_owed = book.host.contract.interrupted_run is InterruptedRun.RESTART
        self._restarts = [each for each in self._gone if is_owed and each.attempt.identity in book.jobs]
        self._ends = [
            RunEnd(each.attempt.run_id, now, ResultCode.UNKNOWN, retry_at=now if each in self._restarts else None)
            for each in self._gone
        ]
        self.batch = JobBatch(ended=self._ends)

    def commit(self, refused: Sequence[Refusal]) -> list[Execution]:
        """Let it be so, and return what goes on: it is active, and its time still counts from its start.

        A job that the ledger refuses is set aside: the next start of the host looks at its runs again.
        """
        book, left = self._book, {each.identity for each in refused}
        for gone, end in zip(self._gone, self._ends, strict=True):
            if gone.attempt.identity not in left:
                book.host.chronicle.on_ended(self._execution(gone), end)
        alive = [self._execution(each) for each in self._alive]
        for execution in alive:
            book.reattach(execution, self._now)
        for restart in self._restarts:
            if restart.attempt.identity in left:
                continue
            job = book.jobs[restart.attempt.identity]
            job.retries += (PendingRetry(restart.attempt, self._now),)
            book.reschedule(job, self._now)
        book.retry([each for each in book.snapshot.retries if not is_absent(book, each.attempt.identity)], self._now)
        keep_waiting_retries(book)
        for refusal in refused:
            book.take_refusal(refusal, self._now)
        return alive

    def _execution(self, unfinished: UnfinishedRun) -> Execution:
        attempt = unfinished.attempt
        job = self._book.jobs.get(attempt.identity)
        work = job.work if job is not None else self._book.work(self._book.snapshot.jobs[attempt.identity])
        execution = Execution(attempt, work, self._book.host.clock.monotonic())
        execution.process = unfinished.process
        return execution


def _job(book: PeriodPlanner, identity: str) -> JobState:
    """Return a job; it may have gone since somebody named it."""
    if identity not in book.jobs:
        raise UnknownJobError(job=identity)
    return book.jobs[identity]
