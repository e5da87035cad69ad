"""JobBatch, JobStored, JobLedger: what is remembered of jobs with periods. The docstrings are the specification."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple, Protocol

from kron.engine.ports import Store
from kron.instant import Instant
from kron.rules.handled import Handled
from kron.rules.job_record import Attempt, End, JobRecord, PeriodRecord, Process


class JobBatch(NamedTuple):
    """What one transaction remembers, in this order."""

    definitions: Mapping[str, str] = {}
    """Texts of definitions that records of this batch refer to, by their keys; known ones stay."""
    jobs: Sequence[JobRecord] = ()
    """Jobs as they are now."""
    closed: Sequence[PeriodRecord] = ()
    """Periods that are over without an execution."""
    begun: Sequence[Attempt] = ()
    """Runs that begin. Of one period and attempt there is only ever one."""
    processes: Sequence[Process] = ()
    """What begun runs are recognised by."""
    ended: Sequence[End] = ()
    """Runs that have ended."""
    given_up: Sequence[str] = ()
    """Names of runs that have ended, and are not tried again after all."""

    def __bool__(self) -> bool:
        """Whether there is anything to write."""
        return any(self)


class Unfinished(NamedTuple):
    """A run of which no end is recorded, and what it is recognised by, if that was recorded."""

    attempt: Attempt
    process: Process | None


class Retry(NamedTuple):
    """An execution whose last attempt failed, and which is to be tried again."""

    attempt: Attempt
    at: Instant


class JobStored(NamedTuple):
    """What is remembered when a ledger is opened."""

    jobs: Mapping[str, JobRecord] = {}
    """By identity, also those that are not defined any more."""
    definitions: Mapping[str, str] = {}
    """Texts of the definitions in force, by their keys."""
    unfinished: Sequence[Unfinished] = ()
    retries: Sequence[Retry] = ()


class JobLedger(Store[JobBatch, JobStored], Protocol):
    """What survives a crash of the host.

    A second outcome of a period, or a second start of the same period and attempt, is refused with a LedgerError, and
    nothing of that batch is remembered. Definitions are kept as long as a record refers to them.
    """

    async def handled(self, since: Mapping[str, Instant], /) -> Mapping[str, Handled]:
        """Return, by identity, which periods with nominal times after an instant have their outcome."""
