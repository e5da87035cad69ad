"""Possession: at most one scheduler has a ledger's file, in this process or any other, and never after its death.

A lock of `<ledger>.lock`, or of a file that stands for more than the ledger. It belongs to the open file: whoever else
opens and closes that file does not drop it, and the kernel does when its owner dies. Forked children would inherit it,
so they give it up at birth.
"""

import errno
import fcntl
import os
import time
from contextlib import suppress
from pathlib import Path

from kron.errors import LedgerInUseError, LedgerUnusableError

_held: set[int] = set()  # descriptors of this process
_TRIES, _PAUSE = 100, 0.01  # seconds


def _give_up_in_the_child() -> None:
    for descriptor in _held:
        os.close(descriptor)
    _held.clear()


os.register_at_fork(after_in_child=_give_up_in_the_child)


class Possession:
    """Held from its making until `release`."""

    def __init__(self, ledger: Path, *, lock: Path | None = None, mode: int = 0o644) -> None:
        """`lock` is the file that is locked, if not the one beside the ledger."""
        path = f"{ledger}.lock" if lock is None else str(lock)
        try:
            self._descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, mode)
        except OSError as error:
            why = "it is a link" if error.errno == errno.ELOOP else error.strerror
            reason = f"its lock {path} cannot be opened: {why}"
            raise LedgerUnusableError(path=str(ledger), reason=reason) from error
        if not self._lock():
            owner = self._owner()
            os.close(self._descriptor)
            here = owner == str(os.getpid())
            name = "another scheduler of this process" if here else f"process {owner or 'unknown'}"
            raise LedgerInUseError(path=str(ledger), owner=name)
        _held.add(self._descriptor)
        with suppress(OSError):  # on a full disk the lock holds all the same, only its owner is not named
            os.ftruncate(self._descriptor, 0)
            os.write(self._descriptor, f"{os.getpid()}\n".encode())

    def release(self) -> None:
        """Let others have it. The lock's file stays: removing it would open a gap between two owners."""
        if self._descriptor in _held:  # not so in a forked child
            _held.remove(self._descriptor)
            os.close(self._descriptor)

    def _lock(self) -> bool:
        """Take the lock if nobody has it. One that a dead owner's newborn child has yet to give up is waited for."""
        for _ in range(_TRIES):
            with suppress(OSError):
                fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return True
            if _is_alive(self._owner()):
                return False
            time.sleep(_PAUSE)
        return False

    def _owner(self) -> str:
        return os.pread(self._descriptor, 20, 0).decode("ascii", "replace").strip()


def _is_alive(process: str) -> bool:
    try:
        os.kill(int(process), 0)
    except (ValueError, ProcessLookupError):
        return False
    except PermissionError:  # somebody else's
        return True
    return True
