"""A job ledger of an earlier version of Kron is migrated."""

from pathlib import Path

import pytest

from kron.adapters.sqlite.job_history import SqliteJobHistory
from kron.errors import LedgerUnusableError
from tests.adapters.sqlite.sample_ledger import EVERYTHING, remember
from tests.crash.damaged_ledger import execute

_WITHOUT_INDEX = "DROP INDEX entry_again"
EARLIER = {
    1: (_WITHOUT_INDEX, "ALTER TABLE entry DROP COLUMN again"),
    2: (_WITHOUT_INDEX,),
}


@pytest.mark.parametrize("version", EARLIER)
def test_the_owner_of_a_ledger_migrates_it_and_readers_do_not(tmp_path: Path, version: int) -> None:
    path = tmp_path / "ledger.db"
    before = remember(path, EVERYTHING)
    execute(path, *EARLIER[version], f"PRAGMA user_version={version}")

    with pytest.raises(LedgerUnusableError, match="earlier version of Kron"):
        SqliteJobHistory(path).jobs()
    assert remember(path) == before
    assert SqliteJobHistory(path).jobs()


def test_a_missing_index_of_an_earlier_version_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "ledger.db"
    remember(path, EVERYTHING)
    execute(path, _WITHOUT_INDEX, "DROP INDEX entry_time", "PRAGMA user_version=2")

    with pytest.raises(LedgerUnusableError, match="an index is missing: entry_time"):
        remember(path)
