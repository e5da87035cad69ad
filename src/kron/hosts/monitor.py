"""Monitor: a sink that judges a scheduler while it runs, beside the sink that was there, and tells it of violations."""

from collections.abc import Callable

from kron.engine.ports import Sink
from kron.hosts.recorder import Recorder
from kron.instant import Instant
from kron.rules.event import Event, event
from kron.theory.checker import Checker
from kron.theory.report import Finding, Report
from kron.theory.trace import Header


class Monitor:
    """Its memory depends on the number of tasks. A violation is an event of its own, the first of each property."""

    def __init__(self, sink: Sink, header: Header, now: Callable[[], Instant]) -> None:
        self._sink = sink
        self._wants: Callable[[str], bool] = getattr(sink, "wants", lambda _: True)
        self._checker = Checker(header)
        self._checker.listen(self._on_violation)
        self._recorder = Recorder(now, self._checker.read)
        self.on_start, self.on_end = self._recorder.on_start, self._recorder.on_end
        self.violations = 0

    def wants(self, _level: str) -> bool:
        """Whether an event of this level is of use: all are."""
        return True

    def __call__(self, event: Event) -> None:
        """Judge an event, then hand it on to whom it was meant for."""
        self._recorder(event)
        if self._wants(event.level):
            self._sink(event)

    def report(self) -> Report:
        """Return what is known by now."""
        return self._checker.report()

    def _on_violation(self, finding: Finding) -> None:
        self.violations += 1
        fields = {"property": finding.subject.name, "explanation": finding.explanation}
        blame = finding.blame.value if finding.blame is not None else "unknown"
        self._sink(event("PropertyViolated", **fields, blame=blame))
