"""MemoryLedger: remembers as long as the process lives; for tests, and for tasks that owe nothing after a restart."""

import asyncio
from collections import deque
from collections.abc import Mapping

from kron.engine.ports import Batch
from kron.errors import LedgerInUseError, LedgerWriteError
from kron.rules.history import RunRecord
from kron.rules.record import TaskRecord

_HISTORY = 10_000  # runs kept for people to look at


class MemoryLedger:
    """A dictionary. Handed from one scheduler to the next it plays what a file is to two processes."""

    def __init__(self) -> None:
        self.records: dict[str, TaskRecord] = {}
        self.history: deque[RunRecord] = deque(maxlen=_HISTORY)
        self._is_open = False

    async def open(self) -> None:
        """Take possession."""
        if self._is_open:
            raise LedgerInUseError(path="in memory", owner="another scheduler of this process")
        self._is_open = True

    async def load(self) -> Mapping[str, TaskRecord]:
        """Return what is remembered of each task."""
        return dict(self.records)

    async def append(self, batch: Batch) -> None:
        """Remember the batch, and give others a turn."""
        await asyncio.sleep(0)
        self.remember(batch)

    def remember(self, batch: Batch) -> None:
        """Remember the batch, at once."""
        if not self._is_open:
            raise LedgerWriteError(path="in memory", reason="it is not open")
        for name in batch.forgotten:
            self.records.pop(name, None)
        for records in (batch.records, batch.begun):
            for record in records:
                self.records[record.name] = record
        self.history.extend(batch.runs)

    async def close(self) -> None:
        """Give up possession."""
        self._is_open = False
