"""The history of jobs as people read it, from a ledger that is open elsewhere, or nowhere."""

import asyncio
from datetime import timedelta
from pathlib import Path

import pytest

from kron.adapters.sqlite_ledger.job_history import JobHistory, Wanted
from kron.adapters.sqlite_ledger.job_ledger import SqliteJobLedger
from kron.engine.jobs.store import JobBatch
from kron.errors import LedgerUnusableError
from kron.rules.job_record import JobRecord
from kron.rules.verdict import Outcome
from kron.rules.work import definition_key
from kron.testing.job_samples import (
    DECLARED,
    DEFINITION,
    FAILED,
    JOB,
    KEY,
    MINUTE,
    NOON,
    OTHER,
    OTHER_KEY,
    RUN,
    TRIGGERED,
    attempt_at,
    closed_from,
)

WINDOWED = '{"timing": {"schedule": "0 * * * *", "window": "after,2h"}, "policy": {}}'


def remembered(path: Path, *batches: JobBatch) -> JobHistory:
    """Return the history of a ledger with these batches."""

    async def remember() -> None:
        ledger = SqliteJobLedger(path / "ledger.db")
        await ledger.open()
        for batch in batches:
            await ledger.append(batch)
        await ledger.close()

    asyncio.run(remember())
    return JobHistory(path / "ledger.db")


def ids(history: JobHistory, **wanted: object) -> list[object]:
    """Return what tells rows apart in these tests: the run, or the last period."""
    rows = history.rows(Wanted(**wanted))  # type: ignore[arg-type] # the words of one call are another's
    return [row["run_id"] or str(row["period_id"])[11:16] for row in rows]


@pytest.fixture
def history(tmp_path: Path) -> JobHistory:
    """Runs at 12:02 and 12:12, the first with a second attempt; 12:04 to 12:08 were missed; one run of another job."""
    other = JOB._replace(identity="other", name="other", definition=OTHER_KEY)
    begun = [attempt_at(2, "two"), attempt_at(2, "two again", 2), attempt_at(12, "twelve")]
    begun.append(attempt_at(7, "seven")._replace(identity="other", definition=OTHER_KEY))
    return remembered(
        tmp_path,
        JobBatch({KEY: DEFINITION, OTHER_KEY: OTHER}, [JOB, other]),
        JobBatch(closed=[closed_from(4, 5)], begun=begun),
        JobBatch(begun=[TRIGGERED]),
    )


def test_rows_come_in_the_order_of_the_times_at_which_they_were_due(history: JobHistory) -> None:
    assert ids(history) == ["run 2", "two", "two again", "seven", "12:08", "twelve"]


def test_the_newest_rows_are_given_the_oldest_first(history: JobHistory) -> None:
    assert ids(history, limit=2) == ["12:08", "twelve"]


def test_rows_are_those_of_one_job(history: JobHistory) -> None:
    assert ids(history, identity="other") == ["seven"]
    assert ids(history, identity="unknown") == []


def test_rows_are_those_with_one_outcome(history: JobHistory) -> None:
    assert ids(history, outcome=Outcome.MISSED) == ["12:08"]
    assert ids(history, outcome=Outcome.SKIPPED) == []


def test_rows_lie_from_an_instant_on_and_before_another(history: JobHistory) -> None:
    assert ids(history, since=NOON + 2 * MINUTE, until=NOON + 12 * MINUTE) == ["two", "two again", "seven", "12:08"]


@pytest.mark.parametrize(("since", "until", "is_there"), [(0, 4, False), (0, 5, True), (8, 9, True), (9, 11, False)])
def test_a_range_is_there_if_a_part_of_it_is(history: JobHistory, since: int, until: int, is_there: object) -> None:
    found = ids(history, since=NOON + since * MINUTE, until=NOON + until * MINUTE)

    assert ("12:08" in found) is is_there


def test_attempts_are_counted_and_can_be_folded(history: JobHistory) -> None:
    rows = history.rows(Wanted(identity=JOB.identity, since=NOON + MINUTE, until=NOON + 3 * MINUTE))

    assert [(row["attempt"], row["attempts"]) for row in rows] == [(1, 2), (2, 2)]
    assert ids(history, executions=True) == ["run 2", "two again", "seven", "12:08", "twelve"]


def test_one_run_is_found_by_its_name(tmp_path: Path) -> None:
    history = remembered(tmp_path, DECLARED, JobBatch(begun=[RUN], ended=[FAILED]))

    row = history.run("run 1")

    assert row is not None
    assert (row["name"], row["result"], row["started_at"]) == ("backup", "failed", "2026-03-01T12:00:07.123Z")
    assert history.run("run 7") is None


def test_the_newest_run_of_a_job_is_found(history: JobHistory) -> None:
    newest = history.newest_run(JOB.identity)

    assert newest is not None
    assert newest["run_id"] == "twelve"
    assert history.newest_run("unknown") is None


def test_a_definition_is_found_by_its_key(history: JobHistory) -> None:
    assert history.definition(OTHER_KEY) == OTHER
    assert history.definition("unknown") is None


def test_jobs_are_listed_by_identity(history: JobHistory) -> None:
    listed: list[JobRecord] = history.jobs()

    assert [job.identity for job in listed] == [JOB.identity, "other"]


# --- what touches an instant ------------------------------------------------------------------------------------------


def test_a_period_inside_a_range_is_answered_for(history: JobHistory) -> None:
    (touched,) = history.touching(JOB.identity, NOON + 6 * MINUTE + timedelta(seconds=42))

    assert touched.nominal == NOON + 6 * MINUTE
    assert (touched.row["kind"], touched.row["count"], touched.definition) == ("range", 5, DEFINITION)


def test_every_attempt_of_a_period_touches_its_minute(history: JobHistory) -> None:
    assert [each.row["run_id"] for each in history.touching(JOB.identity, NOON + 2 * MINUTE)] == ["two", "two again"]


def test_nothing_touches_an_instant_without_an_outcome(history: JobHistory) -> None:
    assert history.touching(JOB.identity, NOON + 3 * MINUTE) == []
    assert history.touching("unknown", NOON) == []


def test_all_windows_that_contain_an_instant_touch_it_also_those_of_older_definitions(tmp_path: Path) -> None:
    key = definition_key(WINDOWED)
    runs = [
        attempt_at(60 * hour, f"run at {12 + hour}")._replace(definition=key, chosen=NOON + (60 * hour + 5) * MINUTE)
        for hour in range(4)
    ]
    history = remembered(
        tmp_path,
        JobBatch({key: WINDOWED}, [JOB._replace(definition=key)]),
        JobBatch(begun=runs),
        JobBatch({OTHER_KEY: OTHER}, [JOB._replace(definition=OTHER_KEY)]),
    )

    touched = history.touching(JOB.identity, NOON + 150 * MINUTE)

    assert [each.row["run_id"] for each in touched] == ["run at 13", "run at 14"]


# --- beside a daemon --------------------------------------------------------------------------------------------------


def test_it_is_read_while_somebody_has_the_ledger(tmp_path: Path) -> None:
    async def live() -> list[object]:
        ledger = SqliteJobLedger(tmp_path / "ledger.db")
        await ledger.open()
        await ledger.append(DECLARED)
        await ledger.append(JobBatch(begun=[RUN]))
        found = ids(JobHistory(tmp_path / "ledger.db"))
        await ledger.append(JobBatch(ended=[FAILED]))
        await ledger.close()
        return found

    assert asyncio.run(live()) == ["run 1"]


def test_a_ledger_that_is_not_there_is_said_not_to_be(tmp_path: Path) -> None:
    with pytest.raises(LedgerUnusableError, match="there is none"):
        JobHistory(tmp_path / "ledger.db").jobs()
    assert [*tmp_path.iterdir()] == []
