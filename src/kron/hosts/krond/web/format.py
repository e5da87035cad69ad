"""Words and links that several pages share: when, what became of something, and where more is told."""

from datetime import timedelta
from urllib.parse import quote, urlencode

from kron.cron.wall_time import format_local
from kron.cron.zone import Zone
from kron.hosts.krond.web.html import Child, Markup, tag
from kron.instant import SECOND, Instant, format_instant, parse_instant
from kron.rules.history import RunRow, format_milliseconds
from kron.rules.job_record import PROBLEM, ResultCode
from kron.rules.verdict import Outcome
from kron.why.sentence import how_it_ended

_SIGNS = {
    ResultCode.SUCCEEDED: "✓",
    ResultCode.FAILED: "✗",
    ResultCode.TIMEOUT: "◷",
    ResultCode.NOT_STARTED: "∅",
    ResultCode.REPLACED: "↻",
    ResultCode.STOPPED: "■",
    ResultCode.UNKNOWN: "?",
}


def _tone(result: ResultCode) -> str:
    if result is ResultCode.SUCCEEDED:
        return "good"
    return "bad" if result in PROBLEM else "odd"


_TONES = {
    **{result.value: (_tone(result), sign) for result, sign in _SIGNS.items()},
    Outcome.SKIPPED.value: ("odd", "–"),
    Outcome.MISSED.value: ("bad", "!"),
    Outcome.UNSCHEDULABLE.value: ("bad", "⌀"),
}
_RUNNING = ("busy", "▸")


def job_href(name: str, identity: str, action: str = "") -> str:
    """Return where a job is shown, or where something is done to it; the identity says which, whatever its name."""
    path = quote(name, safe="")
    if not path.strip("."):  # a browser would take it for a folder
        path = "job"
    return f"/jobs/{path}{f'/{action}' if action else ''}?{urlencode({'identity': identity})}"


def run_href(run_id: str) -> str:
    """Return where a run is shown."""
    return f"/runs/{quote(run_id, safe='')}"


def job_link(name: str, identity: str) -> Markup:
    """Return a link to a job."""
    return tag("a", name, href=job_href(name, identity), title=identity)


def run_link(run_id: str | None) -> Child:
    """Return a link to a run, nothing if there was none."""
    return None if run_id is None else tag("a", run_id, href=run_href(run_id), class_="run")


def moment(at: Instant | None, zone: Zone | None = None) -> Child:
    """Return an instant as people read it: in UTC, or on the wall clock of a zone with UTC behind it."""
    if at is None:
        return None
    at = at.replace(microsecond=0)
    utc = format_instant(at)
    is_local = zone is not None and zone.name != "UTC"
    shown = format_local(zone, at) if zone is not None and is_local else f"{utc[:10]} {utc[11:19]} UTC"
    return tag("time", shown, datetime=utc, title=utc if is_local else None)


def moment_of(text: object, zone: Zone | None = None) -> Child:
    """Return an instant of a forecast."""
    return None if text is None else moment(parse_instant(str(text)), zone)


def clock(at: Instant) -> str:
    """Return the time of day in UTC."""
    return f"{at:%H:%M:%S}"


def length(seconds: float | None) -> str:
    """Return how long something took."""
    if seconds is None:
        return ""
    if seconds < 60:
        return f"{seconds:g} s"
    return str(timedelta(seconds=round(seconds)))


def ago(at: Instant, now: Instant) -> str:
    """Return how long it is since an instant."""
    return length(max(0, round((now - at) / SECOND)))


def tone(row: RunRow) -> str:
    """Return which of four kinds what became of a row is: good, bad, odd, or busy."""
    return _TONES.get(_key(row), _RUNNING)[0]


def glyph(row: RunRow) -> str:
    """Return a sign for what became of a row: nobody has to tell colours apart."""
    return _TONES.get(_key(row), _RUNNING)[1]


def verdict(row: RunRow) -> Markup:
    """Return what became of a row, in a word or two."""
    return _badge(_key(row), f" ×{row.period_count}" if row.is_range else "")


def last_verdict(outcome: str | None, result: str | None) -> Markup | None:
    """Return how a job ended last, None if nothing has become of it yet."""
    if outcome is None:
        return None
    return _badge(result or ("" if outcome == Outcome.EXECUTED.value else outcome))


def _badge(key: str, many: str = "") -> Markup:
    kind, sign = _TONES.get(key, _RUNNING)
    return tag("span", tag("span", sign, aria_hidden="true"), f" {key or 'running'}{many}", class_=f"badge {kind}")


def reason(row: RunRow) -> str:
    """Return why."""
    if row.run_id is not None:
        return f"{how_it_ended(row)}: {row.detail}" if row.detail else how_it_ended(row)
    detail = row.detail if row.detail != row.reason else None
    return ": ".join(each for each in (row.reason, detail) if each)


def told_briefly(row: RunRow) -> str:
    """Return a row in one line."""
    took = f", took {length(row.duration)}" if row.duration is not None else ""
    late = f", {length(row.lateness)} late" if row.lateness else ""
    has_begun = row.chosen_time is None and row.started_at is not None
    due = format_milliseconds(row.due) if has_begun else format_instant(row.due)
    return f"{due}: {_key(row) or 'running'}{took}{late}"


def _key(row: RunRow) -> str:
    found = row.outcome if row.run_id is None else row.result
    return "" if found is None else found.value
