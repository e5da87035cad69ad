"""The copy of a job ledger has the same content, can be made during writes, and overwrites no file."""

import asyncio
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from kron.adapters.sqlite.job_check import check_ledger
from kron.adapters.sqlite.job_history import copy_ledger
from kron.adapters.sqlite.job_ledger import SqliteJobLedger
from kron.engine.ledger import JobBatch
from kron.errors import LedgerUnusableError, LedgerWriteError
from kron.testing.job_ledger_suite import (
    DECLARED,
    attempt_at,
)
from tests.adapters.sqlite.sample_ledger import EVERYTHING, remember, run_ids


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "ledger.db"


def test_a_copy_is_a_ledger_with_the_same_in_it(path: Path, tmp_path: Path) -> None:
    stored = remember(path, EVERYTHING)

    copy_ledger(path, tmp_path / "copy.db")

    assert (tmp_path / "copy.db").stat().st_mode & 0o777 == 0o600
    assert [each.name for each in tmp_path.iterdir() if "copy" in each.name] == ["copy.db"]
    assert remember(tmp_path / "copy.db") == stored


def test_a_copy_is_made_during_writes(path: Path, tmp_path: Path) -> None:
    async def live() -> None:
        ledger = SqliteJobLedger(path)
        await ledger.open()
        await ledger.append(EVERYTHING)
        await asyncio.to_thread(copy_ledger, path, tmp_path / "copy.db")
        await ledger.append(JobBatch(begun=[attempt_at(300, "later")]))
        await ledger.close()

    asyncio.run(live())

    assert check_ledger(tmp_path / "copy.db") == []
    assert [*run_ids(tmp_path / "copy.db"), "later"] == run_ids(path)


def test_a_copy_overwrites_nothing(path: Path, tmp_path: Path) -> None:
    remember(path, DECLARED)
    (tmp_path / "copy.db").write_text("mine")

    with pytest.raises(LedgerWriteError):
        copy_ledger(path, tmp_path / "copy.db")
    with pytest.raises(LedgerWriteError):
        copy_ledger(path, path)

    assert (tmp_path / "copy.db").read_text() == "mine"


def test_no_copy_is_made_of_what_is_no_ledger(path: Path, tmp_path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE theirs (id)")

    with pytest.raises(LedgerUnusableError):
        copy_ledger(path, tmp_path / "copy.db")

    assert not (tmp_path / "copy.db").exists()
