"""run_row, closed_row: what people and scripts read of a run, or of periods that were closed without one."""

from kron.instant import SECOND, Instant, format_instant
from kron.rules.job_record import Attempt, End, Kind, PeriodRecord
from kron.rules.verdict import Outcome, lateness

HistoryRow = dict[str, object]

RANGE = "range"
_RUNNING, _COMPLETED = "running", "completed"


def run_row(name: str, attempt: Attempt, end: End | None, *, attempts: int) -> HistoryRow:
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
        "started_at": with_milliseconds(attempt.started),
        "ended_at": None if end is None else with_milliseconds(end.ended),
        "state": _RUNNING if end is None else _COMPLETED,
        "result": None if end is None else end.result.value,
        "exit_code": None if end is None else end.exit_code,
        "signal": None if end is None else end.signal,
        "attempt": attempt.attempt,
        "attempts": attempts,
        "duration": None if end is None else _seconds(attempt.started, end.ended),
        # That of a further attempt says nothing about how late its period was taken up.
        "lateness": None if chosen is None or attempt.attempt > 1 else lateness(chosen, attempt.started),
    }


def closed_row(name: str, record: PeriodRecord) -> HistoryRow:
    """Return the row of a period, or of several neighbours, without an execution."""
    row: HistoryRow = {
        "kind": Kind.PERIOD.value if record.number == 1 else RANGE,
        "run_id": None,
        "identity": record.identity,
        "name": name,
        "period_id": _text(record.last),
        "nominal_time": _text(record.last),
        "chosen_time": _text(record.chosen),
        "outcome": record.outcome.value,
        "reason": record.reason or None,
        "detail": record.detail or None,
        **dict.fromkeys(("started_at", "ended_at", "state", "result", "exit_code", "signal", "attempt")),
        "attempts": 0,
        **dict.fromkeys(("duration", "lateness")),
    }
    if record.number > 1:
        row |= {"first_period_id": _text(record.first), "last_period_id": _text(record.last), "count": record.number}
    return row


def with_milliseconds(instant: Instant) -> str:
    """Return RFC 3339 in UTC with exactly three digits after the second."""
    return f"{format_instant(instant.replace(microsecond=0))[:-1]}.{instant.microsecond // 1000:03}Z"


def _text(instant: Instant | None) -> str | None:
    return None if instant is None else format_instant(instant)


def _seconds(start: Instant, end: Instant) -> float:
    """Return how long it took by the milliseconds that are shown; never less than nothing."""
    begin, stop = (each.replace(microsecond=each.microsecond // 1000 * 1000) for each in (start, end))
    return max(0.0, round((stop - begin) / SECOND, 3))
