"""Possession: at most one scheduler has a ledger's file, in this process or any other, and never after its death.

A record lock on a file beside the ledger: the kernel drops it when its owner dies, and a forked child does not inherit
it. Such locks do not tell schedulers of one process apart, so those are kept in a table.
"""

import fcntl
import os
import threading
from contextlib import suppress
from pathlib import Path

from kron.errors import LedgerInUseError, LedgerUnusableError

_table: dict[str, int] = {}  # path of the lock's file -> process that took it; a forked child sees its parent's number
_table_lock = threading.Lock()


class Possession:
    """Held from its making until `release`."""

    def __init__(self, ledger: Path) -> None:
        path = f"{ledger}.lock"
        with _table_lock:
            # Closing any descriptor of the file would drop this process's lock on it: so the table is asked first.
            if _table.get(path) == os.getpid():
                raise LedgerInUseError(path=str(ledger), owner="another scheduler of this process")
            try:
                descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
            except OSError as error:
                reason = f"its lock {path} cannot be opened: {error.strerror}"
                raise LedgerUnusableError(path=str(ledger), reason=reason) from error
            try:
                fcntl.lockf(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError as error:
                owner = os.read(descriptor, 20).decode("ascii", "replace").strip()
                os.close(descriptor)
                raise LedgerInUseError(path=str(ledger), owner=f"process {owner or 'unknown'}") from error
            with suppress(OSError):  # on a full disk the lock holds all the same, only its owner is not named
                os.ftruncate(descriptor, 0)
                os.write(descriptor, f"{os.getpid()}\n".encode())
            _table[path] = os.getpid()
        self._path, self._descriptor = path, descriptor

    def release(self) -> None:
        """Let others have it. The lock's file stays: removing it would open a gap between two owners."""
        with _table_lock:
            if _table.get(self._path) == os.getpid():
                del _table[self._path]
                os.close(self._descriptor)
