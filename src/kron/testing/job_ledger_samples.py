"""Jobs, periods and runs to be remembered, and a ledger that has them; for the suite that every ledger must pass."""

from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

from kron.engine.jobs.store import JobBatch, JobLedger, JobSnapshot
from kron.rules.job_record import JobRecord, PeriodRecord, ResultCode, RunEnd, RunKind, RunStart
from kron.rules.job_spec import definition_key
from kron.rules.verdict import Outcome

JobLedgerFactory = Callable[[], JobLedger]
JobLedgerCheck = Callable[[JobLedgerFactory], Coroutine[Any, Any, None]]

MINUTE = timedelta(minutes=1)
NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
NOW = NOON + timedelta(seconds=7, microseconds=123456)
DEFINITION = '{"timing": {"schedule": "* * * * *"}, "policy": {}}'
KEY = definition_key(DEFINITION)
OTHER = '{"timing": {"schedule": "0 * * * *", "salt": "other ü"}, "policy": {}}'
OTHER_KEY = definition_key(OTHER)
JOB = JobRecord("/etc/jobs.toml:backup", "backup", KEY, NOON, NOON)
FULL = JobRecord("ü 日本\n", "x", KEY, NOON, NOW, True, NOW + MINUTE, "boot 1", False)  # noqa: FBT003
NOTHING = JobBatch()
DECLARED = JobBatch({KEY: DEFINITION}, [JOB])
MISSED = PeriodRecord(
    JOB.identity, NOON, NOON, 1, NOON, NOON, Outcome.MISSED, "deadline", "It was too late.", KEY, NOW
)  # fmt: skip
RUN = RunStart("run 1", JOB.identity, RunKind.PERIOD, NOON, NOON, 1, NOW, KEY, "boot 1")
TRIGGERED = RunStart("run 2", JOB.identity, RunKind.TRIGGER, None, None, 1, NOW, KEY, "boot 1")
FAILED = RunEnd("run 1", NOW + MINUTE, ResultCode.FAILED, 3, None, "It said 3.", NOW + 2 * MINUTE)


def closed_from(minute: int, number: int) -> PeriodRecord:
    """Return the record of so many periods of a job that has one in every minute."""
    first, last = NOON + minute * MINUTE, NOON + (minute + number - 1) * MINUTE
    return PeriodRecord(
        JOB.identity, first, last, number, last, last, Outcome.MISSED, "downtime", "", KEY, NOW + 1000 * MINUTE
    )  # fmt: skip


def attempt_at(minute: int, run_id: str, number: int = 1) -> RunStart:
    """Return an attempt of the period that belongs to a minute."""
    nominal = NOON + minute * MINUTE
    return RUN._replace(run_id=run_id, nominal=nominal, chosen=nominal, started=nominal, attempt=number)


@asynccontextmanager
async def opened(make: JobLedgerFactory, *batches: JobBatch) -> AsyncIterator[JobLedger]:
    """Let a host have the ledger for a while, and remember something first."""
    ledger = make()
    await ledger.open()
    try:
        await ledger.load()
        for batch in batches:
            await ledger.append(batch)
        yield ledger
    finally:
        await ledger.close()


async def reopened(make: JobLedgerFactory, *batches: JobBatch) -> JobSnapshot:
    """Append, close, and return what another host then finds."""
    async with opened(make, *batches):
        pass
    async with opened(make) as ledger:
        return await ledger.load()
