"""SqliteLedger: a file that survives crashes. One thread does all SQLite work; a commit collects what has arrived."""

import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from os import PathLike
from pathlib import Path

from kron.adapters.sqlite_ledger.file import LedgerFile
from kron.adapters.sqlite_ledger.reason import reason_of
from kron.adapters.sqlite_ledger.rows import forget_tasks, put_begun, put_runs, put_tasks
from kron.adapters.sqlite_ledger.task_schema import TASKS
from kron.engine.collector import collector_paused
from kron.engine.ports import Batch
from kron.errors import (
    LedgerUnusableError,
    LedgerWriteError,
    TaskInvalidValueError,
    TaskTryDeserializeError,
)
from kron.rules.record import FIELDS, TaskRecord, check_columns

_HISTORY = 100_000  # runs kept for people to look at
_OF_ROWS = (sqlite3.IntegrityError, sqlite3.DataError)  # errors about what a row holds, not about the file
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
        self._file: LedgerFile[Batch] = LedgerFile(self.path, TASKS, self._write)
        self._ids: dict[str, int] = {}  # of each task's row: names have no index
        self._next_id = 1
        self._oldest = self._newest = 0  # numbers of the runs in the history

    # --- the port -----------------------------------------------------------------------------------------------------

    async def open(self) -> None:
        """Take possession of the file; make it if there is none."""
        await self._file.open(self._number_runs)

    async def load(self) -> Mapping[str, TaskRecord]:
        """Return what is remembered of each task."""
        with collector_paused():
            return await self._file.call(self._load)

    async def append(self, batch: Batch) -> None:
        """Remember the batch, or nothing of it."""
        await self._file.write(batch)

    async def close(self) -> None:
        """Give up the file."""
        await self._file.close()

    # --- in the thread ------------------------------------------------------------------------------------------------

    def _number_runs(self) -> None:
        try:
            oldest, newest = self._file.connection.execute("SELECT min(id), max(id) FROM run").fetchone()
        except sqlite3.Error as error:
            raise self._unreadable(error) from error
        self._oldest, self._newest = (1, 0) if oldest is None else (oldest, newest)

    def _load(self) -> Mapping[str, TaskRecord]:
        connection = self._file.connection
        records: dict[str, TaskRecord] = {}
        self._ids = {}
        try:
            columns = {column for _, column, *_ in connection.execute("PRAGMA table_info(task)")}
            check_columns(columns)
            for row in connection.execute(f"SELECT {', '.join(FIELDS)}, id FROM task"):
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
            raise self._unreadable(error) from error
        self._next_id = max(self._ids.values(), default=0) + 1
        return records

    def _unreadable(self, error: sqlite3.Error) -> LedgerUnusableError:
        reason = f"it cannot be read ({reason_of(error)})"
        return LedgerUnusableError(path=str(self.path), reason=reason, cause=error)

    def _write(self, batches: Sequence[Batch]) -> None:
        numbers = _Numbers(self._ids, self._next_id)
        newest, oldest = self._newest, self._oldest
        try:
            with self._file.transaction() as connection:
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
        except BaseException as error:
            if isinstance(error, LedgerWriteError) and isinstance(error.__cause__, _OF_ROWS):
                error.task = self._refused(batches)
            numbers.undo()
            raise
        self._next_id, self._newest, self._oldest = numbers.next, newest, oldest

    def _refused(self, batches: Sequence[Batch]) -> str | None:
        """Return the task whose record cannot be written, found by halves; None if each of them can."""
        records = [record for batch in batches for record in batch.records]
        if not self._refuses(records):
            return None
        while len(records) > 1:
            half = records[: len(records) // 2]
            records = half if self._refuses(half) else records[len(half) :]
        return records[0].name

    def _refuses(self, records: Sequence[TaskRecord]) -> bool:
        """Whether records cannot be written; nothing of the attempt stays."""
        connection = self._file.connection
        connection.execute("BEGIN IMMEDIATE")
        try:
            put_tasks(connection, records, self._ids)
        except sqlite3.Error:
            return True
        finally:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
        return False
