"""RunRow: what people and scripts read of a run, of periods without one, and of a period that is not recorded."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum

from kron.decision.decision import MAX_ATTEMPTS, NO_CANDIDATE, ONLY_SECOND_NOT_ALLOWED, Decision
from kron.decision.seed import period_id
from kron.instant import SECOND, Instant, format_instant
from kron.rules.job_record import PeriodRecord, ResultCode, RunEnd, RunKind, RunStart
from kron.rules.verdict import Outcome, Reason, lateness

_ENDED_BY_HOST = frozenset({ResultCode.REPLACED, ResultCode.STOPPED})
_SENTENCES: Mapping[str, str] = {
    Reason.ACTIVE.value: "an execution of the job was active, and its policy forbids a second one",
    Reason.SUPERSEDED.value: "its second passed while the host could not start it, and a later period was run instead",
    Reason.DEFINITION_CHANGED.value: "the job was changed or removed before the period was taken up",
    Reason.DEADLINE.value: "the host could not start it within its deadline; it was busy, for example, or stood still",
    Reason.DOWNTIME.value: "the host was down, and was back later than the deadline allows",
    NO_CANDIDATE: f"none of the {MAX_ATTEMPTS} seconds drawn from the window is allowed",
    ONLY_SECOND_NOT_ALLOWED: "the period has one second only, and that is not allowed",
}


class NoRecordReason(Enum):
    """Why nothing is recorded of a period, or of any."""

    PLANNED = "Planned"
    SUSPENDED = "Suspended"
    BEFORE_CREATION = "BeforeCreation"
    EARLIER_DEFINITION = "EarlierDefinition"
    REMOVED = "Removed"
    FORGOTTEN = "Forgotten"  # it is older than what is kept
    CLOCK_AHEAD = "ClockAhead"
    NOT_SEEN = "NotSeen"  # the definition, by an operator
    NOT_HANDLED = "NotHandled"
    INVALID_SPEC = "InvalidSpec"
    NO_PERIOD = "NoPeriod"


_STATES = {  # of rows
    NoRecordReason.PLANNED: "planned",
    NoRecordReason.SUSPENDED: "suspended",
    NoRecordReason.BEFORE_CREATION: "not owned",
    NoRecordReason.EARLIER_DEFINITION: "not owned",
    NoRecordReason.REMOVED: "not owned",
    NoRecordReason.FORGOTTEN: "forgotten",
    NoRecordReason.CLOCK_AHEAD: "clock ahead",
    NoRecordReason.NOT_SEEN: "not handled",
    NoRecordReason.NOT_HANDLED: "not handled",
}


@dataclass(frozen=True, slots=True)
class RunRow:
    """One row of history: an attempt or an execution, a closed period or a range of them, or an open period."""

    identity: str
    name: str
    kind: RunKind
    nominal_time: Instant | None = None  # of a range, of its last period
    chosen_time: Instant | None = None
    outcome: Outcome | None = None
    reason: str | None = None
    detail: str | None = None
    no_record: NoRecordReason | None = None  # of an open period
    # Of a run:
    run_id: str | None = None
    started_at: Instant | None = None
    ended_at: Instant | None = None
    result: ResultCode | None = None
    exit_code: int | None = None
    signal: str | None = None
    attempt: int | None = None
    attempts: int = 0  # that its execution has had so far
    retry_of: str | None = None  # the run that failed and is tried again
    lateness: int | None = None  # seconds
    # Of a range:
    first: Instant | None = None  # nominal times
    last: Instant | None = None
    period_count: int = 1

    @classmethod
    def of_run(cls, name: str, start: RunStart, end: RunEnd | None, *, attempts: int) -> "RunRow":
        """Return the row of a run, ended or not; `attempts`: how many its execution has had so far."""
        chosen = start.chosen
        return cls(
            identity=start.identity,
            name=name,
            kind=start.kind,
            nominal_time=start.nominal,
            chosen_time=chosen,
            outcome=Outcome.EXECUTED,
            detail=None if end is None else end.detail or None,
            run_id=start.run_id,
            started_at=start.started,
            ended_at=None if end is None else end.ended_at,
            result=None if end is None else end.result,
            exit_code=None if end is None else end.exit_code,
            signal=None if end is None else end.signal,
            attempt=start.attempt,
            attempts=attempts,
            retry_of=start.retry_of or None,
            # That of a further attempt says nothing about how late its period was taken up.
            lateness=None if chosen is None or start.attempt > 1 else lateness(chosen, start.started),
        )

    @classmethod
    def of_closed(cls, name: str, record: PeriodRecord) -> "RunRow":
        """Return the row of a period, or of several neighbours, without an execution."""
        is_range = record.period_count > 1
        return cls(
            identity=record.identity,
            name=name,
            kind=RunKind.PERIOD,
            nominal_time=record.last,
            chosen_time=record.chosen,
            outcome=record.outcome,
            reason=record.reason or None,
            detail=record.detail or _SENTENCES.get(record.reason),
            first=record.first if is_range else None,
            last=record.last if is_range else None,
            period_count=record.period_count,
        )

    @classmethod
    def of_open(cls, name: str, decision: Decision, reason: NoRecordReason, detail: str) -> "RunRow":
        """Return the row of a period that has no outcome."""
        return cls(
            identity=decision.identity,
            name=name,
            kind=RunKind.PERIOD,
            nominal_time=decision.nominal_time,
            chosen_time=decision.chosen_time,
            no_record=reason,
            detail=detail,
        )

    @property
    def is_range(self) -> bool:
        """Whether it is the row of several periods."""
        return self.period_count > 1

    @property
    def period_id(self) -> str | None:
        """The canonical name of its period, of a range of the last one."""
        return None if self.nominal_time is None else period_id(self.nominal_time)

    @property
    def due(self) -> Instant:
        """When it was due; a run without a period was when it began."""
        due = self.chosen_time or self.started_at or self.nominal_time
        assert due is not None
        return due

    @property
    def state(self) -> str | None:
        """What a run is doing, or why an open period has no outcome."""
        if self.no_record is not None:
            return _STATES[self.no_record]
        if self.run_id is None:
            return None
        return "running" if self.result is None else "completed"

    @property
    def duration(self) -> float | None:
        """How many seconds a run took, by the milliseconds that are shown; None: it has not ended."""
        if self.started_at is None or self.ended_at is None:
            return None
        begin, stop = (at.replace(microsecond=at.microsecond // 1000 * 1000) for at in (self.started_at, self.ended_at))
        return max(0.0, round((stop - begin) / SECOND, 3))

    @property
    def has_started(self) -> bool:
        """Whether a run has ever been there: one that is ended by the host leaves an exit code or a signal."""
        if self.result in _ENDED_BY_HOST:
            return self.exit_code is not None or self.signal is not None
        return self.outcome is Outcome.EXECUTED and self.result is not ResultCode.NOT_STARTED

    def narrow_to_period(self, decision: Decision) -> "RunRow":
        """Return what the row of a range says of one period of it."""
        if not self.is_range:
            return self
        return replace(self, nominal_time=decision.nominal_time, chosen_time=decision.chosen_time)

    def to_dict(self) -> dict[str, object]:
        """Return the row as JSON holds it: always with the same keys, of a range with three more."""
        period = self.period_id
        row: dict[str, object] = {
            "kind": "range" if self.is_range else self.kind.value,
            "run_id": self.run_id,
            "identity": self.identity,
            "name": self.name,
            "period_id": period,
            "nominal_time": period,
            "chosen_time": None if self.chosen_time is None else format_instant(self.chosen_time),
            "outcome": None if self.outcome is None else self.outcome.value,
            "reason": self.reason,
            "detail": self.detail,
            "started_at": None if self.started_at is None else format_milliseconds(self.started_at),
            "ended_at": None if self.ended_at is None else format_milliseconds(self.ended_at),
            "state": self.state,
            "result": None if self.result is None else self.result.value,
            "exit_code": self.exit_code,
            "signal": self.signal,
            "attempt": self.attempt,
            "attempts": self.attempts,
            "again": self.retry_of,
            "duration": self.duration,
            "lateness": self.lateness,
        }
        if self.first is not None and self.last is not None:
            row |= {
                "first_period_id": period_id(self.first),
                "last_period_id": period_id(self.last),
                "count": self.period_count,
            }
        return row


def merge_attempts(attempts: Sequence[RunRow]) -> RunRow:
    """Return one row for the attempts of an execution, from the beginning of the first to the end of the last."""
    first, last = attempts[0], attempts[-1]
    return replace(last, started_at=first.started_at, lateness=first.lateness)


def format_milliseconds(instant: Instant) -> str:
    """Return RFC 3339 in UTC with exactly three digits after the second."""
    return f"{format_instant(instant.replace(microsecond=0))[:-1]}.{instant.microsecond // 1000:03}Z"
