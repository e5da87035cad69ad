"""VirtualLoop: an event loop that asks nobody for news; when nothing is ready to go on, time may."""

import asyncio
from collections.abc import Callable, Mapping
from selectors import BaseSelector, SelectorKey
from typing import Any


class VirtualLoop(asyncio.SelectorEventLoop):
    """asyncio's own loop, on a selector that has nothing to tell.

    A year of minutes takes millions of turns, of which none has to ask the operating system for anything.
    """

    def __init__(self) -> None:
        self._nothing = _NoSelector()
        super().__init__(self._nothing)

    def on_idle(self, callback: Callable[[], object] | None) -> None:
        """Call a function whenever the loop would have to wait; None: none."""
        self._nothing.on_idle = callback


class _NoSelector(BaseSelector):
    """Takes what it is given to watch, and never sees anything."""

    def __init__(self) -> None:
        self._keys: dict[Any, SelectorKey] = {}
        self.on_idle: Callable[[], object] | None = None

    def register(self, fileobj: Any, events: int, data: Any = None) -> SelectorKey:
        """Remember what to watch."""
        key = self._keys[fileobj] = SelectorKey(fileobj, 0, events, data)
        return key

    def unregister(self, fileobj: Any) -> SelectorKey:
        """Forget it."""
        return self._keys.pop(fileobj)

    def select(self, timeout: float | None = None) -> list[tuple[SelectorKey, int]]:
        """See nothing, at once; asked to wait for it, call who has something to do then."""
        if timeout != 0 and self.on_idle is not None:
            self.on_idle()
        return []

    def get_map(self) -> Mapping[Any, SelectorKey]:
        """Return what is watched."""
        return self._keys
