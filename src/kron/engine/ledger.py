"""HistoryReader: what people and hosts read of a ledger of jobs. The docstrings are the specification."""

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from datetime import timedelta
from typing import NamedTuple, Protocol

from kron.instant import Instant
from kron.rules.evidence import Evidence
from kron.rules.history import RunRow
from kron.rules.job_record import JobRecord, LastResult, UnfinishedRun
from kron.rules.verdict import Outcome


@dataclass(frozen=True, slots=True)
class HistoryQuery:
    """Which rows of the history, and of these the newest."""

    identity: str | None = None
    since: Instant | None = None  # those that were due from then on
    until: Instant | None = None  # and before
    at: Instant | None = None  # those that have this instant in their minute or in their window; then without a span
    outcome: Outcome | None = None
    limit: int | None = 100
    executions: bool = False  # one row for all attempts of an execution


class JobDefinition(NamedTuple):
    """A job that is declared, and the text of its definition."""

    identity: str
    name: str
    definition: str


class HistoryReader(Protocol):
    """Reads a ledger of jobs, whether or not a host has it open; nothing is written.

    Its methods block, and may be called in any thread. Each of them answers from one moment of the ledger.
    LedgerUnusableError: it cannot be read. OutOfRangeError: an instant is too close to the end of the calendar.
    """

    def jobs(self) -> Sequence[JobRecord]:
        """Return all jobs, also those that are no longer declared, by identity."""

    def job(self, identity: str) -> JobRecord | None:
        """Return a job, also one that is no longer declared; None if it is not known."""

    def definition(self, key: str) -> str | None:
        """Return the text of a definition by its key, None if no record refers to it."""

    def definitions(self) -> Sequence[JobDefinition]:
        """Return the declared jobs with their definitions, by identity."""

    def rows(self, query: HistoryQuery, /) -> Sequence[RunRow]:
        """Return rows in the order of the times at which they were due, the oldest first."""

    def run(self, run_id: str) -> RunRow | None:
        """Return the row of a run, None if it is not known."""

    def unfinished(self) -> Sequence[UnfinishedRun]:
        """Return the runs without an end, in the order in which they began."""

    def problems(self, limit: int) -> Sequence[RunRow]:
        """Return recent runs that ended badly and periods without a run, the last recorded one first."""

    def pending_retries(self) -> Sequence[RunRow]:
        """Return the rows of failed runs that are to be retried."""

    def last_results(self) -> Mapping[str, LastResult]:
        """Return by identity what was due last of each job."""

    def failing_jobs(self) -> AbstractSet[str]:
        """Return the jobs whose last execution that succeeded or failed has failed."""

    def median_durations(self) -> Mapping[str, timedelta]:
        """Return by identity the median duration of the newest runs of each job that has any."""

    def served_at_boot(self, boot_id: str) -> AbstractSet[str]:
        """Return the jobs that a host does not start because of this boot: they have run since, or are suspended."""

    def evidence(self, identity: str, at: Instant, now: Instant) -> Evidence:
        """Return what is recorded of a job, which must be known, around an instant."""
