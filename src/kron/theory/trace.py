"""Trace: what was seen of a scheduler, as JSON lines of version 1: a header, then one event a line, in order.

A position is one line: an instant in milliseconds since the epoch, the event, and its fields.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from kron.errors import InvalidTraceError
from kron.theory.alphabet import EVENTS

VERSION = 1
_SHARED = ("t", "event")
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


@dataclass(frozen=True, slots=True)
class Header:
    """Under which contract, in which zone, and within which bounds the trace is to be judged."""

    contract: str
    timezone: str = "UTC"
    bounds: Bounds | None = None


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
    return _line(fields)


def write_position(position: Position) -> str:
    """Return the line of an event."""
    return _line({"t": position.t, "event": position.event, **position.fields})


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


def _line(fields: Mapping[str, object]) -> str:
    return json.dumps(fields, ensure_ascii=False, separators=(", ", ": "))


def _object(number: int, text: str) -> dict[str, object]:
    try:
        found = json.loads(text)
    except ValueError as error:
        reason = "must be a JSON object in one line; this one is cut off or damaged"
        raise InvalidTraceError(line=number, field="line", found=text.strip(), reason=reason) from error
    if not isinstance(found, dict):
        raise InvalidTraceError(line=number, field="line", found=text.strip(), reason="must be a JSON object")
    return found


def _read_header(number: int, text: str, contracts: tuple[str, ...]) -> Header:
    if not text.strip():
        raise InvalidTraceError(line=number, field="line", found="", reason="must be a JSON object, the header")
    fields = _object(number, text)
    if fields.get("trace") != VERSION:
        reason = f'the first line must be a header with "trace": {VERSION}'
        raise InvalidTraceError(line=number, field="trace", found=fields.get("trace"), reason=reason)
    contract, timezone = fields.get("contract"), fields.get("timezone", "UTC")
    if contract not in contracts:
        reason = f"must be one of {', '.join(contracts)}"
        raise InvalidTraceError(line=number, field="contract", found=contract, reason=reason)
    if not isinstance(timezone, str):
        raise InvalidTraceError(line=number, field="timezone", found=timezone, reason="must be the name of a zone")
    return Header(str(contract), timezone, _read_bounds(number, fields.get("bounds")))


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
    for number, text in numbered:
        if not text.strip():
            continue
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
            raise InvalidTraceError(line=number, field=field, found=None, reason=f"{event} must have it")
    for field, value in rest.items():
        _check_field(number, field, value)
    return Position(time, event, rest)


def _check_field(number: int, field: str, value: object) -> None:
    if field in ("task", "identity", "period"):
        if not isinstance(value, str) or not value:
            raise InvalidTraceError(line=number, field=field, found=value, reason="must be a text")
    elif field in ("call", "attempt"):
        if not _is_count(value):
            raise InvalidTraceError(line=number, field=field, found=value, reason="must be a whole number")
    elif field == "ended":
        if not isinstance(value, int) or isinstance(value, bool):
            raise InvalidTraceError(
                line=number, field=field, found=value, reason="must be a whole number of milliseconds"
            )
    elif field in ("closed", "valid"):
        if not isinstance(value, bool):
            raise InvalidTraceError(line=number, field=field, found=value, reason="must be true or false")
    elif field == "registrations":
        _check_registrations(number, value)


def _check_registrations(number: int, found: object) -> None:
    if not isinstance(found, list):
        raise InvalidTraceError(line=number, field="registrations", found=found, reason="must be a list")
    for item in found:
        fits = isinstance(item, dict) and isinstance(item.get("name"), str) and isinstance(item.get("cron"), str)
        delay = item.get("retryDelayMs") if isinstance(item, dict) else None
        if not fits or not isinstance(delay, int | float) or isinstance(delay, bool):
            reason = "must have a name and a cron expression, which are texts, and retryDelayMs, which is a number"
            raise InvalidTraceError(line=number, field="registrations", found=item, reason=reason)


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0
