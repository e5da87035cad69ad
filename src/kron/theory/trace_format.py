"""The format of a trace: JSON lines of version 2, a header, then one position a line, in order.

A position is an event with its instant, in milliseconds since the epoch, and its fields; or a list of events with one
instant, which are a set: their order means nothing. In version 1 each position is one event.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from json.encoder import JSONEncoder, encode_basestring
from typing import NamedTuple, TypeAlias

from kron.errors import InvalidTraceError
from kron.theory.alphabet import CONCURRENCY, EVENTS

VERSION = 2
_VERSIONS = (1, VERSION)
_SHARED = ("t", "event")
_encoder = JSONEncoder(ensure_ascii=False)
_NAMED = "named"
# Events of a set are taken in this order, whatever theirs is: what begins before what ends, because where both meet the
# end wins, and what is said of a period before what is done.
_ORDER = (
    "ClockSet", "Due", "RetryDue", "Freeze", "Thaw", "InitStart", "InitSuccess", "InitFailure", "Suspended", "Resumed",
    "Decision", "Outcome", "RunStart", "RunSuccess", "RunFailure", "StopStart", "StopEnd", "UnexpectedShutdown", "End",
)  # fmt: skip
_PLACES = {event: place for place, event in enumerate(_ORDER)}
_FIRST, _LAST = -62_135_596_800_000, 253_402_300_799_999  # the calendar in milliseconds


class ResponseBounds(NamedTuple):
    """How much active time an obligation may take: `a` for each task of the list, `b`, and the lag, in milliseconds."""

    a: int
    b: int
    lag: int


class TracedTask(NamedTuple):
    """A task of a list as the trace names it; what it holds may be wrong, and is then said to be invalid."""

    name: str
    cron: str
    retry_delay_ms: float


class TracedRecord(NamedTuple):
    """What the ledger remembered of a task when it was opened: why a run may be owed at once."""

    registration: TracedTask
    first: int
    last_start: int | None
    retry_at: int | None
    is_interrupted: bool
    last_failure: int | None = None


@dataclass(frozen=True, slots=True)
class TraceHeader:
    """Under which contract, in which zone, and within which bounds the trace is to be judged."""

    contract: str
    timezone: str = "UTC"
    bounds: ResponseBounds | None = None
    names_dues: bool = False  # its lines may hold windows, which only its recorder can compute
    slack: int = 0  # milliseconds that its host, while it runs, adds to deadlines
    version: int = VERSION


class TraceEvent(NamedTuple):
    """One event."""

    time_ms: int
    kind: str
    fields: Mapping[str, object] = {}  # never changed

    @property
    def subject(self) -> str:
        """The task, or job, that it is about."""
        return str(self.fields.get("task") or self.fields.get("identity") or "")


@dataclass(frozen=True, slots=True)
class SimultaneousEvents:
    """The events of one position, at least one: a set, all at one instant by one clock."""

    events: tuple[TraceEvent, ...]

    @property
    def time_ms(self) -> int:
        """Their instant."""
        return self.events[0].time_ms


TracePosition: TypeAlias = TraceEvent | SimultaneousEvents
"""One position of a trace."""


def events_of(line: TracePosition) -> tuple[TraceEvent, ...]:
    """Return the events of a position, in the order in which a reader takes one after the other."""
    if not isinstance(line, SimultaneousEvents):
        return (line,)
    is_varied = len({event.kind for event in line.events}) == len(line.events)
    return tuple(sorted(line.events, key=_place if is_varied else _place_among_alike))


def simultaneous(events: Iterable[TraceEvent]) -> TracePosition:
    """Return the position that holds these events and no others."""
    found = tuple(events)
    return found[0] if len(found) == 1 else SimultaneousEvents(found)


def write_header(header: TraceHeader) -> str:
    """Return the first line of a trace."""
    fields: dict[str, object] = {"trace": header.version, "contract": header.contract, "timezone": header.timezone}
    if header.bounds is not None:
        fields["bounds"] = header.bounds._asdict()
    if header.names_dues:
        fields["dues"] = _NAMED
    if header.slack:
        fields["slackMs"] = header.slack
    return _line(fields)


def write_event(position: TracePosition) -> str:
    """Return the line of a position."""
    if isinstance(position, SimultaneousEvents):
        return f"[{', '.join(map(write_event, position.events))}]"
    t, event, fields = position
    if len(fields) == 1 and isinstance(task := fields.get("task"), str):  # nearly all are of runs
        return f'{{"t": {t}, "event": "{event}", "task": {encode_basestring(task)}}}'
    return _line({"t": t, "event": event, **fields})


def read_trace(lines: Iterable[str], contracts: Iterable[str]) -> tuple[TraceHeader, Iterator[TracePosition]]:
    """Return the header, and the positions as they are asked for; InvalidTraceError names the line."""
    numbered = enumerate(lines, 1)
    number, first = next(numbered, (1, ""))
    header = _read_header(number, first, tuple(contracts))
    return header, _read_positions(numbered, header.version)


def registrations_of(position: TraceEvent) -> list[TracedTask]:
    """Return the list of an InitStart."""
    items = position.fields["registrations"]
    assert isinstance(items, list), "it was checked when the line was read"
    return [TracedTask(item["name"], item["cron"], item["retryDelayMs"]) for item in items]


def memories_of(position: TraceEvent) -> dict[str, TracedRecord]:
    """Return what an InitSuccess says that the ledger remembered, by the names of the tasks."""
    items = position.fields.get("remembered") or []
    assert isinstance(items, list), "it was checked when the line was read"
    return {
        item["task"]: TracedRecord(
            TracedTask(item["task"], item["cron"], item["retryDelayMs"]),
            item["first"],
            item.get("lastStart"),
            item.get("retryAt"),
            is_interrupted=item.get("interrupted", False),
            last_failure=item.get("lastFailure"),
        )
        for item in items
    }


def last_dues_of(position: TraceEvent) -> Mapping[str, int]:
    """Return when the tasks of an InitSuccess were due last, those that were, in a trace that names its Dues."""
    found = position.fields.get("lastDue") or {}
    assert isinstance(found, dict), "it was checked when the line was read"
    return found


def clock_of(position: TraceEvent) -> int:
    """Return what the clock showed, which is earlier than the trace has it while it is set back."""
    clock = position.fields.get("clock")
    return clock if isinstance(clock, int) else position.time_ms


def _line(fields: Mapping[str, object]) -> str:
    return _encoder.encode(fields)


def _place(event: TraceEvent) -> int:
    return _PLACES[event.kind]


def _place_among_alike(event: TraceEvent) -> tuple[int, str]:
    return _PLACES[event.kind], repr(sorted(event.fields.items()))


def _json(number: int, text: str) -> object:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        reason = "must be a JSON object in one line; this one is cut off or damaged"
        raise InvalidTraceError(line=number, field="line", found=text.strip(), reason=reason) from error


def _read_header(number: int, text: str, contracts: tuple[str, ...]) -> TraceHeader:
    if not text.strip():
        raise InvalidTraceError(line=number, field="line", found="", reason="must be a JSON object, the header")
    fields = _json(number, text)
    if not isinstance(fields, dict):
        raise InvalidTraceError(line=number, field="line", found=text.strip(), reason="must be a JSON object")
    version = fields.get("trace")
    if not _is_count(version) or version not in _VERSIONS:
        reason = f"must be {' or '.join(map(str, _VERSIONS))}, in a header before all events"
        raise InvalidTraceError(line=number, field="trace", found=version, reason=reason)
    contract, timezone = fields.get("contract"), fields.get("timezone", "UTC")
    if contract not in contracts:
        reason = f"must be one of {', '.join(contracts)}"
        raise InvalidTraceError(line=number, field="contract", found=contract, reason=reason)
    if not isinstance(timezone, str):
        raise InvalidTraceError(line=number, field="timezone", found=timezone, reason="must be the name of a zone")
    if fields.get("dues") not in (None, _NAMED):
        reason = f"must be {_NAMED}, or not be there"
        raise InvalidTraceError(line=number, field="dues", found=fields["dues"], reason=reason)
    slack = fields.get("slackMs", 0)
    if not _is_count(slack):
        reason = "must be a whole number of milliseconds"
        raise InvalidTraceError(line=number, field="slackMs", found=slack, reason=reason)
    bounds = _read_bounds(number, fields.get("bounds"))
    return TraceHeader(str(contract), timezone, bounds, names_dues="dues" in fields, slack=slack, version=int(version))


def _read_bounds(number: int, found: object) -> ResponseBounds | None:
    if found is None:
        return None
    if isinstance(found, dict) and set(found) == set(ResponseBounds._fields):
        bounds = ResponseBounds(**found)
        if all(_is_count(value) for value in bounds):
            return bounds
    reason = "must hold a, b and lag, each a whole number of milliseconds"
    raise InvalidTraceError(line=number, field="bounds", found=found, reason=reason)


def _read_positions(numbered: Iterable[tuple[int, str]], version: int) -> Iterator[TracePosition]:
    last: int | None = None
    blank: int | None = None
    for number, text in numbered:
        if not text.strip():
            blank = blank or number
            continue
        if blank is not None:
            raise InvalidTraceError(line=blank, field="line", found="nothing", reason="must be an event")
        found = _json(number, text)
        position = _read_event(number, found) if isinstance(found, dict) else _read_set(number, text, found, version)
        t = position.time_ms
        if last is not None and t < last:
            reason = f"must not be before that of the line above, {last}"
            raise InvalidTraceError(line=number, field="t", found=t, reason=reason)
        last = t
        yield position


def _read_set(number: int, text: str, found: object, version: int) -> TracePosition:
    """Return the position of a line that holds a list."""
    if version == 1 or not isinstance(found, list):
        reason = "must be a JSON object" + ("" if version == 1 else ", or a list of them")
        raise InvalidTraceError(line=number, field="line", found=text.strip(), reason=reason)
    if not found or not all(isinstance(item, dict) for item in found):
        reason = "must hold JSON objects, at least one"
        raise InvalidTraceError(line=number, field="line", found=text.strip(), reason=reason)
    events = [_read_event(number, item) for item in found]
    for field, read in (("t", _t_of), ("clock", clock_of)):
        differs = next((read(event) for event in events if read(event) != read(events[0])), None)
        if differs is not None:
            reason = f"must be that of the other events of the line, {read(events[0])}"
            raise InvalidTraceError(line=number, field=field, found=differs, reason=reason)
    return simultaneous(events)


def _t_of(event: TraceEvent) -> int:
    return event.time_ms


def _read_event(number: int, fields: Mapping[str, object]) -> TraceEvent:
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
    return TraceEvent(time, event, rest)


# --- the fields of events ---------------------------------------------------------------------------------------------


def _check_field(number: int, field: str, value: object) -> None:
    """Refuse a field of another type; an unknown field may hold anything."""
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
    """Whether it is a whole number, not below 0."""
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
    "retries": _COUNT,
    "deadlineMs": _COUNT,
    "slackMs": _COUNT,
    "concurrency": (lambda value: value in CONCURRENCY, f"must be one of {', '.join(CONCURRENCY)}"),
    "acceptedMs": (_is_instant, "must be a whole number of milliseconds"),
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
