"""HistoryReader: what people and hosts read of a ledger of jobs. The docstrings are the specification."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence, Set as AbstractSet
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import NamedTuple, Protocol, TypeAlias

from kron.engine.ports import Ledger, Refusal
from kron.instant import Instant
from kron.rules.evidence import Evidence
from kron.rules.history import RunRow
from kron.rules.job_record import JobRecord, LastResult, PeriodRecord, RunEnd, RunHandle, RunStart, UnfinishedRun
from kron.rules.periods import HandledPeriods
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
    """The processes of runs that have begun."""
    ended: Sequence[RunEnd] = ()
    """Runs that have ended."""
    given_up: Sequence[str] = ()
    """Ids of runs that have ended and will not be retried after all; unknown ids are ignored."""

    def __bool__(self) -> bool:
        """Whether there is anything to write."""
        return any(self)

    def named_runs(self) -> Sequence[str]:
        """Return the ids of runs that records name without their job."""
        return [*(each.run_id for each in self.processes), *(each.run_id for each in self.ended), *self.given_up]

    def without(self, identities: Collection[str], run_ids: Collection[str]) -> "JobBatch":
        """Return the batch without the records of some jobs; `run_ids` are those of their runs in the ledger."""
        gone = {*run_ids, *(each.run_id for each in self.begun if each.identity in identities)}
        return JobBatch(
            self.definitions,
            [each for each in self.jobs if each.identity not in identities],
            [each for each in self.closed if each.identity not in identities],
            [each for each in self.begun if each.identity not in identities],
            [each for each in self.processes if each.run_id not in gone],
            [each for each in self.ended if each.run_id not in gone],
            [each for each in self.given_up if each not in gone],
        )

    def first_outcomes(self, identities: Collection[str]) -> Mapping[str, Instant]:
        """Return by identity the nominal time of the first period to which the batch gives an outcome."""
        found: dict[str, Instant] = {}
        nominals = [(each.identity, each.first) for each in self.closed]
        nominals += [(each.identity, each.nominal) for each in self.begun if each.nominal and each.attempt == 1]
        for identity, nominal in nominals:
            if identity in identities:
                found[identity] = min(nominal, found.get(identity, nominal))
        return found


class PendingRetry(NamedTuple):
    """An execution whose last attempt failed, and which is to be tried again."""

    attempt: RunStart
    at: Instant


class JobSnapshot(NamedTuple):
    """What is remembered when a ledger is opened."""

    jobs: Mapping[str, JobRecord] = {}
    """By identity, also jobs that are no longer declared."""
    definitions: Mapping[str, str] = {}
    """Texts of the definitions in force, by their keys."""
    unfinished: Sequence[UnfinishedRun] = ()
    retries: Sequence[PendingRetry] = ()


HandledByJob: TypeAlias = Mapping[str, Collection[Instant] | HandledPeriods]
"""By identity the nominal times of periods that have an outcome; `HandledPeriods` where they are too many to list."""


class JobLedger(Ledger[JobBatch, JobSnapshot], Protocol):
    """What survives a crash of the host.

    A second outcome of a period, or a second start of the same period and attempt, is refused: no record of that job in
    the batch is committed, its runs and their ends included, and the records of all other jobs are. So is a second end
    of a run, but for the time of its next attempt, which may be changed or taken back. What a record refers to (a
    definition, a job, a run) is in the same batch or was there before, else it is a LedgerWriteError.

    The same once more is no conflict: a period closed by an equal record, a run with an equal attempt under the same
    run id, an equal end.

    Definitions are kept as long as a record refers to them. An execution waits for its next attempt until that begins,
    or until it is given up.
    """

    async def handled(self, since: Mapping[str, Instant], /) -> HandledByJob:
        """Return by identity the nominal times, from an instant on, of periods that have an outcome.

        A range has too many of them to list after a clock was ahead by months.

        Asked before a definition changes: under the new one a handled period may come after what is served.
        """


def first_of_each(refused: Iterable[Refusal | None]) -> list[Refusal]:
    """Return the first refusal of each job: what follows may only contradict it because that was refused."""
    found: dict[str, Refusal] = {}
    for each in refused:
        if each is not None:
            found.setdefault(each.identity, each)
    return list(found.values())


def append_unless_refused(
    batch: JobBatch,
    put: Callable[[JobBatch], Sequence[Refusal]],
    runs_of: Callable[[Sequence[str], Collection[str]], Collection[str]],
    handled: Callable[[Mapping[str, Instant]], HandledByJob],
) -> Sequence[Refusal]:
    """Commit what can be committed, and return what cannot.

    `put` commits a batch, or nothing of it and returns what contradicts the ledger. `runs_of` returns which of these
    run ids belong to some jobs, `handled` the periods of jobs that have an outcome from an instant on.
    """
    refused: list[Refusal] = []
    whole = batch
    while found := put(batch):
        refused += found
        identities = {each.identity for each in found}  # each of them had a record that is gone now, so that this ends
        batch = batch.without(identities, runs_of(batch.named_runs(), identities))
    if not refused:
        return ()
    outcomes = handled(whole.first_outcomes({each.identity for each in refused}))
    return tuple(replace(each, handled=handled_by(outcomes, each.identity)) for each in refused)


def handled_by(found_by_job: HandledByJob, identity: str) -> HandledPeriods:
    """Return the periods of one job that have an outcome."""
    found = found_by_job.get(identity, ())
    return found if isinstance(found, HandledPeriods) else HandledPeriods.from_nominals(found)
