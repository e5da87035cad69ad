"""A job ledger in a file that holds every kind of record."""

import asyncio
from datetime import timedelta
from pathlib import Path

from kron.adapters.sqlite.job_history import SqliteJobHistory
from kron.adapters.sqlite.job_ledger import SqliteJobLedger
from kron.engine.ledger import HistoryQuery, JobBatch, JobSnapshot
from kron.rules.job_record import RunHandle
from kron.testing.job_ledger_suite import (
    DEFINITION,
    FAILED,
    JOB,
    KEY,
    OTHER,
    OTHER_KEY,
    RUN,
    TRIGGERED,
    attempt_at,
    closed_from,
)

EVERYTHING = JobBatch(
    {KEY: DEFINITION, OTHER_KEY: OTHER}, [JOB, JOB._replace(identity="other", definition_key=OTHER_KEY)],
    [closed_from(3, 4), closed_from(9, 1)],
    [RUN, TRIGGERED, *(attempt_at(minute, f"run at {minute}") for minute in range(20, 200))],
    [RunHandle("run 1", 1, 2)], [FAILED],
)  # fmt: skip


def remember(path: Path, *batches: JobBatch, retention: timedelta | None = None) -> JobSnapshot:
    """Open the ledger, append, load, and close it."""

    async def live() -> JobSnapshot:
        ledger = SqliteJobLedger(path, retention=retention)
        await ledger.open()
        try:
            for batch in batches:
                await ledger.append(batch)
            return await ledger.load()
        finally:
            await ledger.close()

    return asyncio.run(live())


def run_ids(path: Path) -> list[object]:
    return [row.run_id or row.period_id for row in SqliteJobHistory(path).rows(HistoryQuery(limit=None))]
