"""run_row, closed_row, open_row: what people and scripts read of a run, of periods without one, of one yet to come."""

from collections.abc import Mapping, Sequence

from kron.decision.decision import MAX_ATTEMPTS, NO_CANDIDATE, ONLY_SECOND_NOT_ALLOWED, Decision
from kron.instant import SECOND, Instant, format_instant, parse_instant
from kron.rules.job_record import PeriodRecord, ResultCode, RunEnd, RunKind, RunStart
from kron.rules.verdict import Outcome, Reason, lateness

HistoryRow = dict[str, object]

RANGE = "range"
_RUNNING, _COMPLETED = "running", "completed"
_ENDED_BY_HOST = (ResultCode.REPLACED.value, ResultCode.STOPPED.value)
_SENTENCES: Mapping[str, str] = {
    Reason.ACTIVE.value: "an execution of the job was active, and its policy forbids a second one",
    Reason.SUPERSEDED.value: "its second passed while the host could not start it, and a later period was run instead",
    Reason.DEFINITION_CHANGED.value: "the job was changed or removed before the period was taken up",
    Reason.DEADLINE.value: "the host could not start it within its deadline; it was busy, for example, or stood still",
    Reason.DOWNTIME.value: "the host was down, and was back later than the deadline allows",
    NO_CANDIDATE: f"none of the {MAX_ATTEMPTS} seconds drawn from the window is allowed",
    ONLY_SECOND_NOT_ALLOWED: "the period has one second only, and that is not allowed",
}


def run_row(name: str, attempt: RunStart, end: RunEnd | None, *, attempts: int) -> HistoryRow:
    """Return the row of a run, ended or not; `attempts`: how many its execution has had so far."""
    chosen = attempt.chosen
    return {
        "kind": attempt.kind.value,
        "run_id": attempt.run_id,
        "identity": attempt.identity,
        "name": name,
        "period_id": _text(attempt.nominal),
        "nominal_time": _text(attempt.nominal),
        "chosen_time": _text(chosen),
        "outcome": Outcome.EXECUTED.value,
        "reason": None,
        "detail": None if end is None else end.detail or None,
        "started_at": format_milliseconds(attempt.started),
        "ended_at": None if end is None else format_milliseconds(end.ended_at),
        "state": _RUNNING if end is None else _COMPLETED,
        "result": None if end is None else end.result.value,
        "exit_code": None if end is None else end.exit_code,
        "signal": None if end is None else end.signal,
        "attempt": attempt.attempt,
        "attempts": attempts,
        "again": attempt.retry_of or None,
        "duration": None if end is None else _seconds(attempt.started, end.ended_at),
        # That of a further attempt says nothing about how late its period was taken up.
        "lateness": None if chosen is None or attempt.attempt > 1 else lateness(chosen, attempt.started),
    }


def closed_row(name: str, record: PeriodRecord) -> HistoryRow:
    """Return the row of a period, or of several neighbours, without an execution."""
    row: HistoryRow = {
        "kind": RunKind.PERIOD.value if record.period_count == 1 else RANGE,
        "run_id": None,
        "identity": record.identity,
        "name": name,
        "period_id": _text(record.last),
        "nominal_time": _text(record.last),
        "chosen_time": _text(record.chosen),
        "outcome": record.outcome.value,
        "reason": record.reason or None,
        "detail": record.detail or _SENTENCES.get(record.reason),
        **dict.fromkeys(("started_at", "ended_at", "state", "result", "exit_code", "signal", "attempt")),
        "attempts": 0,
        **dict.fromkeys(("again", "duration", "lateness")),
    }
    if record.period_count > 1:
        row |= {
            "first_period_id": _text(record.first),
            "last_period_id": _text(record.last),
            "count": record.period_count,
        }
    return row


def open_row(name: str, decision: Decision, state: str, detail: str) -> HistoryRow:
    """Return the row of a period that has no outcome; `state` says why."""
    return {
        "kind": RunKind.PERIOD.value,
        "run_id": None,
        "identity": decision.identity,
        "name": name,
        "period_id": decision.period_id,
        "nominal_time": _text(decision.nominal_time),
        "chosen_time": _text(decision.chosen_time),
        **dict.fromkeys(("outcome", "reason")),
        "detail": detail,
        **dict.fromkeys(("started_at", "ended_at")),
        "state": state,
        **dict.fromkeys(("result", "exit_code", "signal", "attempt")),
        "attempts": 0,
        **dict.fromkeys(("again", "duration", "lateness")),
    }


def narrow_to_period(row: HistoryRow, decision: Decision) -> HistoryRow:
    """Return what the row of a range says of one period of it."""
    if row["kind"] != RANGE:
        return row
    period = {"period_id": decision.period_id, "nominal_time": _text(decision.nominal_time)}
    return {**row, **period, "chosen_time": _text(decision.chosen_time)}


def merge_attempts(attempts: Sequence[HistoryRow]) -> HistoryRow:
    """Return one row for the attempts of an execution, from the beginning of the first to the end of the last."""
    first, last = attempts[0], attempts[-1]
    if first is last:
        return first
    ended = last["ended_at"]
    start, end = parse_instant(str(first["started_at"])), None if ended is None else parse_instant(str(ended))
    return {
        **last,
        "started_at": first["started_at"],
        "duration": None if end is None else _seconds(start, end),
        "lateness": first["lateness"],
    }


def has_started(row: HistoryRow) -> bool:
    """Whether a run has ever been there: one that is ended by the host leaves an exit code or a signal."""
    if row["result"] in _ENDED_BY_HOST:
        return row["exit_code"] is not None or row["signal"] is not None
    return row["outcome"] == Outcome.EXECUTED.value and row["result"] != ResultCode.NOT_STARTED.value


def format_milliseconds(instant: Instant) -> str:
    """Return RFC 3339 in UTC with exactly three digits after the second."""
    return f"{format_instant(instant.replace(microsecond=0))[:-1]}.{instant.microsecond // 1000:03}Z"


def _text(instant: Instant | None) -> str | None:
    return None if instant is None else format_instant(instant)


def _seconds(start: Instant, end: Instant) -> float:
    """Return how long it took by the milliseconds that are shown; never less than nothing."""
    begin, stop = (each.replace(microsecond=each.microsecond // 1000 * 1000) for each in (start, end))
    return max(0.0, round((stop - begin) / SECOND, 3))
