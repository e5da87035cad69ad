"""FreeingLedger: a ledger of jobs whose appends free disk space, and try once more, before they fail for lack of it."""

import asyncio
import errno
import sqlite3
from collections.abc import Callable, Mapping, Sequence

from kron.engine.jobs.store import JobBatch, JobLedger, JobSnapshot
from kron.engine.ports import Refusal
from kron.errors import LedgerWriteError
from kron.instant import Instant
from kron.rules.periods import HandledPeriods

# A disk that becomes full while SQLite writes a page is an I/O error to it, unless it was full already.
_NO_SPACE = ("SQLITE_FULL", "SQLITE_IOERR_WRITE", "SQLITE_IOERR_SHMSIZE", "SQLITE_CANTOPEN")


class FreeingLedger:
    """Passes everything on; `free` gives back what need not be on the disk, in a thread."""

    def __init__(self, ledger: JobLedger, free: Callable[[], object]) -> None:
        self._ledger, self._free = ledger, free

    async def open(self) -> None:
        """Take possession."""
        await self._ledger.open()

    async def load(self) -> JobSnapshot:
        """Return what is remembered."""
        return await self._ledger.load()

    async def handled(self, since: Mapping[str, Instant]) -> Mapping[str, frozenset[Instant] | HandledPeriods]:
        """Return which periods have an outcome."""
        return await self._ledger.handled(since)

    async def append(self, batch: JobBatch) -> Sequence[Refusal]:
        """Remember the batch."""
        try:
            return await self._ledger.append(batch)
        except LedgerWriteError as error:
            if not _lacks_space(error.__cause__):
                raise
            await asyncio.to_thread(self._free)
            return await self._ledger.append(batch)

    async def close(self) -> None:
        """Give up possession."""
        await self._ledger.close()


def _lacks_space(cause: BaseException | None) -> bool:
    if isinstance(cause, sqlite3.Error):
        return getattr(cause, "sqlite_errorname", "") in _NO_SPACE  # an error of the module itself has no such name
    return isinstance(cause, OSError) and cause.errno == errno.ENOSPC
