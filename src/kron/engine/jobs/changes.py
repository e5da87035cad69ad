"""What people may do to jobs while they run: suspend, resume, trigger; and what a host finds when it comes back."""

from collections.abc import Collection, Sequence

from kron.engine.jobs.absent import is_absent, keep_waiting_retries
from kron.engine.jobs.asked import asked_for
from kron.engine.jobs.book import JobBook
from kron.engine.jobs.execution import Execution
from kron.engine.jobs.job import Accepted, Job
from kron.engine.jobs.judging import accept
from kron.engine.jobs.store import JobBatch, Unfinished
from kron.errors import JobActiveError, UnknownJobError
from kron.instant import Instant
from kron.rules.job_record import End, JobRecord, Kind, Result
from kron.rules.policy import Concurrency


class Suspension:
    """Jobs are held by command, until somebody lifts that, or until an instant; or it is lifted."""

    def __init__(
        self, book: JobBook, identities: Sequence[str], now: Instant, *, suspended: bool, until: Instant | None = None
    ) -> None:
        self._book, self._now = book, now
        jobs = [_job(book, identity) for identity in identities]
        self._records = {job: job.record._replace(suspended=suspended, suspended_until=until) for job in jobs}
        self.batch = JobBatch(jobs=list(self._records.values()))

    def adopt(self) -> list[JobRecord]:
        """Let it be so."""
        for job, record in self._records.items():
            was_suspended = job.is_suspended
            job.record = record
            self._book.host.chronicle.on_suspended(record.identity, suspended=record.suspended)
            if was_suspended and not job.is_suspended:
                job.armed = self._now  # what came meanwhile is late
            elif job.is_suspended:
                job.put_off()
            self._book.place(job, self._now)
        return list(self._records.values())


class Trigger:
    """A run outside the periods, because somebody asked for it. It is an execution like any other.

    If it can, it begins at once: who is told its name knows that it is recorded. Else it waits for its turn, and is
    recorded when it begins, or when it is known that it never will.
    """

    def __init__(self, book: JobBook, identity: str, now: Instant) -> None:
        self._book, self._now = book, now
        self._job = job = _job(book, identity)
        if job.is_active and job.work.policy.concurrency is Concurrency.FORBID:
            raise JobActiveError(identity=identity)
        self._accepted = Accepted(Kind.TRIGGER, book.name())
        self._replaces = job.is_active and job.work.policy.concurrency is Concurrency.REPLACE
        must_wait = self._replaces or bool(job.queue) or not book.is_armed or book.room() == 0
        self._execution = None if must_wait else asked_for(job, self._accepted, book.host, now)
        self._record = job.record
        if self._replaces and any(each.kind is Kind.BOOT for each in job.asked()):
            self._record = job.record._replace(boot=book.host.boot)  # it never begins, and does not come again
        self.batch = JobBatch(
            jobs=[] if self._record is job.record else [self._record],
            begun=[] if self._execution is None else [self._execution.attempt],
        )

    def adopt(self) -> str:
        """Let it begin, or wait for its turn, and return its name."""
        if self._execution is None:
            self._wait()
        else:
            self._job.active[self._execution.run_id] = self._execution
            self._book.start([self._execution])
            self._book.host.chronicle.on_begun(self._execution, None)
        return self._accepted.run_id

    def _wait(self) -> None:
        book, job = self._book, self._job
        replaced = accept(job, self._accepted, replaces=self._replaces)
        book.terminate(replaced.runs, Result.REPLACED)
        book.given_up += replaced.given_up
        book.displace(job, replaced.displaced, self._now)
        job.record = self._record
        book.queued[job.record.identity] = job
        book.look_at(job, self._now)


class Return:
    """What a host finds when it comes back: runs that go on, and runs that are gone without anybody having seen how."""

    def __init__(self, book: JobBook, alive: Collection[str], now: Instant) -> None:
        self._book, self._now = book, now
        self._alive = [each for each in book.stored.unfinished if each.attempt.run_id in alive]
        self._gone = [each for each in book.stored.unfinished if each.attempt.run_id not in alive]
        self._ends = [End(each.attempt.run_id, now, Result.UNKNOWN) for each in self._gone]
        self.batch = JobBatch(ended=self._ends)

    def adopt(self) -> list[Execution]:
        """Let it be so, and return what goes on: it is active, and its time still counts from its start."""
        book = self._book
        for gone, end in zip(self._gone, self._ends, strict=True):
            book.host.chronicle.on_ended(self._execution(gone), end)
        alive = [self._execution(each) for each in self._alive]
        for execution in alive:
            book.go_on(execution, self._now)
        book.retry([each for each in book.stored.retries if not is_absent(book, each.attempt.identity)], self._now)
        keep_waiting_retries(book)
        return alive

    def _execution(self, unfinished: Unfinished) -> Execution:
        attempt = unfinished.attempt
        job = self._book.jobs.get(attempt.identity)
        work = job.work if job is not None else self._book.work(self._book.stored.jobs[attempt.identity])
        execution = Execution(attempt, work, self._book.host.clock.monotonic())
        execution.process = unfinished.process
        return execution


def _job(book: JobBook, identity: str) -> Job:
    """Return a job; it may have gone since somebody named it."""
    if identity not in book.jobs:
        raise UnknownJobError(job=identity)
    return book.jobs[identity]
