"""Findings: what was violated first, of each property, and what is still open."""

from collections.abc import Callable, Iterable

from kron.theory.alphabet import EVENTS
from kron.theory.explanation import explain
from kron.theory.jury import Jury
from kron.theory.meaning import Verdict
from kron.theory.properties import Property, Scope
from kron.theory.report import Finding
from kron.theory.subjects import Subject
from kron.theory.trace import Bounds

_MINUTE = 60_000
_NAMED = 3  # of those who wait, so many are named


class Findings:
    """Collects violations as they come; of each property the first one counts."""

    def __init__(self, bounds: Bounds | None) -> None:
        self._bounds = bounds
        self._violations: dict[str, Finding] = {}
        self.on_violation: Callable[[Finding], object] = lambda _: None

    def violate(self, jury: Jury, each: Property, subject: Subject, at: tuple[int, str]) -> None:
        """Note a violation at a line, which holds an event."""
        if each.name not in self._violations:
            line, event = at
            explanation, lines = explain(each, subject, jury, line)
            blame = each.blame or EVENTS[event].owner
            self.add(Finding(each, Verdict.VIOLATED, line, subject.name, blame, explanation, lines))

    def add(self, finding: Finding) -> None:
        """Note a violation, unless there is an earlier one."""
        if finding.subject.name not in self._violations:
            self._violations[finding.subject.name] = finding
            self.on_violation(finding)

    def of(self, each: Property, waiting: list[str]) -> Finding:
        """Return what is known of a property; `waiting` are those of whom it is not known yet."""
        if each.name in self._violations:
            return self._violations[each.name]
        if each.is_always_open:
            return Finding(each, Verdict.UNDECIDED, blame=each.blame, explanation="no finite trace decides it")
        if each.scope is Scope.HEADER and self._bounds is not None and self._bounds.lag >= _MINUTE:
            text = f"the header names a lag of {self._bounds.lag} ms"
            return Finding(each, Verdict.VIOLATED, blame=each.blame, explanation=text)
        if not waiting:
            return Finding(each, Verdict.HOLDS, blame=each.blame)
        more = f" and {len(waiting) - _NAMED} more" if len(waiting) > _NAMED else ""
        text = f"open: {', '.join(waiting[:_NAMED])}{more}"
        return Finding(each, Verdict.UNDECIDED, about=waiting[0], blame=each.blame, explanation=text)


def waiting(each: Property, groups: Iterable[tuple[Jury, Iterable[Subject]]]) -> list[str]:
    """Return of whom a property is not known yet."""
    found: list[str] = []
    for jury, members in groups:
        if each in jury.timed:
            place = jury.timed.index(each)
            is_call = each.scope is Scope.STOP  # one that has not returned is open also while something runs
            found += [member.name for member in members if is_call or member.debts[place] is not None]
        elif each in jury.plain:
            found += [member.name for member in members if each in jury.open(member.stand.state)]
    return found
