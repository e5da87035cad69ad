"""JobStep: what ended and what is due of the jobs, at one moment: what to remember, and what to do then."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, TypeAlias

from kron.decision.decision import Decision
from kron.engine.jobs.asked import DISPLACED, unbegun
from kron.engine.jobs.execution import Acceptance, Ending, Execution
from kron.engine.jobs.job import Accepted, Job, Judged, State, served_before
from kron.engine.jobs.judging import Moment, Replaced, judge_job
from kron.engine.jobs.store import JobBatch, Retry
from kron.instant import MICROSECOND, Instant
from kron.rules.coming import effective
from kron.rules.effort import Effort
from kron.rules.job_record import AGAIN, Attempt, End, JobRecord, Kind, PeriodRecord, Process, Result
from kron.rules.outage import Closing
from kron.rules.work import Work

if TYPE_CHECKING:
    from kron.engine.jobs.book import JobBook

Seen: TypeAlias = tuple[Execution, Ending, Instant]
News: TypeAlias = tuple[list[Seen], list[Process], list[str]]  # ends, processes, names of runs that are given up


_MOST_CLOSED, _CLOSED_TOGETHER = 50, 200  # closings of a job, and of all, in a step: each is written and logged


class JobStep:
    """One step. It moves jobs on at once; `undo` puts them back."""

    def __init__(self, book: "JobBook", now: Instant) -> None:
        self._book, self._now = book, now
        self._states: dict[Job, State] = {}
        self._seen: list[Seen] = []
        self._dropped: list[str] = []
        self._processes: list[Process] = []
        self._ends: list[tuple[Execution, End]] = []
        self._given_up: list[str] = []  # names of runs that are not tried again after all
        self._lifted: list[str] = []  # identities of jobs that were held until now
        self._batch: JobBatch | None = None
        self._closed: list[tuple[Work, PeriodRecord, Decision]] = []
        self._begun: list[tuple[Execution, Decision | None]] = []
        self._replaced: list[str] = []

    # --- planning -----------------------------------------------------------------------------------------------------

    def settle(self, seen: list[Seen], processes: list[Process], given_up: list[str]) -> None:
        """Record ends, what runs are recognised by, and which are not tried again after all."""
        self._seen, self._dropped = seen, given_up
        over = {execution.run_id for execution, _, _ in seen}  # nobody has to recognise it any more
        self._processes = [process for process in processes if process.run_id not in over]
        self._given_up += given_up
        for execution, ending, at in seen:
            job = self._book.jobs.get(execution.attempt.identity)
            retry_at = None
            if job is not None:
                self._touch(job)
                job.active.pop(execution.run_id, None)
                retry_at = self._again(job, execution, ending, at)
            self._end(execution, ending, at, retry_at)

    def _end(self, execution: Execution, ending: Ending, at: Instant, retry_at: Instant | None) -> None:
        result = _result(execution, ending)
        end = End(execution.run_id, at, result, ending.exit_code, ending.signal, ending.not_started, retry_at)
        self._ends.append((execution, end))

    def _again(self, job: Job, execution: Execution, ending: Ending, at: Instant) -> Instant | None:
        """Return when a failed attempt is to be tried again, None if it is not."""
        attempt = execution.attempt
        if _result(execution, ending) not in AGAIN or attempt.attempt > job.work.retries:
            return None
        try:
            retry_at = at + job.work.retry_delay
        except OverflowError:
            return None
        job.retries += (Retry(attempt, retry_at),)
        return retry_at

    def look_at(self, job: Job, moment: Moment, effort: Effort) -> None:
        """Judge what has come of a job, as far as the effort allows."""
        self._touch(job)
        record = job.record
        until = record.suspended_until
        if record.suspended and until is not None and until <= moment.now:
            job.record = record._replace(suspended=False, suspended_until=None)
            self._lifted.append(record.identity)
            job.armed = moment.now
        for replaced in judge_job(job, moment, effort):
            self._replace(job, replaced)

    def leave_out(self, job: Job) -> None:
        """Forget what was judged of a job, all or part of it; what was settled of its runs stays."""
        state = self._states[job]
        lifted = job.record.identity in self._lifted
        job.record, job.queue, job.handled = state.record, state.queue, state.handled
        if lifted:
            self._lifted.remove(job.record.identity)

    def _replace(self, job: Job, replaced: Replaced) -> None:
        self._replaced += replaced.runs
        self._given_up += replaced.given_up
        for each in replaced.displaced:
            self._end(unbegun(job, each, self._book.host, self._now), DISPLACED, self._now, None)

    def begin(self, room: int) -> None:
        """Record what is judged: what is over, and what begins as far as there is room."""
        for job in [*self._book.queued.values(), *self._states]:
            if job.waits(self._now):
                room -= self._begin(job, room)

    def _begin(self, job: Job, room: int) -> int:
        """Record what the queue of a job has to offer; return how many runs begin."""
        self._touch(job)
        begun = 0
        for retry in [each for each in job.retries if each.at <= self._now][:room]:
            job.retries = tuple(each for each in job.retries if each is not retry)
            attempt = retry.attempt._replace(
                run_id=self._book.name(),
                attempt=retry.attempt.attempt + 1,
                started=self._now,
                boot=self._book.host.boot,
                before=retry.attempt.run_id,
            )
            self._execute(job, attempt, None)
            begun += 1
        taken = 0
        most = len(self._closed) + (_MOST_CLOSED if len(self._closed) < _CLOSED_TOGETHER else 1)
        for first in job.queue:
            if isinstance(first, Closing):
                if len(self._closed) >= most:
                    break
                self._close(job, first)
            elif begun < room and not (first.replaces & self._book.running.keys()):
                self._execute(job, self._attempt(job, first), first.decision, first.acceptance)
                begun += 1
            else:
                break
            taken += 1
        over, job.queue = job.queue[:taken], job.queue[taken:]
        if over and job.queue:
            self._leave(job, over)
        return begun

    def _attempt(self, job: Job, accepted: Accepted) -> Attempt:
        decision, record = accepted.decision, job.record
        nominal, chosen = (None, None) if decision is None else (decision.nominal_time, decision.chosen_time)
        if decision is not None:
            self._serve(job, effective(decision))
        elif accepted.kind is Kind.BOOT:  # until then, a crash leaves it to the next life
            job.record = record = record._replace(boot=self._book.host.boot)
        return Attempt(
            accepted.run_id, record.identity, accepted.kind, nominal, chosen, 1, self._now, record.definition,
            self._book.host.boot,
        )  # fmt: skip

    def _execute(
        self, job: Job, attempt: Attempt, decision: Decision | None, acceptance: Acceptance | None = None
    ) -> None:
        execution = Execution(attempt, job.work, self._book.host.clock.monotonic())
        execution.acceptance = acceptance
        job.active[execution.run_id] = execution
        self._begun.append((execution, decision))

    def _close(self, job: Job, closing: Closing) -> None:
        self._serve(job, closing.reached)
        self._closed.append((job.work, closed_by(job.record, closing, self._now), closing.last))

    def _serve(self, job: Job, until: Instant) -> None:
        if until > job.record.served:
            job.record = job.record._replace(served=until)

    def _leave(self, job: Job, over: Iterable[Judged]) -> None:
        """Let the next life find what waits, also if its chosen second is not later than that of what is over."""
        first = job.queue[0]
        if isinstance(first, Closing):  # the step has recorded as many as it may
            closings = (each for each in job.queue if isinstance(each, Closing))
            earliest = min(each.first.window_start for each in closings) - MICROSECOND
            until = max(earliest, self._states[job].record.served)  # each of them comes after both
        else:
            decisions = (each.decision for each in job.queue if isinstance(each, Accepted))
            waiting = next((decision for decision in decisions if decision is not None), None)
            until = job.record.served if waiting is None else served_before(waiting)
        if job.record.served > until:
            job.record = job.record._replace(served=until)
            job.keep_apart(over)

    def _touch(self, job: Job) -> None:
        if job not in self._states:
            self._states[job] = job.state()

    # --- the engine's questions ---------------------------------------------------------------------------------------

    @property
    def batch(self) -> JobBatch:
        """What to remember, once all is planned."""
        if self._batch is None:
            self._batch = JobBatch(
                jobs=[job.record for job, state in self._states.items() if job.record is not state.record],
                closed=[record for _, record, _ in self._closed],
                begun=self._unbegun() + [execution.attempt for execution, _ in self._begun],
                processes=self._processes,
                ended=[end for _, end in self._ends],
                given_up=self._given_up,
            )
        return self._batch

    def _unbegun(self) -> list[Attempt]:
        """What never begins leaves a row, too."""
        return [execution.attempt for execution, _ in self._ends if not execution.has_begun]

    @property
    def records(self) -> int:
        """How many records it writes."""
        return sum(map(len, self.batch))

    def undo(self) -> None:
        """Put everything back as it was."""
        for execution, _ in self._begun:
            job = self._book.jobs.get(execution.attempt.identity)
            if job is not None:
                job.active.pop(execution.run_id, None)
        for execution, _, _ in self._seen:
            job = self._book.jobs.get(execution.attempt.identity)
            if job is not None and execution.has_begun:
                job.active[execution.run_id] = execution
        self._book.put_back(self._states, self._now, (self._seen, self._processes, self._dropped))

    def act(self, *, hushed: bool) -> None:  # noqa: ARG002  # what is recorded begins: a stop waits for it
        """End what is replaced, start what begins, and tell all of it."""
        book = self._book
        book.terminate(self._replaced, Result.REPLACED)
        book.start([execution for execution, _ in self._begun])
        for job in self._states:
            book.place(job, self._now)
        chronicle = book.host.chronicle
        for identity in self._lifted:
            chronicle.on_suspended(identity, suspended=False)
        for execution, end in self._ends:
            chronicle.on_ended(execution, end)
        for run_id in self._given_up:  # before what takes its place
            chronicle.on_given_up(run_id)
        for work, record, last in self._closed:
            chronicle.on_closed(work, record, last)
        for execution, decision in self._begun:
            chronicle.on_begun(execution, decision)

    def finish(self, *, written: bool | None) -> None:
        """Nothing more is told."""


def closed_by(job: JobRecord, closing: Closing, now: Instant) -> PeriodRecord:
    """Return what is remembered of periods of a job that are over without an execution."""
    first, last, number, outcome, reason, reached, detail = closing
    return PeriodRecord(
        job.identity, first.nominal_time, last.nominal_time, number, last.chosen_time, reached, outcome, reason, detail,
        job.definition, now,
    )  # fmt: skip


def _result(execution: Execution, ending: Ending) -> Result:
    found = ending.result()
    return found if execution.ends_as is None or found is Result.UNKNOWN else execution.ends_as
