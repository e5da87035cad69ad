"""Alarms: what becomes of jobs -> errands to whoever their hooks name.

An execution has failed when its last attempt failed, by its code, a signal, its timeout, or because it could not be
started. One that was replaced, stopped with the host, or whose end nobody saw has neither failed nor succeeded.
"""

from collections.abc import Callable, Iterable

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
        self.has_learnt = False

    def learn(self, failing: Iterable[str]) -> None:
        """Take what an earlier life has left; what this one has seen counts more."""
        self._failing = {**dict.fromkeys(failing, True), **self._failing}
        self.has_learnt = True

    def on_closed(self, work: Work, record: PeriodRecord, last: Decision) -> None:  # noqa: ARG002
        """Tell that periods were missed."""
        job = work.payload
        if isinstance(job, HostJob) and record.outcome is Outcome.MISSED:
            self._tell(job, "missed", job.hooks.on_missed, lambda: closed_row(work.name, record))

    def on_begun(self, execution: Execution, decision: Decision | None) -> None:  # noqa: ARG002
        """Tell that an execution begins, and that it begins late."""
        job, attempt = execution.work.payload, execution.attempt
        if not isinstance(job, HostJob) or attempt.attempt > 1:
            return
        if job.hooks.ping:
            self._send(Errand(job, "ping", Ping(job.hooks.ping, "start"), {}))
        if attempt.chosen is not None and SECOND * lateness(attempt.chosen, attempt.started) > job.hooks.late_after:
            self._tell(job, "late", job.hooks.on_late, lambda: _row(execution, None))

    def on_ended(self, execution: Execution, end: End) -> None:
        """Tell how an execution ended, once it is not tried again."""
        job, failed = execution.work.payload, end.result in AGAIN
        if not isinstance(job, HostJob) or end.retry_at is not None or not (failed or end.result is Result.SUCCEEDED):
            return
        was_failing, self._failing[job.identity] = self._failing.get(job.identity, False), failed
        if job.hooks.ping:
            self._send(Errand(job, "ping", Ping(job.hooks.ping, "fail" if failed else ""), {}))
        if failed:
            self._tell(job, "failure", job.hooks.on_failure, lambda: _row(execution, end))
        elif was_failing:
            self._tell(job, "recovery", job.hooks.on_recovery, lambda: _row(execution, end))

    def _tell(self, job: HostJob, event: str, hooks: Iterable[Hook], row: Callable[[], HistoryRow]) -> None:
        for hook in hooks:
            self._send(Errand(job, event, hook, row()))


def _row(execution: Execution, end: End | None) -> HistoryRow:
    return run_row(execution.work.name, execution.attempt, end, attempts=execution.attempt.attempt)
