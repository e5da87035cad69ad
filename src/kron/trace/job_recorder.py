"""JobRecorder: writes the events of jobs and their periods as positions of a trace under the contract `kron`."""

from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from typing import TypeAlias

from kron.decision.decision import Decision
from kron.decision.seed import period_id
from kron.engine.ports import RunObserver
from kron.engine.runs import Acceptance, JobRun
from kron.instant import MILLISECOND, ZERO, Instant, epoch_milliseconds, format_instant
from kron.rules.job_record import PeriodRecord, ResultCode, RunEnd, RunKind
from kron.rules.job_spec import JobSpec
from kron.theory.trace_format import TraceEvent, TracePosition, simultaneous

_Event: TypeAlias = tuple[str, Mapping[str, object]]  # its name and its fields


class JobRecorder(RunObserver[JobRun]):
    """An observer. It speaks of one life of a host: of runs that an earlier one began it says nothing.

    What a step says of a period and the action that follows from it are one position. Two actions never are.
    """

    def __init__(
        self, now: Callable[[], Instant], take: Callable[[TracePosition], object], slack: timedelta = ZERO
    ) -> None:
        """`slack` is that of the header."""
        self._now, self._take, self._slack = now, take, slack
        self._last = -(2**63)
        self._calls = 0
        self._begun: set[str] = set()  # runs of this life that have not ended

    def on_declared(self) -> None:
        """The jobs are declared, for the first time or again."""
        self._calls += 1
        self._put(("InitStart", {"call": self._calls, "registrations": []}))
        self._put(("InitSuccess", {"call": self._calls}))

    def on_stop(self) -> None:
        """The host begins to stop."""
        self._put(("StopStart", {"call": 1}))

    def on_stopped(self) -> None:
        """No run is active, and none will start."""
        self._put(("StopEnd", {"call": 1}))

    def on_suspended(self, identity: str, *, suspended: bool) -> None:
        """A job is suspended or resumed."""
        self._put(("Suspended" if suspended else "Resumed", {"identity": identity}))

    def on_closed(self, work: JobSpec, record: PeriodRecord, last: Decision) -> None:
        """A period is over; of neighbouring periods only the last is written."""
        fields = {"identity": record.identity, "period": period_id(record.last)}
        self._put(
            _decided(work, last), ("Outcome", {**fields, "outcome": record.outcome.value, "reason": record.reason})
        )

    def on_started(self, runs: Sequence[JobRun]) -> None:
        """Attempts begin; the first one of a period is recorded with the decision by which it was accepted."""
        for run in runs:
            self._on_started(run)

    def _on_started(self, run: JobRun) -> None:
        attempt = run.attempt
        if attempt.kind is not RunKind.PERIOD or attempt.nominal is None:
            return  # it belongs to no period, and several may run side by side
        self._begun.add(attempt.run_id)
        period = period_id(attempt.nominal)
        start: dict[str, object] = {"task": attempt.identity, "period": period, "attempt": attempt.attempt}
        if run.decision is None:  # its job may have been edited since the first attempt
            self._put(("RunStart", {**start, "retries": run.work.retries}), at=attempt.started)
            return
        acceptance = run.acceptance or Acceptance(attempt.started, run.work, self._slack)
        executed = {"identity": attempt.identity, "period": period, "outcome": "executed", "reason": None}
        judged = {"acceptedMs": epoch_milliseconds(acceptance.at)}
        if acceptance.slack != self._slack:
            judged["slackMs"] = acceptance.slack // MILLISECOND
        self._put(
            _decided(acceptance.work, run.decision),
            ("Outcome", {**executed, **judged}),
            ("RunStart", start),
            at=attempt.started,
        )

    def on_ended(self, ended: Sequence[tuple[JobRun, RunEnd]]) -> None:
        """Attempts have ended."""
        for run, end in ended:
            attempt = run.attempt
            if attempt.run_id in self._begun and attempt.nominal is not None:
                self._begun.remove(attempt.run_id)
                event = "RunSuccess" if end.result is ResultCode.SUCCEEDED else "RunFailure"
                period = period_id(attempt.nominal)
                self._put((event, {"task": attempt.identity, "period": period, "attempt": attempt.attempt}))

    def _put(self, *events: _Event, at: Instant | None = None) -> None:
        """Hand one position on, at the present, or at a later instant that the clock has shown before it was set back.

        A clock that was set back stands still here until it is later again.
        """
        now = self._now()
        shown = epoch_milliseconds(now if at is None else max(now, at))
        t = self._last = max(self._last, shown)
        if shown < t:
            events = tuple((event, {**fields, "clock": shown}) for event, fields in events)
        self._take(simultaneous([TraceEvent(t, event, fields) for event, fields in events]))


def _decided(work: JobSpec, decision: Decision) -> _Event:
    """Return what was decided for a period of a job, and under which policy."""
    chosen = decision.chosen_time
    return "Decision", {
        "identity": work.identity,
        "period": decision.period_id,
        "windowStart": format_instant(decision.window_start),
        "windowEnd": format_instant(decision.window_end),
        "chosen": None if chosen is None else format_instant(chosen),
        "seedHash": decision.seed_hash,
        "definition": work.definition_key if work.timing is None else work.timing.to_line(),
        "deadlineMs": -(-work.policy.deadline // MILLISECOND),
        "concurrency": work.policy.concurrency.value,
        "retries": work.retries,
    }
