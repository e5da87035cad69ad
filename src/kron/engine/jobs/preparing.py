"""prepare(book, works, now, handled) -> what takes long in a declaration, done before its moment comes.

What comes first under a new definition, and what the old one leaves behind, hardly ever changes within seconds. So
it is computed while everything else goes on, in a thread, and used if it still holds when the jobs are declared.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from kron.decision.timing import Timing
from kron.engine.jobs.book import JobBook
from kron.engine.jobs.job import Job
from kron.errors import CronCalculationError
from kron.instant import SECOND, Instant
from kron.rules.handled import NONE, Handled
from kron.rules.job_record import JobRecord
from kron.rules.outage import Closing, Gap
from kron.rules.redefinition import redefine
from kron.rules.verdict import Reason
from kron.rules.work import Work


class Prepared(NamedTuple):
    """A job under its new definition, what is closed with its old one, and how long both are right."""

    job: Job
    closings: Sequence[Closing]
    record: JobRecord | None  # as it was remembered then
    until: Instant | None  # when a period begins, or comes; None: never

    def holds(self, book: JobBook, now: Instant) -> bool:
        """Whether nothing has happened to the job since, and time has brought nothing."""
        identity = self.job.record.identity
        if book.record(identity) is not self.record or (self.until is not None and self.until <= now):
            return False
        before = book.jobs.get(identity)
        return before is None or (not before.queue and (before.at is None or before.at > now))


def prepare(
    book: JobBook, works: Sequence[Work], now: Instant, handled: Mapping[str, Collection[Instant] | Handled]
) -> Mapping[str, Prepared]:
    """Return by identity what is known beforehand of jobs that are new or change; nothing is changed by it."""
    found: dict[str, Prepared] = {}
    for work in works if book.is_armed else ():  # before, nobody is kept from anything
        record = book.record(work.identity)
        is_new = record is None or not record.declared
        if record is not None and record.declared and record.identity not in book.jobs:
            if record.definition == work.key:  # its file could not be read until now
                found[work.identity] = _prepare_return(book, work, record, now, handled)
        elif is_new or (record is not None and _can_be_said(book, record, work)):
            found[work.identity] = _prepare(book, work, None if is_new else record, now, handled)
    return found


def _can_be_said(book: JobBook, record: JobRecord, work: Work) -> bool:
    """Whether it changes, and what happens to it is seen: periods of a job that is held pass without a trace."""
    return record.definition != work.key and not record.suspended and not book.work(record).policy.suspend


def _prepare(
    book: JobBook,
    work: Work,
    record: JobRecord | None,
    now: Instant,
    handled: Mapping[str, Collection[Instant] | Handled],
) -> Prepared:
    known = _known(handled, work)
    job = Job(work, JobRecord(work.identity, work.name, work.key, now, now), known)
    job.at = _next_look(job, now)
    if record is None:
        return Prepared(job, (), book.record(work.identity), job.at)
    before = book.work(record)
    if before.timing == work.timing:
        return Prepared(job, (), record, None)
    until = _earliest(job.at, *_beginnings(before.timing, work.timing, now))
    return Prepared(job, closings_of(book, before, record, work, now, known), record, until)


def _known(handled: Mapping[str, Collection[Instant] | Handled], work: Work) -> Handled:
    given = handled.get(work.identity, NONE)
    return given if isinstance(given, Handled) else Handled.of(given)


def _prepare_return(
    book: JobBook, work: Work, record: JobRecord, now: Instant, handled: Mapping[str, Collection[Instant] | Handled]
) -> Prepared:
    job = Job(work, record, _known(handled, work))
    job.at = _next_look(job, now)
    return Prepared(job, (), book.record(work.identity), job.at)


def _next_look(job: Job, now: Instant) -> Instant | None:
    if job.coming is not None:
        job.coming.first()
    return job.next_look(now)


def holding(book: JobBook, prepared: Mapping[str, Prepared], now: Instant) -> Mapping[str, Prepared]:
    """Return what may still be used."""
    return {identity: each for identity, each in prepared.items() if each.holds(book, now)}


def closings_of(
    book: JobBook, before: Work, record: JobRecord, after: Work | None, now: Instant, handled: Handled
) -> Sequence[Closing]:
    """Return what had begun under the old definition of a job, and is not run by the new one; None: it is removed."""
    if before.timing is None:
        return ()
    could_run = book.is_armed and record.identity in book.jobs
    gap = Gap(record.served, now, Reason.DEADLINE if could_run else Reason.DOWNTIME)
    return redefine(before.timing, None if after is None else after.timing, before.policy, gap, handled)


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
