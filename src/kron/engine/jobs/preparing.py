"""prepare(book, works, now, handled) -> what takes long in a declaration, done before its moment comes.

What comes first under a new definition, and what the old one leaves behind, hardly ever changes within seconds. So
it is computed while everything else goes on, in a thread, and used if it still holds when the jobs are declared.
"""

from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from typing import NamedTuple

from kron.decision.timing import Timing
from kron.engine.jobs.book import JobBook
from kron.engine.jobs.job import Job
from kron.errors import CronCalculationError
from kron.instant import SECOND, Instant
from kron.rules.effort import AT_ONCE, Effort, Parts, finish
from kron.rules.handled import NONE, Handled
from kron.rules.job_record import JobRecord
from kron.rules.outage import Closing, Gap
from kron.rules.redefinition import redefine_in_parts
from kron.rules.verdict import Reason
from kron.rules.work import Work


class Prepared(NamedTuple):
    """A job under its new definition, what is closed with its old one, and how long both are right."""

    identity: str
    job: Job | None  # None: it is removed
    closings: Sequence[Closing]
    record: JobRecord | None  # as it was remembered then
    until: Instant | None  # when a period begins, or comes; None: never

    def holds(self, book: JobBook, now: Instant) -> bool:
        """Whether nothing has happened to the job since, and time has brought nothing."""
        identity = self.identity
        if book.record(identity) is not self.record or (self.until is not None and self.until <= now):
            return False
        before = book.jobs.get(identity)
        return before is None or (not before.queue and (before.at is None or before.at > now))


def prepare(
    book: JobBook, works: Sequence[Work], now: Instant, handled: Mapping[str, Collection[Instant] | Handled]
) -> Mapping[str, Prepared]:
    """Return by identity what can be computed of jobs that are new or change; nothing is changed by it."""
    return finish(prepare_in_parts(book, works, now, handled))


def prepare_in_parts(
    book: JobBook,
    works: Sequence[Work],
    now: Instant,
    handled: Mapping[str, Collection[Instant] | Handled],
    leaving: Collection[str] = (),
) -> Parts[Mapping[str, Prepared]]:
    """Return the same, part by part; `leaving` are identities of jobs that are removed."""
    found: dict[str, Prepared] = {}
    for work in works if book.is_armed else ():  # before, nobody is kept from anything
        record = book.record(work.identity)
        is_new = record is None or not record.declared
        if record is not None and record.declared and record.identity not in book.jobs:
            if record.definition == work.key:  # its file could not be read until now
                with suppress(Exception):  # the declaration meets it again, and sets the job aside
                    found[work.identity] = yield from _prepare_return(book, work, record, now, handled)
        elif is_new or (record is not None and _can_be_said(book, record, work)):
            with suppress(Exception):
                found[work.identity] = yield from _prepare(book, work, None if is_new else record, now, handled)
    for identity in leaving if book.is_armed else ():
        record = book.record(identity)
        if record is not None and record.declared and not record.suspended and identity in book.jobs:
            with suppress(Exception):
                found[identity] = yield from _prepare_removal(book, record, now, _known(handled, identity))
    return found


def _prepare_removal(book: JobBook, record: JobRecord, now: Instant, known: Handled) -> Parts[Prepared]:
    before = book.work(record)
    closings = yield from closings_in_parts(book, before, record, None, now, known)
    return Prepared(record.identity, None, closings, record, _earliest(*_beginnings(before.timing, None, now)))


def _can_be_said(book: JobBook, record: JobRecord, work: Work) -> bool:
    """Whether it changes, and what happens to it is seen: periods of a job that is held pass without a trace."""
    return record.definition != work.key and not record.suspended and not book.work(record).policy.suspend


def _prepare(
    book: JobBook,
    work: Work,
    record: JobRecord | None,
    now: Instant,
    handled: Mapping[str, Collection[Instant] | Handled],
) -> Parts[Prepared]:
    known = _known(handled, work.identity)
    job = Job(work, JobRecord(work.identity, work.name, work.key, now, now), known)
    job.at = yield from _next_look(job, now)
    if record is None:
        return Prepared(work.identity, job, (), book.record(work.identity), job.at)
    before = book.work(record)
    if before.timing == work.timing:
        return Prepared(work.identity, job, (), record, None)
    until = _earliest(job.at, *_beginnings(before.timing, work.timing, now))
    closings = yield from closings_in_parts(book, before, record, work, now, known)
    return Prepared(work.identity, job, closings, record, until)


def _known(handled: Mapping[str, Collection[Instant] | Handled], identity: str) -> Handled:
    given = handled.get(identity, NONE)
    return given if isinstance(given, Handled) else Handled.of(given)


def _prepare_return(
    book: JobBook, work: Work, record: JobRecord, now: Instant, handled: Mapping[str, Collection[Instant] | Handled]
) -> Parts[Prepared]:
    job = Job(work, record, _known(handled, work.identity))
    job.at = yield from _next_look(job, now)
    return Prepared(work.identity, job, (), book.record(work.identity), job.at)


def _next_look(job: Job, now: Instant) -> Parts[Instant | None]:
    while job.coming is not None and not job.coming.advance(Effort(AT_ONCE)):
        yield AT_ONCE
    return job.next_look(now)


def holding(book: JobBook, prepared: Mapping[str, Prepared], now: Instant) -> Mapping[str, Prepared]:
    """Return what may still be used."""
    return {identity: each for identity, each in prepared.items() if each.holds(book, now)}


def closings_of(
    book: JobBook, before: Work, record: JobRecord, after: Work | None, now: Instant, handled: Handled
) -> Sequence[Closing]:
    """Return what had begun under the old definition of a job, and is not run by the new one; None: it is removed."""
    return finish(closings_in_parts(book, before, record, after, now, handled))


def closings_in_parts(
    book: JobBook, before: Work, record: JobRecord, after: Work | None, now: Instant, handled: Handled
) -> Parts[Sequence[Closing]]:
    """Return the same, part by part."""
    if before.timing is None:
        return ()
    could_run = book.is_armed and record.identity in book.jobs
    gap = Gap(record.served, now, Reason.DEADLINE if could_run else Reason.DOWNTIME)
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
