"""Backoff: how long to wait before the next try, and the waiting."""

import asyncio
import random
from collections.abc import Awaitable, Callable

Pause = Callable[[float], Awaitable[object]]
_MOST_ASKED = 60.0  # seconds that a server may ask for: more would outlast its trouble


async def pause(seconds: float) -> None:
    """Return after that many seconds; no schedule waits here, only who talks with a server that could not answer."""
    await asyncio.sleep(seconds)  # noqa: TID251


class Backoff:
    """Doubles from try to try, drawn anew below that, so that clients of one server do not come back together."""

    def __init__(
        self,
        *,
        first: float = 0.2,
        longest: float = 5.0,
        chance: Callable[[], float] = random.random,
        pause: Pause = pause,
    ) -> None:
        self._first = first
        self._longest = longest
        self._chance = chance
        self._pause = pause
        self._next = first

    def reset(self) -> None:
        """Begin anew: something went well."""
        self._next = self._first

    async def wait(self, at_least: float | None = None) -> None:
        """Wait before the next try, and not shorter than the server asked for."""
        seconds = self._next * (0.5 + self._chance() / 2)
        self._next = min(self._longest, 2 * self._next)
        await self._pause(max(seconds, min(at_least or 0.0, _MOST_ASKED)))
