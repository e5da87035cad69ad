"""Retention: removes captured output that is older than it has to be kept, once an hour, some files at a time."""

import asyncio
import os
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import timedelta
from pathlib import Path

from kron.adapters.process.run_log import log_path
from kron.adapters.process.spool import read_spools
from kron.instant import Instant

_PAUSE, _ROUND = 0.1, 3600.0  # seconds between two turns, and between two walks
_SOME = 500  # files looked at in one turn


def remove_old_output(folder: Path, before: float) -> Iterator[bool]:
    """Remove the logs that were written last before an instant, in seconds since 1970; yield True after some files.

    The log of a run that may still write stays, however old it is.
    """
    with suppress(OSError):
        kept = {log_path(folder, spool.run_id).name for spool in read_spools(folder)}
        for number, entry in enumerate(os.scandir(folder), 1):
            if entry.name.endswith((".log", ".log.new")) and entry.name.removesuffix(".new") not in kept:
                with suppress(OSError):  # gone meanwhile, or not ours to remove: the next walk tries again
                    if entry.stat(follow_symlinks=False).st_mtime < before:
                        os.unlink(entry.path)  # noqa: PTH108  # many of them
            if number % _SOME == 0:
                yield True


class Retention:
    """Walks over the folder in a thread, some files at a time, so that nothing waits for it."""

    def __init__(self, folder: Path, retention: timedelta, now: Callable[[], Instant]) -> None:
        self.retention = retention
        self._folder, self._now = folder, now
        self._walk: Iterator[bool] | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Begin."""
        self._task = asyncio.get_running_loop().create_task(self._remove_some())

    def stop(self) -> None:
        """Look no more."""
        if self._timer is not None:
            self._timer.cancel()
        if self._task is not None:
            self._task.cancel()

    async def _remove_some(self) -> None:
        if self._walk is None:
            self._walk = remove_old_output(self._folder, (self._now() - self.retention).timestamp())
        has_more = await asyncio.to_thread(next, self._walk, None)
        if not has_more:
            self._walk = None
        self._timer = asyncio.get_running_loop().call_later(_PAUSE if has_more else _ROUND, self.start)
