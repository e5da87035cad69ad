"""PeriodPlanner: plans the steps of a host's jobs, from the declared jobs, the due periods and the active runs."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from datetime import timedelta
from itertools import count

from kron.engine.agenda import Agenda
from kron.engine.clock_watch import ClockReading
from kron.engine.jobs.job_state import (
    REPLACED_BEFORE_START,
    STOPPED_BEFORE_START,
    JobCheckpoint,
    JobState,
    RunRequest,
)
from kron.engine.jobs.judge import PlanningContext
from kron.engine.jobs.step import JobStep
from kron.engine.ledger import JobSnapshot, PendingRetry
from kron.engine.ports import Refusal
from kron.engine.runs import JobRun, RunNews
from kron.errors.base import describe_exception
from kron.instant import SECOND, Instant
from kron.rules.contract import JOB_CONTRACT, Contract
from kron.rules.effort import Effort
from kron.rules.job_record import JobRecord
from kron.rules.job_spec import JobSpec
from kron.rules.outage import Freeze, outstanding
from kron.rules.periods import HandledPeriods
from kron.rules.verdict import Reason

_FEW, _MANY = 16, 128  # due jobs taken up by one step: the first of many starts at once, and the loop is not held
_LEAST = 256  # the work that each due job may take, whatever others took: three periods that find no second


class PeriodPlanner:
    """All jobs. It never waits, and remembers nothing by itself: the engine does."""

    def __init__(
        self,
        running: Mapping[str, JobRun],
        instance_id: str,
        *,
        boot_id: str = "",
        slack: timedelta = timedelta(seconds=30),
        run_token: Callable[[], str] = str,
        contract: Contract = JOB_CONTRACT,
    ) -> None:
        """`running` are the runs in flight, by their ids, kept by the loop.

        `instance_id` tells this life of the host from any other, `boot_id` this boot of the machine. `run_token`
        returns the part of a run's id that no other process can guess, "" if it needs none.
        """
        self.running = running
        self.boot_id, self.slack, self.contract = boot_id, slack, contract
        self._instance_id, self._run_token = instance_id, run_token
        self.jobs: dict[str, JobState] = {}
        self.snapshot = JobSnapshot()
        self.agenda: Agenda[JobState] = Agenda()
        self.queued: dict[str, JobState] = {}  # jobs of which something has come that is not recorded yet
        self.unfinished: dict[JobState, None] = {}  # jobs that take more work in the next steps, one after the other
        self._numbers = count(1)
        self._armed: Instant | None = None  # since when the host could run anything, without a break
        self._gap = Reason.DOWNTIME
        self._frozen: Freeze | None = None  # until all that came in it is judged
        self._unstarted: list[JobRun] = []  # what was asked for and never begins, and is not recorded yet
        self.dropped_retries: list[str] = []  # names of runs that are not tried again after all
        self._most = _FEW
        self.aside: dict[str, str] = {}  # identities of jobs that could not be judged, and the errors
        self.on_aside: Callable[[str, Exception], object] = lambda _identity, _error: None

    def set_aside(self, identity: str, error: Exception) -> None:
        """Start nothing of a job until its definition changes or the host is restarted: its data cannot be judged.

        Its runs go on, and so do all other jobs.
        """
        is_new = identity not in self.aside
        self.aside[identity] = describe_exception(error)
        job = self.jobs.get(identity)
        if job is not None:
            job.coming, job.recovered, job.judging, job.queue, job.retries = None, None, None, (), ()
            self.agenda.schedule(job, None)
            self.unfinished.pop(job, None)
        self.queued.pop(identity, None)
        if is_new:
            self.on_aside(identity, error)

    def take_refusal(self, refusal: Refusal, now: Instant) -> None:
        """Continue a job, of which nothing was committed, with the records that the ledger has.

        Periods that have an outcome are handled. If all of them were known, the same record would be refused for ever:
        the job is set aside.
        """
        job = self.jobs.get(refusal.identity)
        if job is None or refusal.identity in self.aside:
            return
        if job.exclude(refusal.handled):
            self.reschedule(job, now)
        else:
            self.set_aside(refusal.identity, refusal.error)

    def new_run_id(self) -> str:
        """Return the name of a new run."""
        token = self._run_token()
        return f"{self._instance_id}-{next(self._numbers)}{token and f'-{token}'}"

    # --- what is declared ---------------------------------------------------------------------------------------------

    def record(self, identity: str) -> JobRecord | None:
        """Return the record of a job, None if it has none."""
        job = self.jobs.get(identity)
        return self.snapshot.jobs.get(identity) if job is None else job.record

    def records(self) -> list[JobRecord]:
        """Return the records of all jobs, also of those that are no longer declared."""
        return list({**self.snapshot.jobs, **{identity: job.record for identity, job in self.jobs.items()}}.values())

    def is_absent(self, identity: str) -> bool:
        """Whether a recorded job is neither declared nor removed: its file could not be read at the start."""
        record = self.snapshot.jobs.get(identity)
        return identity not in self.jobs and record is not None and record.is_declared

    def waiting_retries(self, identity: str) -> tuple[PendingRetry, ...]:
        """Return the retries that wait until an absent job is declared again."""
        return tuple(retry for retry in self.snapshot.retries if retry.attempt.identity == identity)

    def keep_waiting_retries(self) -> None:
        """Let the retries of absent jobs wait, and no others."""
        waiting = [retry for retry in self.snapshot.retries if self.is_absent(retry.attempt.identity)]
        self.snapshot = self.snapshot._replace(retries=waiting)

    def work(self, record: JobRecord) -> JobSpec:
        """Return a job as it was declared last."""
        job = self.jobs.get(record.identity)
        if job is not None:
            return job.work
        return JobSpec.from_definition(record.identity, record.name, self._text(record))

    def _text(self, record: JobRecord) -> str:
        job = self.jobs.get(record.identity)
        return self.snapshot.definitions[record.definition_key] if job is None else job.work.definition

    def replace_all(self, jobs: dict[str, JobState], records: Iterable[JobRecord], now: Instant) -> None:
        """Declare these jobs and no others; what runs of others goes on."""
        left = {record.identity: record for record in records if not record.is_declared}
        gone = {identity: each for identity, each in {**self.snapshot.jobs, **left}.items() if identity not in jobs}
        texts = {each.definition_key: self._text(each) for each in gone.values()}  # they may come back
        self.snapshot = self.snapshot._replace(jobs=gone, definitions=texts)  # of the others, the jobs know
        self.aside = {each: why for each, why in self.aside.items() if jobs.get(each) is self.jobs.get(each, self)}
        self.jobs, self.agenda, self.queued, self.unfinished = jobs, Agenda(), {}, {}
        for job in jobs.values():
            at, job.at = job.at, None
            self.reschedule(job, now, at)

    def update(self, jobs: Mapping[str, JobState], gone: Collection[str], now: Instant) -> None:
        """Declare these jobs, too, and these no more; of those that are gone nothing is kept but what runs."""
        before_of = {identity: self.jobs.get(identity) for identity in jobs}
        for identity in (*gone, *jobs):
            before = self.jobs.pop(identity, None)
            if before is not None and before is not jobs.get(identity):
                self.agenda.schedule(before, None)
                self.queued.pop(identity, None)
                self.unfinished.pop(before, None)
            if before is not jobs.get(identity):
                self.aside.pop(identity, None)
        if forgotten := self.snapshot.jobs.keys() & set(gone):
            left = {identity: record for identity, record in self.snapshot.jobs.items() if identity not in forgotten}
            self.snapshot = self.snapshot._replace(jobs=left)
        for identity, job in jobs.items():
            self.jobs[identity] = job
            at = None
            if before_of.get(identity) is not job:  # its place is not in the agenda yet: it may be prepared
                at, job.at = job.at, None
            self.reschedule(job, now, at)

    def mark_handled(self, identity: str, handled: HandledPeriods, now: Instant) -> None:
        """Know all periods of a job that have an outcome, also those that another host has handled."""
        if (job := self.jobs.get(identity)) is not None:
            job.handled = handled
            job.seek(job.reached)
            self.reschedule(job, now)

    def reattach(self, run: JobRun) -> None:
        """Take over a run of an earlier life that is still active."""
        job = self.jobs.get(run.attempt.identity)
        if job is not None:
            job.active[run.run_id] = run

    def load_retries(self, now: Instant) -> None:
        """Try again what failed in earlier lives; the retries of absent jobs wait."""
        for retry in self.snapshot.retries:
            job = self.jobs.get(retry.attempt.identity)
            if job is not None and retry.attempt.attempt <= job.work.retries:
                job.retries += (retry,)
                self.reschedule(job, now)
            elif not self.is_absent(retry.attempt.identity):
                self.dropped_retries.append(retry.attempt.run_id)
        self.keep_waiting_retries()

    def reschedule(self, job: JobState, now: Instant, at: Instant | None = None) -> None:
        """Look at a job when time brings something to do, which is at `at` if that is known, and while it waits."""
        if job.record.identity in self.aside:
            return
        try:
            is_unfinished = job.look_ahead() or job.has_closings
            at = now if job.is_boot_due(self.boot_id) else at or job.next_check(now)
        except Exception as error:
            self.set_aside(job.record.identity, error)
            return
        self.agenda.schedule(job, at)
        if job.has_pending(now):
            self.queued[job.record.identity] = job
        else:
            self.queued.pop(job.record.identity, None)
        if is_unfinished:
            self.unfinished[job] = None
        else:
            self.unfinished.pop(job, None)

    def next_expected(self, job: JobState) -> Instant | None:
        """Return the chosen second of the first run of a job that has not begun, also while it waits for its turn.

        None: nothing is expected of it, or it is not known yet. The past: it should have begun then.
        """
        if job.is_suspended:
            return None
        first = job.coming.first() if job.coming is not None and job.coming.is_known else None
        chosen = None if first is None else first.chosen_time
        if not job.queue and not job.active:
            return chosen
        waiting = [each.decision for each in job.queue if isinstance(each, RunRequest)]
        times = [chosen, *(None if decision is None else decision.chosen_time for decision in waiting)]
        for run in job.active.values():
            if run.attempt.attempt == 1 and not run.was_started:
                times.append(run.attempt.chosen)  # it is being recorded, and begins then
        return min((at for at in times if at is not None), default=None)

    # --- the engine's questions ---------------------------------------------------------------------------------------

    def load(self, stored: JobSnapshot) -> None:
        """Take what the ledger remembers."""
        self.snapshot = stored

    def arm(self, now: Instant) -> None:
        """Allow runs to start from now on; earlier periods fell into the downtime of the host."""
        self._armed, self._gap = now, Reason.DOWNTIME

    @property
    def is_armed(self) -> bool:
        """Whether runs may start."""
        return self._armed is not None

    def has_unrecorded(self) -> bool:
        """Whether something is to be recorded that never began, or is not tried again."""
        return bool(self._unstarted or self.dropped_retries)

    def next_wake(self, now: Instant, free: int, *, is_draining: bool) -> Instant | None:  # noqa: ARG002
        """Return when the next step is due at the latest: at once, if a step has left something."""
        if is_draining:
            return None
        return now if self.unfinished else self.agenda.next_instant()

    def on_draining(self, now: Instant) -> None:
        """Record that waiting triggered runs will not begin. Waiting periods stay unhandled, for the next start."""
        for job in self.queued.values():
            asked = job.triggers()
            job.queue = tuple(each for each in job.queue if each not in asked)
            self._unstarted += [job.never_started(each, self.boot_id, now, STOPPED_BEFORE_START) for each in asked]

    def on_drained(self, lost: Sequence[JobRun]) -> None:
        """Do nothing: the host reports the lost runs."""

    def step(self, reading: ClockReading, news: RunNews[JobRun], free: int, *, is_draining: bool) -> JobStep:
        """Take up what ended and what is due."""
        now = reading.now
        if SECOND * reading.jump > self.slack:  # only the wall clock went on: to the jobs that is time without a host
            self._armed, self._gap = now, Reason.DEADLINE
        elif self._armed is not None and now < self._armed:  # the clock was set back: what it shows again is not missed
            self._armed = now
        self._frozen = outstanding(self._frozen, reading.freeze, self._first_instant(), now)
        step = JobStep(self, now)
        step.settle([*news.ended, *self._unstarted], news.handles, self.dropped_retries)
        self._unstarted, self.dropped_retries = [], []
        if not is_draining:
            armed = self._armed or now
            moment = PlanningContext(now, armed, self._gap, self.slack, self.boot_id, self.new_run_id, self._frozen)
            effort = Effort()
            for job in self._due(now):
                effort.left = max(effort.left, _LEAST)
                self._look_at(job, step, moment, effort)
            self._go_on(step, moment, effort)
            step.begin(min(free, _MANY))
        return step

    def _go_on(self, step: JobStep, moment: PlanningContext, effort: Effort) -> None:
        """Spend what is left of the effort on jobs that are unfinished; the next step goes on with the others."""
        for job in list(self.unfinished):
            if effort.is_spent:
                return
            del self.unfinished[job]  # if it stays unfinished, it is the last of them
            self.unfinished[job] = None
            self._look_at(job, step, moment, effort)

    def _look_at(self, job: JobState, step: JobStep, moment: PlanningContext, effort: Effort) -> None:
        try:
            step.look_at(job, moment, effort)
        except Exception as error:
            step.leave_out(job)
            self.set_aside(job.record.identity, error)

    def _first_instant(self) -> Instant | None:
        """Return the first instant of which not all is judged."""
        first = [each for each in (self.agenda.next_instant(),) if each is not None]
        return min([*first, *(job.reached for job in self.unfinished)], default=None)

    def _due(self, now: Instant) -> list[JobState]:
        """Return jobs whose time has come: a few, and while there are more, more each time."""
        due = self.agenda.pop_due(now, self._most)
        self._most = min(2 * self._most, _MANY) if len(due) == self._most else _FEW
        return due

    def put_back(
        self, states: Mapping[JobState, JobCheckpoint], now: Instant, unstarted: list[JobRun], given_up: list[str]
    ) -> None:
        """Undo a step that could not be remembered; what was due is still due."""
        for job, state in states.items():
            if job.record.identity not in self.aside:
                job.restore(state)
                self.reschedule(job, now)
        self._unstarted, self.dropped_retries = unstarted + self._unstarted, given_up + self.dropped_retries

    def drop_requests(self, job: JobState, asked: Iterable[RunRequest], now: Instant) -> None:
        """Note that something was asked for and never begins."""
        self._unstarted += [job.never_started(each, self.boot_id, now, REPLACED_BEFORE_START) for each in asked]
