"""How pages say things: instants, durations, outcomes and results, and the paths of jobs and runs."""

from datetime import timedelta
from typing import NamedTuple
from urllib.parse import quote, urlencode

from kron.cron.wall_time import format_local
from kron.cron.zone import Zone
from kron.instant import SECOND, Instant, format_instant, parse_instant
from kron.rules.history import RANGE, HistoryRow
from kron.rules.job_record import PROBLEM, ResultCode
from kron.rules.verdict import Outcome
from kron.why.sentence import how_it_ended

# --- paths, below the prefix under which the page is mounted ----------------------------------------------------------


def job_path(name: str, identity: str, action: str = "") -> str:
    """Return the path of a job, or of an action on it; the identity says which job, whatever its name."""
    path = quote(name, safe="")
    if not path.strip("."):  # a browser would take it for a folder
        path = "job"
    return f"/jobs/{path}{f'/{action}' if action else ''}?{urlencode({'identity': identity})}"


def run_path(run_id: str) -> str:
    """Return the path of a run."""
    return f"/runs/{quote(run_id, safe='')}"


# --- numbers, instants and durations ----------------------------------------------------------------------------------


def pluralize(number: int, noun: str) -> str:
    """Return how many there are of something."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


class ShownTime(NamedTuple):
    """An instant as people read it, and in UTC as machines do."""

    text: str
    utc: str
    is_local: bool  # on the wall clock of another zone than UTC


def shown_time(at: Instant, zone: Zone | None = None) -> ShownTime:
    """Return an instant in UTC, or on the wall clock of a zone with its offset."""
    at = at.replace(microsecond=0)
    utc = format_instant(at)
    if zone is None or zone.name == "UTC":
        return ShownTime(f"{utc[:10]} {utc[11:19]} UTC", utc, is_local=False)
    return ShownTime(format_local(zone, at), utc, is_local=True)


def clock(at: Instant) -> str:
    """Return the time of day in UTC."""
    return f"{at:%H:%M:%S}"


def duration(seconds: float | None) -> str:
    """Return how long something took."""
    if seconds is None:
        return ""
    return f"{seconds:g} s" if seconds < 60 else str(timedelta(seconds=round(seconds)))


def age(at: Instant, now: Instant) -> str:
    """Return how long it is since an instant."""
    return duration(max(0, round((now - at) / SECOND)))


# --- outcomes and results ---------------------------------------------------------------------------------------------

_SYMBOLS = {
    ResultCode.SUCCEEDED: "✓",
    ResultCode.FAILED: "✗",
    ResultCode.TIMEOUT: "◷",
    ResultCode.NOT_STARTED: "∅",
    ResultCode.REPLACED: "↻",
    ResultCode.STOPPED: "■",
    ResultCode.UNKNOWN: "?",
}


def _class_of(result: ResultCode) -> str:
    if result is ResultCode.SUCCEEDED:
        return "good"
    return "bad" if result in PROBLEM else "odd"


_LOOKS = {
    **{result.value: (_class_of(result), symbol) for result, symbol in _SYMBOLS.items()},
    Outcome.SKIPPED.value: ("odd", "–"),
    Outcome.MISSED.value: ("bad", "!"),
    Outcome.UNSCHEDULABLE.value: ("bad", "⌀"),
}
_RUNNING = ("busy", "▸")


class Badge(NamedTuple):
    """A result or an outcome in a word, with a class for its colour and a symbol for those who see no colours."""

    kind: str  # good, bad, odd or busy
    symbol: str
    word: str


NOT_VIOLATED, VIOLATED = Badge("good", "✓", "not violated"), Badge("bad", "✗", "violated")


def last_badge(outcome: str | None, result: str | None) -> Badge | None:
    """Return how a job ended last, None before its first period."""
    if outcome is None:
        return None
    return _badge(result or ("" if outcome == Outcome.EXECUTED.value else outcome))


def _badge(key: str, count: str = "") -> Badge:
    return Badge(*_LOOKS.get(key, _RUNNING), f"{key or 'running'}{count}")


class ShownRow(NamedTuple):
    """A row of the history as pages show it."""

    identity: str
    name: str
    run_id: str | None
    kind: str
    period_id: str
    due: Instant
    chosen: Instant | None
    began: Instant | None
    ended: Instant | None
    badge: Badge
    reason: str
    detail: str
    took: str
    late: str
    seconds: tuple[float, float]  # how long it took, and how late it began
    attempt: str
    is_retried: bool  # it is one of several attempts
    exit_code: str
    signal: str
    state: str
    summary: str  # all of it in one line

    @property
    def is_running(self) -> bool:
        """Whether it is a run that has not ended."""
        return self.state == "running"


def shown_row(row: HistoryRow) -> ShownRow:
    """Return what pages show of a row."""
    key = str(row["result"] or "") if row["run_id"] is not None else str(row["outcome"] or "")
    due = str(row["chosen_time"] or row["started_at"] or row["nominal_time"])
    took, late = (None if row[name] is None else float(str(row[name])) for name in ("duration", "lateness"))
    took_text, late_text = duration(took), duration(late) if late else ""
    took_part = f", took {took_text}" if took_text else ""
    return ShownRow(
        identity=str(row["identity"]),
        name=str(row["name"]),
        run_id=None if row["run_id"] is None else str(row["run_id"]),
        kind=str(row["kind"]),
        period_id=_text(row["period_id"]),
        due=parse_instant(due),
        chosen=_instant(row["chosen_time"]),
        began=_instant(row["started_at"]),
        ended=_instant(row["ended_at"]),
        badge=_badge(key, f" ×{row['count']}" if row["kind"] == RANGE else ""),
        reason=_reason(row),
        detail=_text(row["detail"]),
        took=took_text,
        late=late_text,
        seconds=(took or 0.0, late or 0.0),
        attempt=f"{row['attempt']} of {row['attempts']}",
        is_retried=row["attempts"] not in (0, 1),
        exit_code=_text(row["exit_code"]),
        signal=_text(row["signal"]),
        state=_text(row["state"]),
        summary=f"{due}: {key or 'running'}{took_part}{f', {late_text} late' if late else ''}",
    )


def _reason(row: HistoryRow) -> str:
    if row["run_id"] is not None:
        return f"{how_it_ended(row)}: {row['detail']}" if row["detail"] else how_it_ended(row)
    detail = row["detail"] if row["detail"] != row["reason"] else None
    return ": ".join(str(each) for each in (row["reason"], detail) if each)


def _text(value: object) -> str:
    return "" if value is None else str(value)


def _instant(value: object) -> Instant | None:
    return None if value is None else parse_instant(str(value))
