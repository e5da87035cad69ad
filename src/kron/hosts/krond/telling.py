"""Telling: what happened is told in its order, with its time, and never while something waits to be started."""

import asyncio
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any, NamedTuple

from kron.decision.decision import Decision
from kron.engine.emitter import Emitter
from kron.engine.jobs.execution import Chronicle, Execution
from kron.engine.ports import Sink
from kron.instant import SECOND, Instant
from kron.rules.event import Event
from kron.rules.job_record import End, PeriodRecord
from kron.rules.work import Work

_TOGETHER = 20  # calls made in one turn of the event loop: nobody waits more than a few milliseconds for them
_PAUSE = 0.02  # seconds between two looks whether a burst of starts is over
_LONGEST = SECOND  # that the oldest waits, however many starts there are
_MOST = 20_000  # calls that may wait; whoever brings more makes them


class Telling:
    """Takes calls at next to no cost. All of it is in the ledger already: who is told may wait, who starts may not."""

    def __init__(self, now: Callable[[], Instant]) -> None:
        self._now = now
        self._is_starting: Callable[[], bool] = lambda: False
        self._waiting: deque[tuple[Instant, Callable[..., object], tuple[Any, ...]]] = deque()
        self._at: Instant | None = None  # of the call that is being made
        self._is_asked_for = False

    def wait_while(self, is_starting: Callable[[], bool]) -> None:
        """Make no calls as long as this is so."""
        self._is_starting = is_starting

    def now(self) -> Instant:
        """Return when that happened which is being told; the present if nothing is."""
        return self._now() if self._at is None else self._at

    def __call__(self, call: Callable[..., object], *arguments: object) -> None:
        """Take a call."""
        self._waiting.append((self._now(), call, arguments))
        if len(self._waiting) > _MOST:
            self.flush()
        elif not self._is_asked_for:
            with suppress(RuntimeError):  # without an event loop they wait for `flush`
                asyncio.get_running_loop().call_soon(self._go_on)
                self._is_asked_for = True

    def flush(self) -> None:
        """Make all calls that wait."""
        self._make(len(self._waiting))

    def sink(self, sink: Sink) -> Sink:
        """Return a sink that passes events on in their turn."""
        emitter = Emitter(sink)

        def take(event: Event) -> None:
            self(emitter.emit, (event,))

        return take

    def chronicle(self, chronicle: Chronicle) -> Chronicle:
        """Return a chronicle that passes on what it is told in its turn."""
        return _Chronicle(self, chronicle)

    def _go_on(self) -> None:
        loop = asyncio.get_running_loop()
        if self._waiting and self._is_starting() and self._now() - self._waiting[0][0] < _LONGEST:
            loop.call_later(_PAUSE, self._go_on)
            return
        try:
            self._make(_TOGETHER)
        finally:  # an error that nobody thought of is told by the event loop, and must not silence all others
            self._is_asked_for = bool(self._waiting)
            if self._is_asked_for:
                loop.call_soon(self._go_on)

    def _make(self, most: int) -> None:
        for _ in range(min(most, len(self._waiting))):
            self._at, call, arguments = self._waiting.popleft()
            try:
                call(*arguments)
            finally:
                self._at = None


class _Chronicle:
    def __init__(self, telling: Telling, chronicle: Chronicle) -> None:
        self._telling, self._chronicle = telling, chronicle

    def on_closed(self, work: Work, record: PeriodRecord, last: Decision) -> None:
        self._telling(self._chronicle.on_closed, work, record, last)

    def on_begun(self, execution: Execution, decision: Decision | None) -> None:
        self._telling(self._chronicle.on_begun, execution, decision)

    def on_ended(self, execution: Execution, end: End) -> None:
        self._telling(self._chronicle.on_ended, execution, end)

    def on_suspended(self, identity: str, *, suspended: bool) -> None:
        self._telling(partial(self._chronicle.on_suspended, identity, suspended=suspended))

    def on_given_up(self, run_id: str) -> None:
        self._telling(self._chronicle.on_given_up, run_id)


class Output(NamedTuple):
    """Where events go, and by whom they are told."""

    sink: Sink
    telling: Telling

    def in_turn(self) -> Sink:
        """Return the sink for those who are not told themselves."""
        return self.telling.sink(self.sink)
