"""The file of a job ledger: its permissions, refused files, retention, and its copy."""

import asyncio
import os
import shutil
import sqlite3
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import closing
from datetime import timedelta
from pathlib import Path

import pytest

from kron.adapters.sqlite.job_check import check_ledger
from kron.adapters.sqlite.job_history import SqliteJobHistory
from kron.adapters.sqlite.job_ledger import SqliteJobLedger
from kron.adapters.sqlite.job_tables import JOBS
from kron.adapters.sqlite.job_writer import BatchWriter, JobIds
from kron.adapters.sqlite.task_ledger import SqliteTaskLedger
from kron.cron.schedule import Schedule
from kron.engine.ledger import JobBatch, JobSnapshot
from kron.engine.ports import Refusal
from kron.errors import LedgerUnusableError
from kron.instant import Instant
from kron.rules.job_record import PeriodRecord, ResultCode, RunEnd
from kron.rules.job_spec import definition_key
from kron.rules.periods import HandledPeriods
from kron.testing.job_ledger_suite import (
    DECLARED,
    DEFINITION,
    JOB,
    KEY,
    NOON,
    NOW,
    OTHER,
    OTHER_KEY,
    RUN,
    TRIGGERED,
    attempt_at,
    closed_from,
)
from tests.adapters.sqlite.sample_ledger import EVERYTHING, remember, run_ids
from tests.crash.damaged_ledger import execute, fingerprint, overwrite

DAY = timedelta(days=1)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "ledger.db"


# --- permissions ------------------------------------------------------------------------------------------------------


async def test_all_files_are_for_their_owner_alone(path: Path) -> None:
    before = os.umask(0)
    try:
        ledger = SqliteJobLedger(path)
        await ledger.open()
        await ledger.append(DECLARED)
        found = {each.name: each.stat().st_mode & 0o777 for each in path.parent.iterdir()}
        await ledger.close()
    finally:
        os.umask(before)

    found = found

    assert found == dict.fromkeys(("ledger.db", "ledger.db-shm", "ledger.db-wal", "ledger.db.lock"), 0o600)


def test_a_ledger_that_is_its_owners_anyway_leaves_no_lock_beside_it(path: Path) -> None:
    async def live() -> list[str]:
        ledger = SqliteJobLedger(path, guard=lambda: True)
        await ledger.open()
        await ledger.append(DECLARED)
        await ledger.close()
        return [each.name for each in path.parent.iterdir()]

    assert asyncio.run(live()) == ["ledger.db"]


def test_a_link_in_its_place_is_refused(path: Path, tmp_path: Path) -> None:
    remember(tmp_path / "elsewhere", DECLARED)
    path.symlink_to(tmp_path / "elsewhere")

    with pytest.raises(LedgerUnusableError, match="it is a link"):
        remember(path)


def test_a_link_in_place_of_the_lock_is_refused(path: Path, tmp_path: Path) -> None:
    path.with_name("ledger.db.lock").symlink_to(tmp_path / "elsewhere")

    with pytest.raises(LedgerUnusableError, match="lock"):
        remember(path)
    assert not (tmp_path / "elsewhere").exists()


# --- what is no ledger of jobs ----------------------------------------------------------------------------------------


def test_the_ledger_of_the_library_is_another_kind_and_the_other_way_round(path: Path) -> None:
    async def library(ledger: SqliteTaskLedger) -> None:
        await ledger.open()
        await ledger.close()

    asyncio.run(library(SqliteTaskLedger(path)))
    remember(path.with_name("jobs.db"), DECLARED)

    with pytest.raises(LedgerUnusableError, match="a ledger of the library"):
        remember(path)
    with pytest.raises(LedgerUnusableError, match="the ledger of a daemon"):
        asyncio.run(library(SqliteTaskLedger(path.with_name("jobs.db"))))


DAMAGES: dict[str, Callable[[Path], object]] = {
    "a text": lambda path: path.write_text("jobs\n" * 100),
    "a page": lambda path: overwrite(path, 4096),
    "a cut": lambda path: os.truncate(path, 4096 * 3 + 100),
    "a version": lambda path: execute(path, "PRAGMA user_version=4"),
    "a table": lambda path: execute(path, "DROP TABLE entry"),
    "an index": lambda path: execute(path, "DROP INDEX entry_period"),
    "a column": lambda path: execute(path, "ALTER TABLE job DROP COLUMN suspended_until"),
    "an instant of a job": lambda path: execute(path, "UPDATE job SET served = '2026-03-01T12:00:00Z'"),
    "an instant that never was": lambda path: execute(path, "UPDATE job SET served = '2026-02-30T12:00:00.000000Z'"),
    "an instant of a run": lambda path: execute(path, "UPDATE entry SET at = 7 WHERE run_id = 'run 2'"),
    "a kind": lambda path: execute(path, "UPDATE entry SET kind = 'whim' WHERE run_id = 'run 2'"),
    "a name": lambda path: execute(path, "UPDATE job SET name = x'00ff'"),
    "a flag": lambda path: execute(path, "UPDATE job SET suspended = 2"),
    "a process": lambda path: execute(path, "UPDATE entry SET pid = 'x' WHERE run_id = 'run 2'"),
    "a definition": lambda path: execute(path, "UPDATE definition SET text = 'x'"),
}


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES.keys())
def test_a_damaged_ledger_is_refused_and_left_as_it_is(path: Path, damage: Callable[[Path], object]) -> None:
    remember(path, EVERYTHING)
    damage(path)
    before = fingerprint(path)

    with pytest.raises(LedgerUnusableError) as caught:
        remember(path)

    assert str(path) in str(caught.value)
    assert fingerprint(path) == before


def test_appended_records_survive_a_crash(path: Path, tmp_path: Path) -> None:
    """Copy the files of an open ledger, as a killed process leaves them."""
    left = tmp_path / "left"
    left.mkdir()

    async def live() -> JobSnapshot:
        ledger = SqliteJobLedger(path)
        await ledger.open()
        await ledger.append(EVERYTHING)
        stored = await ledger.load()
        for name in ("ledger.db", "ledger.db-wal"):
            shutil.copy(path.with_name(name), left / name)
        await ledger.close()
        return stored

    stored = asyncio.run(live())

    assert remember(left / "ledger.db") == stored
    assert check_ledger(left / "ledger.db") == []


# --- what leaves it in time -------------------------------------------------------------------------------------------


def end(run_id: str) -> RunEnd:
    return RunEnd(run_id, NOW, ResultCode.SUCCEEDED, 0)


def test_records_older_than_the_retention_are_removed_with_their_definition(path: Path) -> None:
    old = [attempt_at(1, "old")._replace(definition_key=OTHER_KEY), TRIGGERED]
    batch = JobBatch({KEY: DEFINITION, OTHER_KEY: OTHER}, [JOB], [closed_from(3, 4)], old)
    later = JobBatch(jobs=[JOB._replace(handled_until=NOON + 30 * DAY)], begun=[attempt_at(60 * 24 * 30, "new")])
    remember(path, batch, JobBatch(ended=[end("old"), end("run 2")]))

    remember(path, later, retention=7 * DAY)

    assert run_ids(path) == ["new"]
    assert SqliteJobHistory(path).definition(OTHER_KEY) is None
    assert SqliteJobHistory(path).definition(KEY) == DEFINITION
    assert check_ledger(path) == []


def test_each_round_removes_some_of_very_many_unused_definitions(path: Path) -> None:
    texts = [f'{DEFINITION[:-1]}, "n": {number}}}' for number in range(1500)]
    keys = {definition_key(text): text for text in texts}
    changed = [JobBatch(keys, [JOB._replace(definition_key=key)]) for key in (*keys, KEY)[-3:]]
    rounds = [JobBatch(begun=[attempt_at(60 * hour, f"run {hour}")]) for hour in range(2)]
    remember(path, DECLARED, *changed)

    left = []
    for number in (1, 2):
        shutil.copy(path, copy := path.with_name(f"copy {number}"))
        remember(copy, *rounds[:number], retention=7 * DAY)
        left.append(sum(SqliteJobHistory(copy).definition(key) is not None for key in keys))
        assert check_ledger(copy) == []

    assert left == [500, 0]
    assert SqliteJobHistory(copy).definition(KEY) == DEFINITION


def test_records_that_correctness_needs_stay_however_old(path: Path) -> None:
    """A run without an end, one to be tried again, an execution that goes on, a period ahead of what is served."""
    begun = [attempt_at(0, "goes on"), attempt_at(1, "is tried again"), attempt_at(2, "first"), TRIGGERED]
    retry = RunEnd("is tried again", NOW, ResultCode.FAILED, 1, retry_at=NOW)
    other = JOB._replace(identity="other")  # never served since
    ahead = attempt_at(5, "ahead")._replace(identity="other")
    remember(
        path,
        JobBatch({KEY: DEFINITION}, [JOB, other], begun=[*begun, ahead]),
        JobBatch(begun=[attempt_at(2, "second", 2)], ended=[end("first"), end("ahead"), end("run 2"), retry]),
    )

    later = JobBatch(jobs=[JOB._replace(handled_until=NOON + 30 * DAY)], begun=[attempt_at(60 * 24 * 30, "new")])
    stored = remember(path, later, retention=DAY)

    assert run_ids(path) == ["goes on", "is tried again", "first", "second", "ahead", "new"]
    assert [each.attempt.run_id for each in stored.unfinished] == ["goes on", "second", "new"]


def test_a_range_of_which_a_part_is_not_old_stays(path: Path) -> None:
    span = 60 * 24 * 10
    closed = closed_from(0, span)._replace(closed_at=NOON + 10 * DAY)
    served = JOB._replace(handled_until=NOON + 30 * DAY)
    begun = [attempt_at(60 * 24 * 12, "new")]

    remember(path, JobBatch({KEY: DEFINITION}, [served], [closed], begun), retention=5 * DAY)

    assert run_ids(path) == ["2026-03-11T11:59:00Z", "new"]


def test_without_a_retention_everything_stays(path: Path) -> None:
    later = JobBatch(jobs=[JOB._replace(handled_until=NOON + 3000 * DAY)], begun=[attempt_at(60 * 24 * 2000, "new")])
    remember(path, DECLARED, JobBatch(begun=[RUN], ended=[end("run 1")]), later)

    assert run_ids(path) == ["run 1", "new"]


# --- a copy -----------------------------------------------------------------------------------------------------------


@pytest.fixture
def connection() -> Iterator[sqlite3.Connection]:
    """A ledger in memory, with nothing in it."""
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as opened:
        for statement in JOBS.statements:
            opened.execute(statement)
        yield opened


def test_the_ranges_of_one_batch_are_written_without_a_question_for_each(connection: sqlite3.Connection) -> None:
    asked: list[str] = []
    numbers = JobIds("memory", connection)
    BatchWriter("memory", connection, numbers).write(DECLARED)
    numbers.commit()
    closed = [closed_from(5 * each, 2 - each % 2) for each in range(1_000)]  # of every other one only one period
    connection.set_trace_callback(asked.append)

    BatchWriter("memory", connection, numbers).write(JobBatch(closed=closed))

    assert connection.execute("SELECT count(*), count(first) FROM entry").fetchone() == (1_000, 500)
    assert len(asked) < 100


def test_one_pass_finds_every_job_that_contradicts_the_ledger(connection: sqlite3.Connection) -> None:
    jobs = [JOB._replace(identity=f"job {number}") for number in range(500)]
    closed = [closed_from(0, 1)._replace(identity=job.identity) for job in jobs]
    numbers = JobIds("memory", connection)
    BatchWriter("memory", connection, numbers).write(JobBatch({KEY: DEFINITION}, jobs, closed[::2]))
    numbers.commit()

    refused = BatchWriter("memory", connection, numbers).write_checked(
        JobBatch(closed=[each._replace(reason="another") for each in closed])
    )

    assert [each.identity for each in refused] == [job.identity for job in jobs[::2]]


@pytest.mark.parametrize(
    "closed",
    [
        [closed_from(0, 5), closed_from(3, 5)],
        [closed_from(0, 5), closed_from(2, 1)],
        [closed_from(2, 1), closed_from(0, 5)],
    ],
    ids=["two ranges", "a period of a range", "a range with a period"],
)
def test_a_period_that_a_batch_has_twice_is_refused(tmp_path: Path, closed: list[PeriodRecord]) -> None:
    async def live() -> Sequence[Refusal]:
        ledger = SqliteJobLedger(tmp_path / "ledger.db")
        await ledger.open()
        try:
            await ledger.append(DECLARED)
            return await ledger.append(JobBatch(closed=closed))
        finally:
            await ledger.close()

    assert [each.identity for each in asyncio.run(live())] == [JOB.identity]


def test_a_long_range_of_handled_periods_is_not_listed(tmp_path: Path) -> None:
    async def live() -> Mapping[str, Collection[Instant] | HandledPeriods]:
        ledger = SqliteJobLedger(tmp_path / "ledger.db")
        await ledger.open()
        try:
            await ledger.append(DECLARED)
            await ledger.append(JobBatch(closed=[closed_from(0, 525_600), closed_from(525_601, 1)]))
            return await ledger.handled({JOB.identity: NOON + timedelta(minutes=7)})
        finally:
            await ledger.close()

    found = asyncio.run(live())[JOB.identity]

    assert isinstance(found, HandledPeriods)
    last, single = NOON + timedelta(minutes=525_599), NOON + timedelta(minutes=525_601)
    assert found.under(Schedule("* * * * *")).spans == ((NOON + timedelta(minutes=7), last), (single, single))
