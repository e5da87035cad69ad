"""Teller: what became of KronJobs -> log lines, events of Kubernetes, and numbers."""

from collections import OrderedDict
from collections.abc import Callable, Sequence
from hashlib import sha256
from typing import Any, NamedTuple, Protocol

from kron.adapters.kubernetes.client import ResourceClient
from kron.adapters.kubernetes.resources import EVENTS
from kron.adapters.kubernetes.responses import LEADER_RECHECK, ErrorClass, classify, retry_delay
from kron.adapters.kubernetes.work_queue import Priority, WorkQueue
from kron.decision.decision import Decision
from kron.decision.seed import period_id
from kron.engine.ports import RunObserver
from kron.engine.runs import JobRun
from kron.errors import ApiError
from kron.hosts.operator.error_boundary import ErrorBoundary
from kron.hosts.operator.log import INFO, WARNING, OperatorLog
from kron.hosts.operator.world import World
from kron.instant import SECOND, Instant, format_instant
from kron.kronjob.child_job import OPERATOR_NAME
from kron.kronjob.kronjob import API_VERSION, KIND, PLURAL
from kron.kronjob.period_status import PeriodStatus, status_reason
from kron.kronjob.snapshot import ChildJob, KronJobSnapshot
from kron.kronjob.status import CreateFailure
from kron.rules.decision_range import FIELD, DecisionRange
from kron.rules.job_record import PeriodRecord
from kron.rules.job_spec import JobSpec
from kron.rules.verdict import Outcome

NORMAL, WARN = "Normal", "Warning"
_REMEMBERED = 10_000  # events that may be said again, which raises their count
_TRIES = 5
_LONGEST_NAME, _LONGEST_TEXT = 230, 1024
_WORDS = {
    Outcome.EXECUTED: (NORMAL, "SuccessfulCreate"),
    Outcome.SKIPPED: (NORMAL, "Skipped"),
    Outcome.MISSED: (WARN, "Missed"),
    Outcome.UNSCHEDULABLE: (WARN, "Unschedulable"),
}


class Counting(Protocol):
    """Who counts what is told."""

    def on_outcome(self, outcome: str, reason: str, number: int, /) -> None:
        """So many periods have an outcome."""

    def on_lateness(self, seconds: float, /) -> None:
        """A Job is there, so long after its chosen second."""


class Ways(NamedTuple):
    """Where it tells."""

    api: ResourceClient
    errands: WorkQueue
    log: OperatorLog
    counting: Counting
    world: World
    may_write: Callable[[], bool]
    now: Callable[[], Instant]
    fence: ErrorBoundary


class _Said:
    """An event that was told, and may be told again."""

    __slots__ = ("count", "name", "told")

    def __init__(self, name: str) -> None:
        self.name, self.count, self.told = name, 0, 0


class Teller(RunObserver[JobRun]):
    """The engine's observer, and the maker's scribe."""

    def __init__(self, ways: Ways) -> None:
        self._to = ways
        self._said: OrderedDict[tuple[str, str, str], _Said] = OrderedDict()

    # --- what the engine tells ----------------------------------------------------------------------------------------

    def on_closed(self, work: JobSpec, record: PeriodRecord, last: Decision) -> None:
        """Tell that a period, or neighbours, are over without a Job."""
        seen = self._seen(work.identity)
        if seen is None:
            return
        with self._to.fence.around(PLURAL, seen.namespace, seen.name):
            reason = status_reason(record.outcome, record.reason)
            entry = PeriodStatus(record.first, record.last, record.period_count, record.chosen, record.outcome, reason)
            self._decided(seen, last)
            decisions = (
                DecisionRange.of(work.timing, record) if record.period_count > 1 and work.timing is not None else None
            )
            self.on_settled(seen, last, entry, "", "", decisions=decisions)

    def on_started(self, runs: Sequence[JobRun]) -> None:
        """Log how their seconds were chosen; their outcomes follow when they are known."""
        for run in runs:
            seen = self._seen(run.attempt.identity)
            if seen is not None and run.decision is not None:
                with self._to.fence.around(PLURAL, seen.namespace, seen.name):
                    self._decided(seen, run.decision)

    # --- what the maker tells -----------------------------------------------------------------------------------------

    def on_made(self, decision: Decision) -> None:
        """Count how late it is."""
        assert decision.chosen_time is not None, "a Job has a chosen second"
        self._to.counting.on_lateness((self._to.now() - decision.chosen_time) / SECOND)

    def on_failed(self, seen: KronJobSnapshot, decision: Decision, trouble: CreateFailure) -> None:
        """Tell why a Job could not be created."""
        kind = "NameTaken" if trouble.reason == "NameTaken" else "FailedCreate"
        self.event(seen, WARN, kind, f"{_which(decision)}: {trouble.message}")

    def on_deleted(self, seen: KronJobSnapshot, job: ChildJob) -> None:
        """Tell that a Job has to go: another one takes its place, or it is old."""
        self.event(seen, NORMAL, "SuccessfulDelete", f"deleted Job {job.name}{period_text(job)}")

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
        self._to.counting.on_outcome(entry.outcome.value, entry.reason, entry.period_count)
        late = None if entry.chosen is None else round((self._to.now() - entry.chosen) / SECOND, 3)
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
        self._to.log.write(INFO if executed else WARNING, "outcome", **fields)
        kind, word = _WORDS[entry.outcome]
        self.event(seen, kind, word, _outcome_text(decision, entry, job, message))

    # --- what the reign tells -----------------------------------------------------------------------------------------

    def event(self, seen: KronJobSnapshot, kind: str, reason: str, message: str) -> None:
        """Tell an event of Kubernetes; the same once more raises its count."""
        message = message[:_LONGEST_TEXT]
        key = seen.uid, reason, message
        said = self._said.get(key)
        if said is None:
            digest = sha256("\n".join((*key, format_instant(self._to.now()))).encode()).hexdigest()[:16]
            said = self._said[key] = _Said(f"{seen.name[:_LONGEST_NAME].rstrip('-.')}.{digest}")
            if len(self._said) > _REMEMBERED:
                self._said.popitem(last=False)
        said.count += 1
        tries = [0]

        async def tell() -> float | None:
            return await self._tell(seen, kind, reason, message, said, tries)

        self._to.errands.add(Priority.EVENT, seen.namespace, said.name, tell)

    async def _tell(
        self, seen: KronJobSnapshot, kind: str, reason: str, message: str, said: _Said, tries: list[int]
    ) -> float | None:
        if not self._to.may_write():
            return LEADER_RECHECK
        now = format_instant(self._to.now().replace(microsecond=0))
        count = said.count
        try:
            if said.told:
                body: dict[str, Any] = {"count": count, "lastTimestamp": now}
                await self._to.api.request("patch", EVENTS, seen.namespace, said.name, body=body)
            else:
                body = _event(seen, said.name, kind, reason, message)
                body |= {"count": count, "firstTimestamp": now, "lastTimestamp": now}
                await self._to.api.request("create", EVENTS, seen.namespace, body=body)
        except ApiError as error:
            found = classify(error)
            if found is ErrorClass.NOT_FOUND and said.told:  # it is too old, and was removed
                said.told = 0
                return 0.0
            if found is ErrorClass.ALREADY_EXISTS and not said.told:  # the answer to its creation was lost
                said.told = 1
                return 0.0
            tries[0] += 1
            lasting = found is not ErrorClass.RETRYABLE or tries[0] >= _TRIES
            return None if lasting else retry_delay(error, tries[0])
        said.told = count
        return None

    def _seen(self, identity: str) -> KronJobSnapshot | None:
        namespace, _, name = identity.partition("/")
        return self._to.world.kronjobs.get((namespace, name))

    def _decided(self, seen: KronJobSnapshot, decision: Decision) -> None:
        self._to.log.write(INFO, "decision", namespace=seen.namespace, name=seen.name, decision=decision.to_dict())


def period_text(job: ChildJob) -> str:
    """Return which period a Job is of, as the end of a sentence."""
    return "" if job.nominal is None else f", period {period_id(job.nominal)}{_chosen_text(job.chosen)}"


def _which(decision: Decision) -> str:
    return f"period {decision.period_id}{_chosen_text(decision.chosen_time)}"


def _chosen_text(chosen: Instant | None) -> str:
    return "" if chosen is None else f", chosen {format_instant(chosen)}"


def _outcome_text(decision: Decision, entry: PeriodStatus, job: str, message: str) -> str:
    text = _which(decision)
    if entry.period_count > 1:
        text = f"{entry.period_count} periods from {period_id(entry.first)} to {period_id(entry.last)}"
        text += _chosen_text(entry.chosen)
    if job:
        text += f": created Job {job}"
    elif entry.reason:
        text += f": {entry.reason}"
    return f"{text}: {message}" if message else text


def _event(seen: KronJobSnapshot, name: str, kind: str, reason: str, message: str) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {"name": name, "namespace": seen.namespace},
        "involvedObject": {
            "apiVersion": API_VERSION,
            "kind": KIND,
            "namespace": seen.namespace,
            "name": seen.name,
            "uid": seen.uid,
            "resourceVersion": seen.resource_version,
        },
        "reason": reason,
        "message": message,
        "type": kind,
        "source": {"component": OPERATOR_NAME},
        "reportingComponent": OPERATOR_NAME,
        "reportingInstance": "",
    }
