"""VirtualLoop: an event loop that asks nobody for news; when nothing is ready to go on, time may."""

import asyncio
from collections import deque
from collections.abc import Callable, Mapping
from contextvars import Context
from selectors import BaseSelector, SelectorKey
from typing import Any


class VirtualLoop(asyncio.SelectorEventLoop):
    """asyncio's own loop, on a selector that has nothing to tell.

    A year of minutes takes millions of turns, and a turn here has nothing to look for: no news, and no alarms, which
    are the virtual clock's. So it is a shorter one than asyncio's.
    """

    _ready: "deque[asyncio.Handle]"  # asyncio's own
    _scheduled: list[object]
    _stopping: bool

    def __init__(self) -> None:
        self._nothing = _NoSelector()
        super().__init__(self._nothing)

    def call_soon(  # type: ignore[override]  # the same, with types less exact
        self, callback: Callable[..., object], *args: Any, context: Context | None = None
    ) -> asyncio.Handle:
        """Call a function in the next turn."""
        handle = asyncio.Handle(callback, args, self, context)
        self._ready.append(handle)
        return handle

    get_debug = bool  # no, in the speed of C: each future asks

    def _run_once(self) -> None:
        if self._scheduled:  # somebody waits for real time
            super()._run_once()  # type: ignore[misc]  # asyncio's own
            return
        ready = self._ready
        if not ready:
            self._nothing.select()
        while ready and not self._stopping:
            handle = ready.popleft()
            if not handle._cancelled:
                handle._run()

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
