"""TurnLoop: an event loop that measures in processor time how long each callback holds it."""

import asyncio
import time
from collections.abc import Callable, Coroutine
from typing import Any


class TurnLoop(asyncio.SelectorEventLoop):
    """Keeps the longest time that one callback, or one step of a task, had the loop to itself."""

    def __init__(self) -> None:
        super().__init__()
        self.longest = 0.0

    def call_soon(self, callback: Callable[..., object], *args: Any, context: Any = None) -> asyncio.Handle:  # type: ignore[override]
        return super().call_soon(self._take_turn, callback, args, context=context)

    def _take_turn(self, callback: Callable[..., object], args: tuple[Any, ...]) -> None:
        began = time.thread_time()
        try:
            callback(*args)
        finally:
            self.longest = max(self.longest, time.thread_time() - began)


def longest_turn(story: Callable[[], Coroutine[Any, Any, None]]) -> float:
    """Live through a story, and return the longest turn of it in seconds."""
    made: list[TurnLoop] = []

    def make() -> TurnLoop:
        made.append(TurnLoop())
        return made[-1]

    with asyncio.Runner(loop_factory=make) as runner:
        runner.run(story())
    return made[0].longest
