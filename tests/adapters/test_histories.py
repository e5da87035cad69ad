"""Every reader of a job ledger passes the suite of the port."""

import asyncio
from pathlib import Path

import pytest

from kron.adapters.sqlite.job_history import SqliteJobHistory
from kron.adapters.sqlite.job_ledger import SqliteJobLedger
from tests.ports.history_suite import HISTORY_SUITE, HistoryCheck


@pytest.mark.parametrize("check", HISTORY_SUITE, ids=lambda check: check.__name__)
def test_the_history_of_a_file_passes_the_suite(check: HistoryCheck, tmp_path: Path) -> None:
    path = tmp_path / "ledger.db"

    asyncio.run(check(lambda: SqliteJobLedger(path), lambda: SqliteJobHistory(path)))
