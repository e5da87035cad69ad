"""SqliteJobLedger: what is remembered of jobs with periods, in a file that survives crashes and people can read."""

import sqlite3
from collections.abc import Mapping
from contextlib import suppress
from datetime import timedelta
from functools import partial
from os import PathLike
from pathlib import Path

from kron.adapters.sqlite_ledger.file import Guard, LedgerFile
from kron.adapters.sqlite_ledger.job_cells import reading
from kron.adapters.sqlite_ledger.job_load import load_handled, load_jobs
from kron.adapters.sqlite_ledger.job_numbers import Numbers
from kron.adapters.sqlite_ledger.job_pruning import Pruning
from kron.adapters.sqlite_ledger.job_schema import JOBS
from kron.adapters.sqlite_ledger.job_writing import JobWriting
from kron.engine.collector import collector_paused
from kron.engine.jobs.store import JobBatch, JobStored
from kron.errors import LedgerError
from kron.instant import Instant
from kron.rules.handled import Handled


class SqliteJobLedger:
    """Jobs, the versions of their definitions, what became of each period, and the runs.

    Durable (WAL, synchronous=FULL) before an append returns. Entries that were over longer than `retention` ago are
    removed a few at a time, by the time that the batches themselves tell. The file is for its owner alone (0600).
    """

    def __init__(
        self, path: str | PathLike[str], *, retention: timedelta | None = None, guard: Guard | None = None
    ) -> None:
        """`guard` is asked before each transaction whether the host's own lock is held; no `<path>.lock` is made."""
        self.path = Path(path)
        self._pruning = Pruning(retention)
        self._file: LedgerFile[None] = LedgerFile(self.path, JOBS, guard=guard)
        self._numbers: Numbers | None = None

    def keep(self, retention: timedelta | None) -> None:
        """From now on keep entries for so long; None: for ever."""
        self._pruning.retention = retention

    # --- the port -----------------------------------------------------------------------------------------------------

    async def open(self) -> None:
        """Take possession of the file; make it if there is none."""
        await self._file.open(self._begin)

    async def load(self) -> JobStored:
        """Return what is remembered."""
        with collector_paused():
            return await self._file.call(self._load)

    async def handled(self, since: Mapping[str, Instant]) -> Mapping[str, frozenset[Instant] | Handled]:
        """Return by identity the nominal times, from an instant on, of periods that have an outcome."""
        return await self._file.call(partial(self._handled, since))

    async def append(self, batch: JobBatch) -> None:
        """Remember the batch, or nothing of it."""
        await self._file.call(partial(self._write, batch))
        if (now := self._pruning.due(batch)) is not None:
            self._file.call(partial(self._prune, now))  # nobody waits for it but who comes next

    async def close(self) -> None:
        """Give up the file."""
        await self._file.close()

    # --- in the thread ------------------------------------------------------------------------------------------------

    def _begin(self) -> None:
        with reading(self.path):
            self._numbers = Numbers(str(self.path), self._file.connection)

    def _load(self) -> JobStored:
        with reading(self.path):
            return load_jobs(self._file.connection)

    def _handled(self, since: Mapping[str, Instant]) -> Mapping[str, frozenset[Instant] | Handled]:
        with reading(self.path):
            return load_handled(self._file.connection, since)

    def _write(self, batch: JobBatch) -> None:
        assert self._numbers is not None
        try:
            with self._file.transaction() as connection:
                JobWriting(str(self.path), connection, self._numbers).put(batch)
        except LedgerError as error:
            if not isinstance(error.__cause__, sqlite3.IntegrityError):
                raise
            with self._file.transaction() as connection:
                JobWriting(str(self.path), connection, self._numbers).put_again(batch)
        self._numbers.commit()

    def _prune(self, now: Instant) -> None:
        assert self._numbers is not None
        with suppress(LedgerError):  # it is tried again in the next round
            with self._file.transaction() as connection:
                gone = self._pruning.round(connection, now)
            self._numbers.forget(gone)
