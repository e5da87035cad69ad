"""HookTriggers: which hook of a job fires when. Notification: its content, as a command or an address gets it.

An execution has failed when its last attempt failed, by its code, a signal, its timeout, or because it could not be
started; also if it was to be tried again, and that was given up. One that was replaced, stopped with the host, or whose
end was not seen has neither failed nor succeeded; but a ping that waits for its end says that it did not succeed.
"""

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from urllib.parse import urlsplit, urlunsplit

from kron.decision.decision import Decision
from kron.engine.ports import RunObserver
from kron.engine.runs import JobRun
from kron.instant import SECOND
from kron.jobfile.host_job import Command, Hook, HookCommand, HostJob, Webhook
from kron.rules.history import RunRow
from kron.rules.job_record import RETRYABLE, PeriodRecord, ResultCode, RunEnd
from kron.rules.job_spec import JobSpec
from kron.rules.verdict import Outcome, lateness

_VARIABLES = {
    "KRON_RUN_ID": "run_id",
    "KRON_JOB": "name",
    "KRON_IDENTITY": "identity",
    "KRON_PERIOD_ID": "period_id",
    "KRON_NOMINAL_TIME": "nominal_time",
    "KRON_CHOSEN_TIME": "chosen_time",
    "KRON_ATTEMPT": "attempt",
    "KRON_OUTCOME": "outcome",
    "KRON_RESULT": "result",
    "KRON_REASON": "reason",
    "KRON_EXIT_CODE": "exit_code",
}


@dataclass(frozen=True, slots=True)
class Ping:
    """A sign of life: GET of an address, or of one below it."""

    url: str
    below: str = ""  # `start`, `fail`, or nothing

    def address(self) -> str:
        """Return what to get."""
        if not self.below:
            return self.url
        parts = urlsplit(self.url)
        return urlunsplit(parts._replace(path=f"{parts.path.rstrip('/')}/{self.below}"))


@dataclass(frozen=True, slots=True)
class Notification:
    """The job, the event, the hook to notify, and the row of the run's history."""

    job: HostJob
    event: str  # failure, recovery, missed, late or ping
    hook: Webhook | HookCommand | Ping
    row: RunRow | None  # None: of a ping

    @property
    def order_key(self) -> tuple[str, object]:
        """The queue: notifications of one queue are sent in order, so that a job's `start` never overtakes its end."""
        return self.job.identity, self.hook.url if isinstance(self.hook, Ping) else self.hook

    @property
    def destination(self) -> str:
        """Where it goes, as events name it: of an address only the host, since the rest is often secret."""
        match self.hook:
            case HookCommand((_, "-c", text)):  # of a shell: the program that its text begins with
                return next((word for word in text.split() if "=" not in word), text)
            case HookCommand(argv):
                return argv[0]
            case Webhook(url) | Ping(url):
                return re.split("[/?#]", url.partition("//")[2])[0].rpartition("@")[2]

    def payload(self) -> str:
        """Return the row as JSON, in ASCII: names of files may hold bytes that are no text."""
        return json.dumps(self._fields())

    def command(self, argv: tuple[str, ...]) -> Command:
        """Return the command of a hook: in the surroundings of its job, the row on its standard input."""
        return replace(self.job.command, argv=argv, stdin=self.payload(), stdout="discard", stderr="discard")

    def variables(self) -> tuple[tuple[str, str], ...]:
        """Return what the command of a hook finds in its environment."""
        fields = self._fields()
        found = {name: fields.get(field) for name, field in _VARIABLES.items()}
        return (("KRON_EVENT", self.event), *((name, "" if it is None else str(it)) for name, it in found.items()))

    def _fields(self) -> dict[str, object]:
        return {} if self.row is None else self.row.to_dict()


class HookTriggers(RunObserver[JobRun]):
    """An observer. It knows which jobs are failing: the next success of such a one is its recovery."""

    def __init__(self, send: Callable[[Notification], object]) -> None:
        self._send = send
        self._failing: dict[str, bool] = {}
        self._pending_retries: dict[str, tuple[HostJob, RunRow]] = {}  # by run: what failed and is to be tried again
        self.has_learnt = False

    def load_failing(self, failing: Iterable[str]) -> None:
        """Take the failing jobs of an earlier life; what this life has seen counts more."""
        self._failing = {**dict.fromkeys(failing, True), **self._failing}
        self.has_learnt = True

    def load_pending_retries(self, jobs: Mapping[str, HostJob], rows: Iterable[RunRow]) -> None:
        """Take runs that failed in an earlier life and are to be retried; jobs that were removed have no hooks."""
        for row in rows:
            if (job := jobs.get(row.identity)) is not None:
                self._pending_retries[row.run_id or ""] = job, row

    def on_closed(self, work: JobSpec, record: PeriodRecord, last: Decision) -> None:  # noqa: ARG002
        """Tell that periods were missed."""
        job = work.payload
        if isinstance(job, HostJob) and record.outcome is Outcome.MISSED:
            self._tell(job, "missed", job.hooks.on_missed, lambda: RunRow.of_closed(work.name, record))

    def on_started(self, runs: Sequence[JobRun]) -> None:
        """Tell that executions begin, and which begin late."""
        for run in runs:
            self._on_started(run)

    def _on_started(self, run: JobRun) -> None:
        job, attempt = run.work.payload, run.attempt
        self._pending_retries.pop(attempt.retry_of, None)
        if not isinstance(job, HostJob) or attempt.attempt > 1:
            return
        self._ping(job, "start")
        if attempt.chosen is not None and SECOND * lateness(attempt.chosen, attempt.started) > job.hooks.late_after:
            self._tell(job, "late", job.hooks.on_late, lambda: _row(run, None))

    def on_ended(self, ended: Sequence[tuple[JobRun, RunEnd]]) -> None:
        """Tell how executions ended that are not tried again."""
        for run, end in ended:
            self._on_ended(run, end)

    def _on_ended(self, run: JobRun, end: RunEnd) -> None:
        job = run.work.payload
        if not isinstance(job, HostJob):
            return
        if end.retry_at is not None:
            self._pending_retries[end.run_id] = job, _row(run, end)
        elif end.result in RETRYABLE:
            self._fail(job, lambda: _row(run, end))
        elif end.result is ResultCode.SUCCEEDED:
            self._succeed(job, lambda: _row(run, end))
        elif run.was_started:
            self._ping(job, "fail")

    def on_retry_dropped(self, run_id: str) -> None:
        """Tell that an execution failed which was to be tried again."""
        if (waiting := self._pending_retries.pop(run_id, None)) is not None:
            job, row = waiting
            self._fail(job, lambda: row)

    def _fail(self, job: HostJob, row: Callable[[], RunRow]) -> None:
        self._failing[job.identity] = True
        self._ping(job, "fail")
        self._tell(job, "failure", job.hooks.on_failure, row)

    def _succeed(self, job: HostJob, row: Callable[[], RunRow]) -> None:
        was_failing, self._failing[job.identity] = self._failing.get(job.identity, False), False
        self._ping(job, "")
        if was_failing:
            self._tell(job, "recovery", job.hooks.on_recovery, row)

    def _ping(self, job: HostJob, below: str) -> None:
        if job.hooks.ping:
            self._send(Notification(job, "ping", Ping(job.hooks.ping, below), None))

    def _tell(self, job: HostJob, event: str, hooks: Iterable[Hook], row: Callable[[], RunRow]) -> None:
        for hook in hooks:
            self._send(Notification(job, event, hook, row()))


def _row(run: JobRun, end: RunEnd | None) -> RunRow:
    return RunRow.of_run(run.work.name, run.attempt, end, attempts=run.attempt.attempt)
