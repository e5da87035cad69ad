"""ClusterExplanation: why a KronJob did, or did not, run: its status and its Jobs are the evidence."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any

from kron.cron.wall_time import format_short
from kron.instant import MICROSECOND, Instant, format_instant
from kron.kronjob.kronjob import KronJob, job_name
from kron.kronjob.parser import invalid_spec_message, parse_kronjob
from kron.kronjob.snapshot import ChildJob, parse_job
from kron.kronjob.status import PeriodStatus, StatusHorizon, instant_of, parse_status, trimmed_before
from kron.rules.evidence import Evidence, NoRecord, RecordedPeriod
from kron.rules.history import NoRecordReason, RunRow
from kron.rules.job_record import RunKind
from kron.rules.periods import nominal_range_around, touches_instant
from kron.rules.verdict import Outcome
from kron.why.explanation import ExplainedPeriod, Explanation, no_period, open_period


class RecordedBy(Enum):
    """Where an outcome is recorded."""

    STATUS = "status"
    JOB = "job"
    COMPUTED = "computed"  # nowhere: the present definition has the period


@dataclass(frozen=True, slots=True)
class ClusterRecords:
    """What is known of a KronJob: the resource as the server has it, what it means if it is valid, and its Jobs."""

    identity: str
    document: Mapping[str, Any]
    kronjob: KronJob | None
    jobs: Sequence[Mapping[str, Any]] | None = ()  # None: they may not be listed


class ClusterExplanation:
    """The answer about the period at an instant.

    It is the one that was chosen for it, else that whose nominal time it is, else of all that it touches the nearest.
    """

    def __init__(self, records: ClusterRecords, at: Instant, now: Instant) -> None:
        self.records = records
        past = parse_status(records.document.get("status") or {})
        jobs = (job for job in map(parse_job, records.jobs or ()) if job.identity == records.identity and job.is_record)
        children = {job.nominal: job for job in jobs if job.nominal is not None and job.chosen is not None}
        self._created = instant_of((records.document.get("metadata") or {}).get("creationTimestamp"))
        if self._created is not None:  # as the operator does: others may write statuses and Jobs, too
            horizon = StatusHorizon.of(self._created, now, records.kronjob)
            past = past.within(horizon)
            children = {at: job for at, job in children.items() if job.chosen is not None and horizon.has(job.chosen)}
        self._past = past
        self._own = {entry.first: entry for entry in past.periods if entry.period_count == 1}
        self._children = children
        self.explanation = Explanation(self._evidence(at, now))
        second = at.replace(microsecond=0)
        self.period = min(
            self.explanation.periods,
            key=lambda each: (
                _chosen(each) != second,
                each.nominal != second,
                abs((_chosen(each) or each.nominal) - second),
                each.nominal,
            ),
            default=None,
        )

    @property
    def chosen(self) -> Instant | None:
        """The second that was chosen for the period, as it is recorded, else as it is decided now."""
        return None if self.period is None else _chosen(self.period)

    @property
    def ran(self) -> bool:
        """Whether a Job was created for the period."""
        return self.period is not None and self.period.row.outcome is Outcome.EXECUTED

    @property
    def reason(self) -> str:
        """The recorded reason, or why nothing is recorded."""
        if self.period is None:
            missing = NoRecordReason.INVALID_SPEC if self.records.kronjob is None else NoRecordReason.NO_PERIOD
            return missing.value
        row = self.period.row
        return row.reason or "" if row.no_record is None else row.no_record.value

    @property
    def recorded_by(self) -> RecordedBy:
        """Where the outcome is recorded."""
        if self.period is None or self.period.row.outcome is None:
            return RecordedBy.COMPUTED
        is_listed = self.period.nominal in self._own or self.period.row.first is not None
        return RecordedBy.STATUS if is_listed else RecordedBy.JOB

    @property
    def child(self) -> ChildJob | None:
        """The Job of the period, if it still exists."""
        return None if self.period is None else self._children.get(self.period.nominal)

    def to_dict(self) -> dict[str, object]:
        """Return the answer as JSON holds it."""
        row, chosen = None if self.period is None else self.period.row, self.chosen
        period = None if row is None else row.period_id
        return {
            "identity": self.records.identity,
            "period_id": period,
            "nominal_time": period,
            "chosen_time": None if chosen is None else format_instant(chosen),
            "outcome": None if row is None or row.outcome is None else row.outcome.value,
            "reason": self.reason,
            "source": self.recorded_by.value,
            "job": None if row is None else row.run_id,
        }

    # --- evidence -----------------------------------------------------------------------------------------------------

    def _evidence(self, at: Instant, now: Instant) -> Evidence:
        kronjob, identity = self.records.kronjob, self.records.identity
        timing = None if kronjob is None else kronjob.timing
        nominals = set(self._recorded_near(at))
        if timing is not None:
            first, last = nominal_range_around(timing, at)
            between = timing.schedule.between(first - MICROSECOND, last)
            nominals.update(each for each in between if touches_instant(timing, each, at))
        rows = ((nominal, self._row(nominal)) for nominal in nominals)
        touching = [RecordedPeriod(nominal, row, None) for nominal, row in rows if row is not None]
        return Evidence(identity, identity, timing, None, at, now, tuple(self._no_record(now)), touching)

    def _recorded_near(self, at: Instant) -> Iterator[Instant]:
        """Yield the periods, of whatever definition, of which something is recorded for the minute of the instant."""
        minute = at.replace(second=0, microsecond=0)

        def is_near(time: Instant | None) -> bool:
            return time is not None and time.replace(second=0, microsecond=0) == minute

        for entry in self._past.periods:
            yield from filter(is_near, (entry.first, entry.last))
            if is_near(entry.chosen):
                yield entry.last
        for nominal, child in self._children.items():
            if any(map(is_near, (nominal, child.chosen, child.created))):
                yield nominal

    def _row(self, nominal: Instant) -> RunRow | None:
        """Return what an entry of its own, a Job, or an outage, which names its ends only, says of a period."""
        child, own = self._children.get(nominal), self._own.get(nominal)
        name = None if child is None else child.name
        chosen = None if child is None else child.chosen
        if own is not None:
            if name is None and own.outcome is Outcome.EXECUTED and self.records.kronjob is not None:
                name = job_name(self.records.kronjob.identity, nominal)
            return self._recorded(nominal, own.outcome, own.reason, own.chosen or chosen, run_id=name)
        if child is not None:
            return self._recorded(nominal, Outcome.EXECUTED, "", chosen, run_id=name)
        entries = (entry for entry in reversed(self._past.periods) if entry.first <= nominal <= entry.last)
        outage: PeriodStatus | None = next(entries, None)
        if outage is None:
            return None
        span = {"first": outage.first, "last": outage.last}
        return self._recorded(nominal, outage.outcome, outage.reason, None, **span)

    def _recorded(
        self, nominal: Instant, outcome: Outcome, reason: str, chosen: Instant | None, **fields: Any
    ) -> RunRow:
        identity, kind = self.records.identity, RunKind.PERIOD
        return RunRow(identity, identity, kind, nominal, chosen, outcome, reason=reason, **fields)

    def _no_record(self, now: Instant) -> Iterator[NoRecord]:
        kronjob, past = self.records.kronjob, self._past
        if kronjob is None:
            return
        is_seen = past.definition_hash == kronjob.definition_hash
        if self._created is not None:
            detail = "it is from before the creation of the KronJob"
            yield NoRecord(NoRecordReason.BEFORE_CREATION, detail, until=self._created)
        if (oldest := trimmed_before(past.periods)) is not None:
            yield NoRecord(NoRecordReason.FORGOTTEN, "it is older than what the status keeps", before=oldest)
        if is_seen and past.defined_at is not None:
            detail = "it is from before the present definition"
            yield NoRecord(NoRecordReason.EARLIER_DEFINITION, detail, until=past.defined_at)
        if kronjob.policy.suspend:
            yield NoRecord(NoRecordReason.SUSPENDED, "the KronJob is suspended")
        yield NoRecord(NoRecordReason.PLANNED, "its time has not come yet", after=now)
        if is_seen:
            yield NoRecord(NoRecordReason.NOT_HANDLED, "no operator has judged it yet")
        else:
            yield NoRecord(NoRecordReason.NOT_SEEN, "no operator has seen this definition yet")


def _chosen(period: ExplainedPeriod) -> Instant | None:
    if period.row.chosen_time is not None or period.decided is None:
        return period.row.chosen_time
    return period.decided.chosen_time


_REASONS = {
    "ConcurrencyForbid": "an earlier Job was still running",
    "Superseded": "after an outage only the latest of the periods that are due is run",
    "DefinitionChanged": "the definition was changed, and the new one does not run it",
    "DeadlineExceeded": "it could not be started within its deadline",
    "NameTaken": "another Job has the name of its Job",
    "Rejected": "the server refuses its Job",
    "NoCandidate": "no second of its window that was tried is allowed",
}
_STATES = {"running": ", which is running", "succeeded": ", which has succeeded", "failed": ", which has failed"}


def cluster_sentence(answer: ClusterExplanation) -> str:
    """Return the answer in one sentence that begins with Yes or No."""
    explanation, period = answer.explanation, answer.period
    if period is not None:
        return f"{'Yes' if answer.ran else 'No'}: {_period_sentence(answer, period)}."
    if answer.records.kronjob is not None:
        return no_period(explanation)
    errors = parse_kronjob(answer.records.document)
    assert isinstance(errors, list)
    reason = invalid_spec_message(errors).splitlines()[0]
    asked = format_short(explanation.zone, explanation.evidence.at)
    return f"No: nothing is recorded at {asked}, and the spec is invalid: {reason}."


def _period_sentence(answer: ClusterExplanation, period: ExplainedPeriod) -> str:
    row, chosen = period.row, answer.chosen
    if row.outcome is None:
        lost = "; no second of its window that is tried is allowed" if chosen is None else ""
        return f"{open_period(period, answer.explanation.zone)}{lost}"
    due = "" if chosen in (None, period.nominal) else f", due at {format_short(answer.explanation.zone, chosen)},"
    if answer.ran:
        gone = "" if answer.records.jobs is None else ", which is gone"
        state = gone if answer.child is None else _STATES[answer.child.state]
        return f"the period {row.period_id}{due} was executed by the Job {row.run_id}{state}"
    why = f" ({row.reason}): {_REASONS.get(row.reason, 'no more is known')}" if row.reason else ""
    return f"the period {row.period_id}{due} was {row.outcome.value}{why}"
