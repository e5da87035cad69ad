"""Records and runs -> rows of the tables, many with one statement.

Python's global lock is given up once for a statement: the event loop goes on while SQLite works through a thousand
rows. Handed over one by one, each row would have to win the lock back.
"""

import json
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import TypeVar

from kron.instant import Instant
from kron.rules.history import RunRecord
from kron.rules.record import FIELDS, TaskRecord, instant_text, milliseconds

_Item = TypeVar("_Item")
_MOST = 1_024  # rows of a statement
_TASK_COLUMNS = ("id", *FIELDS)
_RUN_COLUMNS = ("id", "task", "scheduledAt", "startedAt", "endedAt", "result", "error")
_BEGIN = """UPDATE task
    SET lastAttemptAt = ?, pendingRetryUntil = NULL, retryCount = ?, runningSince = ?, schedulerIdentifier = ?
    WHERE id IN (SELECT value FROM json_each(?))"""
_FORGET = "DELETE FROM task WHERE id IN (SELECT value FROM json_each(?))"


def forget_tasks(connection: sqlite3.Connection, numbers: Iterable[int]) -> None:
    """Remove the rows of tasks."""
    connection.execute(_FORGET, (json.dumps(list(numbers)),))


def put_tasks(connection: sqlite3.Connection, records: Sequence[TaskRecord], ids: Mapping[str, int]) -> None:
    """Write the rows of tasks, whether they are there already or not; the last of a task counts."""
    text = instant_text
    for block in _blocks(records):
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
        _put(connection, "task", _TASK_COLUMNS, values)


def put_begun(connection: sqlite3.Connection, records: Iterable[TaskRecord], ids: Mapping[str, int]) -> None:
    """Write what a start changes: nearly all tasks that begin in one step have it in common."""
    groups: dict[tuple[Instant | None, int, Instant | None, str], list[int]] = {}
    for name, _, _, _, attempt, _, _, _, count, running, scheduler in records:
        groups.setdefault((attempt, count, running, scheduler), []).append(ids[name])
    for (attempt, count, running, scheduler), numbers in groups.items():
        values = (attempt and instant_text(attempt), count, running and instant_text(running), scheduler)
        connection.execute(_BEGIN, (*values, json.dumps(numbers)))


def put_runs(connection: sqlite3.Connection, runs: Sequence[RunRecord], first: int) -> None:
    """Add runs to the history, numbered from the first."""
    text, number = instant_text, first
    for block in _blocks(runs):
        values: list[object] = []
        for task, scheduled, started, ended, result, error in block:
            times = (scheduled and text(scheduled), text(started), ended and text(ended))
            values += (number, task, *times, result.value, error)
            number += 1
        _put(connection, "run", _RUN_COLUMNS, values)


def _blocks(items: Sequence[_Item]) -> Iterator[Sequence[_Item]]:
    """Cut a list into pieces that one statement can hold."""
    return (items[start : start + _MOST] for start in range(0, len(items), _MOST))


def _put(connection: sqlite3.Connection, table: str, columns: tuple[str, ...], values: list[object]) -> None:
    """Write rows, given as all their values one after the other, with few statements of few lengths."""
    width, done = len(columns), 0
    most = min(_MOST, connection.getlimit(sqlite3.SQLITE_LIMIT_VARIABLE_NUMBER) // width)
    while left := (len(values) - done) // width:
        rows = 1 << (min(left, most).bit_length() - 1)  # a power of two, so that statements are found prepared
        connection.execute(_statement(table, columns, rows), values[done : done + rows * width])
        done += rows * width


@cache
def _statement(table: str, columns: tuple[str, ...], rows: int) -> str:
    row = f"({', '.join('?' * len(columns))})"
    return f"INSERT OR REPLACE INTO {table} ({', '.join(columns)}) VALUES {', '.join([row] * rows)}"
