"""Entries of the ledger of jobs -> the rows of the history that tell of them.

Attempts of one execution have their period in common; those of a run without a period are a chain, in which each names
the run that it tries again.
"""

import sqlite3

from kron.adapters.sqlite_ledger.job_cells import ATTEMPT, CLOSED, END, ENTRY, Row, attempt_of, closed_of, end_of
from kron.adapters.sqlite_ledger.stamp import moment, stamp
from kron.instant import Instant, parse_instant
from kron.rules.history_row import HistoryRow, closed_row, fold, run_row

JOB_ID = "(SELECT id FROM job WHERE identity = :identity)"
ATTEMPTS = """CASE WHEN nominal IS NULL THEN (
    WITH RECURSIVE later (run_id, attempt) AS (
        SELECT entry.run_id, entry.attempt
        UNION SELECT next.run_id, next.attempt FROM later JOIN entry AS next ON next.again = later.run_id
    ) SELECT max(attempt) FROM later
) ELSE (
    SELECT max(other.attempt) FROM entry AS other WHERE other.nominal = entry.nominal AND other.job = entry.job
) END"""
SELECT = f"SELECT effective, entry.id, name, {ATTEMPTS}, {ATTEMPT}, {END}, {CLOSED} FROM {ENTRY}"
_OF_PERIOD = f"{SELECT} WHERE nominal = ? AND entry.job = (SELECT id FROM job WHERE identity = ?) ORDER BY attempt"
_OF_CHAIN = f"""{SELECT} WHERE run_id IN (
    WITH RECURSIVE chain (run_id, again) AS (
        SELECT run_id, again FROM entry WHERE run_id = ?
        UNION SELECT near.run_id, near.again FROM chain JOIN entry AS near
        ON near.run_id = chain.again OR near.again = chain.run_id
    ) SELECT run_id FROM chain
) ORDER BY attempt"""


def history_row(row: Row) -> HistoryRow:
    """Return what a row of `SELECT` tells."""
    name, attempts, run, end, closed = row[2], row[3], row[4:14], row[14:21], row[21:]
    if run[0] is None:
        return closed_row(name, closed_of(closed))
    return run_row(name, attempt_of(run), end_of(end), attempts=attempts)


def execution_row(connection: sqlite3.Connection, row: HistoryRow) -> HistoryRow:
    """Return one row for the whole execution that a row tells of."""
    if row["attempts"] in (0, 1):
        return row
    if row["period_id"] is None:
        found = connection.execute(_OF_CHAIN, (row["run_id"],))
    else:
        found = connection.execute(_OF_PERIOD, (stamp(parse_instant(str(row["period_id"]))), row["identity"]))
    return fold([history_row(each) for each in found])


def identity_of(row: Row) -> str:
    """Return the job of a row of `SELECT`."""
    return str(row[5])


def definition_of(row: Row) -> str:
    """Return the key of the definition that a row of `SELECT` refers to."""
    return str(row[30])


def nominals_of(row: Row) -> tuple[Instant, Instant] | None:
    """Return the first and the last nominal time of a row of `SELECT`, None: it belongs to no period."""
    _, first, last, *_ = row[21:]
    return None if last is None else (moment(first or last), moment(last))
