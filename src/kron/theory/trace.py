"""Trace: what was seen of a scheduler, as JSON lines of version 1: a header, then one event a line, in order.

A position is one line: an instant in milliseconds since the epoch, the event, and its fields.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from json.encoder import JSONEncoder, encode_basestring
from typing import NamedTuple

from kron.errors import InvalidTraceError
from kron.theory.alphabet import EVENTS

VERSION = 1
_SHARED = ("t", "event")
_encoder = JSONEncoder(ensure_ascii=False)
_NAMED = "named"
_FIRST, _LAST = -62_135_596_800_000, 253_402_300_799_999  # the calendar in milliseconds


class Bounds(NamedTuple):
    """How much active time an obligation may take: `a` for each task of the list, `b`, and the lag, in milliseconds."""

    a: int
    b: int
    lag: int


class Registration(NamedTuple):
    """A task of a list as the trace names it; what it holds may be wrong, and is then said to be invalid."""

    name: str
    cron: str
    retry_delay_ms: float


class Memory(NamedTuple):
    """What the ledger remembered of a task when it was opened: why a run may be owed at once."""

    registration: Registration
    first: int
    last_start: int | None
    retry_at: int | None
    is_interrupted: bool
    last_failure: int | None = None


@dataclass(frozen=True, slots=True)
class Header:
    """Under which contract, in which zone, and within which bounds the trace is to be judged."""

    contract: str
    timezone: str = "UTC"
    bounds: Bounds | None = None
    names_dues: bool = False  # its lines may hold windows, which nobody but its recorder can compute


class Position(NamedTuple):
    """One event."""

    t: int
    event: str
    fields: Mapping[str, object] = {}  # never changed

    @property
    def task(self) -> str:
        """The task, or job, that it is about."""
        return str(self.fields.get("task") or self.fields.get("identity") or "")


def write_header(header: Header) -> str:
    """Return the first line of a trace."""
    fields: dict[str, object] = {"trace": VERSION, "contract": header.contract, "timezone": header.timezone}
    if header.bounds is not None:
        fields["bounds"] = header.bounds._asdict()
    if header.names_dues:
        fields["dues"] = _NAMED
    return _line(fields)


def write_position(position: Position) -> str:
    """Return the line of an event."""
    t, event, fields = position
    if len(fields) == 1 and isinstance(task := fields.get("task"), str):  # nearly all are of runs
        return f'{{"t": {t}, "event": "{event}", "task": {encode_basestring(task)}}}'
    return _line({"t": t, "event": event, **fields})


def read_trace(lines: Iterable[str], contracts: Iterable[str]) -> tuple[Header, Iterator[Position]]:
    """Return the header, and the positions as they are asked for; InvalidTraceError names the line."""
    numbered = enumerate(lines, 1)
    number, first = next(numbered, (1, ""))
    return _read_header(number, first, tuple(contracts)), _read_positions(numbered)


def registrations_of(position: Position) -> list[Registration]:
    """Return the list of an InitStart."""
    items = position.fields["registrations"]
    assert isinstance(items, list), "it was checked when the line was read"
    return [Registration(item["name"], item["cron"], item["retryDelayMs"]) for item in items]


def memories_of(position: Position) -> dict[str, Memory]:
    """Return what an InitSuccess says that the ledger remembered, by the names of the tasks."""
    items = position.fields.get("remembered") or []
    assert isinstance(items, list), "it was checked when the line was read"
    return {
        item["task"]: Memory(
            Registration(item["task"], item["cron"], item["retryDelayMs"]),
            item["first"],
            item.get("lastStart"),
            item.get("retryAt"),
            is_interrupted=item.get("interrupted", False),
            last_failure=item.get("lastFailure"),
        )
        for item in items
    }


def last_dues_of(position: Position) -> Mapping[str, int]:
    """Return when the tasks of an InitSuccess were due last, those that were, in a trace that names its Dues."""
    found = position.fields.get("lastDue") or {}
    assert isinstance(found, dict), "it was checked when the line was read"
    return found


def clock_of(position: Position) -> int:
    """Return what the clock showed, which is earlier than the trace has it while it is set back."""
    clock = position.fields.get("clock")
    return clock if isinstance(clock, int) else position.t


def _line(fields: Mapping[str, object]) -> str:
    return _encoder.encode(fields)


def _object(number: int, text: str) -> dict[str, object]:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as error:
        reason = "must be a JSON object in one line; this one is cut off or damaged"
        raise InvalidTraceError(line=number, field="line", found=text.strip(), reason=reason) from error
    if not isinstance(found, dict):
        raise InvalidTraceError(line=number, field="line", found=text.strip(), reason="must be a JSON object")
    return found


def _read_header(number: int, text: str, contracts: tuple[str, ...]) -> Header:
    if not text.strip():
        raise InvalidTraceError(line=number, field="line", found="", reason="must be a JSON object, the header")
    fields = _object(number, text)
    if not _is_count(fields.get("trace")) or fields["trace"] != VERSION:
        reason = f"must be {VERSION}, in a header before all events"
        raise InvalidTraceError(line=number, field="trace", found=fields.get("trace"), reason=reason)
    contract, timezone = fields.get("contract"), fields.get("timezone", "UTC")
    if contract not in contracts:
        reason = f"must be one of {', '.join(contracts)}"
        raise InvalidTraceError(line=number, field="contract", found=contract, reason=reason)
    if not isinstance(timezone, str):
        raise InvalidTraceError(line=number, field="timezone", found=timezone, reason="must be the name of a zone")
    if fields.get("dues") not in (None, _NAMED):
        reason = f"must be {_NAMED}, or not be there"
        raise InvalidTraceError(line=number, field="dues", found=fields["dues"], reason=reason)
    return Header(str(contract), timezone, _read_bounds(number, fields.get("bounds")), names_dues="dues" in fields)


def _read_bounds(number: int, found: object) -> Bounds | None:
    if found is None:
        return None
    if isinstance(found, dict) and set(found) == set(Bounds._fields):
        bounds = Bounds(**found)
        if all(_is_count(value) for value in bounds):
            return bounds
    reason = "must hold a, b and lag, each a whole number of milliseconds"
    raise InvalidTraceError(line=number, field="bounds", found=found, reason=reason)


def _read_positions(numbered: Iterable[tuple[int, str]]) -> Iterator[Position]:
    last: int | None = None
    blank: int | None = None
    for number, text in numbered:
        if not text.strip():
            blank = blank or number
            continue
        if blank is not None:
            raise InvalidTraceError(line=blank, field="line", found="nothing", reason="must be an event")
        position = _read_position(number, text)
        if last is not None and position.t < last:
            reason = f"must not be before that of the line above, {last}"
            raise InvalidTraceError(line=number, field="t", found=position.t, reason=reason)
        last = position.t
        yield position


def _read_position(number: int, text: str) -> Position:
    fields = _object(number, text)
    time, event = fields.get("t"), fields.get("event")
    if not isinstance(time, int) or isinstance(time, bool):
        raise InvalidTraceError(line=number, field="t", found=time, reason="must be a whole number of milliseconds")
    if not _FIRST <= time <= _LAST:
        raise InvalidTraceError(line=number, field="t", found=time, reason="must lie in the years 1 to 9999")
    kind = EVENTS.get(event) if isinstance(event, str) else None
    if kind is None or not isinstance(event, str):
        reason = f"must be one of {', '.join(EVENTS)}"
        raise InvalidTraceError(line=number, field="event", found=event, reason=reason)
    rest = {field: value for field, value in fields.items() if field not in _SHARED}
    for field in kind.required:
        if field not in rest:
            raise InvalidTraceError(
                line=number, field=field, found="nothing", reason=f"must be there: {event} needs it"
            )
    for field, value in rest.items():
        _check_field(number, field, value)
    if not _FIRST <= rest.get("clock", time) <= time:  # type: ignore[operator] # it is an instant
        reason = "must not be after t: only of a clock that was set back need it be said"
        raise InvalidTraceError(line=number, field="clock", found=rest["clock"], reason=reason)
    return Position(time, event, rest)


def _check_field(number: int, field: str, value: object) -> None:
    fits, reason = _FIELDS.get(field, (None, ""))
    if fits is not None and not fits(value):
        raise InvalidTraceError(line=number, field=field, found=value, reason=reason)


def _are(items: object, fits: Callable[[Mapping[str, object]], bool]) -> bool:
    return isinstance(items, list) and all(isinstance(item, dict) and fits(item) for item in items)


def _is_registration(item: Mapping[str, object]) -> bool:
    return _is_text(item.get("name"), empty=True) and _is_text(item.get("cron"), empty=True) and _has_delay(item)


def _is_memory(item: Mapping[str, object]) -> bool:
    times = [item.get(name) for name in ("first", "lastStart", "retryAt", "lastFailure")]
    return (
        _is_text(item.get("task"))
        and _is_text(item.get("cron"))
        and _has_delay(item)
        and _is_instant(times[0])
        and all(time is None or _is_instant(time) for time in times)
        and isinstance(item.get("interrupted", False), bool)
    )


def _has_delay(item: Mapping[str, object]) -> bool:
    delay = item.get("retryDelayMs")
    return isinstance(delay, int | float) and not isinstance(delay, bool)


def _is_text(value: object, *, empty: bool = False) -> bool:
    """Whether it is a text that a line can hold."""
    if not isinstance(value, str) or not (value or empty):
        return False
    return value.isascii() or not any("\ud800" <= character <= "\udfff" for character in value)


def _is_instant(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _are_instants(value: object) -> bool:
    return isinstance(value, dict) and all(map(_is_instant, value.values()))


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


_TEXT = (_is_text, "must be a text")
_COUNT = (_is_count, "must be a whole number")
_CHOICE = (lambda value: isinstance(value, bool), "must be true or false")
_FIELDS: Mapping[str, tuple[Callable[[object], bool], str]] = {
    "task": _TEXT,
    "identity": _TEXT,
    "period": _TEXT,
    "call": _COUNT,
    "attempt": _COUNT,
    "closed": _CHOICE,
    "valid": _CHOICE,
    "clock": (_is_instant, "must be a whole number of milliseconds"),
    "ended": (_is_instant, "must be a whole number of milliseconds"),
    "registrations": (
        lambda value: _are(value, _is_registration),
        (
            "must be a list; each item must have a name and a cron expression, which are texts, "
            "and retryDelayMs, which is a number"
        ),
    ),
    "lastDue": (_are_instants, "must name tasks, each with a whole number of milliseconds"),
    "remembered": (
        lambda value: _are(value, _is_memory),
        "must be a list; each item has task, cron, retryDelayMs, first, perhaps lastStart, retryAt, interrupted",
    ),
}
