"""Traces of jobs with periods, from a short notation: "I D1 RS1 REs1 O1(executed)".

An event has its letter, the number of its period, what it says in brackets, and after `@` its second; without one it
comes a millisecond after the event before. `I` is `IS IEs`, `D` a Decision, `O` an Outcome. Before a colon stands the
job, `a` if there is none. Period 7 is that of minute 7; its window is an hour, and its chosen second is its thirtieth
unless the brackets name another, or `-` for none; after a slash they name the definition. More fields follow a
semicolon: `D1(;forbid,deadline=10,retries=1)`, `O1(executed;accepted=95,slack=5)`, `RS1(2;retries=1)`, in seconds.
Events that share a position are joined by `&`.
"""

import re
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from kron.instant import format_instant
from kron.theory.alphabet import EVENTS
from kron.theory.checker import Checker
from kron.theory.results import TraceReport
from kron.theory.trace_format import TraceEvent, TraceHeader, TracePosition, simultaneous

_EVENT = re.compile(
    r"(?:(?P<job>[a-z]):)?(?P<letter>[A-Z][A-Za-z]*)(?P<period>\d*)(?:\((?P<says>[^;)]*)(?:;(?P<more>[^)]*))?\))?"
)
_NAMES = {**{kind.atom: name for name, kind in EVENTS.items()}, "D": "Decision", "O": "Outcome"}
_FIELDS = {"deadline": "deadlineMs", "accepted": "acceptedMs", "slack": "slackMs"}
_UNITS = dict.fromkeys(_FIELDS, 1000)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def period_trace(text: str) -> list[TracePosition]:
    """Return the positions that a text names."""
    positions: list[TracePosition] = []
    t = call = 0
    for word in text.split():
        events, _, second = word.partition("@")
        t = round(float(second) * 1000) if second else t + 1
        call += events in ("I", "IS", "SS")
        if events == "I":
            positions += [_event(t, letter, call) for letter in ("IS", "IEs")]
        else:
            positions.append(simultaneous(_event(t, event, call) for event in events.split("&")))
    return positions


def _event(t: int, text: str, call: int) -> TraceEvent:
    found = _EVENT.fullmatch(text)
    assert found is not None, text
    fields = _fields(found["letter"], call, (found["job"] or "a", found["period"], found["says"]))
    return TraceEvent(t, _NAMES[found["letter"]], {**fields, **_more(found["more"] or "")})


def _more(text: str) -> dict[str, object]:
    """Return the fields that follow a semicolon."""
    fields: dict[str, object] = {}
    for word in filter(None, text.split(",")):
        key, has_value, value = word.partition("=")
        if has_value:
            fields[_FIELDS.get(key, key)] = round(float(value) * _UNITS.get(key, 1))
        else:
            fields["concurrency"] = key
    return fields


def judge_periods(text: str, *, slack: float = 0) -> TraceReport:
    """Return the report on a trace, of a host with a slack in seconds."""
    return judge_positions(period_trace(text), slack=round(slack * 1000))


def judge_positions(positions: Sequence[TracePosition], *, slack: int = 0) -> TraceReport:
    """Return the report on positions of hosts that choose a second for each period."""
    checker = Checker(TraceHeader("kron", slack=slack))
    for position in positions:
        checker.read(position)
    return checker.report()


def minute(number: int, second: int = 0) -> str:
    """Return the text of a second of a minute."""
    return format_instant(_EPOCH + timedelta(minutes=number, seconds=second))


def decision(number: int, chosen: object, definition: str = "v1", *, job: str = "a") -> dict[str, object]:
    """Return the fields of a Decision for a period."""
    return {
        "identity": job,
        "period": minute(number),
        "windowStart": minute(number),
        "windowEnd": minute(number + 60),
        "chosen": chosen,
        "seedHash": f"{number:064x}",
        "definition": definition,
    }


def _fields(letter: str, call: int, said: tuple[str, str, str | None]) -> dict[str, object]:
    job, number, says = said
    period: dict[str, object] = {"period": minute(int(number))} if number else {}
    match letter:
        case "IS":
            return {"call": call, "registrations": []}
        case "IEs" | "IEf" | "SS" | "SE":
            return {"call": call}
        case "D":
            chosen, _, definition = (says or "").partition("/")
            second = None if chosen == "-" else minute(0, int(chosen)) if chosen else minute(int(number), 30)
            return decision(int(number), second, definition or "v1", job=job)
        case "O":
            return {"identity": job, **period, "outcome": says}
        case "Suspended" | "Resumed":
            return {"identity": job}
        case "RS" | "REs" | "REf":
            return {"task": job, **period, **({"attempt": int(says)} if says else {})}
        case "End":
            return {"closed": True}
        case _:
            return {}
