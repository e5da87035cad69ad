"""Records and runs -> rows of the tables, many with one statement."""

import json
import sqlite3
from collections.abc import Iterable, Mapping, Sequence

from kron.adapters.sqlite_ledger.blocks import ROWS, blocks, execute_rows
from kron.instant import Instant
from kron.rules.history import RunRecord
from kron.rules.record import FIELDS, TaskRecord, instant_text, milliseconds

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
    text = instant_text
    for block in blocks(records):
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
        values = (attempt and instant_text(attempt), count, running and instant_text(running), scheduler)
        connection.execute(_BEGIN, (*values, json.dumps(numbers)))


def put_runs(connection: sqlite3.Connection, runs: Sequence[RunRecord], first: int) -> None:
    """Add runs to the history, numbered from the first."""
    text, number = instant_text, first
    for block in blocks(runs):
        values: list[object] = []
        for task, scheduled, started, ended, result, error in block:
            times = (scheduled and text(scheduled), text(started), ended and text(ended))
            values += (number, task, *times, result.value, error)
            number += 1
        execute_rows(connection, _PUT_RUNS, len(_RUN_COLUMNS), values)
