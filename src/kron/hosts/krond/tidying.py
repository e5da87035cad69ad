"""Tidying: captured output that is older than it has to be kept leaves the disk, once an hour and bite by bite."""

import asyncio
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

from kron.adapters.process_runner.old_output import OldOutput
from kron.instant import Instant

_PAUSE, _ROUND = 0.1, 3600.0  # seconds between two bites, and between two walks


class Tidying:
    """Walks over the folder in a thread, bite by bite, so that nothing waits for it."""

    def __init__(self, folder: Path, retention: timedelta, now: Callable[[], Instant]) -> None:
        self.retention = retention
        self._folder, self._now = folder, now
        self._walk: OldOutput | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Begin."""
        self._go()

    def stop(self) -> None:
        """Look no more."""
        if self._timer is not None:
            self._timer.cancel()
        if self._task is not None:
            self._task.cancel()

    def _later(self, seconds: float) -> None:
        self._timer = asyncio.get_running_loop().call_later(seconds, self._go)

    def _go(self) -> None:
        self._task = asyncio.get_running_loop().create_task(self._bite())

    async def _bite(self) -> None:
        if self._walk is None:
            self._walk = OldOutput(self._folder, (self._now() - self.retention).timestamp())
        if await asyncio.to_thread(self._walk.bite):
            self._later(_PAUSE)
        else:
            self._walk = None
            self._later(_ROUND)
