"""JobDeclaration: a new set of jobs: which are added, changed or removed, and which periods that closes."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

from kron.decision.decision import Decision
from kron.engine.emitter import Observers
from kron.engine.jobs.job_state import JobState
from kron.engine.jobs.planner import PeriodPlanner
from kron.engine.jobs.preparation import PreparedJob, change_of, closings_in_parts
from kron.engine.jobs.step import closed_by
from kron.engine.ledger import HandledByJob, JobBatch, handled_by
from kron.engine.planner import Change
from kron.engine.ports import Refusal, RunObserver
from kron.engine.runs import JobRun
from kron.instant import SECOND, Instant, shift
from kron.rules.effort import finish
from kron.rules.job_record import JobRecord, PeriodRecord
from kron.rules.job_spec import JobSpec
from kron.rules.obligation import owned_after
from kron.rules.override import DefinitionChange, compare_definition
from kron.rules.verdict import Reason

_NOTHING: Mapping[str, PreparedJob] = {}


class JobsApplied(NamedTuple):
    """The result of a declaration: when it was applied, and the identities of the jobs by what changed."""

    at: Instant
    added: list[str]
    changed: list[str]
    removed: list[str]
    unchanged: list[str]


def jobs_needing_history(
    planner: PeriodPlanner, works: Sequence[JobSpec], now: Instant, prepared: Mapping[str, PreparedJob] = _NOTHING
) -> Mapping[str, Instant]:
    """Return jobs of which not all is known, each with an instant: whether a period after it is handled will be asked.

    They are those that change, go, or come back, and after a start all of them: what another definition has handled,
    now or in an earlier life, may come after what is served under the present one. Of what is prepared it is known.
    """
    named = {work.identity: work for work in works}
    asked: dict[str, Instant] = {}
    for record in planner.records():
        work = named.get(record.identity)
        if work is None and not record.is_declared:
            continue
        change = compare_definition(record.definition_key, None if work is None else work.definition_key)
        is_same = change is DefinitionChange.SAME  # also of one that comes back
        if record.identity in prepared or (is_same and record.identity in planner.jobs):
            continue
        timings = [None if work is None else work.timing, None if is_same else planner.work(record).timing]
        longest = max((timing.terms.last for timing in timings if timing is not None), default=0)
        asked[record.identity] = shift(min(now, record.handled_until), -SECOND * (max(0, longest) + 1))
    return asked


class JobDeclaration(Change[JobBatch, JobsApplied, JobRun]):
    """A change of what is declared. The engine remembers its batch, and then it is adopted."""

    def __init__(
        self,
        planner: PeriodPlanner,
        works: Sequence[JobSpec],
        now: Instant,
        handled: HandledByJob,
        prepared: Mapping[str, PreparedJob] = _NOTHING,
        *,
        leaving: Collection[str] | None = None,
        joining: Iterable[JobState] = (),
        forgotten: Collection[str] = (),
        spares_absent: bool = False,
    ) -> None:
        """`handled` are the periods that have their outcome, of jobs whose definition is in question.

        `prepared` is what was computed before, and still holds. `leaving` are identities of jobs that are removed,
        None: all but those of the works. `joining` are jobs whose records the host has made, and `forgotten` are
        identities of which nothing is kept but their runs; neither closes a period. `spares_absent`: a file that may
        define more jobs could not be read, so a recorded job that this host has not declared since it started is
        neither run nor removed.
        """
        self._planner, self._prepared, self._handled = planner, prepared, handled
        self._is_whole = leaving is None
        self._jobs: dict[str, JobState] = {}
        self._joining, self._forgotten = {job.record.identity: job for job in joining}, forgotten
        self._definitions: dict[str, str] = {}
        self._closed: list[tuple[JobSpec, PeriodRecord, Decision]] = []
        self._records: list[JobRecord] = []
        self._before: list[JobRecord] = []  # of those that change or go
        self._given_up: list[str] = []  # ids of runs that the new definitions do not retry
        self._released: list[str] = []  # identities of those whose suspension ends with their old definition
        self._held: list[str] = []  # identities of jobs suspended by command, before and after
        self._active = self._runs_of_others() if self._is_whole else {}
        self._declared = JobsApplied(now, [], [], [], [])
        self._aside: dict[str, Exception] = {}  # jobs that cannot be declared stay as they are, and start nothing
        for work in works:
            self._declare_or_leave(work)
        for record in planner.records() if leaving is None else map(planner.record, leaving):
            if record is None or not record.is_declared or record.identity in self._jobs:
                continue
            if record.identity not in self._aside and (not spares_absent or record.identity in planner.jobs):
                self._remove(record)
        closed = [record for _, record, _ in self._closed]
        self.batch = JobBatch(self._definitions, self._records, closed)

    def _runs_of_others(self) -> dict[str, dict[str, JobRun]]:
        """Return what runs of jobs that are not declared, by identity."""
        found: dict[str, dict[str, JobRun]] = {}
        for run_id, run in self._planner.running.items():
            if run.attempt.identity not in self._planner.jobs:
                found.setdefault(run.attempt.identity, {})[run_id] = run
        return found

    def look_ahead(self) -> None:
        """Find what comes first of each job, which takes long where windows overlap, before it is adopted."""
        for job in self._jobs.values():
            if job.coming is not None:
                with suppress(Exception):  # the planner meets it again, and sets the job aside
                    job.coming.first()

    def commit(self, refused: Sequence[Refusal]) -> JobsApplied:
        """Apply the committed declaration, and return its result; jobs that the ledger refuses are set aside."""
        planner = self._planner
        for refusal in refused:
            self._leave_as_it_was(refusal)
        self._released = [record.identity for record in self._before if record.is_suspended]
        self._held += self._released
        planner.dropped_retries += self._given_up
        for record in self._before:
            if record.identity not in self._jobs:
                self._drop(record.identity)
        if self._is_whole:
            planner.replace_all(self._jobs, self._records, self._declared.at)
            if planner.is_armed:  # before, no retry is taken up yet
                planner.keep_waiting_retries()
        else:
            gone = [*self._forgotten, *self._declared.removed]
            planner.update({**self._joining, **self._jobs}, gone, self._declared.at)
        for identity, error in self._aside.items():
            planner.set_aside(identity, error)
        return self._declared

    def report(self, observers: Observers[JobRun]) -> None:
        """Report suspensions that end with an old definition, the periods that it closes, and jobs still suspended."""
        for identity in self._released:
            observers.report(RunObserver.on_suspended, identity, suspended=False)
        for work, record, last in self._closed:
            observers.report(RunObserver.on_closed, work, record, last)
        for identity in self._held:
            if identity in self._jobs:
                observers.report(RunObserver.on_suspended, identity, suspended=True)

    def _drop(self, identity: str) -> None:
        """Retry no run of a job that is gone, and start none that was asked for."""
        planner, job = self._planner, self._planner.jobs.get(identity)
        if job is None:
            planner.dropped_retries += [retry.attempt.run_id for retry in planner.waiting_retries(identity)]
            return
        planner.dropped_retries += job.retry_run_ids()
        if self._is_whole:  # else the jobs that are gone have no records
            planner.drop_requests(job, job.unstarted_requests(), self._declared.at)

    def _leave_as_it_was(self, refusal: Refusal) -> None:
        """Neither declare, change nor remove a job of which nothing was committed."""
        identity, before = refusal.identity, self._planner.jobs.get(refusal.identity)
        self._closed = [each for each in self._closed if each[1].identity != identity]
        for records in (self._records, self._before):
            records[:] = [each for each in records if each.identity != identity]
        retries = self._planner.waiting_retries(identity) if before is None else before.retries
        kept = {retry.attempt.run_id for retry in retries}
        self._given_up = [each for each in self._given_up if each not in kept]
        declared = self._declared
        for names in (self._held, declared.added, declared.changed, declared.removed, declared.unchanged):
            names[:] = [each for each in names if each != identity]
        self._jobs.pop(identity, None)
        if before is not None:
            self._jobs[identity] = before
        self._aside[identity] = refusal.error

    def _declare_or_leave(self, work: JobSpec) -> None:
        lists: tuple[list[Any], ...] = (
            self._closed,
            self._records,
            self._before,
            self._given_up,
            self._held,
            *self._declared[1:],
        )
        lengths = [len(each) for each in lists]
        try:
            self._jobs[work.identity] = self._declare(work)
        except Exception as error:
            for each, length in zip(lists, lengths, strict=True):
                del each[length:]
            self._aside[work.identity] = error
            if (before := self._planner.jobs.get(work.identity)) is not None:
                self._jobs[work.identity] = before

    def _declare(self, work: JobSpec) -> JobState:
        planner, identity, now = self._planner, work.identity, self._declared.at
        record, job = planner.record(identity), planner.jobs.get(identity)
        change = change_of(planner, record, work)
        if record is None or change is DefinitionChange.ADDED:
            self._declared.added.append(identity)
            return self._remember(self._added(work, record))
        if change is DefinitionChange.SAME:
            self._declared.unchanged.append(identity)
            return self._returned(self._job(work, record)) if job is None else job
        self._declared.changed.append(identity)
        self._before.append(record)
        before = planner.work(record)
        renewed = record._replace(name=work.name, definition_key=work.definition_key)
        if change is DefinitionChange.SETTINGS:
            new = self._job(work, renewed)
            if job is None:
                self._returned(new)
            new.inherit(job, lifted_at=now if before.policy.suspend and not work.policy.suspend else None)
            self._given_up += new.limit_retries()
            return self._remember(new)
        self._close(before, record, work)
        boot = planner.boot_id if planner.is_armed else ""  # neither is a changed one
        new = self._job(work, renewed._replace(declared_at=now, handled_until=now, last_boot_id=boot))
        if job is None:
            self._returned(new)
        new.inherit_runs(job)
        self._given_up += new.limit_retries()
        return self._remember(new)

    def _returned(self, job: JobState) -> JobState:
        """Return a recorded job that this host declares for the first time.

        If the host already runs jobs, the file of this one could not be read until now: its periods since then are
        judged as after downtime, and its runs and retries of an earlier life are its own again.
        """
        if self._is_whole and self._planner.is_armed:
            identity = job.record.identity
            job.armed, job.gap = self._declared.at, Reason.DOWNTIME
            job.active = self._active.pop(identity, {})
            job.retries = self._planner.waiting_retries(identity)
            self._given_up += job.limit_retries()
            job.at = None if job.retries else job.at
        return job

    def _added(self, work: JobSpec, before: JobRecord | None) -> JobState:
        """Return a job that is new or declared again: its active runs and its suspension are kept."""
        planner, now = self._planner, self._declared.at
        boot = "" if before is None else before.last_boot_id
        boot = planner.boot_id if planner.is_armed else boot  # a new file is no boot of the machine
        served = owned_after(now, planner.contract.first_minute)
        record = JobRecord(work.identity, work.name, work.definition_key, now, served, last_boot_id=boot)
        if before is not None and before.is_suspended:
            record = record._replace(is_suspended=True, suspended_until=before.suspended_until)
            self._held.append(work.identity)
        job = self._job(work, record)
        job.active = self._active.pop(work.identity, {})
        if record.is_suspended:
            job.at = None  # it was computed as if the job were not suspended
        return job

    def _job(self, work: JobSpec, record: JobRecord) -> JobState:
        """Return a job with a record."""
        prepared = self._prepared.get(work.identity)
        if prepared is None or prepared.job is None:
            return JobState(work, record, handled_by(self._handled, work.identity))
        prepared.job.rebase(record)
        return prepared.job

    def _remove(self, record: JobRecord) -> None:
        self._declared.removed.append(record.identity)
        self._before.append(record)
        try:
            self._close(self._planner.work(record), record, None)
        except Exception as error:  # what it left cannot be judged, and is not closed
            self._aside[record.identity] = error
        self._records.append(
            record._replace(is_declared=False, handled_until=max(record.handled_until, self._declared.at))
        )

    def _close(self, before: JobSpec, record: JobRecord, after: JobSpec | None) -> None:
        """Close what had begun under the old definition, and is not run by the new one."""
        if record.identity in self._planner.aside:  # what it left cannot be judged
            return
        now, prepared = self._declared.at, self._prepared.get(record.identity)
        if prepared is None or (prepared.job is None) != (after is None):
            handled = handled_by(self._handled, record.identity)
            closings = finish(closings_in_parts(self._planner, before, record, after, now, handled))
        else:
            closings = prepared.closings
        self._closed += [(before, closed_by(record, closing, now), closing.last) for closing in closings]

    def _remember(self, job: JobState) -> JobState:
        self._records.append(job.record)
        self._definitions[job.work.definition_key] = job.work.definition
        return job
