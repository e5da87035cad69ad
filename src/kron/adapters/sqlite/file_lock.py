"""FileLock: at most one scheduler has a ledger's file, in this process or any other, and never after its death.

A lock of `<ledger>.lock`, or of a file that guards more than the ledger. It belongs to the open file: a process that
opens and closes the file again does not drop it; the kernel drops it when its owner dies. Forked children would
inherit it, so they give it up at birth.
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


class FileLock:
    """Held from its making until `release`."""

    def __init__(self, ledger: Path, *, lock: Path | None = None, mode: int = 0o644, folder: int | None = None) -> None:
        """`lock` is the file that is locked, if not the one beside the ledger; `folder`: a descriptor of its directory.

        Without a descriptor the file is looked up by its path.
        """
        self._ledger, self._mode = ledger, mode
        self._path = Path(f"{ledger}.lock") if lock is None else lock
        self._descriptor = self._take(0, folder)

    def is_in_place(self) -> bool:
        """Whether the lock's file is the one in its place. Without it, another process can take a lock of its own."""
        held = os.fstat(self._descriptor)
        try:
            found = self._path.lstat()
        except OSError:
            return False
        return (found.st_dev, found.st_ino) == (held.st_dev, held.st_ino)

    def renew(self, folder: int | None = None) -> None:
        """Make the lock's file again if there is none. LedgerInUseError: there is one, so another process made it."""
        new = self._take(os.O_EXCL, folder)
        self.release()
        self._descriptor = new

    def _take(self, flags: int, folder: int | None) -> int:
        path = self._path if folder is None else self._path.name
        try:
            descriptor = os.open(
                path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW | flags, self._mode, dir_fd=folder
            )
        except FileExistsError as error:
            raise LedgerInUseError(path=str(self._ledger), owner=_name(self._owner_in(path, folder))) from error
        except OSError as error:
            why = "it is a link" if error.errno == errno.ELOOP else error.strerror
            reason = f"its lock {self._path} cannot be opened: {why}"
            raise LedgerUnusableError(path=str(self._ledger), reason=reason) from error
        if not _lock(descriptor):
            owner = _owner(descriptor)
            os.close(descriptor)
            raise LedgerInUseError(path=str(self._ledger), owner=_name(owner))
        _held.add(descriptor)
        with suppress(OSError):  # on a full disk the lock holds, too, only its owner is not named
            os.ftruncate(descriptor, 0)
            os.write(descriptor, f"{os.getpid()}\n".encode())
        return descriptor

    @staticmethod
    def _owner_in(path: str | Path, folder: int | None) -> str:
        """Return the process that a lock's file names."""
        try:
            descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=folder)
        except OSError:
            return ""
        try:
            return _owner(descriptor)
        finally:
            os.close(descriptor)

    def release(self) -> None:
        """Let others have it. The lock's file stays: removing it would open a gap between two owners."""
        if self._descriptor in _held:  # not so in a forked child
            _held.remove(self._descriptor)
            os.close(self._descriptor)


def _lock(descriptor: int) -> bool:
    """Take the lock if it is free. Wait for one that a dead owner's newborn child has yet to give up."""
    for _ in range(_TRIES):
        with suppress(OSError):
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return True
        if _is_alive(_owner(descriptor)):
            return False
        time.sleep(_PAUSE)
    return False


def _owner(descriptor: int) -> str:
    return os.pread(descriptor, 20, 0).decode("ascii", "replace").strip()


def _name(owner: str) -> str:
    is_here = owner == str(os.getpid())
    return "another scheduler of this process" if is_here else f"process {owner or 'unknown'}"


def _is_alive(process: str) -> bool:
    try:
        os.kill(int(process), 0)
    except (ValueError, ProcessLookupError):
        return False
    except PermissionError:  # a process of another user
        return True
    return True
