"""An append that fails for lack of space frees space first, and is retried once."""

import asyncio
import errno
import sqlite3
from collections.abc import Sequence
from contextlib import closing

import pytest

from kron.adapters.memory_ledger import MemoryJobLedger
from kron.adapters.passing_ledger import FreeingLedger
from kron.engine.ledger import JobBatch
from kron.engine.ports import Refusal
from kron.errors import LedgerWriteError


class FullLedger(MemoryJobLedger):
    """A ledger on a disk that is full until something is freed."""

    def __init__(self, cause: Exception) -> None:
        super().__init__()
        self.cause, self.is_full, self.appends = cause, True, 0

    async def append(self, batch: JobBatch) -> Sequence[Refusal]:  # noqa: ARG002  # it is thrown away
        self.appends += 1
        if self.is_full:
            raise LedgerWriteError(path="ledger", reason="full") from self.cause
        return ()

    def free(self) -> None:
        self.is_full = False


def full() -> sqlite3.Error:
    """Return the error of a disk that is full."""
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.executescript("PRAGMA max_page_count = 2; CREATE TABLE a (b)")
        with pytest.raises(sqlite3.Error) as caught:
            connection.execute("INSERT INTO a VALUES (zeroblob(100000))")
    return caught.value


@pytest.mark.parametrize("cause", [full(), OSError(errno.ENOSPC, "No space")], ids=["SQLite", "the kernel"])
def test_an_append_that_lacks_space_frees_some_and_is_tried_once_more(cause: Exception) -> None:
    ledger = FullLedger(cause)

    asyncio.run(FreeingLedger(ledger, ledger.free).append(JobBatch()))

    assert ledger.appends == 2


def test_an_append_for_which_nothing_can_be_freed_fails_as_before() -> None:
    ledger = FullLedger(full())

    with pytest.raises(LedgerWriteError):
        asyncio.run(FreeingLedger(ledger, lambda: None).append(JobBatch()))

    assert ledger.appends == 2


@pytest.mark.parametrize("cause", [ValueError(), sqlite3.ProgrammingError("closed")], ids=["any", "sqlite3's own"])
def test_another_failure_frees_nothing(cause: Exception) -> None:
    ledger = FullLedger(cause)

    with pytest.raises(LedgerWriteError):
        asyncio.run(FreeingLedger(ledger, ledger.free).append(JobBatch()))

    assert ledger.is_full
