"""OnlineMonitor: judge a trace while its scheduler runs, in turns in which the event loop is idle."""

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

from kron.rules.events import Event, make_event
from kron.theory.checker import Checker
from kron.theory.results import PropertyResult, TraceReport
from kron.theory.trace_format import TraceHeader, TracePosition

_BATCH = 250  # weight of the calls made in one turn of the event loop: about a millisecond
_MOST = 20_000  # weight that may wait; the caller that exceeds it makes the calls itself


class DeferredCalls:
    """Takes calls at next to no cost, and makes them in their order."""

    def __init__(self) -> None:
        self._waiting: deque[tuple[int, Callable[..., object], tuple[Any, ...]]] = deque()
        self._weight = 0
        self._is_asked_for = False

    def __call__(self, weight: int, call: Callable[..., object], *arguments: object) -> None:
        """Take a call; its weight says how long it takes, beside those that weigh one."""
        self._waiting.append((weight, call, arguments))
        self._weight += weight
        if self._weight > _MOST:
            self.flush()
        elif not self._is_asked_for:
            with suppress(RuntimeError):  # without an event loop they wait for `flush`
                asyncio.get_running_loop().call_soon(self._go_on)
                self._is_asked_for = True

    def flush(self) -> None:
        """Make all calls that wait."""
        self._make(self._weight)

    def _go_on(self) -> None:
        self._make(_BATCH)
        self._is_asked_for = bool(self._waiting)
        if self._is_asked_for:
            asyncio.get_running_loop().call_soon(self._go_on)

    def _make(self, weight: int) -> None:
        while self._waiting and weight > 0:
            own, call, arguments = self._waiting.popleft()
            self._weight -= own
            weight -= own
            call(*arguments)


_TOGETHER = 250  # runs judged in one go


class OnlineMonitor:
    """Its memory depends on the number of tasks. A violation is an event of its own, the first of each property.

    It judges while the event loop has nothing better to do, so that no run waits for it.
    """

    def __init__(self, header: TraceHeader, tell: Callable[[Event], object]) -> None:
        self._tell = tell
        self._checker = Checker(header)
        self._checker.listen(self._on_violation)
        self._later = DeferredCalls()
        self.found: list[PropertyResult] = []

    @property
    def violations(self) -> int:
        """How many properties were found violated."""
        return len(self.found)

    def emit(self, position: TracePosition) -> None:
        """Take one position."""
        self._later(1, self._checker.read, position)

    def emit_batch(self, t: int, event: str, tasks: Sequence[str]) -> None:
        """Take runs that start, or end well, one after the other at one instant."""
        for first in range(0, len(tasks), _TOGETHER):
            some = tasks[first : first + _TOGETHER]
            self._later(len(some), self._checker.read_batch, t, event, some)

    def flush(self) -> None:
        """Judge all that was taken."""
        self._later.flush()

    def report(self) -> TraceReport:
        """Return what is known by now."""
        self.flush()
        return self._checker.report()

    def _on_violation(self, finding: PropertyResult) -> None:
        self.found.append(finding)
        blame = finding.blame.value if finding.blame is not None else "unknown"
        fields = {"property": finding.property.name, "blame": blame, "explanation": finding.explanation}
        self._tell(make_event("PropertyViolated", **fields))
