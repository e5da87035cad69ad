"""A ledger of jobs that an earlier version of Kron has left."""

from pathlib import Path

import pytest

from kron.adapters.sqlite_ledger.job_history import JobHistory
from kron.errors import LedgerUnusableError
from tests.adapters.job_ledger_file import EVERYTHING, remember
from tests.crash.damage import execute


def test_it_is_brought_up_to_date_by_whoever_owns_it_and_not_by_readers(tmp_path: Path) -> None:
    path = tmp_path / "ledger.db"
    before = remember(path, EVERYTHING)
    execute(path, "ALTER TABLE entry DROP COLUMN again")
    execute(path, "PRAGMA user_version=1")

    with pytest.raises(LedgerUnusableError, match="earlier version of Kron"):
        JobHistory(path).jobs()
    assert remember(path) == before
    assert JobHistory(path).jobs()
