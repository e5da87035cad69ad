"""Build ledgers from batches, and list the rows of their histories."""

import asyncio
from pathlib import Path

from kron.adapters.sqlite.job_history import SqliteJobHistory
from kron.adapters.sqlite.job_ledger import SqliteJobLedger
from kron.engine.ledger import HistoryQuery, JobBatch

__all__ = ["JobBatch", "ids", "remembered"]


def remembered(path: Path, *batches: JobBatch) -> SqliteJobHistory:
    """Return the history of a ledger with these batches."""

    async def remember() -> None:
        ledger = SqliteJobLedger(path / "ledger.db")
        await ledger.open()
        for batch in batches:
            await ledger.append(batch)
        await ledger.close()

    asyncio.run(remember())
    return SqliteJobHistory(path / "ledger.db")


def ids(history: SqliteJobHistory, **wanted: object) -> list[object]:
    """Return what tells rows apart in these tests: the run, or the last period."""
    rows = history.rows(HistoryQuery(**wanted))  # type: ignore[arg-type] # the words of one call are another's
    return [row.run_id or str(row.period_id)[11:16] for row in rows]
