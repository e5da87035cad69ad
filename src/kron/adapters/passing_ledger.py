"""PassingLedger: a ledger of jobs around another one. TimedLedger times each append, FreeingLedger frees disk space."""

import asyncio
import errno
import sqlite3
from collections.abc import Callable, Mapping, Sequence
from time import perf_counter

from kron.engine.jobs.store import JobBatch, JobLedger, JobSnapshot
from kron.engine.ports import Refusal
from kron.errors import LedgerWriteError
from kron.instant import Instant
from kron.rules.periods import HandledPeriods


class PassingLedger:
    """Passes everything on to another ledger."""

    def __init__(self, ledger: JobLedger) -> None:
        self._ledger = ledger

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
        return await self._ledger.append(batch)

    async def close(self) -> None:
        """Give up possession."""
        await self._ledger.close()


class TimedLedger(PassingLedger):
    """Passes everything on; `took` gets the seconds of each append, also of one that failed."""

    def __init__(self, ledger: JobLedger, took: Callable[[float], object]) -> None:
        super().__init__(ledger)
        self._took = took

    async def append(self, batch: JobBatch) -> Sequence[Refusal]:
        """Remember the batch."""
        begun = perf_counter()
        try:
            return await super().append(batch)
        finally:
            self._took(perf_counter() - begun)


# A disk that becomes full while SQLite writes a page is an I/O error to it, unless it was full already.
_NO_SPACE = ("SQLITE_FULL", "SQLITE_IOERR_WRITE", "SQLITE_IOERR_SHMSIZE", "SQLITE_CANTOPEN")


class FreeingLedger(PassingLedger):
    """Passes everything on; `free` gives back what need not be on the disk, in a thread."""

    def __init__(self, ledger: JobLedger, free: Callable[[], object]) -> None:
        super().__init__(ledger)
        self._free = free

    async def append(self, batch: JobBatch) -> Sequence[Refusal]:
        """Remember the batch."""
        try:
            return await super().append(batch)
        except LedgerWriteError as error:
            if not _lacks_space(error.__cause__):
                raise
            await asyncio.to_thread(self._free)
            return await super().append(batch)


def _lacks_space(cause: BaseException | None) -> bool:
    if isinstance(cause, sqlite3.Error):
        return getattr(cause, "sqlite_errorname", "") in _NO_SPACE  # an error of the module itself has no such name
    return isinstance(cause, OSError) and cause.errno == errno.ENOSPC
