"""Monitor: judges the positions of a scheduler's trace as they come, and tells a sink of what is violated."""

from collections.abc import Callable

from kron.rules.event import Event, event
from kron.theory.checker import Checker
from kron.theory.report import Finding, Report
from kron.theory.trace import Header, Position


class Monitor:
    """Its memory depends on the number of tasks. A violation is an event of its own, the first of each property."""

    def __init__(self, header: Header, tell: Callable[[Event], object]) -> None:
        self._tell = tell
        self._checker = Checker(header)
        self._checker.listen(self._on_violation)
        self.take: Callable[[Position], None] = self._checker.read
        self.violations = 0

    def report(self) -> Report:
        """Return what is known by now."""
        return self._checker.report()

    def _on_violation(self, finding: Finding) -> None:
        self.violations += 1
        blame = finding.blame.value if finding.blame is not None else "unknown"
        fields = {"property": finding.subject.name, "blame": blame, "explanation": finding.explanation}
        self._tell(event("PropertyViolated", **fields))
