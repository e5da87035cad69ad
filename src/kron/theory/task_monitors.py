"""TaskMonitors: the tasks that a trace names, and the letters each one reads: its events, its list, its due times."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import islice
from math import isfinite

from kron.theory.alphabet import LETTERS
from kron.theory.environment import Calendar
from kron.theory.evaluator import Evaluator
from kron.theory.formula import Letter
from kron.theory.properties import ChangedTask, PropertySuite, Scope
from kron.theory.property_monitor import MonitorInstance, PropertyMonitor
from kron.theory.results import QUERYABLE
from kron.theory.task_instances import ImplicitEvents, SharedLines, TaskInstance
from kron.theory.trace_format import TracedRecord, TracedTask, TraceEvent

_GONE = 10_000  # tasks that are remembered although they have left the list


class TaskMonitors:
    """The subjects of the properties of tasks."""

    def __init__(self, suite: PropertySuite, calendar: Calendar, pulses: ImplicitEvents, court: Evaluator) -> None:
        self._court, self._calendar, self._pulses = court, calendar, pulses
        self._keeps_history = suite.changed_task is ChangedTask.KEEP
        self.jury = PropertyMonitor(suite.of(Scope.TASK), QUERYABLE)
        self.running: set[str] = set()  # names
        self._listed: Mapping[str, TracedTask] = {}
        self._remembered: Mapping[str, TracedRecord] = {}  # by the ledger, as the list that is taken just now says
        self._has_begun = False  # with a first list
        self._tasks: dict[str, TaskInstance] = {}
        self._default_instance = TaskInstance(
            "", self.jury.initial(), -1, self.jury.no_pending
        )  # the state of a task that the trace has not named yet
        self.readers: Mapping[str, Callable[[TraceEvent], None]] = {
            "Due": self._on_pulse,
            "RetryDue": self._on_pulse,
        }

    def members(self) -> Iterable[MonitorInstance]:
        """Return all that are known."""
        return self._tasks.values()

    def meet(self, event: TraceEvent) -> None:
        """Know the task of an event before the events of its position are taken."""
        if "task" in event.fields:
            self._task(event.subject)

    def on_run(self, position: TraceEvent) -> None:
        """Take the start or the end of a run."""
        _, event, fields = position
        name, court = fields["task"], self._court
        task = self._tasks.get(name) or self._task(str(name))  # type: ignore[call-overload] # a text, or not found
        court.step(self.jury, task, LETTERS[event])
        if event == "RunStart":
            task.start_line = court.line
            if task.last_start is None or task.last_start < court.clock:
                task.last_start = court.clock
            task.retry_at = task.failed = None
            task.is_clamped = False  # what a start is recorded with is durable
            self.running.add(task.name)
            return
        self.running.discard(task.name)
        if event == "RunSuccess":
            task.success_line = court.line
            return
        task.lines[event] = court.line
        if task.is_listed and isfinite(task.delay):  # another list was never valid
            ended = fields.get("ended")  # earlier than its line: the record took time
            task.failed = ended if isinstance(ended, int) else court.clock
            task.retry_delay = round(task.delay)
            self._pulses.schedule_retry(task, task.failed + task.retry_delay)

    def on_run_batch(self, t: int, event: str, names: Sequence[str]) -> None:
        """Take runs that start, or end well, one after the other at one instant; the first of them was taken already.

        Nearly all stand alike, and nothing is broken or owed afterwards. Any other is taken as a single one is, and so
        is one that is there twice, because no suite allows that.
        """
        court, jury, letter, is_start = self._court, self.jury, LETTERS[event], event == "RunStart"
        known, nothing_owed = self._tasks, jury.no_pending
        line, position, lines = court.line, court.position, SharedLines(court.line, tuple(names))
        stand, after = None, self._default_instance.stand
        for count, name in enumerate(islice(names, 1, None), 1):
            task = known.get(name) or self._task(name)
            if task.stand is not stand:
                stand = task.stand
                after = jury.step(stand, letter, rested=True)
            if not after.is_clean:
                known[names[count - 1]].last_position = position + count - 1
                court.line, court.position = line + count, position + count
                self.on_run(TraceEvent(t, event, {"task": name}))
                continue
            task.stand, task.pending = after, nothing_owed
            if is_start:
                task.start_line, task.last_start, task.retry_at, task.failed = lines, t, None, None
                task.is_clamped = False
            else:
                task.success_line = lines
        court.line, court.position = line + len(names) - 1, position + len(names) - 1
        known[names[-1]].last_position = court.position  # of the others it counts only that they were touched before
        if is_start:
            self.running.update(names)
        else:
            self.running.difference_update(names)

    def on_armed(self) -> None:
        """Take the end of a time without a list; a list says all that it means to tasks."""

    def on_init_success(
        self, registrations: Sequence[TracedTask], seen: set[str], memories: Mapping[str, TracedRecord]
    ) -> None:
        """Take a list that became the current one; all tasks read that event, and some read more atoms."""
        listed = {each.name: each for each in registrations}
        if listed != self._listed:  # responses due under another list are dropped, and due under this one from now on
            for task in self._tasks.values():
                task.stand, task.pending = self.jury.initial(task.stand.state), self.jury.no_pending
        self._listed, self._court.listed = listed, len(listed)
        self._pulses.relist()
        self._remembered = memories
        if self._has_begun:
            memories = {}  # from now on this trace knows more than the ledger
        self._has_begun = True
        for task in [self._task(name) for name in {**self._tasks, **listed}]:
            registration = listed.get(task.name)
            if registration is None:
                task.remove()
            self._tell(
                task, frozenset(seen if registration is None else seen | self._list(task, registration, memories))
            )
        self._court.step_default(self.jury, self._default_instance, frozenset(seen))
        self._evict()

    def _evict(self) -> None:
        """Forget those that left the list longest ago: a trace may name new tasks for ever."""
        gone = [name for name, task in self._tasks.items() if not (task.is_listed or name in self.running)]
        for name in gone[:-_GONE]:
            del self._tasks[name]

    def step_all(self, letter: Letter) -> None:
        """Advance all tasks by a letter, also the state of those not named yet."""
        for task in self._tasks.values():
            self._tell(task, letter)
        self._court.step_default(self.jury, self._default_instance, letter)
        self._default_instance.lines[self._court.event] = self._court.line

    def _list(self, task: TaskInstance, registration: TracedTask, memories: Mapping[str, TracedRecord]) -> set[str]:
        """Apply a task of the new list, and return the task's atoms."""
        if task.is_as_in(registration):
            return {"Listed", *self._recount(task, registration)}
        t, times = self._court.clock, self._calendar.times_of(registration)
        memory = memories.get(task.name)
        if memory is not None and (self._keeps_history or memory.registration == registration):
            seen = task.restore(memory, registration, times, t)
            if memory.retry_at is not None and memory.retry_at > t:
                self._pulses.schedule_retry(task, memory.retry_at)
        else:
            seen = task.apply_registration(registration, times, t, keeps_history=self._keeps_history)
        self._pulses.schedule_due(task, t)
        return {"Listed", *seen, *self._recount(task, registration)}

    def on_clock_set(self) -> None:
        """Note that the scheduler has seen its clock set back: times that come again are not due yet."""
        self._remembered = {}
        for name, registration in self._listed.items():
            self._tell(self._tasks[name], frozenset(self._recount(self._tasks[name], registration)))

    def _recount(self, task: TaskInstance, registration: TracedTask) -> set[str]:
        """Count what is owed again, if the clock was set back; a baseline that is far ahead of it is clamped first."""
        court, memory = self._court, self._remembered.get(task.name)
        if memory is not None and not self._keeps_history and memory.registration != registration:
            memory = None  # it is of a task that this list has made another one
        if not task.clamp(court.clock, memory) and not court.is_behind:
            return set()
        task.times = self._calendar.times_of(registration)
        if task.failed is not None:
            self._pulses.schedule_retry(task, task.failed + task.retry_delay)
        return task.recount(court.clock)

    def _on_pulse(self, position: TraceEvent) -> None:
        task = self._task(position.subject)
        if position.kind == "Due":
            task.last_due = self._court.clock
        self._tell(task, LETTERS[position.kind])

    def _tell(self, task: TaskInstance, letter: Letter) -> None:
        self._court.step(self.jury, task, letter)
        task.lines[self._court.event] = self._court.line

    def _task(self, name: str) -> TaskInstance:
        task = self._tasks.get(name)
        if task is None:
            stranger = self._default_instance
            task = self._tasks[name] = TaskInstance(name, stranger.stand, stranger.last_position, stranger.pending)
            task.lines |= stranger.lines
        return task
