"""Mishaps: errors that nobody else catches become events, one a second at most, and never lines of their own."""

import traceback
from asyncio import AbstractEventLoop, TimerHandle
from typing import Any

from kron.engine.emitter import Emitter
from kron.rules.telling import error_text

_QUIET = 1.0  # seconds between two events; without descriptors the event loop has dozens of errors in one turn


class Mishaps:
    """The exception handler of an event loop. Of many errors in a row, the last stands for all."""

    def __init__(self, emitter: Emitter) -> None:
        self._emitter = emitter
        self._last: dict[str, Any] = {}
        self._times = 0
        self._quiet: TimerHandle | None = None

    def __call__(self, loop: AbstractEventLoop, context: dict[str, Any]) -> None:
        """Take an error."""
        self._last = context
        self._times += 1
        if self._quiet is None:
            self._tell(loop)

    def _tell(self, loop: AbstractEventLoop) -> None:
        self._quiet = None
        if self._times:
            error, times, self._times = self._last.get("exception"), self._times, 0
            said = "" if error is None else f": {error_text(error)}"
            trace = "" if error is None else "".join(traceback.format_exception(error))
            self._emitter.tell("ErrorCaught", error=f"{self._last['message']}{said}", times=times, trace=trace)
            self._last = {}
            self._quiet = loop.call_later(_QUIET, self._tell, loop)
