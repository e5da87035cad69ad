"""The longest time for which an event loop was held, pauses, and memory: what suites observe."""

import asyncio
import gc
import os
from pathlib import Path
from time import perf_counter

_STEP = 0.005


class LoopProbe:
    """Asks the loop for a call every 5 ms; whatever a call comes later than that, something held the loop."""

    def __init__(self) -> None:
        self.longest = 0.0
        self._loop = asyncio.get_running_loop()
        self._last = perf_counter()
        self._handle = self._loop.call_later(_STEP, self._tick)

    def _tick(self) -> None:
        self._look()
        self._handle = self._loop.call_later(_STEP, self._tick)

    def _look(self) -> None:
        now = perf_counter()
        self.longest = max(self.longest, now - self._last - _STEP)
        self._last = now

    def end(self) -> float:
        """Return the longest delay in seconds, and ask no more."""
        self._look()
        self._handle.cancel()
        return self.longest


async def pause(seconds: float) -> None:
    """Let real time pass: the one thing that a benchmark of a scheduler cannot do without."""
    await asyncio.sleep(seconds)  # noqa: TID251


def resident_bytes() -> int:
    """Return the memory that this process holds, garbage collected first."""
    gc.collect()
    pages = int(Path("/proc/self/statm").read_text("ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")
