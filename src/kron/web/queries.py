"""JobQueries: what pages, krond's control socket and its commands read of a scheduler's jobs and of their history."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from heapq import nsmallest
from itertools import islice
from typing import Protocol

from kron.cron.zone import UTC_ZONE, Zone
from kron.decision.decision import Decision
from kron.engine.jobs.job_state import JobState
from kron.engine.jobs.planner import PeriodPlanner
from kron.engine.ledger import HistoryQuery, HistoryReader, JobDefinition
from kron.errors import UnknownJobError
from kron.instant import Instant, format_instant
from kron.rules.history import RunRow
from kron.rules.job_record import JobRecord, LastResult, find_identities, find_identity
from kron.rules.job_spec import JobSpec
from kron.web.upcoming import ClockAhead, ahead_until, clock_ahead, decisions_of, first_of, next_decisions, next_run
from kron.why.explanation import Explanation

HOUR = timedelta(hours=1)
_AHEAD = 40  # jobs whose next hour is drawn
_MARKS = 800  # starts that are drawn, of all jobs together
_EACH = 60  # and of one


class WrittenJob(Protocol):
    """A job as its user wrote it."""

    @property
    def schedule(self) -> str:
        """When it runs."""

    @property
    def timezone(self) -> str:
        """The name of its zone."""

    @property
    def description(self) -> str:
        """What it is for."""


@dataclass(frozen=True, slots=True)
class JobSummary:
    """A job as it is now. Of one that is no longer declared there is only its record."""

    record: JobRecord
    spec: JobSpec | None = None
    written: WrittenJob | None = None
    active: Sequence[str] = ()  # run ids
    next: Decision | None = None  # of a suspended job, its first one from now on
    clock_ahead_until: Instant | None = None
    last: LastResult | None = None

    @property
    def is_suspended(self) -> bool:
        """Whether its definition or a command suspends it."""
        return self.record.is_suspended or (self.spec is not None and self.spec.policy.suspend)

    @property
    def last_outcome(self) -> str | None:
        """The outcome of what was due last."""
        return None if self.last is None else self.last.outcome.value

    @property
    def last_result(self) -> str | None:
        """The result of what was due last, if that was an execution, and has ended."""
        return None if self.last is None or self.last.result is None else self.last.result.value

    def to_dict(self) -> dict[str, object]:
        """Return a declared job as JSON holds it."""
        assert self.written is not None
        chosen, ahead = None if self.next is None else self.next.chosen_time, self.clock_ahead_until
        return {
            "identity": self.record.identity,
            "name": self.record.name,
            "schedule": self.written.schedule,
            "timezone": self.written.timezone,
            "description": self.written.description,
            "suspended": self.is_suspended,
            "active": len(self.active),
            "declared_at": format_instant(self.record.declared_at),
            "next_chosen_time": None if chosen is None else format_instant(chosen),
            "seed_hash": None if self.next is None else self.next.seed_hash,
            "clock_ahead_until": None if ahead is None else format_instant(ahead),
            "last_outcome": self.last_outcome,
            "last_result": self.last_result,
        }


@dataclass(frozen=True, slots=True)
class JobList:
    """Some of the jobs that a search found, and how many it found."""

    jobs: Sequence[JobSummary]
    total: int


@dataclass(frozen=True, slots=True)
class RunningRun:
    """A run that has not ended."""

    run_id: str
    identity: str
    name: str
    started_at: Instant
    pid: int | None  # None: it is not known yet, or the run has no process

    def to_dict(self) -> dict[str, object]:
        """Return it as JSON holds it."""
        started = format_instant(self.started_at)
        return {"run_id": self.run_id, "identity": self.identity, "pid": self.pid, "started_at": started}


@dataclass(frozen=True, slots=True)
class UpcomingRun:
    """A decision that is due next, and its job."""

    decision: Decision
    name: str
    is_suspended: bool

    def to_dict(self) -> dict[str, object]:
        """Return it as JSON holds it."""
        return {**self.decision.to_dict(), "name": self.name, "suspended": self.is_suspended}


@dataclass(frozen=True, slots=True)
class JobTimeline:
    """The runs of a job within the next hour."""

    identity: str
    name: str
    decisions: Sequence[Decision]


@dataclass(frozen=True, slots=True)
class UpcomingRuns:
    """The runs of the next hour, of the jobs that are due first, and how many jobs have some."""

    timelines: Sequence[JobTimeline]
    jobs: int


class JobQueries:
    """Safe in any thread: it changes nothing, and returns no object that the loop changes.

    The loop replaces values and does not change them; its dicts of jobs and runs are copied in one operation.
    """

    def __init__(
        self,
        planner: PeriodPlanner,
        history: HistoryReader,
        now: Callable[[], Instant],
        last_results: Mapping[str, LastResult],
        written: Callable[[JobState], WrittenJob],
        *,
        file_errors: Callable[[], tuple[str, ...]] = tuple,
    ) -> None:
        """`last_results` are by identity. `file_errors`: of files that may define an unknown job."""
        self._planner, self.history, self.now = planner, history, now
        self._last_results, self._written, self._file_errors = last_results, written, file_errors

    # --- all jobs -----------------------------------------------------------------------------------------------------

    def counts(self) -> tuple[int, int]:
        """Return how many jobs are declared, and how many of them are suspended."""
        jobs = self._jobs()
        return len(jobs), sum(job.is_suspended for job in jobs)

    def page(self, search: str = "", *, offset: int = 0, limit: int = 50) -> JobList:
        """Return some of the jobs with a text in their name or identity."""
        now, word = self.now(), search.casefold()
        found = [
            job for job in self._jobs() if word in job.record.name.casefold() or word in job.record.identity.casefold()
        ]
        return JobList([self._summary(job, now) for job in found[offset : offset + limit]], len(found))

    def summaries(self) -> Iterator[JobSummary]:
        """Yield all declared jobs."""
        now = self.now()
        return (self._summary(job, now) for job in self._jobs())

    def definitions(self, identity: str | None = None) -> list[JobDefinition]:
        """Return the definitions of jobs that are not suspended: all, or one."""
        jobs = [job for job in self._jobs() if identity in (None, job.record.identity) and not job.is_suspended]
        return [JobDefinition(job.record.identity, job.record.name, job.work.definition) for job in jobs]

    def running(self) -> list[RunningRun]:
        """Return what runs now, the oldest first."""
        return [
            RunningRun(
                run.run_id,
                run.attempt.identity,
                run.work.name,
                run.attempt.started,
                None if run.handle is None else run.handle.pid,
            )
            for run in list(self._planner.running.values())
        ]

    def clock_ahead(self) -> ClockAhead | None:
        """Return which jobs wait because the clock was ahead, None if none does."""
        return clock_ahead(self._jobs(), self.now())

    # --- what is due --------------------------------------------------------------------------------------------------

    def next_run(self) -> Decision | None:
        """Return the decision of the next run of all jobs that are not suspended."""
        return next_run(self._jobs(), self.now())

    def upcoming(self, count: int, identities: Sequence[str] | None = None) -> Iterator[UpcomingRun | None]:
        """Yield the first decisions of some jobs, or of all, in the order of time; None after each part of the work."""
        jobs, now = self._planner.jobs, self.now()
        chosen = self._jobs() if identities is None else [jobs[identity] for identity in identities]
        return map(_upcoming_run, next_decisions(chosen, now, count))

    def next_hour(self) -> UpcomingRuns:
        """Return what is due within an hour."""
        now = self.now()
        soon = []
        for number, job in enumerate(self._jobs()):
            at = job.at  # `coming` is the loop's own
            if at is not None and at <= now + HOUR and not job.is_suspended and job.work.timing is not None:
                soon.append((at, number, job))
        left, found = _MARKS, []
        for _, _, job in nsmallest(_AHEAD, soon, key=lambda item: item[:2]):
            decisions = _decisions(job, now, min(_EACH, left), until=now + HOUR)
            left -= len(decisions)
            if decisions:
                found.append(JobTimeline(job.record.identity, job.record.name, decisions))
        return UpcomingRuns(found, len(soon))

    def decisions(self, identity: str, limit: int) -> list[Decision]:
        """Return the next decisions of a job; none of one that is no longer declared."""
        job = self._planner.jobs.get(identity)
        return [] if job is None else _decisions(job, self.now(), limit)

    # --- one job, one run ---------------------------------------------------------------------------------------------

    def find(self, name: str, identity: str = "") -> str:
        """Return the identity of a job, declared or not. UnknownJobError: no job has the name, or several have it."""
        if identity:
            if identity not in self._planner.jobs and self.history.job(identity) is None:
                raise UnknownJobError(job=identity)
            return identity
        try:
            return find_identity(name, self._names())
        except UnknownJobError as error:
            if error.details["identities"]:
                raise
            records = [(record.name, record.identity) for record in self.history.jobs()]
            return find_identity(name, records, self._file_errors())

    def find_declared(self, *names: str) -> list[str]:
        """Return the identities of declared jobs."""
        return find_identities(names, self._names(), self._file_errors())

    def job(self, identity: str) -> JobSummary:
        """Return a job, also one that is no longer declared."""
        job = self._planner.jobs.get(identity)
        if job is not None:
            return self._summary(job, self.now())
        record = self.history.job(identity)
        if record is None:
            raise UnknownJobError(job=identity)
        return JobSummary(record)

    def zone(self, identity: str) -> Zone:
        """Return the zone of a job; UTC of one that is no longer declared, or has no periods."""
        job = self._planner.jobs.get(identity)
        return UTC_ZONE if job is None or job.work.timing is None else job.work.timing.schedule.zone

    def rows(self, identity: str, limit: int) -> Sequence[RunRow]:
        """Return the newest of a job's history, the oldest first."""
        return self.history.rows(HistoryQuery(identity, limit=limit))

    def why(self, identity: str, at: Instant) -> Explanation:
        """Return whether a job ran at an instant, and why."""
        return Explanation(self.history.evidence(identity, at, self.now()))

    # --- what the loop writes -----------------------------------------------------------------------------------------

    def _jobs(self) -> list[JobState]:
        return list(self._planner.jobs.values())

    def _names(self) -> Iterator[tuple[str, str]]:
        return ((job.record.name, job.record.identity) for job in self._jobs())

    def _summary(self, job: JobState, now: Instant) -> JobSummary:
        last = self._last_results.get(job.record.identity)
        first, ahead = first_of(job, now), ahead_until(job, now)
        return JobSummary(job.record, job.work, self._written(job), list(job.active), first, ahead, last)


def _upcoming_run(found: tuple[Decision, JobState] | None) -> UpcomingRun | None:
    if found is None:
        return None
    decision, job = found
    return UpcomingRun(decision, job.record.name, job.is_suspended)


def _decisions(job: JobState, now: Instant, limit: int, *, until: Instant | None = None) -> list[Decision]:
    found = []
    for at, decision, _ in islice(decisions_of(job, now), limit):
        if until is not None and at > until:
            break
        found.append(decision)
    return found
