"""SqliteLedger: a file that survives crashes. One thread does all SQLite work; a commit collects what has arrived."""

import asyncio
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from os import PathLike
from pathlib import Path

from kron.adapters.sqlite_ledger.possession import Possession
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
from kron.rules.history import RunRecord
from kron.rules.record import FIELDS, TaskRecord, instant_text, milliseconds

_FIRST = f"INSERT INTO task ({', '.join(FIELDS)}, id) VALUES ({', '.join('?' * len(FIELDS))}, ?)"
_AGAIN = f"UPDATE task SET {', '.join(f'{field} = ?' for field in FIELDS[1:])} WHERE id = ?"
_FORGET = "DELETE FROM task WHERE id = ?"
_LOG = "INSERT INTO run (id, task, scheduledAt, startedAt, endedAt, result, error) VALUES (?, ?, ?, ?, ?, ?, ?)"
_HISTORY = 100_000  # runs kept for people to look at
_PRUNED = 1_000  # old runs removed by one commit: it stays short


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
        moved: list[tuple[str, int | None]] = []  # names whose number changed, with the one before
        try:
            connection.execute("BEGIN IMMEDIATE")
            for batch in batches:
                self._forget(connection, batch.forgotten, moved)
                self._remember(connection, batch.records, moved)
            newest, oldest = self._log(connection, [run for batch in batches for run in batch.runs]), self._oldest
            if newest - oldest >= self._history + _PRUNED:
                oldest = min(oldest + 2 * _PRUNED, newest - self._history + 1)
                connection.execute("DELETE FROM run WHERE id < ?", (oldest,))
            connection.execute("COMMIT")
        except Exception as error:  # whatever it is, nothing of the batches may stay
            with suppress(sqlite3.Error):  # SQLite has already rolled back where it had to
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
            for name, number in reversed(moved):
                self._ids.pop(name, None)
                if number is not None:
                    self._ids[name] = number
            raise LedgerWriteError(path=str(self.path), reason=str(error)) from error
        self._newest, self._oldest = newest, oldest

    def _forget(
        self, connection: sqlite3.Connection, names: Iterable[str], moved: list[tuple[str, int | None]]
    ) -> None:
        gone = [(name, self._ids.pop(name)) for name in names if name in self._ids]
        moved.extend(gone)
        connection.executemany(_FORGET, ((number,) for _, number in gone))

    def _remember(
        self, connection: sqlite3.Connection, records: Iterable[TaskRecord], moved: list[tuple[str, int | None]]
    ) -> None:
        ids, text, known, new = self._ids, instant_text, [], {}
        for record in records:  # taken apart here, not by `to_row`: this is what every start and end waits for
            name, cron, delay, first, attempt, success, failure, retry, count, running, scheduler = record
            number = ids.get(name)
            if number is None:
                new[name] = record
                continue
            row = (
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
                number,
            )
            known.append(row)
        connection.executemany(_AGAIN, known)
        first_id = self._next_id
        connection.executemany(_FIRST, ((*record.to_row(), first_id + n) for n, record in enumerate(new.values())))
        for name in new:
            ids[name] = self._next_id
            moved.append((name, None))
            self._next_id += 1

    def _log(self, connection: sqlite3.Connection, runs: Sequence[RunRecord]) -> int:
        """Add runs to the history; return the number of the last."""
        rows = (
            (
                number,
                run.task,
                run.scheduled and instant_text(run.scheduled),
                instant_text(run.started),
                run.ended and instant_text(run.ended),
                run.result.value,
                run.error,
            )
            for number, run in enumerate(runs, self._newest + 1)
        )
        connection.executemany(_LOG, rows)
        return self._newest + len(runs)

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
