"""PassingLedger, TimedLedger: a ledger of jobs around another one, and one that says how long each append took."""

from collections.abc import Callable, Mapping, Sequence
from time import perf_counter

from kron.engine.jobs.store import JobBatch, JobLedger, JobSnapshot
from kron.engine.ports import Refusal
from kron.instant import Instant
from kron.rules.periods import HandledPeriods


class PassingLedger:
    """Passes everything on to another ledger."""

    def __init__(self, ledger: JobLedger) -> None:
        self._ledger = ledger

    async def open(self) -> None:
        """Take possession."""
        await self._ledger.open()

    async def load(self) -> JobSnapshot:
        """Return what is remembered."""
        return await self._ledger.load()

    async def handled(self, since: Mapping[str, Instant]) -> Mapping[str, frozenset[Instant] | HandledPeriods]:
        """Return which periods have an outcome."""
        return await self._ledger.handled(since)

    async def append(self, batch: JobBatch) -> Sequence[Refusal]:
        """Remember the batch."""
        return await self._ledger.append(batch)

    async def close(self) -> None:
        """Give up possession."""
        await self._ledger.close()


class TimedLedger(PassingLedger):
    """Passes everything on; `took` gets the seconds of each append, also of one that failed."""

    def __init__(self, ledger: JobLedger, took: Callable[[float], object]) -> None:
        super().__init__(ledger)
        self._took = took

    async def append(self, batch: JobBatch) -> Sequence[Refusal]:
        """Remember the batch."""
        begun = perf_counter()
        try:
            return await super().append(batch)
        finally:
            self._took(perf_counter() - begun)
