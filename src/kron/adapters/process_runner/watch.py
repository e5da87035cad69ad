"""Watch: processes that are nobody's children here, until each has ended; how, nobody tells."""

import os
from asyncio import AbstractEventLoop
from collections.abc import Callable

from kron.adapters.process_runner.proc import stat


class Watch:
    """Calls `ended` with the number of each process that has gone.

    The kernel tells of as many as there are `spare` descriptors for. The others are looked at one by one at each tick.
    """

    def __init__(self, loop: AbstractEventLoop, ended: Callable[[int], object], *, spare: int) -> None:
        self._spare = spare
        self._loop = loop
        self._ended = ended
        self._pidfds: dict[int, int] = {}
        self._looked_at: dict[int, int] = {}  # their start ticks

    def add(self, pid: int, start_ticks: int) -> None:
        """Watch a process."""
        pidfd = None
        if len(self._pidfds) < self._spare:
            try:
                pidfd = os.pidfd_open(pid)
            except OSError:  # it has gone, or there are no descriptors left, or no such call
                pidfd = None
        if pidfd is None or not lives(pid, start_ticks):
            self._looked_at[pid] = start_ticks
            if pidfd is not None:
                os.close(pidfd)
            return
        self._pidfds[pid] = pidfd
        self._loop.add_reader(pidfd, self._over, pid)

    @property
    def needs_ticks(self) -> bool:
        """Whether `look` has to be called from time to time."""
        return bool(self._looked_at)

    def look(self) -> None:
        """Find those that ended, among the ones without a descriptor."""
        for pid, ticks in list(self._looked_at.items()):
            if not lives(pid, ticks):
                del self._looked_at[pid]
                self._ended(pid)

    def close(self) -> None:
        """Watch no more."""
        for pidfd in self._pidfds.values():
            self._loop.remove_reader(pidfd)
            os.close(pidfd)
        self._pidfds.clear()
        self._looked_at.clear()

    def _over(self, pid: int) -> None:
        pidfd = self._pidfds.pop(pid)
        self._loop.remove_reader(pidfd)
        os.close(pidfd)
        self._ended(pid)


def lives(pid: int, ticks: int) -> bool:
    """Whether the process that started at a tick is there, and has not ended."""
    known = stat(pid)
    return known is not None and known.ticks == ticks and known.is_alive
