"""SqliteLedger: a file that survives crashes. One thread does all SQLite work; a commit collects what has arrived."""

import asyncio
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from os import PathLike
from pathlib import Path

from kron.adapters.sqlite_ledger.possession import Possession
from kron.adapters.sqlite_ledger.rows import forget_tasks, put_begun, put_runs, put_tasks
from kron.adapters.sqlite_ledger.schema import look, prepare
from kron.adapters.sqlite_ledger.worker import Worker
from kron.engine.collector import collector_paused
from kron.engine.ports import Batch
from kron.errors import (
    LedgerUnusableError,
    LedgerWriteError,
    TaskInvalidValueError,
    TaskMissingFieldError,
    TaskTryDeserializeError,
)
from kron.rules.record import FIELDS, TaskRecord

_HISTORY = 100_000  # runs kept for people to look at
_PRUNED = 1_000  # old runs removed by one commit: it stays short


class _Numbers:
    """The numbers of tasks' rows as one write changes them."""

    def __init__(self, ids: dict[str, int], following: int) -> None:
        self._ids = ids
        self._changed: list[tuple[str, int | None]] = []  # names, with their number before
        self.next = following

    def give(self, records: Iterable[TaskRecord]) -> None:
        """Give a number to each task that has none."""
        ids = self._ids
        for record in records:
            if (name := record[0]) not in ids:
                ids[name] = self.next
                self._changed.append((name, None))
                self.next += 1

    def drop(self, names: Iterable[str]) -> Iterable[int]:
        """Forget tasks; return the numbers that they had."""
        dropped = [(name, self._ids.pop(name)) for name in names if name in self._ids]
        self._changed += dropped
        return [number for _, number in dropped]

    def undo(self) -> None:
        """Let everybody have the number from before."""
        for name, number in reversed(self._changed):
            self._ids.pop(name, None)
            if number is not None:
                self._ids[name] = number


class SqliteLedger:
    """The state of each task in a row, and the last runs. Durable (WAL, synchronous=FULL) before anything starts."""

    def __init__(self, path: str | PathLike[str], *, history: int = _HISTORY) -> None:
        self.path = Path(path)
        self._history = history
        self._worker: Worker[Batch] | None = None
        self._possession: Possession | None = None
        self._connection: sqlite3.Connection | None = None
        self._ids: dict[str, int] = {}  # of each task's row: names have no index
        self._next_id = 1
        self._oldest = self._newest = 0  # numbers of the runs in the history

    # --- the port -----------------------------------------------------------------------------------------------------

    async def open(self) -> None:
        """Take possession of the file; make it if there is none."""
        if self._worker is None:
            self._worker = Worker(f"kron ledger {self.path.name}", self._write)
        try:
            await self._worker.call(self._open)
        except BaseException:
            await self.close()
            raise

    async def load(self) -> Mapping[str, TaskRecord]:
        """Return what is remembered of each task."""
        with collector_paused():
            return await self._worker_now().call(self._load)

    async def append(self, batch: Batch) -> None:
        """Remember the batch, or nothing of it."""
        await self._worker_now().write(batch)

    async def close(self) -> None:
        """Give up the file."""
        worker, self._worker = self._worker, None
        if worker is not None:
            try:
                await asyncio.shield(worker.call(self._close))
            finally:
                worker.end()

    def _worker_now(self) -> Worker[Batch]:
        if self._worker is None:
            raise LedgerWriteError(path=str(self.path), reason="it is not open")
        return self._worker

    # --- in the thread ------------------------------------------------------------------------------------------------

    def _open(self) -> None:
        path = self.path.resolve()
        look(path)
        self._possession = Possession(path)
        self._connection = prepare(path)
        bounds = self._connection.execute("SELECT min(id), max(id) FROM run").fetchone()
        self._oldest, self._newest = (bounds[0], bounds[1]) if bounds[0] is not None else (1, 0)

    def _load(self) -> Mapping[str, TaskRecord]:
        assert self._connection is not None
        records: dict[str, TaskRecord] = {}
        self._ids = {}
        try:
            columns = {column for _, column, *_ in self._connection.execute("PRAGMA table_info(task)")}
            for missing in (field for field in FIELDS if field not in columns):
                raise TaskMissingFieldError(field=missing)
            for row in self._connection.execute(f"SELECT {', '.join(FIELDS)}, id FROM task"):
                try:
                    record = TaskRecord.from_row(row[:-1])
                    if record.name in records:
                        raise TaskInvalidValueError(field="name", value=record.name, reason="is there twice")
                except TaskTryDeserializeError as error:
                    error.add_note(f"task {row[0]!r} in {self.path}")
                    raise
                records[record.name] = record
                self._ids[record.name] = row[-1]
        except sqlite3.Error as error:
            raise LedgerUnusableError(path=str(self.path), reason=f"it cannot be read ({error})") from error
        self._next_id = max(self._ids.values(), default=0) + 1
        return records

    def _write(self, batches: Sequence[Batch]) -> None:
        connection = self._connection
        if connection is None:
            raise LedgerWriteError(path=str(self.path), reason="it is not open")
        numbers = _Numbers(self._ids, self._next_id)
        newest, oldest = self._newest, self._oldest
        try:
            connection.execute("BEGIN IMMEDIATE")
            for forgotten, records, begun, runs in batches:
                if forgotten:
                    forget_tasks(connection, numbers.drop(forgotten))
                numbers.give(records)
                put_tasks(connection, records, self._ids)
                put_begun(connection, begun, self._ids)
                put_runs(connection, runs, newest + 1)
                newest += len(runs)
            if newest - oldest >= self._history + _PRUNED:
                oldest = min(oldest + 2 * _PRUNED, newest - self._history + 1)
                connection.execute("DELETE FROM run WHERE id < ?", (oldest,))
            connection.execute("COMMIT")
        except Exception as error:  # whatever it is, nothing of the batches may stay
            with suppress(sqlite3.Error):  # SQLite has already rolled back where it had to
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
            numbers.undo()
            raise LedgerWriteError(path=str(self.path), reason=str(error)) from error
        self._next_id, self._newest, self._oldest = numbers.next, newest, oldest

    def _close(self) -> None:
        try:
            if self._connection is not None:
                self._connection.close()
        except sqlite3.Error as error:
            raise LedgerWriteError(path=str(self.path), reason=str(error)) from error
        finally:
            self._connection = None
            if self._possession is not None:
                self._possession.release()
                self._possession = None
