"""JobBatch, JobSnapshot, JobLedger: what a ledger of jobs writes and loads. The docstrings are the specification."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple, Protocol

from kron.engine.ports import Store
from kron.instant import Instant
from kron.rules.job_record import JobRecord, PeriodRecord, RunEnd, RunHandle, RunStart
from kron.rules.periods import HandledPeriods


class JobBatch(NamedTuple):
    """What one transaction remembers, in this order."""

    definitions: Mapping[str, str] = {}
    """Texts of definitions that records of this batch refer to, by their keys; known ones stay."""
    jobs: Sequence[JobRecord] = ()
    """Jobs as they are now."""
    closed: Sequence[PeriodRecord] = ()
    """Periods that are over without an execution."""
    begun: Sequence[RunStart] = ()
    """Runs that begin. Of one period and attempt there is only ever one, and the first of them comes first."""
    processes: Sequence[RunHandle] = ()
    """What begun runs are recognised by."""
    ended: Sequence[RunEnd] = ()
    """Runs that have ended."""
    given_up: Sequence[str] = ()
    """Names of runs that have ended, and are not tried again after all; one that is not known is nobody."""

    def __bool__(self) -> bool:
        """Whether there is anything to write."""
        return any(self)


class UnfinishedRun(NamedTuple):
    """A run of which no end is recorded, and what it is recognised by, if that was recorded."""

    attempt: RunStart
    process: RunHandle | None


class PendingRetry(NamedTuple):
    """An execution whose last attempt failed, and which is to be tried again."""

    attempt: RunStart
    at: Instant


class JobSnapshot(NamedTuple):
    """What is remembered when a ledger is opened."""

    jobs: Mapping[str, JobRecord] = {}
    """By identity, also those that are not defined any more."""
    definitions: Mapping[str, str] = {}
    """Texts of the definitions in force, by their keys."""
    unfinished: Sequence[UnfinishedRun] = ()
    retries: Sequence[PendingRetry] = ()


class JobLedger(Store[JobBatch, JobSnapshot], Protocol):
    """What survives a crash of the host.

    A second outcome of a period, or a second start of the same period and attempt, is refused with a
    LedgerConflictError, and nothing of that batch is remembered. So is a second end of a run, but for the time of its
    next attempt, which may be changed or taken back. What a record refers to (a definition, a job, a run) is in the
    same batch or was there before, else it is a LedgerWriteError.

    The same once more is no conflict: a period closed by an equal record, a run with an equal attempt under the same
    run id, an equal end.

    Definitions are kept as long as a record refers to them. An execution waits for its next attempt until that begins,
    or until it is given up.
    """

    async def handled(self, since: Mapping[str, Instant], /) -> Mapping[str, frozenset[Instant] | HandledPeriods]:
        """Return by identity the nominal times, from an instant on, of periods that have an outcome.

        Where a range has too many of them to list (a clock was ahead by months), they are a `HandledPeriods` instead.

        Asked before a definition changes: under the new one a handled period may come after what is served.
        """
