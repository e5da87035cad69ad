"""Deferred: makes calls a little later, while the event loop waits for a disk or for time."""

import asyncio
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from typing import Any

_BATCH = 250  # weight of the calls made in one turn of the event loop: nobody else has to wait more than a millisecond
_MOST = 20_000  # weight that may wait; whoever brings more makes the calls itself


class Deferred:
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
