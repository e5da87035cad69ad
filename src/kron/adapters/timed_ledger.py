"""TimedLedger: a ledger of jobs, and how long each append to it took."""

from collections.abc import Callable, Mapping
from time import perf_counter

from kron.engine.jobs.store import JobBatch, JobLedger, JobStored
from kron.instant import Instant
from kron.rules.handled import Handled


class TimedLedger:
    """Passes everything on; `took` gets the seconds of each append, also of one that failed."""

    def __init__(self, ledger: JobLedger, took: Callable[[float], object]) -> None:
        self._ledger, self._took = ledger, took

    async def open(self) -> None:
        """Take possession."""
        await self._ledger.open()

    async def load(self) -> JobStored:
        """Return what is remembered."""
        return await self._ledger.load()

    async def handled(self, since: Mapping[str, Instant]) -> Mapping[str, frozenset[Instant] | Handled]:
        """Return which periods have an outcome."""
        return await self._ledger.handled(since)

    async def append(self, batch: JobBatch) -> None:
        """Remember the batch."""
        begun = perf_counter()
        try:
            await self._ledger.append(batch)
        finally:
            self._took(perf_counter() - begun)

    async def close(self) -> None:
        """Give up possession."""
        await self._ledger.close()
