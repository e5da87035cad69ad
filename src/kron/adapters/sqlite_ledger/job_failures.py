"""failing_jobs(path) -> identities, waiting_rows(path) -> rows: whose last word is a failure; what is tried again."""

from pathlib import Path

from kron.adapters.sqlite_ledger.job_entries import SELECT, history_row
from kron.adapters.sqlite_ledger.job_history import open_to_read
from kron.adapters.sqlite_ledger.job_load import WAITING
from kron.rules.history_row import HistoryRow
from kron.rules.job_record import AGAIN, Result

# An attempt that was tried again says nothing: the last one of its execution does.
_FAILING = """SELECT identity FROM job JOIN (
    SELECT job, max(id) AS id FROM entry WHERE retry_at IS NULL AND result IN ({results}) GROUP BY job
) AS last ON last.job = job.id JOIN entry ON entry.id = last.id
WHERE entry.result <> '{succeeded}'"""


def failing_jobs(path: Path) -> set[str]:
    """Return jobs whose last execution that succeeded or failed has failed, also while another has the ledger."""
    results = ", ".join(f"'{result.value}'" for result in (*AGAIN, Result.SUCCEEDED))
    with open_to_read(path) as connection:
        found = connection.execute(_FAILING.format(results=results, succeeded=Result.SUCCEEDED.value))
        return {identity for (identity,) in found}


def waiting_rows(path: Path) -> list[HistoryRow]:
    """Return the rows of runs that failed and are to be tried again."""
    with open_to_read(path) as connection:
        return [history_row(row) for row in connection.execute(f"{SELECT} WHERE {WAITING} ORDER BY entry.id")]
