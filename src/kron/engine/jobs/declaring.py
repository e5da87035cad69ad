"""Declaration: other jobs than before: who is new, changed or gone, and what that closes."""

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from kron.decision.decision import Decision
from kron.engine.jobs.book import JobBook
from kron.engine.jobs.job import Job
from kron.engine.jobs.store import JobBatch
from kron.instant import SECOND, Instant
from kron.rules.coming import effective
from kron.rules.handled import NONE, Handled
from kron.rules.job_record import JobRecord, PeriodRecord
from kron.rules.outage import Gap
from kron.rules.redefinition import redefine
from kron.rules.verdict import Reason
from kron.rules.work import Work


class Declared(NamedTuple):
    """What became of the jobs, by their identities, and when that was."""

    at: Instant
    added: list[str]
    changed: list[str]
    removed: list[str]
    unchanged: list[str]


def in_question(book: JobBook, works: Sequence[Work], now: Instant) -> Mapping[str, Instant]:
    """Return the jobs that change, each with an instant: whether a period after it is handled will be asked."""
    return {
        work.identity: now - SECOND * max(0, work.timing.terms.last) - SECOND
        for work in works
        if work.timing is not None
        and (record := book.record(work.identity)) is not None
        and record.definition != work.key
    }


class Declaration:
    """A change of what is declared. The engine remembers its batch, and then it is adopted."""

    def __init__(
        self, book: JobBook, works: Sequence[Work], now: Instant, handled: Mapping[str, Collection[Instant]]
    ) -> None:
        """`handled` are nominal times of periods that have their outcome, of jobs whose definition is in question."""
        self._book = book
        self._handled = {identity: Handled.of(nominals) for identity, nominals in handled.items()}
        self._jobs: dict[str, Job] = {}
        self._definitions: dict[str, str] = {}
        self._closed: list[tuple[Work, PeriodRecord, Decision]] = []
        self._records: list[JobRecord] = []
        self._declared = Declared(now, [], [], [], [])
        for work in works:
            self._jobs[work.identity] = self._declare(work)
        for record in book.records():
            if record.declared and record.identity not in self._jobs:
                self._remove(record)
        closed = [record for _, record, _ in self._closed]
        self.batch = JobBatch(self._definitions, self._records, closed)

    def adopt(self) -> Declared:
        """Let it be so, and return what became of the jobs."""
        self._book.adopt(self._jobs, self._records, self._declared.at)
        for each in self._closed:
            self._book.host.chronicle.on_closed(*each)
        return self._declared

    def _declare(self, work: Work) -> Job:
        book, identity, now = self._book, work.identity, self._declared.at
        record, job = book.record(identity), book.jobs.get(identity)
        if record is None or not record.declared:
            self._declared.added.append(identity)
            boot = book.host.boot if book.is_armed else ""  # a new file is no boot of the machine
            return self._remember(Job(work, JobRecord(identity, work.name, work.key, now, now, boot=boot)))
        if record.definition == work.key:
            self._declared.unchanged.append(identity)
            return Job(work, record) if job is None else job
        self._declared.changed.append(identity)
        before = book.work(record)
        renewed = record._replace(name=work.name, definition=work.key)
        if before.timing == work.timing:
            new = Job(work, renewed)
            new.take_over(job, lifted_at=now if before.policy.suspend and not work.policy.suspend else None)
            return self._remember(new)
        self._close(before, record, work)
        new = Job(work, renewed._replace(declared_at=now, served=now), self._handled.get(identity, NONE))
        new.carry_on(job)
        return self._remember(new)

    def _remove(self, record: JobRecord) -> None:
        self._declared.removed.append(record.identity)
        self._close(self._book.work(record), record, None)
        self._records.append(record._replace(declared=False, served=max(record.served, self._declared.at)))

    def _close(self, before: Work, record: JobRecord, after: Work | None) -> None:
        """Close what had begun under the old definition, and is not run by the new one."""
        if before.timing is None:
            return
        timing, now = None if after is None else after.timing, self._declared.at
        gap = Gap(record.served, now, Reason.DEADLINE if self._book.is_armed else Reason.DOWNTIME)
        handled = self._handled.get(record.identity, NONE)
        for first, last, number, outcome, reason in redefine(before.timing, timing, before.policy, gap, handled):
            closed = PeriodRecord(
                record.identity, first.nominal_time, last.nominal_time, number, last.chosen_time, effective(last),
                outcome, reason, "", record.definition, now,
            )  # fmt: skip
            self._closed.append((before, closed, last))

    def _remember(self, job: Job) -> Job:
        self._records.append(job.record)
        self._definitions[job.work.key] = job.work.definition
        return job
