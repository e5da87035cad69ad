"""JobStep: what ended and what is due of the jobs, at one moment: what to remember, and what to do then."""

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from kron.decision.decision import Decision
from kron.engine.emitter import Observers
from kron.engine.jobs.job_state import (
    REPLACED_BEFORE_START,
    JobCheckpoint,
    JobState,
    PendingItem,
    RunRequest,
    served_before,
)
from kron.engine.jobs.judge import PlanningContext, Replacement, judge_due_periods
from kron.engine.ledger import JobBatch, PendingRetry
from kron.engine.ports import Refusal, RunObserver
from kron.engine.runs import Acceptance, JobRun, RunNews
from kron.instant import MICROSECOND, Instant
from kron.rules.effort import Effort
from kron.rules.job_record import RETRYABLE, JobRecord, PeriodRecord, ResultCode, RunEnd, RunHandle, RunKind, RunStart
from kron.rules.job_spec import JobSpec
from kron.rules.outage import ClosedPeriods
from kron.rules.periods import effective_time

if TYPE_CHECKING:
    from kron.engine.jobs.planner import PeriodPlanner

_MOST_CLOSED, _CLOSED_TOGETHER = 50, 200  # closings of a job, and of all, in a step: each is written and logged


class JobStep:
    """One step. It moves jobs on at once; `rollback` puts them back."""

    def __init__(self, planner: "PeriodPlanner", now: Instant) -> None:
        self._planner, self._now = planner, now
        self._states: dict[JobState, JobCheckpoint] = {}
        self._seen: Sequence[JobRun] = ()
        self._dropped: list[str] = []
        self._handles: list[RunHandle] = []
        self._ends: list[tuple[JobRun, RunEnd]] = []
        self._given_up: list[str] = []  # names of runs that are not tried again after all
        self._lifted: list[str] = []  # identities of jobs that were held until now
        self._batch: JobBatch | None = None
        self._closed: list[tuple[JobSpec, PeriodRecord, Decision]] = []
        self._begun: list[JobRun] = []
        self._replaced: list[JobRun] = []

    # --- planning -----------------------------------------------------------------------------------------------------

    def settle(self, seen: Sequence[JobRun], handles: Iterable[RunHandle], given_up: list[str]) -> None:
        """Record ends, what runs are recognised by, and which are not tried again after all."""
        self._seen, self._dropped = seen, given_up
        over = {run.run_id for run in seen}  # they are not looked for again
        self._handles = [handle for handle in handles if handle.run_id not in over]
        self._given_up += given_up
        for run in seen:
            job = self._planner.jobs.get(run.attempt.identity)
            retry_at = None
            if job is not None:
                self._touch(job)
                job.active.pop(run.run_id, None)
                retry_at = self._again(job, run)
            self._end(run, retry_at)

    def _end(self, run: JobRun, retry_at: Instant | None) -> None:
        result, at = run.result, run.ended_at
        assert result is not None, "it has ended"
        assert at is not None, "it has ended"
        end = RunEnd(run.run_id, at, run.code, result.exit_code, result.signal, result.not_started, retry_at)
        self._ends.append((run, end))

    def _again(self, job: JobState, run: JobRun) -> Instant | None:
        """Return when a failed attempt is to be tried again, None if it is not."""
        attempt = run.attempt
        if run.code not in RETRYABLE or run.ended_at is None or attempt.attempt > job.work.retries:
            return None
        try:
            retry_at = run.ended_at + job.work.retry_delay
        except OverflowError:
            return None
        job.retries += (PendingRetry(attempt, retry_at),)
        return retry_at

    def look_at(self, job: JobState, moment: PlanningContext, effort: Effort) -> None:
        """Judge what has come of a job, as far as the effort allows."""
        self._touch(job)
        record = job.record
        until = record.suspended_until
        if record.is_suspended and until is not None and until <= moment.now:
            job.record = record._replace(is_suspended=False, suspended_until=None)
            self._lifted.append(record.identity)
            job.armed = moment.now
        for replaced in judge_due_periods(job, moment, effort):
            self._replace(job, replaced)

    def leave_out(self, job: JobState) -> None:
        """Forget what was judged of a job, all or part of it; what was settled of its runs stays."""
        state = self._states[job]
        lifted = job.record.identity in self._lifted
        job.record, job.queue, job.handled = state.record, state.queue, state.handled
        if lifted:
            self._lifted.remove(job.record.identity)

    def _replace(self, job: JobState, replaced: Replacement) -> None:
        self._replaced += replaced.runs
        self._given_up += replaced.given_up
        for each in replaced.displaced:
            self._end(job.never_started(each, self._planner.boot_id, self._now, REPLACED_BEFORE_START), None)

    def begin(self, room: int) -> None:
        """Record what is judged: what is over, and what begins as far as there is room."""
        for job in [*self._planner.queued.values(), *self._states]:
            closed, begun = len(self._closed), len(self._begun)
            try:
                if job.has_pending(self._now):
                    room -= self._begin(job, room)
            except Exception as error:  # of this job alone
                self._take_back(job, closed, begun)
                self._planner.set_aside(job.record.identity, error)

    def _take_back(self, job: JobState, closed: int, begun: int) -> None:
        """Forget what would have begun of a job, after so many closings and beginnings of others."""
        for run in self._begun[begun:]:
            job.active.pop(run.run_id, None)
        del self._closed[closed:], self._begun[begun:]
        if job in self._states:
            self.leave_out(job)

    def _begin(self, job: JobState, room: int) -> int:
        """Record what the queue of a job has to offer; return how many runs begin."""
        self._touch(job)
        begun = 0
        for retry in [each for each in job.retries if each.at <= self._now][:room]:
            job.retries = tuple(each for each in job.retries if each is not retry)
            attempt = retry.attempt._replace(
                run_id=self._planner.new_run_id(),
                attempt=retry.attempt.attempt + 1,
                started=self._now,
                boot_id=self._planner.boot_id,
                retry_of=retry.attempt.run_id,
            )
            self._execute(job, attempt)
            begun += 1
        taken = 0
        most = len(self._closed) + (_MOST_CLOSED if len(self._closed) < _CLOSED_TOGETHER else 1)
        for first in job.queue:
            if isinstance(first, ClosedPeriods):
                if len(self._closed) >= most:
                    break
                self._close(job, first)
            elif begun < room and not (first.replaces & job.active.keys()):
                self._execute(job, self._attempt(job, first), first.decision, first.acceptance)
                begun += 1
            else:
                break
            taken += 1
        over, job.queue = job.queue[:taken], job.queue[taken:]
        if over and job.queue:
            self._leave(job, over)
        return begun

    def _attempt(self, job: JobState, accepted: RunRequest) -> RunStart:
        decision, record = accepted.decision, job.record
        nominal, chosen = (None, None) if decision is None else (decision.nominal_time, decision.chosen_time)
        if decision is not None:
            self._serve(job, effective_time(decision))
        elif accepted.kind is RunKind.BOOT:  # until then, a crash leaves it to the next life
            job.record = record = record._replace(last_boot_id=self._planner.boot_id)
        return RunStart(
            accepted.run_id, record.identity, accepted.kind, nominal, chosen, 1, self._now, record.definition_key,
            self._planner.boot_id,
        )  # fmt: skip

    def _execute(
        self, job: JobState, attempt: RunStart, decision: Decision | None = None, acceptance: Acceptance | None = None
    ) -> None:
        run = JobRun(attempt, job.work)
        run.decision, run.acceptance = decision, acceptance
        job.active[run.run_id] = run
        self._begun.append(run)

    def _close(self, job: JobState, closing: ClosedPeriods) -> None:
        self._serve(job, closing.last_effective)
        self._closed.append((job.work, closed_by(job.record, closing, self._now), closing.last))

    def _serve(self, job: JobState, until: Instant) -> None:
        if until > job.record.handled_until:
            job.record = job.record._replace(handled_until=until)

    def _leave(self, job: JobState, over: Iterable[PendingItem]) -> None:
        """Let the next life find the waiting periods, also if they were chosen earlier than periods that are over."""
        first = job.queue[0]
        if isinstance(first, ClosedPeriods):  # the step has recorded as many as it may
            closings = (each for each in job.queue if isinstance(each, ClosedPeriods))
            earliest = min(each.first.window_start for each in closings) - MICROSECOND
            until = max(earliest, self._states[job].record.handled_until)  # each of them comes after both
        else:
            decisions = (each.decision for each in job.queue if isinstance(each, RunRequest))
            waiting = next((decision for decision in decisions if decision is not None), None)
            until = job.record.handled_until if waiting is None else served_before(waiting)
        if job.record.handled_until > until:
            job.record = job.record._replace(handled_until=until)
            job.keep_apart(over)

    def _touch(self, job: JobState) -> None:
        if job not in self._states:
            self._states[job] = job.checkpoint()

    # --- the engine's questions ---------------------------------------------------------------------------------------

    @property
    def batch(self) -> JobBatch:
        """What to remember, once all is planned."""
        if self._batch is None:
            self._batch = JobBatch(
                jobs=[job.record for job, state in self._states.items() if job.record is not state.record],
                closed=[record for _, record, _ in self._closed],
                begun=self._unbegun() + [run.attempt for run in self._begun],
                processes=self._handles,
                ended=[end for _, end in self._ends],
                given_up=self._given_up,
            )
        return self._batch

    def _unbegun(self) -> list[RunStart]:
        """What never begins leaves a row, too."""
        return [run.attempt for run, _ in self._ends if not run.was_started]

    @property
    def starts(self) -> Sequence[JobRun]:
        """The runs that start."""
        return self._begun

    @property
    def stops(self) -> Sequence[tuple[JobRun, ResultCode]]:
        """The runs that something else replaces."""
        return [(run, ResultCode.REPLACED) for run in self._replaced]

    @property
    def record_count(self) -> int:
        """How many records it writes."""
        return sum(map(len, self.batch))

    def rollback(self) -> None:
        """Put everything back as it was."""
        self._put_back(self._states, self._begun, self._seen)

    def _put_back(
        self, states: Mapping[JobState, JobCheckpoint], begun: Iterable[JobRun], seen: Iterable[JobRun]
    ) -> None:
        for run in begun:
            job = self._planner.jobs.get(run.attempt.identity)
            if job is not None:
                job.active.pop(run.run_id, None)
        unstarted = []
        for run in seen:
            job = self._planner.jobs.get(run.attempt.identity)
            if not run.was_started:
                unstarted.append(run)
            elif job is not None:
                job.active[run.run_id] = run
        self._planner.put_back(states, self._now, unstarted, self._dropped)

    def refuse(self, refused: Sequence[Refusal]) -> RunNews[JobRun]:
        """Put everything of some jobs back as it was, and let them go on with what the ledger has.

        A refused end is not recorded again: the ledger keeps the one that it has. Observers get that the run is over.
        """
        planner, gone = self._planner, {each.identity for each in refused}
        over = {each.run_id for each in refused}
        states = {job: state for job, state in self._states.items() if job.record.identity in gone}
        begun = [run for run in self._begun if run.attempt.identity in gone]
        seen = [run for run in self._seen if run.attempt.identity in gone and run.run_id not in over]
        self._put_back(states, begun, seen)
        waiting = {run_id for job in states for run_id in job.retry_run_ids()}.union(self._dropped)
        self._given_up = [each for each in self._given_up if each not in waiting]
        self._begun = [run for run in self._begun if run.attempt.identity not in gone]
        ends = [(run, end._replace(retry_at=None)) for run, end in self._ends if run.run_id in over]
        self._ends = ends + [each for each in self._ends if each[0].attempt.identity not in gone]
        self._closed = [each for each in self._closed if each[1].identity not in gone]
        self._lifted = [each for each in self._lifted if each not in gone]
        self._replaced = [run for run in self._replaced if run.attempt.identity not in gone]
        self._states = {job: state for job, state in self._states.items() if job not in states}
        for refusal in refused:
            planner.take_refusal(refusal, self._now)
        # Whose the handles are is not known: they are written again, which changes nothing.
        return RunNews([run for run in seen if run.was_started], self._handles)

    def withdraw(self) -> None:
        """Change nothing: what is recorded begins, and a stop waits for it."""

    def commit(self) -> None:
        """Look at the jobs again when time brings something to do."""
        for job in self._states:
            self._planner.reschedule(job, self._now)

    def report(self, observers: Observers[JobRun], *, written: bool | None, monotonic: float) -> None:  # noqa: ARG002
        """Report all of it, one by one, if it is recorded."""
        if written is None:
            return
        report = observers.report
        for identity in self._lifted:
            report(RunObserver.on_suspended, identity, suspended=False)
        for end in self._ends:
            report(RunObserver.on_ended, (end,))
        for run_id in self._given_up:  # before what takes its place
            report(RunObserver.on_retry_dropped, run_id)
        for work, record, last in self._closed:
            report(RunObserver.on_closed, work, record, last)
        for run in self._begun:
            report(RunObserver.on_started, (run,))


def closed_by(job: JobRecord, closing: ClosedPeriods, now: Instant) -> PeriodRecord:
    """Return what is remembered of periods of a job that are over without an execution."""
    first, last, number, outcome, reason, reached, detail = closing
    return PeriodRecord(
        job.identity, first.nominal_time, last.nominal_time, number, last.chosen_time, reached, outcome, reason, detail,
        job.definition_key, now,
    )  # fmt: skip
