"""Teller: what became of KronJobs -> log lines, numbers, and the texts of events of Kubernetes."""

from collections.abc import Callable
from typing import Protocol

from kron.adapters.kubernetes.cache import ClusterCache
from kron.adapters.kubernetes.error_boundary import ErrorBoundary
from kron.adapters.kubernetes.event_recorder import EventRecorder, EventType, chosen_text, period_text
from kron.decision.decision import Decision
from kron.decision.seed import period_id
from kron.engine.runs import JobRun
from kron.hosts.operator.log import INFO, WARNING, OperatorLog
from kron.instant import SECOND, Instant
from kron.kronjob.kronjob import PLURAL
from kron.kronjob.snapshot import KronJobSnapshot
from kron.kronjob.status import PeriodStatus, status_reason
from kron.rules.decision_range import FIELD, DecisionRange
from kron.rules.job_record import PeriodRecord, RunEnd
from kron.rules.job_spec import JobSpec
from kron.rules.verdict import Outcome

_EVENTS: dict[Outcome, tuple[EventType, str]] = {
    Outcome.EXECUTED: ("Normal", "SuccessfulCreate"),
    Outcome.SKIPPED: ("Normal", "Skipped"),
    Outcome.MISSED: ("Warning", "Missed"),
    Outcome.UNSCHEDULABLE: ("Warning", "Unschedulable"),
}


class Counting(Protocol):
    """Who counts what is told."""

    def on_outcome(self, outcome: str, reason: str, number: int, /) -> None:
        """So many periods have an outcome."""

    def on_lateness(self, seconds: float, /) -> None:
        """A Job is there, so long after its chosen second."""


class Teller:
    """The engine's chronicle; the maker reports outcomes here, too."""

    def __init__(
        self,
        cache: ClusterCache,
        events: EventRecorder,
        log: OperatorLog,
        counting: Counting,
        now: Callable[[], Instant],
        fence: ErrorBoundary,
    ) -> None:
        self._cache, self._events, self._log, self._counting = cache, events, log, counting
        self._now, self._fence = now, fence

    # --- what the engine tells ----------------------------------------------------------------------------------------

    def on_closed(self, work: JobSpec, record: PeriodRecord, last: Decision) -> None:
        """Tell that a period, or neighbours, are over without a Job."""
        seen = self._seen(work.identity)
        if seen is None:
            return
        with self._fence.around(PLURAL, seen.namespace, seen.name):
            reason = status_reason(record.outcome, record.reason)
            entry = PeriodStatus(record.first, record.last, record.period_count, record.chosen, record.outcome, reason)
            self._decided(seen, last)
            decisions = (
                DecisionRange.of(work.timing, record) if record.period_count > 1 and work.timing is not None else None
            )
            self.on_settled(seen, last, entry, "", "", decisions=decisions)

    def on_begun(self, run: JobRun, decision: Decision | None) -> None:
        """Tell how its second was chosen; what becomes of it is told when it is known."""
        seen = self._seen(run.attempt.identity)
        if seen is not None and decision is not None:
            with self._fence.around(PLURAL, seen.namespace, seen.name):
                self._decided(seen, decision)

    def on_ended(self, run: JobRun, end: RunEnd) -> None:
        """Nothing is told: the Job's end is."""

    def on_suspended(self, identity: str, *, suspended: bool) -> None:
        """Nothing is told: only specs suspend."""

    def on_given_up(self, run_id: str) -> None:
        """Nothing is told: nobody waits."""

    # --- what the maker tells -----------------------------------------------------------------------------------------

    def on_made(self, decision: Decision) -> None:
        """Count how late it is."""
        assert decision.chosen_time is not None, "a Job has a chosen second"
        self._counting.on_lateness((self._now() - decision.chosen_time) / SECOND)

    def on_settled(
        self,
        seen: KronJobSnapshot,
        decision: Decision,
        entry: PeriodStatus,
        job: str,
        message: str,
        *,
        decisions: DecisionRange | None = None,
    ) -> None:
        """Tell the outcome of a period, or of neighbours, whose decisions are then logged as well."""
        self._counting.on_outcome(entry.outcome.value, entry.reason, entry.period_count)
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

    def _seen(self, identity: str) -> KronJobSnapshot | None:
        namespace, _, name = identity.partition("/")
        return self._cache.kronjobs.objects.get((namespace, name))

    def _decided(self, seen: KronJobSnapshot, decision: Decision) -> None:
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
