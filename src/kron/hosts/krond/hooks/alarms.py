"""Alarms: what becomes of jobs -> errands to whoever their hooks name.

An execution has failed when its last attempt failed, by its code, a signal, its timeout, or because it could not be
started; also if it was to be tried again, and that was given up. One that was replaced, stopped with the host, or whose
end nobody saw has neither failed nor succeeded; but who waits for its end by a ping hears that it did not succeed.
"""

from collections.abc import Callable, Iterable, Mapping

from kron.decision.decision import Decision
from kron.engine.jobs.execution import Execution
from kron.hosts.krond.hooks.errand import Errand, Ping
from kron.instant import SECOND
from kron.rules.files.host_job import Hook, HostJob
from kron.rules.history_row import HistoryRow, closed_row, run_row
from kron.rules.job_record import AGAIN, End, PeriodRecord, Result
from kron.rules.verdict import Outcome, lateness
from kron.rules.work import Work


class Alarms:
    """A chronicle. It knows which jobs are failing: the next success of such a one is its recovery."""

    def __init__(self, send: Callable[[Errand], object]) -> None:
        self._send = send
        self._failing: dict[str, bool] = {}
        self._waiting: dict[str, tuple[HostJob, HistoryRow]] = {}  # by run: what failed and is to be tried again
        self.has_learnt = False

    def learn(self, failing: Iterable[str]) -> None:
        """Take what an earlier life has left; what this one has seen counts more."""
        self._failing = {**dict.fromkeys(failing, True), **self._failing}
        self.has_learnt = True

    def recall(self, jobs: Mapping[str, HostJob], rows: Iterable[HistoryRow]) -> None:
        """Take what failed in an earlier life and is to be tried again; a job that is gone has nobody to tell."""
        for row in rows:
            if (job := jobs.get(str(row["identity"]))) is not None:
                self._waiting[str(row["run_id"])] = job, row

    def on_closed(self, work: Work, record: PeriodRecord, last: Decision) -> None:  # noqa: ARG002
        """Tell that periods were missed."""
        job = work.payload
        if isinstance(job, HostJob) and record.outcome is Outcome.MISSED:
            self._tell(job, "missed", job.hooks.on_missed, lambda: closed_row(work.name, record))

    def on_begun(self, execution: Execution, decision: Decision | None) -> None:  # noqa: ARG002
        """Tell that an execution begins, and that it begins late."""
        job, attempt = execution.work.payload, execution.attempt
        self._waiting.pop(attempt.before, None)
        if not isinstance(job, HostJob) or attempt.attempt > 1:
            return
        self._ping(job, "start")
        if attempt.chosen is not None and SECOND * lateness(attempt.chosen, attempt.started) > job.hooks.late_after:
            self._tell(job, "late", job.hooks.on_late, lambda: _row(execution, None))

    def on_ended(self, execution: Execution, end: End) -> None:
        """Tell how an execution ended, once it is not tried again."""
        job = execution.work.payload
        if not isinstance(job, HostJob):
            return
        if end.retry_at is not None:
            self._waiting[end.run_id] = job, _row(execution, end)
        elif end.result in AGAIN:
            self._fail(job, lambda: _row(execution, end))
        elif end.result is Result.SUCCEEDED:
            self._succeed(job, lambda: _row(execution, end))
        elif execution.has_begun:
            self._ping(job, "fail")

    def on_given_up(self, run_id: str) -> None:
        """Tell that an execution failed which was to be tried again."""
        if (waiting := self._waiting.pop(run_id, None)) is not None:
            job, row = waiting
            self._fail(job, lambda: row)

    def _fail(self, job: HostJob, row: Callable[[], HistoryRow]) -> None:
        self._failing[job.identity] = True
        self._ping(job, "fail")
        self._tell(job, "failure", job.hooks.on_failure, row)

    def _succeed(self, job: HostJob, row: Callable[[], HistoryRow]) -> None:
        was_failing, self._failing[job.identity] = self._failing.get(job.identity, False), False
        self._ping(job, "")
        if was_failing:
            self._tell(job, "recovery", job.hooks.on_recovery, row)

    def _ping(self, job: HostJob, below: str) -> None:
        if job.hooks.ping:
            self._send(Errand(job, "ping", Ping(job.hooks.ping, below), {}))

    def _tell(self, job: HostJob, event: str, hooks: Iterable[Hook], row: Callable[[], HistoryRow]) -> None:
        for hook in hooks:
            self._send(Errand(job, event, hook, row()))


def _row(execution: Execution, end: End | None) -> HistoryRow:
    return run_row(execution.work.name, execution.attempt, end, attempts=execution.attempt.attempt)
