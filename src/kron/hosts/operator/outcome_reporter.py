"""OutcomeReporter: decisions and outcomes of KronJobs -> log lines, metrics, and events of Kubernetes."""

from collections.abc import Callable, Sequence

from kron.adapters.kubernetes.cache import ClusterCache
from kron.adapters.kubernetes.event_recorder import EventRecorder, EventType, chosen_text, period_text
from kron.adapters.kubernetes.namespace_backoff import ErrorBoundary
from kron.adapters.prometheus import OperatorMetrics
from kron.decision.decision import Decision
from kron.decision.seed import period_id
from kron.engine.ports import RunObserver
from kron.engine.runs import JobRun
from kron.hosts.operator.log import INFO, WARNING, OperatorLog
from kron.instant import SECOND, Instant
from kron.kronjob.kronjob import PLURAL
from kron.kronjob.snapshot import KronJobSnapshot
from kron.kronjob.status import PeriodStatus
from kron.rules.events import FIELD, DecisionRange
from kron.rules.job_record import PeriodRecord
from kron.rules.job_spec import JobSpec
from kron.rules.verdict import Outcome

_EVENTS: dict[Outcome, tuple[EventType, str]] = {
    Outcome.EXECUTED: ("Normal", "SuccessfulCreate"),
    Outcome.SKIPPED: ("Normal", "Skipped"),
    Outcome.MISSED: ("Warning", "Missed"),
    Outcome.UNSCHEDULABLE: ("Warning", "Unschedulable"),
}


class OutcomeReporter(RunObserver[JobRun]):
    """Observer of the engine, and of the ledger."""

    def __init__(
        self,
        cache: ClusterCache,
        events: EventRecorder,
        log: OperatorLog,
        metrics: OperatorMetrics,
        boundary: ErrorBoundary,
        now: Callable[[], Instant],
    ) -> None:
        self._cache, self._events, self._log, self._metrics = cache, events, log, metrics
        self._boundary, self._now = boundary, now

    # --- from the engine ----------------------------------------------------------------------------------------------

    def on_closed(self, work: JobSpec, record: PeriodRecord, last: Decision) -> None:
        """Report that a period, or neighbours, are over without a Job."""
        seen = self._cache.kronjob(work.identity)
        if seen is None:
            return
        with self._boundary.around(PLURAL, seen.namespace, seen.name):
            self._report_decision(seen, last)
            decisions = (
                DecisionRange.of(work.timing, record) if record.period_count > 1 and work.timing is not None else None
            )
            self.on_outcome(seen, last, PeriodStatus.of(record), "", "", decisions=decisions)

    def on_started(self, runs: Sequence[JobRun]) -> None:
        """Report how their seconds were chosen; their outcomes are reported when they are known."""
        for run in runs:
            seen = self._cache.kronjob(run.attempt.identity)
            if seen is not None and run.decision is not None:
                with self._boundary.around(PLURAL, seen.namespace, seen.name):
                    self._report_decision(seen, run.decision)

    # --- from the runner and the ledger -------------------------------------------------------------------------------

    def on_created(self, decision: Decision) -> None:
        """Count how late it is."""
        assert decision.chosen_time is not None, "a Job has a chosen second"
        self._metrics.on_lateness((self._now() - decision.chosen_time) / SECOND)

    def on_outcome(
        self,
        seen: KronJobSnapshot,
        decision: Decision,
        entry: PeriodStatus,
        job: str,
        message: str,
        *,
        decisions: DecisionRange | None = None,
    ) -> None:
        """Report the outcome of a period, or of neighbours, whose decisions are then logged as well."""
        self._metrics.on_outcome(entry.outcome.value, entry.reason, entry.period_count)
        late = None if entry.chosen is None else round((self._now() - entry.chosen) / SECOND, 3)
        executed = entry.outcome is Outcome.EXECUTED
        fields: dict[str, object] = {
            "namespace": seen.namespace,
            "name": seen.name,
            "period_id": period_id(entry.last),
            "outcome": entry.outcome.value,
            "reason": entry.reason,
            "lateness_s": late if executed else None,
            "job": job or None,
        }
        if entry.period_count > 1:
            fields |= {"first_period_id": period_id(entry.first), "count": entry.period_count}
        if decisions is not None:
            fields[FIELD] = decisions.to_dict()
        if message:
            fields["message"] = message
        self._log.write(INFO if executed else WARNING, "outcome", **fields)
        event_type, reason = _EVENTS[entry.outcome]
        self._events.record(seen, event_type, reason, _outcome_text(decision, entry, job, message))

    def _report_decision(self, seen: KronJobSnapshot, decision: Decision) -> None:
        self._log.write(INFO, "decision", namespace=seen.namespace, name=seen.name, decision=decision.to_dict())


def _outcome_text(decision: Decision, entry: PeriodStatus, job: str, message: str) -> str:
    text = period_text(decision)
    if entry.period_count > 1:
        text = f"{entry.period_count} periods from {period_id(entry.first)} to {period_id(entry.last)}"
        text += chosen_text(entry.chosen)
    if job:
        text += f": created Job {job}"
    elif entry.reason:
        text += f": {entry.reason}"
    return f"{text}: {message}" if message else text
