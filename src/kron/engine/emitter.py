"""Emitter, Observers: hand events and reports on, and let no error of a sink or an observer through to a run."""

from asyncio import CancelledError
from collections.abc import Callable, Iterable
from logging import getLogger
from typing import Any, Concatenate, Generic, ParamSpec

from kron.engine.ports import RunObserver, Sink
from kron.engine.runs import AnyRun
from kron.instant import Instant
from kron.rules.events import EVENTS, Event, make_event

_P = ParamSpec("_P")
_log = getLogger("kron")
_FAILURES = (Exception, CancelledError, GeneratorExit)  # all raised by the sink: the call does not wait


class Emitter:
    """A sink, asked what it wants and guarded against what it raises."""

    __slots__ = ("_complained", "_sink", "_wants")

    def __init__(self, sink: Sink) -> None:
        self._sink = sink
        wants = getattr(sink, "wants", None)
        self._wants: Callable[[str], bool] | None = wants if callable(wants) else None
        self._complained = False

    def wants(self, level: str) -> bool:
        """Whether the sink takes events of this level."""
        if self._wants is None:
            return True
        try:
            return bool(self._wants(level))
        except _FAILURES:
            self._complain()
            return False

    def takes(self, name: str) -> bool:
        """Whether the sink takes events of this name."""
        return self._wants is None or self.wants(EVENTS[name].level)

    def emit(self, events: Iterable[Event]) -> None:
        """Hand the events over, in their order."""
        for each in events:
            try:
                self._sink(each)
            except _FAILURES:
                self._complain()

    def tell(self, name: str, at: Instant | None = None, /, **fields: object) -> None:
        """Make one event and hand it over, if its level is wanted."""
        if self.takes(name):
            self.emit((make_event(name, None, at, **fields),))

    def _complain(self) -> None:
        if not self._complained:
            self._complained = True
            _log.exception("the sink of events failed; this is said once, later failures are silent")


class Observers(Generic[AnyRun]):
    """The observers of one engine. What is reported to them is passed on in order, at once or when `defer` calls."""

    def __init__(
        self,
        observers: list[RunObserver[AnyRun]],
        *,
        defer: Callable[..., object] | None = None,
        failed: Callable[[BaseException], object] | None = None,
    ) -> None:
        """The list may change later. `defer(call, *arguments)` makes a call when there is time, in the order of calls.

        `failed` takes what an observer raises; None: the first error goes to logging.
        """
        self._observers, self._defer, self._failed = observers, defer, failed or self._complain
        self._complained = False

    def add(self, observer: RunObserver[AnyRun]) -> None:
        """Report to one more."""
        self._observers.append(observer)

    def __bool__(self) -> bool:
        """Whether there is any."""
        return bool(self._observers)

    def report(
        self, method: Callable[Concatenate[Any, _P], object], /, *arguments: _P.args, **keywords: _P.kwargs
    ) -> None:
        """Call a method of `RunObserver` of each observer."""
        if self._defer is None:
            self._pass_on(method.__name__, arguments, keywords)
        else:
            self._defer(self._pass_on, method.__name__, arguments, keywords)

    def _pass_on(self, name: str, arguments: tuple[Any, ...], keywords: dict[str, Any]) -> None:
        for each in self._observers:
            try:
                getattr(each, name)(*arguments, **keywords)
            except _FAILURES as error:
                self._failed(error)

    def _complain(self, error: BaseException) -> None:
        if not self._complained:
            self._complained = True
            _log.error("an observer of runs failed; this is said once, later failures are silent", exc_info=error)


def log_crash(error: Exception) -> None:
    """Say that the engine's loop ended by an error."""
    _log.critical("the scheduler has stopped working; please report this", exc_info=error)
