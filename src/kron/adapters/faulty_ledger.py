"""FaultyLedger: another ledger whose appends fail on demand, for tests of what happens then."""

from collections import deque
from collections.abc import Mapping, Sequence

from kron.engine.ports import Batch, Ledger, Refusal
from kron.errors import LedgerWriteError
from kron.rules.task_record import TaskRecord


class FaultyLedger:
    """Wraps a ledger; failures are ordered in advance and come one after the other."""

    def __init__(self, ledger: Ledger) -> None:
        self.ledger = ledger
        self.appends = 0  # how many were tried, failed ones included
        self._failures: deque[Exception | None] = deque()

    def fail_next(self, n: int = 1, *, error: Exception | None = None, after: int = 0) -> None:
        """Let n appends fail, after so many that pass."""
        self._failures.extend([None] * after)
        self._failures.extend([error or LedgerWriteError(path="faulty", reason="no space left on device")] * n)

    def raise_next_failure(self) -> None:
        """Raise the error that was ordered for this append, if there is one."""
        if self._failures and (error := self._failures.popleft()) is not None:
            raise error

    async def open(self) -> None:
        """Take possession."""
        await self.ledger.open()

    async def load(self) -> Mapping[str, TaskRecord]:
        """Return what is remembered of each task."""
        return await self.ledger.load()

    async def append(self, batch: Batch) -> Sequence[Refusal]:
        """Remember the batch, unless it was told to fail."""
        self.appends += 1
        self.raise_next_failure()
        return await self.ledger.append(batch)

    async def close(self) -> None:
        """Give up possession."""
        await self.ledger.close()
