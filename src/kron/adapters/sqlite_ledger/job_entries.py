"""Entries of the ledger of jobs -> the rows of the history that tell of them."""

from kron.adapters.sqlite_ledger.job_cells import ATTEMPT, CLOSED, END, ENTRY, Row, attempt_of, closed_of, end_of
from kron.adapters.sqlite_ledger.stamp import moment
from kron.instant import Instant
from kron.rules.history_row import HistoryRow, closed_row, run_row

JOB_ID = "(SELECT id FROM job WHERE identity = :identity)"
ATTEMPTS = """CASE WHEN nominal IS NULL THEN attempt ELSE (
    SELECT max(other.attempt) FROM entry AS other WHERE other.nominal = entry.nominal AND other.job = entry.job
) END"""
SELECT = f"SELECT effective, entry.id, name, {ATTEMPTS}, {ATTEMPT}, {END}, {CLOSED} FROM {ENTRY}"


def history_row(row: Row) -> HistoryRow:
    """Return what a row of `SELECT` tells."""
    name, attempts, run, end, closed = row[2], row[3], row[4:14], row[14:21], row[21:]
    if run[0] is None:
        return closed_row(name, closed_of(closed))
    return run_row(name, attempt_of(run), end_of(end), attempts=attempts)


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
