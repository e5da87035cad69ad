"""Emitter: hands events to a sink that may be slow to care or quick to fail, and never disturbs a run."""

from asyncio import CancelledError
from collections.abc import Callable, Container, Iterable, Sequence
from logging import getLogger

from kron.engine.ports import Sink
from kron.engine.runs import TaskRun
from kron.instant import Instant
from kron.rules.events import EVENTS, Event, make_event

_log = getLogger("kron")
_FAILURES = (Exception, CancelledError, GeneratorExit)  # nobody cancels or closes a call that does not wait


class Emitter:
    """A sink, asked what it wants and guarded against what it raises."""

    __slots__ = ("_complained", "_needs", "_on_ends", "_on_starts", "_sink", "_wants")

    def __init__(self, sink: Sink) -> None:
        self._sink = sink
        wants = getattr(sink, "wants", None)
        self._wants: Callable[[str], bool] | None = wants if callable(wants) else None
        self._needs: Container[str] = getattr(sink, "needs", ())
        self._on_starts: Callable[[Sequence[str], Instant], object] | None = getattr(sink, "on_starts", None)
        self._on_ends: Callable[[Sequence[TaskRun]], object] | None = getattr(sink, "on_ends", None)
        self._complained = False

    def wants(self, level: str) -> bool:
        """Whether an event of this level would be read by anybody."""
        if self._wants is None:
            return True
        try:
            return bool(self._wants(level))
        except _FAILURES:
            self._complain()
            return False

    def takes(self, name: str) -> bool:
        """Whether an event of this name would be read by anybody."""
        return self._wants is None or name in self._needs or self.wants(EVENTS[name].level)

    def emit(self, events: Iterable[Event]) -> None:
        """Hand the events over, in their order."""
        for each in events:
            try:
                self._sink(each)
            except _FAILURES:
                self._complain()

    def tell(self, name: str, at: Instant | None = None, subject: object = None, /, **fields: object) -> None:
        """Make one event and hand it over, if its level is wanted."""
        if self.takes(name):
            self.emit((make_event(name, None, at, subject, **fields),))

    def note_starts(self, names: Sequence[str], at: Instant) -> None:
        """Say that runs start to a sink that wants to know it without events."""
        if self._on_starts is not None:
            try:
                self._on_starts(names, at)
            except _FAILURES:
                self._complain()

    def note_ends(self, runs: Sequence[TaskRun]) -> None:
        """Say that runs have ended, likewise."""
        if self._on_ends is not None:
            try:
                self._on_ends(runs)
            except _FAILURES:
                self._complain()

    def _complain(self) -> None:
        if not self._complained:
            self._complained = True
            _log.exception("the sink of events failed; this is said once, later failures are silent")


def log_crash(error: Exception) -> None:
    """Say that the engine's loop ended by an error."""
    _log.critical("the scheduler has stopped working; please report this", exc_info=error)
