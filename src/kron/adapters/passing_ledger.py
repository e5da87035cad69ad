"""Ledgers that wrap another one and pass all calls on: one frees disk space, one fails on demand in tests."""

import asyncio
import errno
import sqlite3
from collections import deque
from collections.abc import Callable, Mapping, Sequence

from kron.engine.ledger import JobBatch, JobLedger
from kron.engine.ports import Refusal, TaskBatch, TaskLedger
from kron.errors import LedgerWriteError
from kron.rules.task_record import TaskRecord

# A disk that becomes full while SQLite writes a page is an I/O error to it, unless it was full already.
_NO_SPACE = ("SQLITE_FULL", "SQLITE_IOERR_WRITE", "SQLITE_IOERR_SHMSIZE", "SQLITE_CANTOPEN")


class FreeingLedger:
    """Passes everything on; `free` gives back what need not be on the disk, in a thread."""

    def __init__(self, ledger: JobLedger, free: Callable[[], object]) -> None:
        self._ledger, self._free = ledger, free
        self.open, self.load, self.handled, self.close = ledger.open, ledger.load, ledger.handled, ledger.close

    async def append(self, batch: JobBatch) -> Sequence[Refusal]:
        """Remember the batch."""
        try:
            return await self._ledger.append(batch)
        except LedgerWriteError as error:
            if not _lacks_space(error.__cause__):
                raise
            await asyncio.to_thread(self._free)
            return await self._ledger.append(batch)


def _lacks_space(cause: BaseException | None) -> bool:
    if isinstance(cause, sqlite3.Error):
        return getattr(cause, "sqlite_errorname", "") in _NO_SPACE  # an error of the module itself has no such name
    return isinstance(cause, OSError) and cause.errno == errno.ENOSPC


class FaultyLedger:
    """Wraps a ledger; failures are ordered in advance and come one after the other."""

    def __init__(self, ledger: TaskLedger) -> None:
        self.ledger = ledger
        self.appends = 0  # how many were tried, failed ones included
        self._failures: deque[Exception | None] = deque()

    def fail_next(self, n: int = 1, *, error: Exception | None = None, after: int = 0) -> None:
        """Let n appends fail, after so many that pass."""
        self._failures.extend([None] * after)
        self._failures.extend([error or LedgerWriteError(path="faulty", reason="no space left on device")] * n)

    def raise_next_failure(self) -> None:
        """Raise the error that was ordered for this append, if there is one."""
        if self._failures and (error := self._failures.popleft()) is not None:
            raise error

    async def open(self) -> None:
        """Take possession."""
        await self.ledger.open()

    async def load(self) -> Mapping[str, TaskRecord]:
        """Return what is remembered of each task."""
        return await self.ledger.load()

    async def append(self, batch: TaskBatch) -> Sequence[Refusal]:
        """Append the batch, or raise the failure that was requested."""
        self.appends += 1
        self.raise_next_failure()
        return await self.ledger.append(batch)

    async def close(self) -> None:
        """Give up possession."""
        await self.ledger.close()
