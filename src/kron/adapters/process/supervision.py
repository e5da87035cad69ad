"""Process groups that are signalled safely, orphans that are reaped, and runs of an earlier krond that still live."""

import ctypes
import os
import signal
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta

from kron.adapters.process.procfs import boot_id, find_session_leaders, list_children, read_stat, since_boot
from kron.rules.job_record import RunHandle

_TO_GROUP = 1 << 2  # PIDFD_SIGNAL_PROCESS_GROUP, since Linux 6.9


class ProcessGroup:
    """A leader and the processes in its group.

    A pidfd of the leader, where there is one to spare, keeps naming the group, also when the leader has been reaped
    and its pid has been given to another process.
    """

    def __init__(self, pid: int, start_ticks: int, *, held: bool) -> None:
        self._pid = pid
        self._ticks = start_ticks
        self._pidfd: int | None = None
        if held:
            with suppress(OSError):  # gone, or too many open files
                self._pidfd = os.pidfd_open(pid)
        if not self._leads():
            self.close()

    def signal(self, number: int) -> bool:
        """Send a signal to all of them, or none if it is 0; return whether any process of the group may be left."""
        if self._pidfd is not None:
            try:
                signal.pidfd_send_signal(self._pidfd, number, None, _TO_GROUP)
            except ProcessLookupError:
                return False
            except OSError:  # an older kernel
                pass
            else:
                return True
        # The number is the group's own while its leader or no process has it: the kernel reuses none that is in use.
        if self._leads() or not read_stat(self._pid):
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self._pid, number)
                return True
        return False

    def close(self) -> None:
        """Give the descriptor back."""
        if self._pidfd is not None:
            os.close(self._pidfd)
            self._pidfd = None

    def _leads(self) -> bool:
        known = read_stat(self._pid)
        return known is not None and known.ticks == self._ticks


_PR_SET_CHILD_SUBREAPER = 36
_MOST = 500  # reaped in one look: a job can leave thousands of orphans a second, and other jobs wait meanwhile
_PATIENCE = 10.0  # seconds that a zombie of our own session may wait for the code that started it


def become_subreaper() -> bool:
    """Let descendants whose parent dies become children of this process; return whether the kernel agreed."""
    return bool(ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0)


class OrphanReaper:
    """Reaps adopted children, and leaves alone those that other code of this process started and waits for.

    Processes of executions have sessions of their own; what Python code starts on its way has this process's, unless it
    asks for another. Those are reaped only when they have been zombies for a long while.
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
                hidden = [pid for pid in list_children() if self._may_reap(pid)]
                found += [ended for pid in hidden[:_MOST] for ended in _wait(pid)]
                self.has_more = len(hidden) > _MOST
                break
            found += _wait(pid)
        else:
            self._seen.clear()
        return found

    def _may_reap(self, pid: int) -> bool:
        known = read_stat(pid)
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
    with suppress(ChildProcessError):  # already reaped
        ended = os.waitpid(pid, os.WNOHANG)
        if ended[0]:
            return [ended]
    return []


def lives(pid: int, ticks: int) -> bool:
    """Whether the process that started at a tick is there, and has not ended."""
    known = read_stat(pid)
    return known is not None and known.ticks == ticks and known.is_alive


@dataclass(frozen=True, slots=True)
class RecordedProcess:
    """What a host wrote down about an execution before it died; without a pid, it died before it could.

    Without a pid, the process is looked for by its environment, which every process can forge: it must be of this user
    (None: no process is), and have begun about then, counted from the boot (None: at any time).
    """

    run_id: str
    boot_id: str
    pid: int | None = None
    start_ticks: int | None = None
    uid: int | None = None
    began: timedelta | None = None


_TICKS = os.sysconf("SC_CLK_TCK")  # in a second
_NEAR = timedelta(hours=1)  # a start may wait for its turn, and a clock may be set meanwhile: rarely by more


def find_survivors(recorded: Iterable[RecordedProcess]) -> list[RunHandle]:
    """Return the leaders that live. One whose number was never recorded is looked for by the id it carries."""
    found: list[RunHandle] = []
    unknown: dict[str, RecordedProcess] = {}
    boot = boot_id()
    for one in recorded:
        if one.boot_id != boot:
            continue
        if one.pid is None:
            unknown[one.run_id] = one
            continue
        known = read_stat(one.pid)
        if known is not None and known.is_alive and known.ticks == one.start_ticks:
            found.append(RunHandle(one.run_id, one.pid, known.ticks))
    leaders = find_session_leaders({run_id: one.uid for run_id, one in unknown.items()})
    return found + [
        RunHandle(run_id, pid, known.ticks)
        for run_id, (pid, known) in leaders.items()
        if _is_near(timedelta(seconds=known.ticks / _TICKS), unknown[run_id].began)
    ]


def _is_near(begun: timedelta, recorded: timedelta | None) -> bool:
    """Whether a process began about when it was to. A time before the boot, or to come, is one of a clock set since."""
    if recorded is None or not timedelta() <= recorded <= since_boot():
        return True
    return abs(begun - recorded) <= _NEAR
