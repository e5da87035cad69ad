"""KillPoint: the point at which a process kills itself, and the ledger that reaches it."""

import os
import signal
from collections.abc import Mapping, Sequence
from enum import Enum

from kron.engine.ports import Refusal, TaskBatch, TaskLedger
from kron.errors import LedgerError
from kron.rules.task_record import TaskRecord
from tests.crash.trace import Trace


class Point(Enum):
    """Where SIGKILL may fall."""

    APPEND_BEGINS = "before a commit"
    APPEND_COMMITTED = "between a commit and the starts that follow it"
    EVENT_EMITTED = "after an event"
    CALLBACK_BEGINS = "as a callback begins"
    CALLBACK_ENDS = "between a callback's last effect and its record"
    DISK_STEP = "at a write, sync or deletion below SQLite"
    FILE_STEP = "at any call that changes a file"


class KillPoint:
    """Death when a point has been reached so many times; None: never."""

    def __init__(self, point: Point | None, count: int) -> None:
        self.point = point
        self.count = count

    def reach(self, point: Point) -> None:
        """Die here, if it is time."""
        if point is self.point:
            self.count -= 1
            if self.count == 0:
                os.kill(os.getpid(), signal.SIGKILL)


class KillingLedger:
    """Another ledger, whose appends are traced and may be the last thing that happens."""

    def __init__(self, ledger: TaskLedger, trace: Trace, kill_point: KillPoint) -> None:
        self._ledger = ledger
        self._trace = trace
        self._kill_point = kill_point

    async def open(self) -> None:
        """Take possession."""
        await self._ledger.open()

    async def load(self) -> Mapping[str, TaskRecord]:
        """Return what is remembered of each task."""
        return await self._ledger.load()

    async def append(self, batch: TaskBatch) -> Sequence[Refusal]:
        """Remember the batch; the trace says what is tried, and that it is done."""
        records = [record.to_row() for record in (*batch.records, *batch.begun)]
        self._trace.write("appending", forgotten=list(batch.forgotten), records=records, runs=len(batch.runs))
        self._kill_point.reach(Point.APPEND_BEGINS)
        try:
            refused = await self._ledger.append(batch)
        except LedgerError as error:
            self._trace.write("refused", error=str(error))
            raise
        self._kill_point.reach(Point.APPEND_COMMITTED)
        self._trace.write("appended")
        return refused

    async def close(self) -> None:
        """Give up possession."""
        await self._ledger.close()
