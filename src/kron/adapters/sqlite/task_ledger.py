"""SqliteTaskLedger: the ledger of the library in a file that survives crashes: its tables, and how records are rows."""

import json
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from os import PathLike
from pathlib import Path

from kron.adapters.sqlite.database import LedgerDatabase
from kron.adapters.sqlite.schema import ROWS, LedgerSchema, chunks, execute_rows, reason_of
from kron.engine.gc_pause import gc_paused
from kron.engine.ports import Refusal, TaskBatch
from kron.errors import LedgerUnusableError, LedgerWriteError, TaskInvalidValueError, TaskTryDeserializeError
from kron.instant import Instant
from kron.rules.task_record import FIELDS, TaskRecord, TaskRunRecord, cached_instant_text, check_columns, milliseconds

_HISTORY = 100_000  # runs kept for people to look at
_OF_ROWS = (sqlite3.IntegrityError, sqlite3.DataError)  # errors about what a row holds, not about the file
_PRUNED = 1_000  # old runs removed by one commit: it stays short


class _TaskIds:
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


class SqliteTaskLedger:
    """The state of each task in a row, and the last runs. Durable (WAL, synchronous=FULL) before anything starts."""

    def __init__(self, path: str | PathLike[str], *, history: int = _HISTORY) -> None:
        self.path = Path(path)
        self._history = history
        self._file: LedgerDatabase[TaskBatch] = LedgerDatabase(self.path, TASKS, self._write)
        self._ids: dict[str, int] = {}  # of each task's row: names have no index
        self._next_id = 1
        self._oldest = self._newest = 0  # numbers of the runs in the history

    # --- the port -----------------------------------------------------------------------------------------------------

    async def open(self) -> None:
        """Take possession of the file; make it if there is none."""
        await self._file.open(self._number_runs)

    async def load(self) -> Mapping[str, TaskRecord]:
        """Return what is remembered of each task."""
        with gc_paused():
            return await self._file.call(self._load)

    async def append(self, batch: TaskBatch) -> Sequence[Refusal]:
        """Remember the batch, or nothing of it. Nothing contradicts a record of the only scheduler."""
        await self._file.write(batch)
        return ()

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

    def _write(self, batches: Sequence[TaskBatch]) -> None:
        numbers = _TaskIds(self._ids, self._next_id)
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

    def _refused(self, batches: Sequence[TaskBatch]) -> str | None:
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


_TASK_COLUMNS = ("id", *FIELDS)
_RUN_COLUMNS = ("id", "task", "scheduledAt", "startedAt", "endedAt", "result", "error")
_PUT_TASKS = f"INSERT OR REPLACE INTO task ({', '.join(_TASK_COLUMNS)}) VALUES {ROWS}"
_PUT_RUNS = f"INSERT OR REPLACE INTO run ({', '.join(_RUN_COLUMNS)}) VALUES {ROWS}"
_BEGIN = """UPDATE task
    SET lastAttemptAt = ?, pendingRetryUntil = NULL, retryCount = ?, runningSince = ?, schedulerIdentifier = ?
    WHERE id IN (SELECT value FROM json_each(?))"""
_FORGET = "DELETE FROM task WHERE id IN (SELECT value FROM json_each(?))"


def forget_tasks(connection: sqlite3.Connection, numbers: Iterable[int]) -> None:
    """Remove the rows of tasks."""
    connection.execute(_FORGET, (json.dumps(list(numbers)),))


def put_tasks(connection: sqlite3.Connection, records: Sequence[TaskRecord], ids: Mapping[str, int]) -> None:
    """Write the rows of tasks, whether they are there already or not; the last of a task counts."""
    text = cached_instant_text
    for block in chunks(records):
        values: list[object] = []
        for record in block:  # taken apart here, not by `to_row`: this is what every end waits for
            name, cron, delay, first, attempt, success, failure, retry, count, running, scheduler = record
            values += (
                ids[name],
                name,
                cron,
                milliseconds(delay),
                text(first),
                attempt and text(attempt),
                success and text(success),
                failure and text(failure),
                retry and text(retry),
                count,
                running and text(running),
                scheduler,
            )
        execute_rows(connection, _PUT_TASKS, len(_TASK_COLUMNS), values)


def put_begun(connection: sqlite3.Connection, records: Iterable[TaskRecord], ids: Mapping[str, int]) -> None:
    """Write what a start changes: nearly all tasks that begin in one step have it in common."""
    groups: dict[tuple[Instant | None, int, Instant | None, str], list[int]] = {}
    for name, _, _, _, attempt, _, _, _, count, running, scheduler in records:
        groups.setdefault((attempt, count, running, scheduler), []).append(ids[name])
    for (attempt, count, running, scheduler), numbers in groups.items():
        values = (attempt and cached_instant_text(attempt), count, running and cached_instant_text(running), scheduler)
        connection.execute(_BEGIN, (*values, json.dumps(numbers)))


def put_runs(connection: sqlite3.Connection, runs: Sequence[TaskRunRecord], first: int) -> None:
    """Add runs to the history, numbered from the first."""
    text, number = cached_instant_text, first
    for block in chunks(runs):
        values: list[object] = []
        for task, scheduled, started, ended, result, error in block:
            times = (scheduled and text(scheduled), text(started), ended and text(ended))
            values += (number, task, *times, result.value, error)
            number += 1
        execute_rows(connection, _PUT_RUNS, len(_RUN_COLUMNS), values)


_TYPES = {"retryDelayMs": "NUMERIC", "retryCount": "INTEGER"}
_COLUMNS = ", ".join(f"{field} {_TYPES.get(field, 'TEXT')}" for field in FIELDS[1:])
# No index on the name: all rows are loaded and then found by number; `load` refuses a name that is there twice.
_TASK = f"CREATE TABLE task (id INTEGER PRIMARY KEY, name TEXT NOT NULL, {_COLUMNS})"
_RUN = """CREATE TABLE run (
    id INTEGER PRIMARY KEY, task TEXT NOT NULL, scheduledAt TEXT, startedAt TEXT NOT NULL, endedAt TEXT,
    result TEXT NOT NULL, error TEXT
)"""

TASKS = LedgerSchema(0x4B726F6E, 1, (_TASK, _RUN), {"task": "a table", "run": "a table"})  # "Kron"
