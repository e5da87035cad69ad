"""Group: the processes of one execution, signalled together and never confused with others that came later."""

import os
import signal
from contextlib import suppress

from kron.adapters.process_runner.proc import stat

_TO_GROUP = 1 << 2  # PIDFD_SIGNAL_PROCESS_GROUP, since Linux 6.9


class Group:
    """A leader, and whoever is in its process group.

    A descriptor of the leader, where there is one to spare, names the group for good, also when the leader has been
    reaped and its number has been given to somebody else.
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

    def signal(self, number: int) -> None:
        """Send a signal to all of them; to none if there is none."""
        self._send(number)

    def _send(self, number: int) -> bool:
        """Send it; return whether there is anybody who might get it."""
        if self._pidfd is not None:
            try:
                signal.pidfd_send_signal(self._pidfd, number, None, _TO_GROUP)
            except ProcessLookupError:
                return False
            except OSError:  # an older kernel
                pass
            else:
                return True
        # The number is the group's own as long as its leader has it, or nobody: it is not given away while in use.
        if self._leads() or not stat(self._pid):
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self._pid, number)
                return True
        return False

    def is_left(self) -> bool:
        """Whether anybody of it is there whom we may end."""
        return self._send(0)

    def close(self) -> None:
        """Give the descriptor back."""
        if self._pidfd is not None:
            os.close(self._pidfd)
            self._pidfd = None

    def _leads(self) -> bool:
        known = stat(self._pid)
        return known is not None and known.ticks == self._ticks
