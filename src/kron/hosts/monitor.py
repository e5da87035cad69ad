"""Monitor: judges the positions of a scheduler's trace as they come, and tells a sink of what is violated."""

from collections.abc import Callable, Sequence

from kron.hosts.deferred import Deferred
from kron.rules.event import Event, event
from kron.theory.checker import Checker
from kron.theory.report import Finding, Report
from kron.theory.trace import Header, Line

_TOGETHER = 250  # runs judged in one go


class Monitor:
    """Its memory depends on the number of tasks. A violation is an event of its own, the first of each property.

    It judges while the event loop has nothing better to do, so that no run waits for it.
    """

    def __init__(self, header: Header, tell: Callable[[Event], object]) -> None:
        self._tell = tell
        self._checker = Checker(header)
        self._checker.listen(self._on_violation)
        self._later = Deferred()
        self.found: list[Finding] = []

    @property
    def violations(self) -> int:
        """How many properties were found violated."""
        return len(self.found)

    def take(self, position: Line) -> None:
        """Take one position."""
        self._later(1, self._checker.read, position)

    def take_runs(self, t: int, event: str, tasks: Sequence[str]) -> None:
        """Take runs that start, or end well, one after the other at one instant."""
        for first in range(0, len(tasks), _TOGETHER):
            some = tasks[first : first + _TOGETHER]
            self._later(len(some), self._checker.read_runs, t, event, some)

    def flush(self) -> None:
        """Judge all that was taken."""
        self._later.flush()

    def report(self) -> Report:
        """Return what is known by now."""
        self.flush()
        return self._checker.report()

    def _on_violation(self, finding: Finding) -> None:
        self.found.append(finding)
        blame = finding.blame.value if finding.blame is not None else "unknown"
        fields = {"property": finding.subject.name, "blame": blame, "explanation": finding.explanation}
        self._tell(event("PropertyViolated", **fields))
