"""LedgerHealth: whether krond can record what it starts; if it cannot, it starts nothing."""

import asyncio
import errno
import os
from collections.abc import Callable
from pathlib import Path

from kron.engine.jobs.job_engine import JobEngine
from kron.engine.ports import FailedLedger
from kron.engine.tasks.events import failure_text
from kron.errors import LedgerWriteError
from kron.instant import Instant

_ROOM = 1 << 16  # bytes that a disk must have left: a few starts are recorded in so many
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EROFS)
_PATIENCE = 2.0  # seconds for a look at the disk: whoever asks for the status waits five


class LedgerHealth:
    """Asks the engine, whose failures are the truth, and the disk: before anything is due, the engine has not tried."""

    def __init__(self, engine: JobEngine, ledger: Path, now: Callable[[], Instant]) -> None:
        self._engine, self._ledger, self._now = engine, ledger, now
        self._since: Instant | None = None  # the disk is known to take nothing
        self._looking: asyncio.Task[FailedLedger | None] | None = None

    async def ask(self) -> FailedLedger | None:
        """Return since when and why nothing can be recorded, None if it can. A disk that hangs is not waited for."""
        if (failure := self._engine.failed_ledger) is not None:  # the disk need not be asked
            return failure
        if self._looking is None or self._looking.done():  # one at a time: a disk that hangs keeps one thread
            self._looking = asyncio.create_task(asyncio.to_thread(self.look))
        done, _ = await asyncio.wait([self._looking], timeout=_PATIENCE)
        return self._looking.result() if done else self._failed("its disk does not answer")

    def look(self) -> FailedLedger | None:
        """Return the same, as soon as the disk has answered. From any thread."""
        if (failure := self._engine.failed_ledger) is not None:
            return failure
        if (reason := _refusal(self._ledger.parent)) is not None:
            return self._failed(reason)
        self._since = None
        return None

    def _failed(self, reason: str) -> FailedLedger:
        self._since = self._since or self._now()
        return FailedLedger(self._since, failure_text(LedgerWriteError(path=str(self._ledger), reason=reason)))


def _refusal(folder: Path) -> str | None:
    """Return why a disk takes nothing more, None if it does: a file without a name is written, and gone at once."""
    try:
        descriptor = os.open(folder, os.O_TMPFILE | os.O_WRONLY | os.O_CLOEXEC, 0o600)
        try:
            os.posix_fallocate(descriptor, 0, _ROOM)
        finally:
            os.close(descriptor)
    except OSError as error:  # any other is not about the disk, or this file system has no such files
        return f"the disk is full or read-only: {error.strerror}" if error.errno in _FULL else None
    return None
