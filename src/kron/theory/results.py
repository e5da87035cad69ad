"""Results of properties: violations with their explanation, what is undecided, and the report of a trace."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from kron.theory.alphabet import EVENTS, Owner
from kron.theory.formula import Formula, TruthValue
from kron.theory.properties import (
    ACTIVE,
    BOOT_PENDING,
    DUE_PENDING,
    ORPHANED_PENDING,
    P3,
    REGISTERED,
    RETRY_PENDING,
    RUNNING,
    S1,
    Property,
    Scope,
)
from kron.theory.property_monitor import MonitorInstance, PropertyMonitor
from kron.theory.trace_format import ResponseBounds


@dataclass(frozen=True, slots=True)
class PropertyResult:
    """What is known of one property: where it was violated first, whose fault that is, and what led there."""

    property: Property
    verdict: TruthValue
    line: int | None = None  # the number of the event's line, from 0; the header does not count
    instance: str = ""  # which task, call or period
    blame: Owner | None = None
    explanation: str = ""
    lines: tuple[int, ...] = ()  # the lines that the explanation rests on

    def to_fields(self) -> dict[str, object]:
        """Return the finding as JSON has it."""
        return {
            "name": self.property.name,
            "verdict": self.verdict.value,
            "at": self.line,
            "blame": self.blame.value if self.blame is not None else None,
            "explanation": self.explanation,
            "about": self.instance or None,
            "lines": list(self.lines),
        }


@dataclass(frozen=True, slots=True)
class TraceReport:
    """All findings, in the order of the suite."""

    findings: Sequence[PropertyResult]
    positions: int = field(default=0)  # events and the pulses added to them

    @property
    def verdict(self) -> TruthValue:
        """Violated if any property is; else undecided if any is that a longer trace would decide; else it holds."""
        counted = [finding.verdict for finding in self.findings if not finding.property.is_always_open]
        if TruthValue.VIOLATED in counted:
            return TruthValue.VIOLATED
        return TruthValue.UNDECIDED if TruthValue.UNDECIDED in counted else TruthValue.HOLDS

    @property
    def blames(self) -> frozenset[Owner]:
        """Whose fault the violations are."""
        violated = (finding for finding in self.findings if finding.verdict is TruthValue.VIOLATED)
        return frozenset(finding.blame for finding in violated if finding.blame is not None)

    def to_fields(self) -> dict[str, object]:
        """Return the report as JSON has it."""
        return {"verdict": self.verdict.value, "properties": [finding.to_fields() for finding in self.findings]}


QUERYABLE: tuple[Formula, ...] = (
    ACTIVE, REGISTERED, RUNNING, DUE_PENDING, RETRY_PENDING, ORPHANED_PENDING, BOOT_PENDING,
)  # fmt: skip
_DEMANDS = (DUE_PENDING, RETRY_PENDING, ORPHANED_PENDING, BOOT_PENDING)
_SLICE = 6  # lines that an explanation names


def explain(each: Property, subject: MonitorInstance, jury: PropertyMonitor, line: int) -> tuple[str, tuple[int, ...]]:
    """Return the explanation, and the numbers of the lines it rests on, the last one that of the violation."""
    past = sorted((number, event) for event, number in subject.last_lines().items() if number < line)[-_SLICE:]
    lines = (*(number for number, _ in past), line)
    whom = f"{subject.name}: " if subject.name else ""
    story = ", ".join(f"{event} at {number}" for number, event in past)
    before = f" (before: {story})" if story else ""
    debt = subject.pending[jury.response_properties.index(each)] if each in jury.response_properties else None
    if debt is not None:
        return f"{whom}owed since {debt.line}, not there at {line}{before}", lines
    if each in (S1, P3):
        return f"{whom}a start at {line}, but {_why_not(jury, subject)}{before}", lines
    if remark := subject.remark(each.name):
        return f"{whom}{remark}, at {line}{before}", lines
    return f"{whom}not so at {line}: {each.sentence}{before}", lines


def _why_not(jury: PropertyMonitor, task: MonitorInstance) -> str:
    """Return which part of an obligation was missing just before."""
    before = task.stand.previous
    if not jury.holds(before, REGISTERED):
        return "the current list does not name it"
    if not jury.holds(before, ACTIVE):
        return "no list is active"
    if jury.holds(before, RUNNING):
        return "it is still running"
    assert not any(jury.holds(before, demand) for demand in _DEMANDS)
    return "nothing is owed: no due instant, retry or restart is pending"


_MINUTE = 60_000
_NAMED = 3  # so many undecided subjects are named


class Violations:
    """Collects violations as they come; of each property the first one counts."""

    def __init__(self, bounds: ResponseBounds | None) -> None:
        self._bounds = bounds
        self._violations: dict[str, PropertyResult] = {}
        self.on_violation: Callable[[PropertyResult], object] = lambda _: None

    def add_violation(
        self, jury: PropertyMonitor, each: Property, subject: MonitorInstance, at: tuple[int, str]
    ) -> None:
        """Note a violation at a line, which holds an event, unless there is an earlier one."""
        if each.name not in self._violations:
            line, event = at
            explanation, lines = explain(each, subject, jury, line)
            blame = each.blame or EVENTS[event].owner
            found = PropertyResult(each, TruthValue.VIOLATED, line, subject.name, blame, explanation, lines)
            self._violations[each.name] = found
            self.on_violation(found)

    def of(self, each: Property, waiting: list[str]) -> PropertyResult:
        """Return what is known of a property; `waiting` are the subjects for which it is undecided."""
        if each.name in self._violations:
            return self._violations[each.name]
        if each.is_always_open:
            return PropertyResult(
                each, TruthValue.UNDECIDED, blame=each.blame, explanation="no finite trace decides it"
            )
        if each.scope is Scope.HEADER and self._bounds is not None and self._bounds.lag >= _MINUTE:
            text = f"the header names a lag of {self._bounds.lag} ms"
            return PropertyResult(each, TruthValue.VIOLATED, blame=each.blame, explanation=text)
        if not waiting:
            return PropertyResult(each, TruthValue.HOLDS, blame=each.blame)
        more = f" and {len(waiting) - _NAMED} more" if len(waiting) > _NAMED else ""
        text = f"open: {', '.join(waiting[:_NAMED])}{more}"
        return PropertyResult(each, TruthValue.UNDECIDED, instance=waiting[0], blame=each.blame, explanation=text)


def undecided_instances(
    each: Property, groups: Iterable[tuple[PropertyMonitor, Iterable[MonitorInstance]]]
) -> list[str]:
    """Return the subjects for which a property is undecided."""
    found: list[str] = []
    for jury, members in groups:
        if each in jury.response_properties:
            place = jury.response_properties.index(each)
            is_call = each.scope is Scope.STOP  # one that has not returned is open also while something runs
            found += [member.name for member in members if is_call or member.pending[place] is not None]
        elif each in jury.untimed_properties:
            found += [member.name for member in members if each in jury.undecided(member.stand.state)]
    return found
