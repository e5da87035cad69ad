"""feed(entries, span, form) -> text: the decisions of a span as JSON, CSV or iCalendar, a part for each."""

import csv
import json
from collections.abc import Callable, Iterable, Iterator
from io import StringIO

from kron.decision.decision import Decision
from kron.decision.seed import SeedStrategy, period_key
from kron.errors import CronCalculationError
from kron.forecast.runs import ForecastJob, TimeSpan, merged_decisions
from kron.instant import MICROSECOND, Instant, format_instant

_FOLD = 75  # octets of a line, its end not counted; RFC 5545, 3.1
_CONTROLS = dict.fromkeys([*range(32), 127], " ")  # none of them is allowed in a text
_ESCAPES = str.maketrans({**_CONTROLS, "\\": "\\\\", ";": "\\;", ",": "\\,", "\n": "\\n"})
_HEAD = ("BEGIN:VCALENDAR", "VERSION:2.0", "PRODID:-//Kron//Expected runs//EN")

Rows = Iterable[tuple[ForecastJob, Decision]]
Columns = tuple[str, ...]


def feed(entries: Iterable[ForecastJob], span: TimeSpan, form: str) -> Iterator[str]:
    """Yield the text of a form of `FORMATS`, part by part, in the order of chosen times."""
    listed = list(entries)
    has_hosts = any(entry.host for entry in listed)
    return FORMATS[form](merged_decisions(listed, span), (*COLUMNS, "host") if has_hosts else COLUMNS)


def row_of(entry: ForecastJob, decision: Decision) -> dict[str, object]:
    """Return a decision as `kron next --json` has it, the name of its job, and its host where there are several."""
    row = {**decision.to_dict(), "name": entry.name}
    return {**row, "host": entry.host} if entry.host else row


def _as_json(rows: Rows, _: Columns) -> Iterator[str]:
    separator = "[\n"
    for entry, decision in rows:
        yield separator + json.dumps(row_of(entry, decision), ensure_ascii=False)
        separator = ",\n"
    yield "\n]\n" if separator != "[\n" else "[]\n"


def _as_csv(rows: Rows, columns: Columns) -> Iterator[str]:
    yield _record(columns)
    for entry, decision in rows:
        yield _record(row_of(entry, decision).values())


def _record(cells: Iterable[object]) -> str:
    """Return a line; nothing is an empty cell, and what has parts is JSON."""
    text = StringIO()
    shown = [json.dumps(cell, ensure_ascii=False) if isinstance(cell, dict) else cell for cell in cells]
    csv.writer(text, lineterminator="\n").writerow(shown)
    return text.getvalue()


# --- iCalendar: RFC 5545 ----------------------------------------------------------------------------------------------


def _as_ics(rows: Rows, _: Columns) -> Iterator[str]:
    yield _lines(_HEAD)
    for entry, decision in rows:
        if decision.chosen_time is not None:
            yield _event(entry, decision, decision.chosen_time)
    yield _lines(["END:VCALENDAR"])


def _event(entry: ForecastJob, decision: Decision, chosen: Instant) -> str:
    """Return a run as a calendar event that blocks no time; its stamp is that of its period."""
    window = f"{format_instant(decision.window_start)} to {format_instant(decision.window_end)}"
    host = f"\nhost {entry.host}" if entry.host else ""
    about = f"{entry.identity}{host}\nnominal {decision.period_id}\nwindow {window}"
    return _lines(
        [
            "BEGIN:VEVENT",
            f"UID:{_uid(entry, decision)}{_host_part(entry)}@kron",
            f"DTSTAMP:{_stamp(decision.nominal_time)}",
            f"DTSTART:{_stamp(chosen)}",
            f"SUMMARY:{entry.label.translate(_ESCAPES)}",
            f"DESCRIPTION:{about.translate(_ESCAPES)}",
            "TRANSP:TRANSPARENT",
            "END:VEVENT",
        ]
    )


def _uid(entry: ForecastJob, decision: Decision) -> str:
    """Return the name of a run; where earlier periods of the day or week have the same seed, with its own period."""
    uid, terms = decision.seed_hash[:32], decision.terms
    if terms.seed.strategy is SeedStrategy.STABLE:
        return uid
    try:
        before = entry.timing.schedule.previous(decision.nominal_time - MICROSECOND)
    except (CronCalculationError, OverflowError):  # the calendar begins
        return uid
    if period_key(terms.seed.strategy, before, terms.zone) != decision.period_key:
        return uid
    return f"{uid}-{_stamp(decision.nominal_time)}"


def _host_part(entry: ForecastJob) -> str:
    """Return the field that distinguishes runs of several hosts with one identity, and so one seed."""
    return f"-{entry.host.translate(_ESCAPES)}" if entry.host else ""


def _stamp(at: Instant) -> str:
    return format_instant(at).replace("-", "").replace(":", "")


def _lines(lines: Iterable[str]) -> str:
    return "".join(f"{_folded(line)}\r\n" for line in lines)


def _folded(line: str) -> str:
    """Return a line cut where it is too long, never inside a character."""
    if len(line.encode()) <= _FOLD:
        return line
    parts, part, room = [], "", _FOLD
    for character in line:
        octets = len(character.encode())
        if octets > room:
            parts.append(part)
            part, room = " ", _FOLD - 1
        part, room = part + character, room - octets
    return "\r\n".join([*parts, part])


FORMATS: dict[str, Callable[[Rows, Columns], Iterator[str]]] = {"json": _as_json, "ics": _as_ics, "csv": _as_csv}
COLUMNS = (
    "identity", "period_id", "period_key", "nominal_time", "window_start", "window_end", "window_mode", "chosen_time",
    "timezone", "distribution", "seed_strategy", "salt", "seed_hash", "constraints_applied", "attempts", "reason",
    "algorithm_version", "tzdata_version", "name",
)  # fmt: skip
