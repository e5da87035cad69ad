"""PeriodPlanner: plans the steps of a host's jobs: what is declared, what is due, and what runs."""

from collections.abc import Callable, Collection, Iterable, Mapping
from datetime import timedelta
from heapq import heapify, heappop, heappush
from itertools import count

from kron.engine.agenda import Agenda
from kron.engine.jobs.asked import REPLACED_BEFORE_START, STOPPED_BEFORE_START, never_started
from kron.engine.jobs.execution import Ending, Execution
from kron.engine.jobs.host import Host
from kron.engine.jobs.job_state import JobCheckpoint, JobState, RunRequest
from kron.engine.jobs.judge import PlanningContext
from kron.engine.jobs.step import JobStep, News
from kron.engine.jobs.store import JobSnapshot, PendingRetry
from kron.engine.ports import Refusal
from kron.engine.wake import WakeUp
from kron.errors.base import describe_exception
from kron.instant import SECOND, ZERO, Instant
from kron.rules.effort import Effort
from kron.rules.job_record import JobRecord, ResultCode, RunHandle
from kron.rules.job_spec import JobSpec
from kron.rules.outage import Freeze, outstanding
from kron.rules.periods import HandledPeriods
from kron.rules.verdict import Reason

_FEW, _MANY = 16, 128  # due jobs taken up by one step: the first of many starts at once, and the loop is not held
_LEAST = 256  # the work that each due job may take, whatever others took: three periods that find no second


class PeriodPlanner:
    """All jobs. It never waits, and remembers nothing by itself: the engine does."""

    def __init__(self, host: Host) -> None:
        self.host = host
        self.wake = WakeUp()
        self.jobs: dict[str, JobState] = {}
        self.running: dict[str, Execution] = {}
        self.snapshot = JobSnapshot()
        self.agenda: Agenda[JobState] = Agenda()
        self.queued: dict[str, JobState] = {}  # jobs of which something has come that is not recorded yet
        self.unfinished: dict[JobState, None] = {}  # jobs that take more work in the next steps, one after the other
        self._numbers = count(1)
        self._armed: Instant | None = None  # since when the host could run anything, without a break
        self._gap = Reason.DOWNTIME
        self._frozen: Freeze | None = None  # until all that came in it is judged
        self._ended: list[tuple[Execution, Ending, Instant]] = []
        self._processes: list[RunHandle] = []
        self.dropped_retries: list[str] = []  # names of runs that are not tried again after all
        self._timeouts: list[tuple[float, str]] = []  # by the monotonic clock
        self._most = _FEW
        self.aside: dict[str, str] = {}  # identities of jobs that could not be judged, and the errors
        self.on_aside: Callable[[str, Exception], object] = lambda _identity, _error: None
        self.on_refused: Callable[[Refusal], object] = lambda _refusal: None

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
        """Let a job, of which nothing was committed, go on with what the ledger has of it.

        Periods that have an outcome are handled. If none of them is news, the same record would be refused for ever:
        the job is set aside.
        """
        self.on_refused(refusal)
        job = self.jobs.get(refusal.identity)
        if job is None or refusal.identity in self.aside:
            return
        if job.exclude(refusal.handled):
            self.reschedule(job, now)
        else:
            self.set_aside(refusal.identity, refusal.error)

    def new_run_id(self) -> str:
        """Return the name of a new run."""
        token = self.host.run_token()
        return f"{self.host.life}-{next(self._numbers)}{token and f'-{token}'}"

    # --- what is declared ---------------------------------------------------------------------------------------------

    def record(self, identity: str) -> JobRecord | None:
        """Return what is remembered of a job."""
        job = self.jobs.get(identity)
        return self.snapshot.jobs.get(identity) if job is None else job.record

    def records(self) -> list[JobRecord]:
        """Return what is remembered of all jobs, also of those that are not defined any more."""
        return list({**self.snapshot.jobs, **{identity: job.record for identity, job in self.jobs.items()}}.values())

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
        self.wake.set()

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
        self.wake.set()

    def mark_handled(self, identity: str, handled: HandledPeriods, now: Instant) -> None:
        """Know all periods of a job that have an outcome, also those that another host has handled."""
        if (job := self.jobs.get(identity)) is not None:
            job.set_handled(handled)
            self.reschedule(job, now)

    def reattach(self, execution: Execution, now: Instant) -> None:
        """Take a run up that goes on."""
        self.running[execution.run_id] = execution
        job = self.jobs.get(execution.attempt.identity)
        if job is not None:
            job.active[execution.run_id] = execution
        timeout = execution.work.timeout
        if timeout is not None:
            self.watch(execution, max(ZERO, timeout - (now - execution.attempt.started)))

    def retry(self, retries: Iterable[PendingRetry], now: Instant) -> None:
        """Try again what failed before."""
        for retry in retries:
            job = self.jobs.get(retry.attempt.identity)
            if job is not None and retry.attempt.attempt <= job.work.retries:
                job.retries += (retry,)
                self.reschedule(job, now)
            else:
                self.dropped_retries.append(retry.attempt.run_id)
        self.wake.set()

    def reschedule(self, job: JobState, now: Instant, at: Instant | None = None) -> None:
        """Look at a job when time brings something to do, which is at `at` if that is known, and while it waits."""
        if job.record.identity in self.aside:
            return
        try:
            is_unfinished = job.look_ahead() or job.has_closings
            at = now if job.is_boot_due(self.host.boot) else at or job.next_check(now)
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

    def check_now(self, job: JobState, now: Instant) -> None:
        """Look at a job in the next step."""
        self.agenda.schedule(job, now)
        self.wake.set()

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
        over = {execution.run_id for execution, _, _ in self._ended}
        waiting = [each.decision for each in job.queue if isinstance(each, RunRequest)]
        times = [chosen, *(None if decision is None else decision.chosen_time for decision in waiting)]
        for run_id, execution in job.active.items():
            if execution.attempt.attempt == 1 and run_id not in self.running and run_id not in over:
                times.append(execution.attempt.chosen)  # it is being recorded, and begins then
        return min((at for at in times if at is not None), default=None)

    # --- the engine's questions ---------------------------------------------------------------------------------------

    def load(self, stored: JobSnapshot) -> None:
        """Take what the ledger remembers."""
        self.snapshot = stored

    def arm(self, now: Instant) -> None:
        """From now on runs may start; what came before came while the host was down."""
        self._armed, self._gap = now, Reason.DOWNTIME

    @property
    def is_armed(self) -> bool:
        """Whether runs may start."""
        return self._armed is not None

    def has_runs(self) -> bool:
        """Whether anything runs."""
        return bool(self.running)

    def has_unrecorded(self) -> bool:
        """Whether an end is to be recorded yet."""
        return bool(self._ended or self._processes or self.dropped_retries)

    def next_wake(self, *, hushed: bool) -> Instant | None:
        """Return when the next step is due at the latest."""
        deadline = None if hushed else self._next_instant()
        while self._timeouts and self._timeouts[0][1] not in self.running:
            heappop(self._timeouts)
        if self._timeouts:
            left = SECOND * max(0.0, self._timeouts[0][0] - self.host.clock.monotonic())
            latest = self.host.clock.now() + min(left, timedelta(days=1))
            deadline = latest if deadline is None or latest < deadline else deadline
        return deadline

    def _next_instant(self) -> Instant | None:
        """Return when there is something to do: at once, if a step has left something."""
        return self.host.clock.now() if self.unfinished else self.agenda.next_instant()

    def crash(self) -> None:
        """Let go of everything; what runs goes on."""
        self.host.runner.abandon()

    def on_draining(self) -> None:
        """Note that runs that somebody asked for, and that wait, do not begin any more. Periods are left to come."""
        now = self.host.clock.now()
        for job in self.queued.values():
            asked = job.triggers()
            job.queue = tuple(each for each in job.queue if each not in asked)
            self._ended += [
                (never_started(job, each, self.host, now, ResultCode.STOPPED), STOPPED_BEFORE_START, now)
                for each in asked
            ]
        self.wake.set()

    def on_drained(self) -> None:
        """Nothing is told of it here: the host does."""

    @property
    def slack(self) -> timedelta | None:
        """How late a step may be before that is a freeze."""
        return self.host.slack

    async def catch_up(self, *, stood_still: bool) -> None:
        """Hear of the runs that have ended by now."""
        await self.host.runner.catch_up(stood_still=stood_still)

    def step(self, now: Instant, *, hushed: bool, leapt: float, freeze: Freeze | None) -> JobStep:
        """Take up what ended and what is due."""
        if SECOND * leapt > self.host.slack:  # only the wall clock went on: to the jobs that is time without a host
            self._armed, self._gap = now, Reason.DEADLINE
        elif self._armed is not None and now < self._armed:  # the clock was set back: what it shows again is not missed
            self._armed = now
        self._frozen = outstanding(self._frozen, freeze, self._first_instant(), now)
        self._end_overdue()
        step = JobStep(self, now)
        step.settle(self._ended, self._processes, self.dropped_retries)
        self._ended, self._processes, self.dropped_retries = [], [], []
        if not hushed:
            host, armed = self.host, self._armed or now
            moment = PlanningContext(now, armed, self._gap, host.slack, host.boot, self.new_run_id, self._frozen)
            effort = Effort()
            for job in self._due(now):
                effort.left = max(effort.left, _LEAST)
                self._look_at(job, step, moment, effort)
            self._go_on(step, moment, effort)
            step.begin(self.free_slots())
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

    def free_slots(self) -> int:
        """Return how many runs may begin."""
        most = self.host.most_active
        return _MANY if not most else max(0, min(_MANY, most - len(self.running)))

    def put_back(self, states: Mapping[JobState, JobCheckpoint], now: Instant, news: News) -> None:
        """Undo a step that could not be remembered; what was due is still due."""
        for job, state in states.items():
            if job.record.identity not in self.aside:
                job.restore(state)
                self.reschedule(job, now)
        ended, processes, given_up = news
        self._ended, self._processes = ended + self._ended, processes + self._processes
        self.dropped_retries = given_up + self.dropped_retries

    # --- runs ---------------------------------------------------------------------------------------------------------

    def start(self, executions: list[Execution]) -> None:
        """Start what is recorded."""
        for execution in executions:
            self.running[execution.run_id] = execution
            self.watch(execution, execution.work.timeout)
        if executions:
            self.host.runner.start(executions, self)

    def watch(self, execution: Execution, timeout: timedelta | None) -> None:
        """End a run when its time is over."""
        if timeout is None:
            return
        if len(self._timeouts) > 2 * len(self.running) + _MANY:  # most are of runs that have ended
            self._timeouts = [each for each in self._timeouts if each[1] in self.running]
            heapify(self._timeouts)
        heappush(self._timeouts, (self.host.clock.monotonic() + timeout / SECOND, execution.run_id))

    def terminate(self, run_ids: Iterable[str], why: ResultCode) -> None:
        """Ask runs to end; the first reason counts."""
        for run_id in run_ids:
            execution = self.running.get(run_id)
            if execution is not None:
                execution.ends_as = execution.ends_as or why
                self.host.runner.terminate(execution)

    def drop_requests(self, job: JobState, asked: Iterable[RunRequest], now: Instant) -> None:
        """Note that something was asked for and never begins."""
        self._ended += [(never_started(job, each, self.host, now), REPLACED_BEFORE_START, now) for each in asked]

    def on_process(self, run_id: str, pid: int, ticks: int) -> None:
        """Note as which process a run is there."""
        process = RunHandle(run_id, pid, ticks)
        self._processes.append(process)
        if run_id in self.running:
            self.running[run_id].process = process
        self.wake.set()

    def on_end(self, run_id: str, ending: Ending) -> None:
        """Note the end of a run."""
        execution = self.running.pop(run_id, None)
        if execution is not None:
            self._ended.append((execution, ending, self.host.clock.now()))
            self.wake.set()

    def _end_overdue(self) -> None:
        monotonic = self.host.clock.monotonic()
        while self._timeouts and self._timeouts[0][0] <= monotonic:
            self.terminate([heappop(self._timeouts)[1]], ResultCode.TIMEOUT)
