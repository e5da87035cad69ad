"""Reaper: the children that this process adopted, those of a dead spawner among them, leave no zombies."""

import ctypes
import os
import time
from collections.abc import Callable
from contextlib import suppress

from kron.adapters.process_runner.proc import children, stat

_PR_SET_CHILD_SUBREAPER = 36
_MOST = 500  # reaped in one look: a job can leave thousands of orphans a second, and other jobs wait meanwhile
_PATIENCE = 10.0  # seconds that a zombie of our own session may wait for the code that started it


def adopt_orphans() -> bool:
    """Let descendants whose parent dies become children of this process; return whether the kernel agreed."""
    return bool(ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0)


class Reaper:
    """Reaps whoever was adopted, and leaves alone whoever some other code of this process started and waits for.

    Processes of executions have sessions of their own; what Python code starts on its way has this process's, unless it
    asks for another. Those are reaped only when nobody has done it for a long while.
    """

    def __init__(self, is_ours: Callable[[int], bool]) -> None:
        self._is_ours = is_ours  # spawners, which are waited for elsewhere
        self._session = os.getsid(0)
        self._seen: dict[int, float] = {}  # zombies of others, and since when
        self.has_more = False  # after a look: some are left for the next one, which comes soon

    def reap(self) -> list[tuple[int, int]]:
        """Return numbers and wait statuses of those that have ended, or of some of them: see `has_more`."""
        found: list[tuple[int, int]] = []
        self.has_more = False
        while (pid := _some_zombie()) is not None:
            if len(found) >= _MOST:
                self.has_more = True
                break
            if not self._may_reap(pid):
                # It hides the others from the kernel's answer: look at each.
                hidden = [pid for pid in children() if self._may_reap(pid)]
                found += [ended for pid in hidden[:_MOST] for ended in _wait(pid)]
                self.has_more = len(hidden) > _MOST
                break
            found += _wait(pid)
        else:
            self._seen.clear()
        return found

    def _may_reap(self, pid: int) -> bool:
        known = stat(pid)
        if known is None or known.is_alive or self._is_ours(pid):
            return False
        if known.session != self._session:
            return True
        return time.monotonic() - self._seen.setdefault(pid, time.monotonic()) > _PATIENCE


def _some_zombie() -> int | None:
    with suppress(ChildProcessError):
        if found := os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT):
            return found.si_pid
    return None


def _wait(pid: int) -> list[tuple[int, int]]:
    with suppress(ChildProcessError):  # somebody was quicker
        ended = os.waitpid(pid, os.WNOHANG)
        if ended[0]:
            return [ended]
    return []
