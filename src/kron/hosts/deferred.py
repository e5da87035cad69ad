"""Deferred: hands things on a little later, while the event loop waits for a disk or for time."""

import asyncio
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from typing import Generic, TypeVar

_Item = TypeVar("_Item")
_BATCH = 250  # handed on in one turn of the event loop: nobody else has to wait for more than a millisecond or two
_MOST = 20_000  # that may wait; whoever brings more hands them on itself


class Deferred(Generic[_Item]):
    """Takes items at next to no cost, and hands them on in their order."""

    def __init__(self, take: Callable[[_Item], object]) -> None:
        self._take = take
        self._waiting: deque[_Item] = deque()
        self._is_asked_for = False

    def __call__(self, item: _Item) -> None:
        """Take an item."""
        self._waiting.append(item)
        if not self._is_asked_for:
            with suppress(RuntimeError):  # without an event loop they wait for `flush`
                asyncio.get_running_loop().call_soon(self._go_on)
                self._is_asked_for = True
        elif len(self._waiting) > _MOST:
            self.flush()

    def flush(self) -> None:
        """Hand on all that wait."""
        while self._waiting:
            self._take(self._waiting.popleft())

    def _go_on(self) -> None:
        for _ in range(min(_BATCH, len(self._waiting))):
            self._take(self._waiting.popleft())
        self._is_asked_for = bool(self._waiting)
        if self._is_asked_for:
            asyncio.get_running_loop().call_soon(self._go_on)
