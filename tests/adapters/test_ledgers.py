"""The ledgers, through the suite that every ledger must pass."""

import asyncio
from pathlib import Path

import pytest

from kron.adapters.sqlite_ledger.ledger import SqliteLedger
from kron.testing import LEDGER_SUITE, FaultyLedger, MemoryLedger
from kron.testing.ledgers import Check


@pytest.mark.parametrize("check", LEDGER_SUITE, ids=lambda check: check.__name__)
def test_memory(check: Check) -> None:
    ledger = MemoryLedger()

    asyncio.run(check(lambda: ledger))


@pytest.mark.parametrize("check", LEDGER_SUITE, ids=lambda check: check.__name__)
def test_sqlite(check: Check, tmp_path: Path) -> None:
    asyncio.run(check(lambda: SqliteLedger(tmp_path / "ledger.db")))


@pytest.mark.parametrize("check", LEDGER_SUITE, ids=lambda check: check.__name__)
def test_a_faulty_one_that_was_told_no_failures(check: Check) -> None:
    ledger = MemoryLedger()

    asyncio.run(check(lambda: FaultyLedger(ledger)))
