"""Kept: answers that are made once for all who ask within a moment."""

import asyncio
from collections.abc import Awaitable, Callable
from time import monotonic
from typing import NamedTuple

_MOST = 32  # answers


class _Made(NamedTuple):
    body: bytes
    at: float


class Kept:
    """An answer is made by one, and waited for by the others; who comes while it is fresh gets it as well."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._made: dict[object, asyncio.Future[_Made]] = {}

    async def get(self, key: object, make: Callable[[], Awaitable[bytes]]) -> bytes:
        """Return the answer to a key; what cannot be made is tried anew by the next one."""
        found = self._made.get(key)
        if found is None or not self._is_fresh(found):
            self._made.pop(key, None)
            found = self._made[key] = asyncio.ensure_future(_timed(make))
            for old in list(self._made)[:-_MOST]:
                del self._made[old]
        return (await asyncio.shield(found)).body

    def _is_fresh(self, found: "asyncio.Future[_Made]") -> bool:
        if not found.done():
            return True
        return not found.cancelled() and not found.exception() and monotonic() < found.result().at + self._seconds


async def _timed(make: Callable[[], Awaitable[bytes]]) -> _Made:
    return _Made(await make(), monotonic())
