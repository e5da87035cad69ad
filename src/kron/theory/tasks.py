"""Tasks: the tasks that a trace names, what each of them sees, and what its list and its schedule say of it."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import islice
from math import isfinite

from kron.theory.alphabet import LETTERS
from kron.theory.court import Court
from kron.theory.environment import Calendar
from kron.theory.explanation import SHOWN
from kron.theory.jury import Jury
from kron.theory.meaning import Letter
from kron.theory.properties import History, Scope, Suite
from kron.theory.pulses import Pulses
from kron.theory.subjects import Lines, Subject, Task
from kron.theory.trace import Memory, Position, Registration

_GONE = 10_000  # tasks that are remembered although they have left the list


class Tasks:
    """Those whom the properties of tasks are about."""

    def __init__(self, suite: Suite, calendar: Calendar, pulses: Pulses, court: Court) -> None:
        self._court, self._calendar, self._pulses = court, calendar, pulses
        self._keeps_history = suite.changed_task is History.KEEP
        self.jury = Jury(suite.of(Scope.TASK), SHOWN)
        self.running: set[str] = set()  # names
        self._listed: Mapping[str, Registration] = {}
        self._remembered: Mapping[str, Memory] = {}  # by the ledger, as the list that is taken just now says
        self._has_begun = False  # with a first list
        self._tasks: dict[str, Task] = {}
        self._stranger = Task(
            "", self.jury.unseen(), -1, self.jury.nothing_owed
        )  # what a task has seen that nobody has named yet
        self.readers: Mapping[str, Callable[[Position], None]] = {
            "Due": self._on_pulse,
            "RetryDue": self._on_pulse,
        }

    def members(self) -> Iterable[Subject]:
        """Return all that are known."""
        return self._tasks.values()

    def meet(self, event: Position) -> None:
        """Know the task of an event before the events of its position are taken."""
        if "task" in event.fields:
            self._task(event.task)

    def on_run(self, position: Position) -> None:
        """Take the start or the end of a run."""
        _, event, fields = position
        name, court = fields["task"], self._court
        task = self._tasks.get(name) or self._task(str(name))  # type: ignore[call-overload] # a text, or not found
        court.tell(self.jury, task, LETTERS[event])
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
            ended = fields.get("ended")  # told late, because its record took time
            task.failed = ended if isinstance(ended, int) else court.clock
            task.retry_delay = round(task.delay)
            self._pulses.expect_retry(task, task.failed + task.retry_delay)

    def on_more_runs(self, t: int, event: str, names: Sequence[str]) -> None:
        """Take runs that start, or end well, one after the other at one instant; the first of them was taken already.

        Nearly all stand alike, and nothing is broken or owed afterwards. Any other is taken as a single one is, and so
        is one that is there twice, because no suite allows that.
        """
        court, jury, letter, is_start = self._court, self.jury, LETTERS[event], event == "RunStart"
        known, nothing_owed = self._tasks, jury.nothing_owed
        line, position, lines = court.line, court.position, Lines(court.line, tuple(names))
        stand, after = None, self._stranger.stand
        for count, name in enumerate(islice(names, 1, None), 1):
            task = known.get(name) or self._task(name)
            if task.stand is not stand:
                stand = task.stand
                after = jury.step(stand, letter, rested=True)
            if not after.is_quiet:
                known[names[count - 1]].touched = position + count - 1
                court.line, court.position = line + count, position + count
                self.on_run(Position(t, event, {"task": name}))
                continue
            task.stand, task.debts = after, nothing_owed
            if is_start:
                task.start_line, task.last_start, task.retry_at, task.failed = lines, t, None, None
                task.is_clamped = False
            else:
                task.success_line = lines
        court.line, court.position = line + len(names) - 1, position + len(names) - 1
        known[names[-1]].touched = court.position  # of the others it counts only that they were touched before
        if is_start:
            self.running.update(names)
        else:
            self.running.difference_update(names)

    def arm(self) -> None:
        """Take the end of a time without a list; a list says all that it means to tasks."""

    def on_init_success(
        self, registrations: Sequence[Registration], seen: set[str], memories: Mapping[str, Memory]
    ) -> None:
        """Take a list that became the current one; everybody sees that, and some see more of it."""
        listed = {each.name: each for each in registrations}
        if listed != self._listed:  # what was owed by another list is owed no more; by this one it is owed from now on
            for task in self._tasks.values():
                task.stand, task.debts = self.jury.unseen(task.stand.state), self.jury.nothing_owed
        self._listed, self._court.listed = listed, len(listed)
        self._pulses.relist()
        self._remembered = memories
        if self._has_begun:
            memories = {}  # from now on this trace knows better than whom it judges
        self._has_begun = True
        for task in [self._task(name) for name in {**self._tasks, **listed}]:
            registration = listed.get(task.name)
            if registration is None:
                task.unlist()
            self._tell(
                task, frozenset(seen if registration is None else seen | self._list(task, registration, memories))
            )
        self._court.pass_by(self.jury, self._stranger, frozenset(seen))
        self._forget()

    def _forget(self) -> None:
        """Forget those that left the list longest ago: a trace may name new tasks for ever."""
        gone = [name for name, task in self._tasks.items() if not (task.is_listed or name in self.running)]
        for name in gone[:-_GONE]:
            del self._tasks[name]

    def tell_all(self, letter: Letter) -> None:
        """Let everybody see a letter, also those who are yet to come."""
        for task in self._tasks.values():
            self._tell(task, letter)
        self._court.pass_by(self.jury, self._stranger, letter)
        self._stranger.lines[self._court.event] = self._court.line

    def _list(self, task: Task, registration: Registration, memories: Mapping[str, Memory]) -> set[str]:
        """Take a task of the new list as it is there, and return what the task sees of that."""
        if task.is_as_in(registration):
            return {"Listed", *self._recount(task, registration)}
        t, times = self._court.clock, self._calendar.times_of(registration)
        memory = memories.get(task.name)
        if memory is not None and (self._keeps_history or memory.registration == registration):
            seen = task.recall(memory, registration, times, t)
            if memory.retry_at is not None and memory.retry_at > t:
                self._pulses.expect_retry(task, memory.retry_at)
        else:
            seen = task.take(registration, times, t, keeps_history=self._keeps_history)
        self._pulses.expect_due(task, t)
        return {"Listed", *seen, *self._recount(task, registration)}

    def on_clock_set(self) -> None:
        """Take that the scheduler has seen its clock set back: what is to come again is not owed yet."""
        self._remembered = {}
        for name, registration in self._listed.items():
            self._tell(self._tasks[name], frozenset(self._recount(self._tasks[name], registration)))

    def _recount(self, task: Task, registration: Registration) -> set[str]:
        """Count what is owed again, if the clock was set back; a baseline that is far ahead of it is clamped first."""
        court, memory = self._court, self._remembered.get(task.name)
        if memory is not None and not self._keeps_history and memory.registration != registration:
            memory = None  # it is of a task that this list has made another one
        if not task.clamp(court.clock, memory) and not court.is_behind:
            return set()
        task.times = self._calendar.times_of(registration)
        if task.failed is not None:
            self._pulses.expect_retry(task, task.failed + task.retry_delay)
        return task.recount(court.clock)

    def _on_pulse(self, position: Position) -> None:
        task = self._task(position.task)
        if position.event == "Due":
            task.last_due = self._court.clock
        self._tell(task, LETTERS[position.event])

    def _tell(self, task: Task, letter: Letter) -> None:
        self._court.tell(self.jury, task, letter)
        task.lines[self._court.event] = self._court.line

    def _task(self, name: str) -> Task:
        task = self._tasks.get(name)
        if task is None:
            stranger = self._stranger
            task = self._tasks[name] = Task(name, stranger.stand, stranger.touched, stranger.debts)
            task.lines |= stranger.lines
        return task
