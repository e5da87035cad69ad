"""Words of the pages: terms, instants, durations, outcomes, results, and the paths of jobs and runs."""

from datetime import timedelta
from typing import NamedTuple
from urllib.parse import quote, urlencode

from kron.cron.wall_time import format_local
from kron.cron.zone import Zone
from kron.instant import SECOND, Instant, format_instant
from kron.rules.history import RunRow, format_milliseconds
from kron.rules.job_record import PROBLEM, ResultCode
from kron.rules.verdict import Outcome
from kron.why.explanation import how_it_ended

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


# Words that the documentation explains, and where: below the address of the documentation.
TERMS = {
    **dict.fromkeys(("candidates", "distribution", "seed hash"), "algorithm.html"),
    **dict.fromkeys(("chosen", "chosen second", "period", "unschedulable"), "glossary.html#decisions"),
    **dict.fromkeys(("policy", "retries", "timeout"), "job-files.html#the-keys-of-a-job"),
    **dict.fromkeys(("schedule", "window"), "language.html"),
    **dict.fromkeys(("attempt", "outcome"), "glossary.html#runs"),
    "job file": "job-files.html",
    "late": "glossary.html#jobs-and-tasks",
    "nominal": "glossary.html#times",
    "properties": "theory.html#properties",
}


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
    """A result or an outcome as a word, a colour class and a symbol."""

    kind: str  # good, bad, odd or busy
    symbol: str
    word: str


NOT_VIOLATED, VIOLATED = Badge("good", "✓", "not violated"), Badge("bad", "✗", "violated")


def last_badge(outcome: str, result: str | None) -> Badge:
    """Return how a job ended last."""
    return _badge(result or ("" if outcome == Outcome.EXECUTED.value else outcome))


def _badge(key: str, count: str = "") -> Badge:
    return Badge(*_LOOKS.get(key, _RUNNING), f"{key or 'running'}{count}")


def badge_of(row: RunRow) -> Badge:
    """Return how a run ended, or what happened to periods without one."""
    return _badge(_word_of(row), f" ×{row.period_count}" if row.is_range else "")


def reason_of(row: RunRow) -> str:
    """Return why."""
    if row.run_id is not None:
        return f"{how_it_ended(row)}: {row.detail}" if row.detail else how_it_ended(row)
    return ": ".join(each for each in dict.fromkeys((row.reason, row.detail)) if each)


def summary_of(row: RunRow) -> str:
    """Return a row in one line."""
    took = "" if row.duration is None else f", took {duration(row.duration)}"
    late = f", {duration(row.lateness)} late" if row.lateness else ""
    has_begun = row.chosen_time is None and row.started_at is not None
    due = format_milliseconds(row.due) if has_begun else format_instant(row.due)
    return f"{due}: {_word_of(row) or 'running'}{took}{late}"


def _word_of(row: RunRow) -> str:
    found = row.outcome if row.run_id is None else row.result
    return "" if found is None else found.value
