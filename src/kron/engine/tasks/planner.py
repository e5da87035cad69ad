"""ObligationPlanner: plans the steps of the library's tasks: what each owes, and which of them run."""

from asyncio import CancelledError
from collections.abc import Mapping, Sequence
from datetime import timedelta

from kron.engine.agenda import Agenda, TaskEntry
from kron.engine.clock_watch import ClockReading
from kron.engine.emitter import Emitter, Observers
from kron.engine.gc_pause import gc_paused, run_gc_paused
from kron.engine.planner import Change
from kron.engine.ports import Refusal, RunObserver, TaskBatch
from kron.engine.runs import RunNews, RunResult, TaskRun
from kron.engine.tasks.declaration import TaskDeclaration, TasksApplied, declare, reschedule
from kron.engine.tasks.events import clamp_events, start_delay, start_events, tell_declaration, tell_ends
from kron.engine.tasks.step import TaskStep
from kron.errors import RunTimeoutError
from kron.errors.base import describe_exception
from kron.instant import FIRST_INSTANT, SECOND, ZERO, Instant, format_duration, format_instant
from kron.rules import registration
from kron.rules.contract import Contract
from kron.rules.job_record import ResultCode
from kron.rules.obligation import Obligation
from kron.rules.task_record import AHEAD, Clamped, TaskRecord, clamp

_CHUNK = 1_000  # due tasks taken up by one step: the first of a hundred thousand starts at once, the loop is never held
_TASKS_PER_LAG = 10_000  # the promised lag grows with the number of tasks
_MINUTE = timedelta(minutes=1)


class ObligationPlanner:
    """What is declared and coming. A task never runs beside itself."""

    def __init__(
        self,
        running: Mapping[str, TaskRun],
        emitter: Emitter,
        contract: Contract,
        me: str,
        *,
        run_timeout: timedelta | None = None,
    ) -> None:
        """`running` are the runs in flight, by the names of their tasks, kept by the loop; `run_timeout`: of each."""
        self._running, self.emitter = running, emitter
        self.contract, self.me, self.run_timeout = contract, me, run_timeout
        self.agenda: Agenda[TaskEntry] = Agenda()
        self.entries: dict[str, TaskEntry] = {}
        self._stored: Mapping[str, TaskRecord] | None = None
        self.withdrawn: list[TaskRecord] = []  # starts that were recorded and then forbidden by a stop
        self.clamped: list[Clamped] = []  # baselines that the ledger still has far in the future
        self._lowest = FIRST_INSTANT  # while the clock is not behind it, no baseline can be far ahead
        self._armed_at: Instant | None = None

    # --- declaring ----------------------------------------------------------------------------------------------------

    def load(self, stored: Mapping[str, TaskRecord]) -> None:
        """Take what the ledger remembers of each task."""
        self._stored = stored

    def declare(self, tasks: Sequence[registration.TaskSpec], now: Instant) -> "TaskChange":
        """Return what replaces the declared tasks by these."""
        found = self._stored or {}
        stored = found or {name: entry.record for name, entry in self.entries.items()}
        with gc_paused():
            made = declare(tasks, stored, self.entries, self._running, (self.contract, now, self.me))
        return TaskChange(self, made, TasksApplied(len(tasks) - len(made.skipped), len(made.skipped), now, found))

    def adopt(self, made: TaskDeclaration, now: Instant) -> None:
        """Declare what was remembered."""
        was_polling = bool(self.entries)
        self.entries, self._stored, self.agenda = made.entries, None, Agenda()
        self._lowest = now
        with gc_paused():
            owing = {name for name, entry in made.entries.items() if self._place(entry, now)}
        tell_declaration(self.emitter, made, self.contract, owing)
        if was_polling != bool(made.entries):
            self.emitter.tell("PollingStarted" if made.entries else "PollingStopped")

    # --- the engine's questions ---------------------------------------------------------------------------------------

    def arm(self, now: Instant) -> None:
        """Note since when runs may start."""
        self._armed_at = now

    def has_unrecorded(self) -> bool:
        """Whether starts taken back, or clamped baselines, are to be recorded yet."""
        return bool(self.withdrawn or self.clamped)

    def next_wake(self, now: Instant, free: int, *, is_draining: bool) -> Instant | None:
        """Return when the next step is due at the latest."""
        poll = self.contract.poll_interval if self.entries else None
        deadline = self.agenda.next_instant() if free and not is_draining else None
        if poll is None:
            return deadline
        return now + poll if deadline is None else min(deadline, now + poll)

    def on_draining(self, now: Instant) -> None:  # noqa: ARG002  # nothing waits for its turn
        """Emit that no more runs start."""
        if self.entries:
            self.emitter.tell("PollingStopRequested")

    def on_drained(self, lost: Sequence[TaskRun]) -> None:
        """Emit that no run is active, and which ends could not be recorded."""
        if lost:
            self.emitter.tell("EndsLost", tasks=[run.run_id for run in lost])
        if self.entries:
            self.emitter.tell("PollingStopped")

    # --- one step -----------------------------------------------------------------------------------------------------

    slack = None  # a task has one obligation at a time and no deadline: late or not, it is owed

    def step(self, reading: ClockReading, news: RunNews[TaskRun], free: int, *, is_draining: bool) -> TaskStep:
        """Take up what ended and what is due; what was missed, for whatever reason, is owed."""
        now = reading.now
        polled = not is_draining and bool(self.entries) and self.emitter.takes("PollStarted")
        if polled:
            count = len(self.entries)
            self.emitter.tell("PollStarted", pollTime=format_instant(now), scheduledTaskCount=count)
        if now < self._lowest:
            self._clamp(now)
        elif now - self._lowest > AHEAD:
            self._lowest = now - AHEAD
        for run in news.ended:
            if run.ended_at is not None and run.ended_at - now > AHEAD:  # the clock was set back since
                run.ended_at = now
            if run.stop_reason is ResultCode.TIMEOUT:
                run.result = self._timed_out(run)
        step = TaskStep(self, now, reading.monotonic if polled else None)
        if news.ended:
            run_gc_paused(step.settle, news.ended)
        if due := self.agenda.pop_due(now, 0 if is_draining else min(_CHUNK, free)):
            run_gc_paused(step.plan, due)
        return step

    def _timed_out(self, run: TaskRun) -> RunResult:
        """Return the result of a run whose time was over: what it raised itself counts more."""
        error = None if run.result is None else run.result.error
        limit = format_duration(self.run_timeout or ZERO)
        return RunResult(
            error=RunTimeoutError(limit=limit) if error is None or isinstance(error, CancelledError) else error
        )

    def _clamp(self, now: Instant) -> None:
        """Bring back the baselines that are far ahead of a clock that was set back, from now on and for the ledger."""
        for entry in self.entries.values():
            if (clamped := clamp(entry.record, now)) is not None:
                entry.record = clamped.after
                self.clamped.append(clamped)
                self._place(entry, now)
        self._lowest = now

    def _place(self, entry: TaskEntry, now: Instant) -> bool:
        return reschedule(self.agenda, entry, now, self.me, first_minute=self.contract.first_minute)

    def report(self, step: TaskStep, observers: Observers[TaskRun]) -> None:
        """Report ends and starts, and emit the events of clamped baselines, of ends and of starts."""
        if step.clamped:
            self.emitter.emit(map(clamp_events, step.clamped))
        if step.ended:
            tell_ends(self.emitter, step)
            if observers:
                observers.report(RunObserver.on_ended, step.ends())
        for name, error in step.aside:
            self.emitter.tell("TaskSetAside", taskName=name, error=describe_exception(error))
        if step.starts:
            observers.report(RunObserver.on_started, step.starts)
            self._tell_starts(step)

    def _tell_starts(self, step: TaskStep) -> None:
        now, telling, lag = step.now, self.emitter.takes("TaskRunStarted"), self._lag()
        for entry, before, owed in step.beginnings:
            if now - owed.scheduled > lag:
                self._report_delay(before, owed, now, lag)
            if telling:
                self.emitter.emit(start_events(before.name, owed, entry.record, now))

    def _report_delay(self, before: TaskRecord, owed: Obligation, now: Instant, lag: timedelta) -> None:
        if (late := start_delay(before, owed, now, self._armed_at)) > lag:
            times = {"scheduledTime": format_instant(owed.scheduled), "lateness": late / SECOND}
            self.emitter.tell("StartDelayed", taskName=before.name, **times)

    def _lag(self) -> timedelta:
        """Return how late a start may be before it is reported."""
        return (self.contract.start_lag or _MINUTE) * max(1, len(self.entries) / _TASKS_PER_LAG)


class TaskChange(Change[TaskBatch, TasksApplied, TaskRun]):
    """Another list of tasks. It reports nothing: the events of each task are emitted when it is declared."""

    def __init__(self, book: ObligationPlanner, made: TaskDeclaration, declared: TasksApplied) -> None:
        self._book, self._made, self._declared = book, made, declared
        self.batch = made.batch

    def commit(self, refused: Sequence[Refusal]) -> TasksApplied:  # noqa: ARG002  # it has no other writer
        """Apply the committed declaration, and return its result."""
        self._book.adopt(self._made, self._declared.at)
        return self._declared
