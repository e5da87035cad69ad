"""ObligationPlanner: plans the steps of the library's tasks: what each owes, and which of them run."""

from asyncio import CancelledError
from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import NamedTuple

from kron.engine.agenda import Agenda, TaskEntry
from kron.engine.clock_watch import ClockReading
from kron.engine.emitter import Emitter, Observers
from kron.engine.gc_pause import gc_paused, run_gc_paused
from kron.engine.ports import Refusal, RunObserver, TaskBatch
from kron.engine.runs import RunNews, RunResult, TaskRun
from kron.engine.tasks.declaration import TaskDeclaration, TasksApplied, declare, reschedule
from kron.engine.tasks.events import clamp_events, start_delay, start_events, tell_declaration, tell_ends
from kron.engine.tasks.step import StepRecords
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
        self._running, self._emitter = running, emitter
        self._contract, self._me, self._run_timeout = contract, me, run_timeout
        self._agenda: Agenda[TaskEntry] = Agenda()
        self._entries: dict[str, TaskEntry] = {}
        self._stored: Mapping[str, TaskRecord] | None = None
        self._withdrawn: list[TaskRecord] = []  # starts that were recorded and then forbidden by a stop
        self._clamped: list[Clamped] = []  # baselines that the ledger still has far in the future
        self._lowest = FIRST_INSTANT  # while the clock is not behind it, no baseline can be far ahead
        self._armed_at: Instant | None = None

    # --- declaring ----------------------------------------------------------------------------------------------------

    def load(self, stored: Mapping[str, TaskRecord]) -> None:
        """Take what the ledger remembers of each task."""
        self._stored = stored

    def declare(self, tasks: Sequence[registration.TaskSpec], now: Instant) -> "TaskChange":
        """Return what replaces the declared tasks by these."""
        found = self._stored or {}
        stored = found or {name: entry.record for name, entry in self._entries.items()}
        with gc_paused():
            made = declare(tasks, stored, self._entries, self._running, (self._contract, now, self._me))
        return TaskChange(self, made, TasksApplied(len(tasks) - len(made.skipped), len(made.skipped), now, found))

    def adopt(self, made: TaskDeclaration, now: Instant) -> None:
        """Declare what was remembered."""
        was_polling = bool(self._entries)
        self._entries, self._stored, self._agenda = made.entries, None, Agenda()
        self._lowest = now
        with gc_paused():
            owing = {name for name, entry in made.entries.items() if self._place(entry, now)}
        tell_declaration(self._emitter, made, self._contract, owing)
        if was_polling != bool(made.entries):
            self._emitter.tell("PollingStarted" if made.entries else "PollingStopped")

    # --- the engine's questions ---------------------------------------------------------------------------------------

    def arm(self, now: Instant) -> None:
        """Note since when runs may start."""
        self._armed_at = now

    def has_unrecorded(self) -> bool:
        """Whether starts taken back, or clamped baselines, are to be recorded yet."""
        return bool(self._withdrawn or self._clamped)

    def next_wake(self, now: Instant, free: int, *, is_draining: bool) -> Instant | None:
        """Return when the next step is due at the latest."""
        poll = self._contract.poll_interval if self._entries else None
        deadline = self._agenda.next_instant() if free and not is_draining else None
        if poll is None:
            return deadline
        return now + poll if deadline is None else min(deadline, now + poll)

    def on_draining(self, now: Instant) -> None:  # noqa: ARG002  # nothing waits for its turn
        """Tell that nothing more starts."""
        if self._entries:
            self._emitter.tell("PollingStopRequested")

    def on_drained(self, lost: Sequence[TaskRun]) -> None:
        """Tell that nothing runs any more, and whose end could not be recorded."""
        if lost:
            self._emitter.tell("EndsLost", tasks=[run.run_id for run in lost])
        if self._entries:
            self._emitter.tell("PollingStopped")

    # --- one step -----------------------------------------------------------------------------------------------------

    slack = None  # a task has one obligation at a time and no deadline: late or not, it is owed

    def step(self, reading: ClockReading, news: RunNews[TaskRun], free: int, *, is_draining: bool) -> "TaskStep":
        """Take up what ended and what is due; what was missed, for whatever reason, is owed."""
        now = reading.now
        polled = not is_draining and bool(self._entries) and self._emitter.takes("PollStarted")
        if polled:
            count = len(self._entries)
            self._emitter.tell("PollStarted", pollTime=format_instant(now), scheduledTaskCount=count)
        if now < self._lowest:
            self._clamp(now)
        elif now - self._lowest > AHEAD:
            self._lowest = now - AHEAD
        for run in news.ended:
            if run.ended_at is not None and run.ended_at - now > AHEAD:  # the clock was set back since
                run.ended_at = now
            if run.stop_reason is ResultCode.TIMEOUT:
                run.result = self._timed_out(run)
        withdrawn, self._withdrawn = self._withdrawn, []
        clamped, self._clamped = self._clamped, []
        corrected = [self._entries[each.after.name].record for each in clamped if each.after.name in self._entries]
        planned = StepRecords(now, self._agenda, self._contract, self._me, timeout=self._run_timeout)
        if news.ended:
            run_gc_paused(planned.settle, news.ended, self._entries)
        if due := self._agenda.pop_due(now, 0 if is_draining else min(_CHUNK, free)):
            run_gc_paused(planned.plan, due)
        begun = reading.monotonic if polled else None
        return TaskStep(self, planned, Taken(withdrawn, clamped), withdrawn + corrected, begun)

    def _timed_out(self, run: TaskRun) -> RunResult:
        """Return the result of a run whose time was over: what it raised itself counts more."""
        error = None if run.result is None else run.result.error
        limit = format_duration(self._run_timeout or ZERO)
        return RunResult(
            error=RunTimeoutError(limit=limit) if error is None or isinstance(error, CancelledError) else error
        )

    def _clamp(self, now: Instant) -> None:
        """Bring back the baselines that are far ahead of a clock that was set back, from now on and for the ledger."""
        for entry in self._entries.values():
            if (clamped := clamp(entry.record, now)) is not None:
                entry.record = clamped.after
                self._clamped.append(clamped)
                self._place(entry, now)
        self._lowest = now

    def _place(self, entry: TaskEntry, now: Instant) -> bool:
        return reschedule(self._agenda, entry, now, self._me, first_minute=self._contract.first_minute)

    def put_back(self, planned: StepRecords, taken: "Taken") -> None:
        """Undo a step that could not be remembered; a clamped baseline stays so, and is written by the next one."""
        planned.undo()
        self._withdrawn, self._clamped = taken.withdrawn + self._withdrawn, taken.clamped + self._clamped

    def withdraw(self, planned: StepRecords) -> None:
        """Have the starts of a step taken back by the next one: else an orphan would be invented."""
        self._withdrawn += planned.withdraw()

    def report(
        self, planned: StepRecords, clamped: Sequence[Clamped], starts: Sequence[TaskRun], observers: Observers[TaskRun]
    ) -> None:
        """Report ends and starts, and emit the events of clamped baselines, of ends and of starts."""
        if clamped:
            self._emitter.emit(map(clamp_events, clamped))
        if planned.ended:
            tell_ends(self._emitter, planned)
            if observers:
                observers.report(RunObserver.on_ended, planned.ends())
        for name, error in planned.aside:
            self._emitter.tell("TaskSetAside", taskName=name, error=describe_exception(error))
        if starts:
            observers.report(RunObserver.on_started, starts)
            self._tell_starts(planned)

    def _tell_starts(self, planned: StepRecords) -> None:
        now, telling, lag = planned.now, self._emitter.takes("TaskRunStarted"), self._lag()
        for entry, before, owed in planned.starts:
            if now - owed.scheduled > lag:
                self._report_delay(before, owed, now, lag)
            if telling:
                self._emitter.emit(start_events(before.name, owed, entry.record, now))

    def tell_poll(self, planned: StepRecords, seconds: float, *, executed: int) -> None:
        """Tell how a step went."""
        counts = {"tasksEvaluated": planned.evaluated, "tasksExecuted": executed}
        self._emitter.tell("PollCompleted", pollTime=format_instant(planned.now), **counts, duration=seconds)

    def _report_delay(self, before: TaskRecord, owed: Obligation, now: Instant, lag: timedelta) -> None:
        if (late := start_delay(before, owed, now, self._armed_at)) > lag:
            times = {"scheduledTime": format_instant(owed.scheduled), "lateness": late / SECOND}
            self._emitter.tell("StartDelayed", taskName=before.name, **times)

    def _lag(self) -> timedelta:
        """Return how late a start may be before it is reported."""
        return (self._contract.start_lag or _MINUTE) * max(1, len(self._entries) / _TASKS_PER_LAG)


class TaskChange:
    """Another list of tasks."""

    def __init__(self, book: ObligationPlanner, made: TaskDeclaration, declared: TasksApplied) -> None:
        self._book, self._made, self._declared = book, made, declared
        self.batch = made.batch
        self.starts: Sequence[TaskRun] = ()
        self.stops: Sequence[tuple[TaskRun, ResultCode]] = ()

    def report(self, observers: Observers[TaskRun]) -> None:
        """Report nothing: the events of each task are emitted when it is declared."""

    def commit(self, refused: Sequence[Refusal]) -> TasksApplied:  # noqa: ARG002  # it has no other writer
        """Let it be so, and return what came of it."""
        self._book.adopt(self._made, self._declared.at)
        return self._declared


class Taken(NamedTuple):
    """What a step takes up beside what is due: it comes back if the step cannot be remembered."""

    withdrawn: list[TaskRecord]
    clamped: list[Clamped]


class TaskStep:
    """What ended and what is due of the tasks, at one moment."""

    __slots__ = ("_begun", "_planned", "_planner", "_taken", "batch", "starts", "stops")

    def __init__(
        self,
        planner: ObligationPlanner,
        planned: StepRecords,
        taken: Taken,
        records: list[TaskRecord],
        begun: float | None,
    ) -> None:
        """`records` are to be written before those of the ends; `begun`: when it began, if that is to be reported."""
        self._planner, self._planned, self._taken, self._begun = planner, planned, taken, begun
        self.batch = TaskBatch((), records + planned.settled, planned.begun, planned.runs)
        self.starts: Sequence[TaskRun] = planned.starting
        self.stops: Sequence[tuple[TaskRun, ResultCode]] = ()

    @property
    def record_count(self) -> int:
        """How many tasks it speaks of."""
        return len(self.batch.records) + len(self.batch.begun)

    def rollback(self) -> None:
        """Put everything back as it was."""
        self._planner.put_back(self._planned, self._taken)

    def refuse(self, refused: Sequence[Refusal]) -> RunNews[TaskRun]:  # noqa: ARG002  # it has no other writer
        """Change nothing: a ledger of tasks has one writer, and the last record of a task counts."""
        return RunNews()

    def withdraw(self) -> None:
        """Start nothing, and have that recorded."""
        self._planner.withdraw(self._planned)
        self.starts = ()

    def commit(self) -> None:
        """Nothing is left to do: the tasks that run are brought back by their ends."""

    def report(self, observers: Observers[TaskRun], *, written: bool | None, monotonic: float) -> None:
        """Emit the events of what is recorded, and tell how the step went."""
        if written is not None:
            self._planner.report(self._planned, self._taken.clamped, self.starts, observers)
        if self._begun is not None:
            executed = 0 if written is None else len(self._planned.owed)
            self._planner.tell_poll(self._planned, monotonic - self._begun, executed=executed)
