"""STARTS: the callback that every scheduler gets, and the real time of each of its starts.

The callback is a function of a module, because the stores of some peers keep it by its name.
"""

import asyncio
from array import array
from time import time


class Starts:
    """The instants at which callbacks began, in seconds of the real wall clock."""

    def __init__(self) -> None:
        self.times = array("d")
        self._wanted = 0
        self._all: asyncio.Event | None = None

    def expect(self, wanted: int) -> None:
        """Forget what was seen and expect so many starts from now on."""
        self.times = array("d")
        self._wanted = wanted
        self._all = asyncio.Event()

    def note(self) -> None:
        """Note that a callback has begun."""
        times = self.times
        times.append(time())
        if len(times) == self._wanted and self._all is not None:
            self._all.set()

    @property
    def complete(self) -> bool:
        """Whether all that were expected have begun."""
        return len(self.times) >= self._wanted

    async def all_begun(self) -> None:
        """Wait for the last of them."""
        assert self._all is not None, "expect comes first"
        await self._all.wait()


STARTS = Starts()


async def started() -> None:
    """Begin and end at once: the task of all measurements."""
    STARTS.note()


def started_plainly() -> None:
    """The same for a scheduler that knows no coroutines."""
    STARTS.note()
