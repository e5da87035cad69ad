"""Traces from the theory's short notation: "I Due(a) RS(a)@61 End@90".

An event has its letter of the theory, a task in brackets where it is about one, and after `@` its second; without one
it comes a millisecond after the event before. `I` is `IS(R) IEs(R)`; `D` in brackets is a list with a name twice.
Events that share a position are joined by `&`.
"""

import re
from itertools import pairwise

from kron.theory.alphabet import EVENTS
from kron.theory.checker import Checker
from kron.theory.results import PropertyResult, TraceReport
from kron.theory.trace_format import ResponseBounds, TraceEvent, TraceHeader, TracePosition, simultaneous

HOUR = 3_600_000
_EVENT = re.compile(r"(?P<letter>[A-Za-z]+)(?:\((?P<what>[^)]*)\))?(?:#(?P<call>\d+))?")
_NAMES = {kind.atom: name for name, kind in EVENTS.items()}
HOURLY = {"name": "a", "cron": "5 * * * *", "retryDelayMs": 300_000}
LISTS: dict[str | None, list[dict[str, object]]] = {
    None: [HOURLY],
    "R": [HOURLY],
    "D": [HOURLY, HOURLY],
    "R2": [HOURLY, {**HOURLY, "name": "b"}],
    "": [],
}


def trace(text: str) -> list[TracePosition]:
    """Return the positions that a text names."""
    positions: list[TracePosition] = []
    t = 0
    for word in text.split():
        events, _, second = word.partition("@")
        t = round(float(second) * 1000) if second else t + 1
        if events.startswith("I") and not events.startswith(("IS", "IE")):
            positions += [_event(t, f"{letter}{events[1:]}") for letter in ("IS", "IEs")]
        else:
            positions.append(simultaneous(_event(t, event) for event in events.split("&")))
    return positions


def _event(t: int, text: str) -> TraceEvent:
    found = _EVENT.fullmatch(text)
    assert found is not None, text
    return _position(t, found["letter"], found["what"], int(found["call"] or 1))


def _position(t: int, letter: str, what: str | None, call: int) -> TraceEvent:
    name = _NAMES[letter]
    fields: dict[str, object] = {}
    if letter == "IS":
        fields = {"call": call, "registrations": LISTS[what]}
    elif "call" in EVENTS[name].required:
        fields = {"call": call, "cause": "environment"} if what == "world" else {"call": call}
    elif letter == "End":
        fields = {"closed": what == "closed"}
    elif "task" in EVENTS[name].required:
        fields = {"task": what or "a"}
    return TraceEvent(t, name, fields)


def judge(
    text: str,
    contract: str = "declarative",
    *,
    adds: bool = False,
    bounds: ResponseBounds | None = None,
    timezone: str = "UTC",
) -> TraceReport:
    """Return the report on a trace; Dues and RetryDues are those of the text, unless they are to be added."""
    checker = Checker(TraceHeader(contract, timezone, bounds), adds_due=adds, adds_retry_due=adds)
    for position in trace(text):
        checker.read(position)
    return checker.report()


def finding(report: TraceReport, name: str) -> PropertyResult:
    """Return what a report says of one property."""
    return next(each for each in report.findings if each.property.name == name)


def violated(report: TraceReport) -> set[str]:
    """Return the names of the violated properties."""
    return {each.property.name for each in report.findings if each.verdict.value == "violated"}


def undecided(report: TraceReport) -> set[str]:
    """Return the names of the undecided ones, without those that no finite trace decides."""
    return {
        each.property.name
        for each in report.findings
        if each.verdict.value == "undecided" and not each.property.is_always_open
    }


def has_another_list(positions: list[TraceEvent]) -> bool:
    """Whether a list became the current one that is not the one before."""
    lists = {each.fields["call"]: each.fields["registrations"] for each in positions if each.kind == "InitStart"}
    current = [lists[each.fields["call"]] for each in positions if each.kind == "InitSuccess"]
    return any(before != after for before, after in pairwise(current))
