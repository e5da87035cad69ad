"""prepare_in_parts(…): compute the slow part of a declaration before it is applied.

What comes first under a new definition, and what the old one leaves behind, hardly ever changes within seconds. So
it is computed while the host runs jobs, and used if it still holds when the jobs are declared.
"""

from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from typing import NamedTuple

from kron.decision.timing import Timing
from kron.engine.jobs.job_state import JobState, PendingItem
from kron.engine.jobs.planner import PeriodPlanner
from kron.engine.ledger import HandledByJob, handled_by
from kron.errors import CronCalculationError
from kron.instant import SECOND, Instant
from kron.rules.effort import AT_ONCE, Effort, Parts
from kron.rules.job_record import JobRecord
from kron.rules.job_spec import JobSpec
from kron.rules.obligation import owned_after
from kron.rules.outage import ClosedPeriods, Outage
from kron.rules.override import DefinitionChange, compare_definition, redefine_in_parts
from kron.rules.periods import NO_PERIODS, HandledPeriods, PeriodQueue
from kron.rules.verdict import Reason


class Basis(NamedTuple):
    """What a preparation was computed from. It is discarded once one of these is another: something has happened."""

    record: JobRecord | None
    job: JobState | None
    queue: tuple[PendingItem, ...]
    handled: HandledPeriods

    @classmethod
    def of(cls, planner: PeriodPlanner, identity: str) -> "Basis":
        """Return the present one of a job."""
        record, job = planner.record(identity), planner.jobs.get(identity)
        return cls(record, None, (), NO_PERIODS) if job is None else cls(record, job, job.queue, job.handled)

    def is_same(self, other: "Basis") -> bool:
        """Whether nothing has happened to the job between the two."""
        is_same = self.record is other.record and self.job is other.job and self.handled is other.handled
        return is_same and self.queue == other.queue


_NO_BASES: Mapping[str, Basis] = {}


class PreparedJob(NamedTuple):
    """A job under its new definition, what is closed with its old one, and how long both are right."""

    identity: str
    job: JobState | None  # None: it is removed
    closings: Sequence[ClosedPeriods]
    basis: Basis
    until: Instant | None  # when a period begins or is due; None: never

    def holds(self, planner: PeriodPlanner, now: Instant) -> bool:
        """Whether nothing has happened to the job since, and time has brought nothing."""
        if not self.basis.is_same(Basis.of(planner, self.identity)) or (self.until is not None and self.until <= now):
            return False
        before = self.basis.job
        return before is None or before.at is None or before.at > now


def prepare_in_parts(
    planner: PeriodPlanner,
    works: Sequence[JobSpec],
    now: Instant,
    handled: HandledByJob,
    leaving: Collection[str] = (),
    bases: Mapping[str, Basis] = _NO_BASES,
) -> Parts[Mapping[str, PreparedJob]]:
    """Return by identity what can be computed, part by part, of jobs that are new, change or leave; it changes nothing.

    If the ledger was asked for `handled`, `bases` are from before that: what happens while it answers, or while others
    are prepared, is not in its answer.
    """
    found: dict[str, PreparedJob] = {}
    for work in works if planner.is_armed else ():  # before it is armed, no run can be delayed
        basis = bases.get(work.identity) or Basis.of(planner, work.identity)
        record, known = basis.record, handled_by(handled, work.identity)
        change = compare_definition(_key(record), work.definition_key)
        if record is not None and record.is_declared and basis.job is None:
            if change is DefinitionChange.SAME:  # its file could not be read until now
                with suppress(Exception):  # the declaration meets it again, and sets the job aside
                    found[work.identity] = yield from _prepare_return(work, record, basis, now, known)
        elif change is not DefinitionChange.SAME:
            with suppress(Exception):
                before = None if change is DefinitionChange.ADDED else record
                found[work.identity] = yield from _prepare(planner, work, before, basis, now, known)
    for identity in leaving if planner.is_armed else ():
        basis = bases.get(identity) or Basis.of(planner, identity)
        if basis.record is not None and basis.record.is_declared and basis.job is not None:
            with suppress(Exception):
                known = handled_by(handled, identity)
                found[identity] = yield from _prepare_removal(planner, basis.record, basis, now, known)
    return found


def _prepare_removal(
    planner: PeriodPlanner, record: JobRecord, basis: Basis, now: Instant, known: HandledPeriods
) -> Parts[PreparedJob]:
    before = planner.work(record)
    until = _earliest(*_beginnings(before.timing, None, now), (yield from _next_suspended(before, record, now, known)))
    closings = yield from closings_in_parts(planner, before, record, None, now, known)
    return PreparedJob(record.identity, None, closings, basis, until)


def _next_suspended(before: JobSpec, record: JobRecord, now: Instant, known: HandledPeriods) -> Parts[Instant | None]:
    """Return when the next period of a suspended job is due: nothing else shows that it was."""
    if before.timing is None or not (record.is_suspended or before.policy.suspend):
        return None
    coming = PeriodQueue(before.timing, now, known.under(before.timing.schedule))
    while not coming.advance(Effort(AT_ONCE)):
        yield AT_ONCE
    return coming.next_time()


def change_of(planner: PeriodPlanner, record: JobRecord | None, work: JobSpec) -> DefinitionChange:
    """Return how a job changes; one that is recorded and not declared comes as if it were new."""

    def timings() -> tuple[object, object]:
        assert record is not None, "only two definitions are compared"
        return planner.work(record).timing, work.timing

    return compare_definition(_key(record), work.definition_key, timings)


def _key(record: JobRecord | None) -> str | None:
    """Return the key of the definition that is in force, None if the job is not declared."""
    return record.definition_key if record is not None and record.is_declared else None


def _prepare(
    planner: PeriodPlanner, work: JobSpec, record: JobRecord | None, basis: Basis, now: Instant, known: HandledPeriods
) -> Parts[PreparedJob]:
    served = owned_after(now, planner.contract.first_minute) if record is None else now
    job = JobState(work, JobRecord(work.identity, work.name, work.definition_key, now, served), known)
    if record is not None and change_of(planner, record, work) is DefinitionChange.SETTINGS:
        return PreparedJob(work.identity, job, (), basis, None)  # it goes on where the old one is
    job.at = yield from _next_look(job, now)
    if record is None:
        return PreparedJob(work.identity, job, (), basis, job.at)
    before = planner.work(record)
    suspended = yield from _next_suspended(before, record, now, known)
    until = _earliest(job.at, suspended, *_beginnings(before.timing, work.timing, now))
    closings = yield from closings_in_parts(planner, before, record, work, now, known)
    return PreparedJob(work.identity, job, closings, basis, until)


def _prepare_return(
    work: JobSpec, record: JobRecord, basis: Basis, now: Instant, known: HandledPeriods
) -> Parts[PreparedJob]:
    job = JobState(work, record, known)
    job.at = yield from _next_look(job, now)
    return PreparedJob(work.identity, job, (), basis, job.at)


def _next_look(job: JobState, now: Instant) -> Parts[Instant | None]:
    while job.coming is not None and not job.coming.advance(Effort(AT_ONCE)):
        yield AT_ONCE
    return job.next_check(now)


def still_valid(planner: PeriodPlanner, prepared: Mapping[str, PreparedJob], now: Instant) -> Mapping[str, PreparedJob]:
    """Return what may still be used."""
    return {identity: each for identity, each in prepared.items() if each.holds(planner, now)}


def closings_in_parts(
    planner: PeriodPlanner,
    before: JobSpec,
    record: JobRecord,
    after: JobSpec | None,
    now: Instant,
    handled: HandledPeriods,
) -> Parts[Sequence[ClosedPeriods]]:
    """Return what had begun under the old definition and the new one, None if it is removed, does not run."""
    if before.timing is None:
        return ()
    could_run = planner.is_armed and record.identity in planner.jobs
    gap = Outage(record.handled_until, now, Reason.DEADLINE if could_run else Reason.DOWNTIME)
    new = None if after is None else after.timing
    return (yield from redefine_in_parts(before.timing, new, before.policy, gap, handled))


def _beginnings(old: Timing | None, new: Timing | None, now: Instant) -> list[Instant | None]:
    """Return when the next window of each may begin: from then on, something else is closed, or owned."""
    found = []
    if old is not None:
        found.append(_next(old, now, old.terms.first))
    if new is not None:
        found.append(_next(new, now, new.terms.first if old is None else min(old.terms.first, new.terms.first)))
    return found


def _next(timing: Timing, now: Instant, first: int) -> Instant | None:
    begins = SECOND * first
    try:
        return timing.schedule.next(now - begins) + begins
    except (CronCalculationError, OverflowError):  # the calendar ends
        return None


def _earliest(*instants: Instant | None) -> Instant | None:
    return min((each for each in instants if each is not None), default=None)
