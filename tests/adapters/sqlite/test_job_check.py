"""Tests of the ledger check: a sound ledger has no findings, and each defect is named."""

import asyncio
from pathlib import Path

import pytest

from kron.adapters.sqlite.job_check import check_ledger
from kron.adapters.sqlite.job_ledger import SqliteJobLedger
from kron.errors.diagnostics import Diagnostic
from kron.testing.job_ledger_suite import JOB
from tests.adapters.sqlite.sample_ledger import EVERYTHING, remember
from tests.crash.damaged_ledger import execute, fingerprint, overwrite


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "ledger.db"
    remember(path, EVERYTHING)
    return path


def messages(path: Path) -> list[str]:
    before = fingerprint(path)
    found = [str(finding) for finding in check_ledger(path)]
    assert fingerprint(path) == before
    return found


def test_nothing_is_found_in_a_sound_ledger(path: Path) -> None:
    assert messages(path) == []


def test_an_open_ledger_can_be_checked(path: Path) -> None:
    async def live() -> list[Diagnostic]:
        ledger = SqliteJobLedger(path)
        await ledger.open()
        found = check_ledger(path)
        await ledger.close()
        return found

    assert asyncio.run(live()) == []


WRONG = {
    "two outcomes": (
        "UPDATE entry SET first = '2026-03-01T12:00:00.000000Z' WHERE kind = 'range'",
        "the period has two outcomes",
    ),
    "a run that was missed": ("UPDATE entry SET outcome = 'missed' WHERE run_id = 'run 1'", "executed and a run"),
    "no first attempt": ("UPDATE entry SET attempt = 2 WHERE run_id = 'run 1'", "has no first one"),
    "a range of one": ("UPDATE entry SET number = 1 WHERE kind = 'range'", "the range is none"),
    "a period that is none": ("UPDATE entry SET nominal = NULL WHERE run_id = 'run 1'", "does not fit"),
    "an end without a result": ("UPDATE entry SET result = NULL WHERE run_id = 'run 1'", "an end and a result"),
    "a job that does not know": ("UPDATE job SET newest = ''", "to come"),
    "another word": ("UPDATE entry SET result = 'perhaps' WHERE run_id = 'run 1'", "no Kron writes"),
    "another form": ("UPDATE entry SET at = '2026-03-01T12:00:00Z' WHERE run_id = 'run 1'", "an instant"),
    "no definition": ("DELETE FROM definition", "names a definition that is not there"),
    "no job": ("DELETE FROM job", "names a job that is not there"),
    "another text": ("UPDATE definition SET text = '{}'", "is not the key of its text"),
    "another number": ("UPDATE entry SET number = 7 WHERE kind = 'range'", "7 periods were closed, there are 4"),
    "an index": ("DROP INDEX entry_time", "an index is missing: entry_time"),
}


@pytest.mark.parametrize(("statement", "meaning"), WRONG.values(), ids=WRONG.keys())
def test_every_defect_is_named(path: Path, statement: str, meaning: str) -> None:
    execute(path, "PRAGMA foreign_keys=OFF", statement)

    found = messages(path)

    assert any(meaning in message for message in found), found
    assert all(str(path) in message for message in found)


def test_the_period_and_its_job_are_named(path: Path) -> None:
    execute(path, "UPDATE entry SET outcome = 'missed' WHERE run_id = 'run 1'")

    assert any(f"{JOB.identity}, 2026-03-01T12:00:00" in message for message in messages(path))


def test_a_damaged_page_is_found(path: Path) -> None:
    overwrite(path, 3 * 4096)

    assert messages(path) != []


def test_a_file_that_is_no_ledger_is_one_finding(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("jobs\n")

    assert len(messages(tmp_path / "text")) == len(messages(tmp_path / "nothing")) == 1
