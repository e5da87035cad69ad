"""ObligationPlanner: plans the steps of the library's tasks: what each owes, and which of them run."""

from asyncio import CancelledError
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

from kron.engine.agenda import Agenda, TaskEntry
from kron.engine.emitter import Emitter
from kron.engine.gc_pause import gc_paused, run_gc_paused
from kron.engine.ports import Batch, Clock, Ledger, Refusal, Run, Runner
from kron.engine.tasks.declaration import TaskDeclaration, TasksApplied, declare, reschedule
from kron.engine.tasks.events import clamp_events, start_delay, start_events, tell_declaration, tell_ends
from kron.engine.tasks.step import Planned
from kron.engine.timeouts import Timeouts
from kron.engine.wake import WakeUp
from kron.errors import RunTimeoutError
from kron.errors.base import describe_exception
from kron.instant import SECOND, ZERO, Instant, format_duration, format_instant
from kron.rules import registration
from kron.rules.contract import Contract
from kron.rules.obligation import Obligation
from kron.rules.outage import Freeze
from kron.rules.task_record import AHEAD, Clamped, TaskRecord, clamp

_CHUNK = 1_000  # due tasks taken up by one step: the first of a hundred thousand starts at once, the loop is never held
_TASKS_PER_LAG = 10_000  # the promised lag grows with the number of tasks
_MINUTE = timedelta(minutes=1)
_FIRST = datetime.min.replace(tzinfo=UTC)


class Ports(NamedTuple):
    """The world as the library sees it."""

    clock: Clock
    ledger: Ledger
    runner: Runner
    emitter: Emitter


class Limits(NamedTuple):
    """What a host may add to the contract; None: no limit."""

    concurrent_runs: int | None = None
    run_timeout: timedelta | None = None


class ObligationPlanner:
    """What is declared, running and coming. A task never runs beside itself."""

    def __init__(self, ports: Ports, contract: Contract, me: str, limits: Limits) -> None:
        self._clock, _, self._runner, self._emitter = ports
        self._contract, self._me, self._limits = contract, me, limits
        self.wake = WakeUp()
        self._agenda: Agenda[TaskEntry] = Agenda()
        self._entries: dict[str, TaskEntry] = {}
        self._stored: Mapping[str, TaskRecord] | None = None
        self._running: dict[str, Run] = {}
        self._ended: list[Run] = []  # ends that the ledger does not know yet
        self._withdrawn: list[TaskRecord] = []  # starts that were recorded and then forbidden by a stop
        self._clamped: list[Clamped] = []  # baselines that the ledger still has far in the future
        self._lowest = _FIRST  # while the clock is not behind it, no baseline can be far ahead
        self._timeouts = Timeouts(limits.run_timeout)
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

    def has_runs(self) -> bool:
        """Whether anything runs."""
        return bool(self._running)

    def has_unrecorded(self) -> bool:
        """Whether ends, starts taken back, or clamped baselines are to be recorded yet."""
        return bool(self._ended or self._withdrawn or self._clamped)

    def next_wake(self, *, hushed: bool) -> Instant | None:
        """Return when the next step is due at the latest."""
        poll = self._contract.poll_interval if self._entries else None
        deadline = self._agenda.next_instant() if self._room(hushed=hushed) else None
        timeout = self._timeouts.left(self._clock.monotonic()) if self._timeouts.watched else None
        for wait in (poll, timeout):
            if wait is not None:
                latest = self._clock.now() + wait
                deadline = latest if deadline is None or latest < deadline else deadline
        return deadline

    def _room(self, *, hushed: bool) -> int:
        """Return how many runs may begin in one step."""
        if hushed:
            return 0
        most = self._limits.concurrent_runs
        return _CHUNK if most is None else min(_CHUNK, most - len(self._running))

    def on_draining(self) -> None:
        """Tell that nothing more starts."""
        if self._entries:
            self._emitter.tell("PollingStopRequested")

    def on_drained(self) -> None:
        """Tell that nothing runs any more, and whose end could not be recorded."""
        if self._ended:
            self._emitter.tell("EndsLost", tasks=[run.name for run in self._ended])
        if self._entries:
            self._emitter.tell("PollingStopped")

    def crash(self) -> None:
        """Let go of all runs without a word."""
        self._runner.abandon()

    # --- one step -----------------------------------------------------------------------------------------------------

    slack = None  # a task has one obligation at a time and no deadline: late or not, it is owed

    async def catch_up(self, *, stood_still: bool) -> None:
        """Nothing is heard of by it: lateness changes nothing, so that the engine does not ask."""

    def step(self, now: Instant, *, hushed: bool, leapt: float, freeze: Freeze | None) -> "TaskStep":  # noqa: ARG002
        """Take up what ended and what is due; what was missed, for whatever reason, is owed."""
        polled = not hushed and bool(self._entries) and self._emitter.takes("PollStarted")
        begun = self._clock.monotonic() if polled else None
        if polled:
            count = len(self._entries)
            self._emitter.tell("PollStarted", pollTime=format_instant(now), scheduledTaskCount=count)
        if self._timeouts.watched:
            self._terminate_overdue()
        if now < self._lowest:
            self._clamp(now)
        elif now - self._lowest > AHEAD:
            self._lowest = now - AHEAD
        ended, self._ended = self._ended, []
        for run in ended:
            if run.ended is not None and run.ended - now > AHEAD:  # the clock was set back since
                run.ended = now
        withdrawn, self._withdrawn = self._withdrawn, []
        clamped, self._clamped = self._clamped, []
        corrected = [self._entries[each.after.name].record for each in clamped if each.after.name in self._entries]
        planned = Planned(now, self._agenda, self._contract, self._me)
        if ended:
            run_gc_paused(planned.settle, ended, self._entries)
        if due := self._agenda.pop_due(now, self._room(hushed=hushed)):
            run_gc_paused(planned.plan, due)
        return TaskStep(self, planned, Taken(ended, withdrawn, clamped), withdrawn + corrected, begun)

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

    def put_back(self, planned: Planned, taken: "Taken") -> None:
        """Undo a step that could not be remembered; a clamped baseline stays so, and is written by the next one."""
        planned.undo()
        self._ended, self._withdrawn = taken.ended + self._ended, taken.withdrawn + self._withdrawn
        self._clamped = taken.clamped + self._clamped

    def act(self, planned: Planned, clamped: Sequence[Clamped], *, hushed: bool) -> None:
        """Emit the events of clamped baselines and of ends, and begin the runs of a step."""
        if clamped:
            self._emitter.emit(map(clamp_events, clamped))
        if planned.ended:
            tell_ends(self._emitter, planned)
        for name, error in planned.aside:
            self._emitter.tell("TaskSetAside", taskName=name, error=describe_exception(error))
        if not planned.begun:
            return
        if not hushed:
            run_gc_paused(self._start, planned.begun, planned)
        else:  # a stop came meanwhile: without this an orphan would be invented
            self._withdrawn += planned.withdraw()
            self.wake.set()

    def tell_poll(self, planned: Planned, begun: float, *, executed: int) -> None:
        """Tell how a step went."""
        counts = {"tasksEvaluated": planned.evaluated, "tasksExecuted": executed}
        duration = self._clock.monotonic() - begun
        self._emitter.tell("PollCompleted", pollTime=format_instant(planned.now), **counts, duration=duration)

    def _start(self, begun: Sequence[TaskRecord], planned: Planned) -> None:
        now, monotonic = planned.now, self._clock.monotonic()
        telling, lag = self._emitter.takes("TaskRunStarted"), self._lag()
        self._emitter.note_starts([record.name for record in begun], now)
        for entry, before, owed in planned.starts:
            name = before.name
            run = self._running[name] = Run(name, entry.callback, owed.scheduled, now, monotonic)
            self._timeouts.watch(run)
            if now - owed.scheduled > lag:
                self._report_delay(before, owed, now, lag)
            if telling:
                self._emitter.emit(start_events(name, owed, entry.record, now))
            self._runner.start(run, self._on_end)

    def _report_delay(self, before: TaskRecord, owed: Obligation, now: Instant, lag: timedelta) -> None:
        if (late := start_delay(before, owed, now, self._armed_at)) > lag:
            times = {"scheduledTime": format_instant(owed.scheduled), "lateness": late / SECOND}
            self._emitter.tell("StartDelayed", taskName=before.name, **times)

    def _lag(self) -> timedelta:
        """Return how late a start may be before it is reported."""
        return (self._contract.start_lag or _MINUTE) * max(1, len(self._entries) / _TASKS_PER_LAG)

    def _on_end(self, run: Run, error: BaseException | None) -> None:
        if self._running.get(run.name) is run:
            del self._running[run.name]
        if run.timed_out:
            limit = format_duration(self._limits.run_timeout or ZERO)
            error = RunTimeoutError(limit=limit) if error is None or isinstance(error, CancelledError) else error
        run.error, run.ended = error, self._clock.now()
        run.seconds = self._clock.monotonic() - run.started_monotonic
        self._ended.append(run)
        self.wake.set()

    def _terminate_overdue(self) -> None:
        for run in self._timeouts.overdue(self._clock.monotonic()):
            if self._running.get(run.name) is run:
                run.timed_out = True
                self._runner.terminate(run)


class TaskChange:
    """Another list of tasks."""

    def __init__(self, book: ObligationPlanner, made: TaskDeclaration, declared: TasksApplied) -> None:
        self._book, self._made, self._declared = book, made, declared
        self.batch = made.batch

    def commit(self, refused: Sequence[Refusal]) -> TasksApplied:  # noqa: ARG002  # it has no other writer
        """Let it be so, and return what came of it."""
        self._book.adopt(self._made, self._declared.at)
        return self._declared


class Taken(NamedTuple):
    """What a step takes up beside what is due: it comes back if the step cannot be remembered."""

    ended: list[Run]
    withdrawn: list[TaskRecord]
    clamped: list[Clamped]


class TaskStep:
    """What ended and what is due of the tasks, at one moment."""

    __slots__ = ("_begun", "_book", "_planned", "_taken", "batch")

    def __init__(
        self, book: ObligationPlanner, planned: Planned, taken: Taken, records: list[TaskRecord], begun: float | None
    ) -> None:
        """`records` are to be written before those of the ends; `begun`: when it began, if that is to be reported."""
        self._book, self._planned, self._taken, self._begun = book, planned, taken, begun
        self.batch = Batch((), records + planned.settled, planned.begun, planned.runs)

    @property
    def record_count(self) -> int:
        """How many tasks it speaks of."""
        return len(self.batch.records) + len(self.batch.begun)

    def rollback(self) -> None:
        """Put everything back as it was."""
        self._book.put_back(self._planned, self._taken)

    def refuse(self, refused: Sequence[Refusal]) -> None:
        """Change nothing: a ledger of tasks has one writer, and the last record of a task counts."""

    def act(self, *, hushed: bool) -> None:
        """Emit the events of clamped baselines and of ends, and begin the runs."""
        self._book.act(self._planned, self._taken.clamped, hushed=hushed)

    def report(self, *, written: bool | None) -> None:
        """Tell how it went."""
        if self._begun is not None:
            self._book.tell_poll(self._planned, self._begun, executed=0 if written is None else len(self._planned.owed))
