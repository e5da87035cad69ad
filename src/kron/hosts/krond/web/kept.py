"""Kept: answers that are made once for all who ask within a moment."""

import asyncio
from collections.abc import Awaitable, Callable
from time import monotonic
from typing import NamedTuple

_MOST = 32  # answers


class _Made(NamedTuple):
    body: bytes | Exception
    at: float


class Kept:
    """An answer is made by one, and waited for by the others; who comes while it is fresh gets it as well."""

    def __init__(self, seconds: float, *, failures: float = 0.0) -> None:
        """`failures`: seconds for which what could not be made is not tried anew."""
        self._seconds, self._failures = seconds, failures
        self._made: dict[object, asyncio.Future[_Made]] = {}

    async def get(self, key: object, make: Callable[[], Awaitable[bytes]]) -> bytes:
        """Return the answer to a key, or raise why it cannot be made."""
        found = self._made.get(key)
        if found is None or not self._is_fresh(found):
            self._made.pop(key, None)
            found = self._made[key] = asyncio.ensure_future(_timed(make))
            for old in list(self._made)[:-_MOST]:
                del self._made[old]
        body = (await asyncio.shield(found)).body
        if isinstance(body, Exception):
            raise body
        return body

    def _is_fresh(self, found: "asyncio.Future[_Made]") -> bool:
        if not found.done():
            return True
        if found.cancelled():
            return False
        body, at = found.result()
        return monotonic() < at + (self._failures if isinstance(body, Exception) else self._seconds)


async def _timed(make: Callable[[], Awaitable[bytes]]) -> _Made:
    try:
        return _Made(await make(), monotonic())
    except Exception as error:
        return _Made(error, monotonic())
