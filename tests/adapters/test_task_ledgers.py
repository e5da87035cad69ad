"""Every task ledger passes the suite of the port."""

import asyncio
from pathlib import Path

import pytest

from kron.adapters.sqlite.task_ledger import SqliteTaskLedger
from kron.testing import TASK_LEDGER_SUITE, FaultyLedger, MemoryTaskLedger
from kron.testing.task_ledger_suite import TaskLedgerCheck


@pytest.mark.parametrize("check", TASK_LEDGER_SUITE, ids=lambda check: check.__name__)
def test_memory(check: TaskLedgerCheck) -> None:
    ledger = MemoryTaskLedger()

    asyncio.run(check(lambda: ledger))


@pytest.mark.parametrize("check", TASK_LEDGER_SUITE, ids=lambda check: check.__name__)
def test_sqlite(check: TaskLedgerCheck, tmp_path: Path) -> None:
    asyncio.run(check(lambda: SqliteTaskLedger(tmp_path / "ledger.db")))


@pytest.mark.parametrize("check", TASK_LEDGER_SUITE, ids=lambda check: check.__name__)
def test_a_faulty_ledger_without_failures_passes_the_suite(check: TaskLedgerCheck) -> None:
    ledger = MemoryTaskLedger()

    asyncio.run(check(lambda: FaultyLedger(ledger)))
