"""Tests of SqliteJobHistory: the history that commands show, read while the ledger is open elsewhere or closed."""

import asyncio
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path

import pytest

from kron.adapters.sqlite.job_history import SqliteJobHistory
from kron.adapters.sqlite.job_ledger import SqliteJobLedger
from kron.engine.ledger import HistoryQuery, JobBatch
from kron.errors import LedgerUnusableError
from kron.instant import Instant
from kron.rules.evidence import RecordedPeriod
from kron.rules.job_record import LastResult, PeriodRecord, ResultCode, RunEnd
from kron.rules.job_spec import definition_key
from kron.rules.verdict import Outcome
from kron.testing.job_ledger_suite import (
    DECLARED,
    DEFINITION,
    FAILED,
    JOB,
    KEY,
    MINUTE,
    NOON,
    NOW,
    OTHER,
    OTHER_KEY,
    RUN,
    TRIGGERED,
    attempt_at,
    closed_from,
)
from tests.adapters.sqlite.job_histories import ids, remembered

WINDOWED = '{"timing": {"schedule": "0 * * * *", "window": "after,2h"}, "policy": {}}'


def touching(history: SqliteJobHistory, at: Instant) -> Sequence[RecordedPeriod]:
    """Return the periods of the job that have an instant in their minute or their window."""
    return history.evidence(JOB.identity, at, at).touching


@pytest.fixture
def history(tmp_path: Path) -> SqliteJobHistory:
    """Runs at 12:02 and 12:12, the first with a second attempt; 12:04 to 12:08 were missed; one run of another job."""
    other = JOB._replace(identity="other", name="other", definition_key=OTHER_KEY)
    begun = [attempt_at(2, "two"), attempt_at(2, "two again", 2), attempt_at(12, "twelve")]
    begun.append(attempt_at(7, "seven")._replace(identity="other", definition_key=OTHER_KEY))
    return remembered(
        tmp_path,
        JobBatch({KEY: DEFINITION, OTHER_KEY: OTHER}, [JOB, other]),
        JobBatch(closed=[closed_from(4, 5)], begun=begun),
        JobBatch(begun=[TRIGGERED]),
    )


@pytest.mark.parametrize(("since", "until", "is_there"), [(0, 4, False), (0, 5, True), (8, 9, True), (9, 11, False)])
def test_a_range_is_there_if_a_part_of_it_is(
    history: SqliteJobHistory, since: int, until: int, is_there: object
) -> None:
    found = ids(history, since=NOON + since * MINUTE, until=NOON + until * MINUTE)

    assert ("12:08" in found) is is_there


def test_an_execution_lasts_from_the_beginning_of_its_first_attempt_to_the_end_of_its_last(
    history: SqliteJobHistory,
) -> None:
    ended = NOON + 5 * MINUTE
    history = remembered(
        history.path.parent,
        JobBatch(ended=[FAILED._replace(run_id="two"), RunEnd("two again", ended, ResultCode.FAILED, 3)]),
    )

    row = next(row for row in history.rows(HistoryQuery(executions=True)) if row.run_id == "two again")

    assert (row.started_at, row.ended_at) == (NOON + 2 * MINUTE, ended)
    assert (row.duration, row.lateness, row.attempts) == (180.0, 0, 2)


# --- what touches an instant ------------------------------------------------------------------------------------------


def test_nothing_touches_an_instant_without_an_outcome(history: SqliteJobHistory) -> None:
    assert touching(history, NOON + 3 * MINUTE) == []


def test_all_windows_that_contain_an_instant_touch_it_also_those_of_older_definitions(tmp_path: Path) -> None:
    key = definition_key(WINDOWED)
    runs = [
        attempt_at(60 * hour, f"run at {12 + hour}")._replace(
            definition_key=key, chosen=NOON + (60 * hour + 5) * MINUTE
        )
        for hour in range(4)
    ]
    history = remembered(
        tmp_path,
        JobBatch({key: WINDOWED}, [JOB._replace(definition_key=key)]),
        JobBatch(begun=runs),
        JobBatch({OTHER_KEY: OTHER}, [JOB._replace(definition_key=OTHER_KEY)]),
    )

    touched = touching(history, NOON + 150 * MINUTE)

    assert [each.row.run_id for each in touched] == ["run at 13", "run at 14"]


# --- records around an instant ----------------------------------------------------------------------------------------


def test_evidence_has_runs_that_began_within_the_minute_also_late_and_without_a_period(
    history: SqliteJobHistory,
) -> None:
    late = attempt_at(20, "late")._replace(started=NOON + 31 * MINUTE + timedelta(seconds=59))
    asked = TRIGGERED._replace(run_id="asked", started=NOON + 31 * MINUTE)
    later = attempt_at(21, "later")._replace(started=NOON + 32 * MINUTE)
    history = remembered(history.path.parent, JobBatch(begun=[late, asked, later]))

    begun = history.evidence(JOB.identity, NOON + 31 * MINUTE + timedelta(seconds=30), NOON).started

    assert [(each.row.run_id, each.nominal) for each in begun] == [("asked", None), ("late", NOON + 20 * MINUTE)]


def test_evidence_has_the_nearest_records_also_a_range_around_the_instant(history: SqliteJobHistory) -> None:
    def near(minute: int) -> list[str]:
        found = history.evidence(JOB.identity, NOON + minute * MINUTE, NOON).nearest
        return sorted(str(each.row.period_id)[11:16] for each in found)

    assert near(3) == ["12:02", "12:08"]
    assert near(6) == ["12:02", "12:08"]
    assert near(10) == ["12:08", "12:12"]
    assert near(20) == ["12:12"]


def test_rows_at_an_instant_come_in_the_order_of_time_also_within_a_second(history: SqliteJobHistory) -> None:
    asked = TRIGGERED._replace(run_id="asked", started=NOON + 12 * MINUTE + timedelta(milliseconds=5))
    history = remembered(history.path.parent, JobBatch(begun=[asked]))

    assert [row.run_id for row in history.rows(HistoryQuery(JOB.identity, at=NOON + 12 * MINUTE))] == [
        "twelve",
        "asked",
    ]


# --- the last of each job ---------------------------------------------------------------------------------------------


def test_the_last_of_each_job_is_what_was_due_last(tmp_path: Path) -> None:
    """By the time at which it was due: windows overlap, and a run that was asked for counts, too."""
    key, other = definition_key(WINDOWED), JOB._replace(identity="other", definition_key=KEY)
    early = attempt_at(0, "early")._replace(definition_key=key, chosen=NOON + 100 * MINUTE)
    later = attempt_at(60, "later")._replace(definition_key=key, chosen=NOON + 61 * MINUTE)
    asked = TRIGGERED._replace(identity="other")
    history = remembered(
        tmp_path,
        JobBatch({key: WINDOWED, KEY: DEFINITION}, [JOB._replace(definition_key=key), other]),
        JobBatch(begun=[later], ended=[RunEnd("later", NOW, ResultCode.SUCCEEDED, 0)]),
        JobBatch(jobs=[JOB._replace(definition_key=key, handled_until=NOON + 100 * MINUTE)], begun=[early]),
        JobBatch(ended=[RunEnd("early", NOW, ResultCode.FAILED, 1)], begun=[asked], closed=[missed_early()]),
    )

    assert history.last_results() == {
        JOB.identity: LastResult(Outcome.EXECUTED, ResultCode.FAILED),
        "other": LastResult(Outcome.EXECUTED),
    }


def missed_early() -> PeriodRecord:
    """Return a period of the other job that was closed before a run was triggered."""
    return closed_from(-5, 2)._replace(identity="other")


def test_the_last_of_a_job_is_its_newest_period_if_its_definition_has_changed_since(tmp_path: Path) -> None:
    changed = JOB._replace(handled_until=NOON + 90 * MINUTE)
    history = remembered(tmp_path, DECLARED, JobBatch(closed=[closed_from(3, 4)]), JobBatch(jobs=[changed]))

    assert history.last_results() == {JOB.identity: LastResult(Outcome.MISSED)}


# --- beside a daemon --------------------------------------------------------------------------------------------------


def test_the_history_of_an_open_ledger_can_be_read(tmp_path: Path) -> None:
    async def live() -> list[object]:
        ledger = SqliteJobLedger(tmp_path / "ledger.db")
        await ledger.open()
        await ledger.append(DECLARED)
        await ledger.append(JobBatch(begun=[RUN]))
        found = ids(SqliteJobHistory(tmp_path / "ledger.db"))
        await ledger.append(JobBatch(ended=[FAILED]))
        await ledger.close()
        return found

    assert asyncio.run(live()) == ["run 1"]


def test_a_ledger_that_is_not_there_is_said_not_to_be(tmp_path: Path) -> None:
    with pytest.raises(LedgerUnusableError, match="it does not exist; start krond"):
        SqliteJobHistory(tmp_path / "ledger.db").jobs()
    assert [*tmp_path.iterdir()] == []
