"""Tasks of a trace: the state of each, and the Dues and RetryDues that the environment owes it."""

from collections.abc import Callable, Sequence
from heapq import heappop, heappush
from itertools import count
from typing import NamedTuple

from kron.theory.environment import DueTimes, is_far_ahead, minute_of
from kron.theory.formula import Letter
from kron.theory.property_monitor import MonitorInstance, MonitorState, PendingResponses
from kron.theory.trace_format import TracedRecord, TracedTask


class SharedLines(NamedTuple):
    """Lines of one event, each of another task: what these share, because hardly any of them is ever asked for."""

    first: int
    names: Sequence[str]

    def of(self, name: str) -> int:
        """Return that of a task."""
        return self.first + self.names.index(name)


class TaskInstance(MonitorInstance):
    """A task: also when it is due, how long it waits after a failure, and since when it is known."""

    __slots__ = (
        "came", "cron", "delay", "failed", "first", "is_clamped", "is_listed", "last_due", "last_start",
        "retry_at", "retry_delay", "start_line", "success_line", "times",
    )  # fmt: skip

    def __init__(self, name: str, stand: MonitorState, touched: int, debts: PendingResponses) -> None:
        super().__init__(name, stand, touched, debts)
        self.start_line: int | SharedLines | None = None  # of the last RunStart and RunSuccess: nearly all there is
        self.success_line: int | SharedLines | None = None
        self.cron = ""
        self.delay = 0.0
        self.came = 0  # when it came in
        self.first = 0  # the beginning of the minute in which it came in
        self.is_listed = False
        self.last_due: int | None = None  # of those that the trace names
        self.last_start: int | None = None
        self.retry_at: int | None = None
        self.failed: int | None = None  # when its last run did, unless it was started since
        self.retry_delay = 0  # of that time
        self.is_clamped = False  # since its last start, or since it came: whether the ledger knows it has to say
        self.times: DueTimes | None = None

    def last_lines(self) -> dict[str, int]:
        """Return the last line of each kind of event."""
        found = dict(self.lines)
        for event, line in (("RunStart", self.start_line), ("RunSuccess", self.success_line)):
            if line is not None:
                found[event] = line.of(self.name) if isinstance(line, SharedLines) else line
        return found

    def is_as_in(self, registration: TracedTask) -> bool:
        """Whether it is in the current list already, and the same."""
        return self.is_listed and (self.cron, self.delay) == (registration.cron, registration.retry_delay_ms)

    def apply_registration(
        self, registration: TracedTask, times: DueTimes | None, t: int, *, keeps_history: bool
    ) -> set[str]:
        """Apply a registration, and return the atoms: whether the task changed, and whether it owes a run."""
        is_new = not self.is_listed
        self.cron, self.delay, self.is_listed, self.times = registration.cron, registration.retry_delay_ms, True, times
        latest = times.latest(t) if times is not None else None
        if not is_new and keeps_history:
            since = self.first - 1 if self.last_start is None else self.last_start
            return {"Changed", "Redue"} if latest is not None and latest > since else {"Changed"}
        self.came, self.first, self.last_start, self.retry_at, self.failed = t, minute_of(t), None, None, None
        self.is_clamped = False
        dues = (latest, self.last_due if is_new else None)  # one that was listed was due by another schedule
        boot = {"Boot"} if any(due is not None and self.first <= due <= t for due in dues) else set[str]()
        return boot if is_new else {"Renewed", *boot}

    def restore(self, memory: TracedRecord, registration: TracedTask, times: DueTimes | None, t: int) -> set[str]:
        """Restore a task whose past this trace does not show; return whether the ledger's record owes a run."""
        self.apply_registration(registration, times, t, keeps_history=True)
        self._remember(memory)
        since = self.first - 1 if self.last_start is None else self.last_start
        latest = times.latest(t) if times is not None else None
        is_due = latest is not None and latest > since
        is_retry = memory.retry_at is not None and memory.retry_at <= t
        return {"Redue"} if is_due or is_retry or memory.is_interrupted else set()

    def is_unserved(self, due: int) -> bool:
        """Whether no start has served a due instant, which a clock that was set back shows once more."""
        return due >= self.first and (self.last_start is None or due > self.last_start)

    def clamp(self, clock: int, memory: TracedRecord | None) -> bool:
        """Count from the clock what a clock far ahead has recorded; return whether there was anything.

        Baseline and retry are judged each on its own. The scheduler counts from what its ledger remembers: a crash may
        have kept a clamp out of the trace, or out of the ledger.
        """
        is_remembered = False
        if memory is not None:
            times = [self.came, self.last_start, self.failed, memory.first, memory.last_start]
            times += [memory.last_failure if memory.retry_at is not None else None]
            is_remembered = self.is_clamped or any(at is not None and is_far_ahead(at, clock) for at in times)
            if is_remembered:
                self._remember(memory)
        is_ahead = is_far_ahead(self.came if self.last_start is None else max(self.came, self.last_start), clock)
        if is_ahead:
            self.came = min(self.came, clock)
            self.first = minute_of(self.came)
            self.last_start = None if self.last_start is None else min(self.last_start, clock)
        is_retry_ahead = self.failed is not None and is_far_ahead(self.failed, clock)
        if is_retry_ahead:
            self.failed = clock
        self.is_clamped |= is_ahead or is_retry_ahead
        return is_remembered or is_ahead or is_retry_ahead

    def recount(self, clock: int) -> set[str]:
        """Return the atoms after a clock was set back: whether one of the task's times has come by it."""
        since = self.first - 1 if self.last_start is None else self.last_start
        latest = self.times.latest(clock) if self.times is not None else None
        return {"Recounted", "Redue"} if latest is not None and since < latest <= clock else {"Recounted"}

    def _remember(self, memory: TracedRecord) -> None:
        self.came, self.first, self.last_start = memory.first, minute_of(memory.first), memory.last_start
        self.failed, self.is_clamped = None, False
        if memory.retry_at is not None:
            failed, delay = memory.last_failure, round(memory.registration.retry_delay_ms)
            self.failed = memory.retry_at - delay if failed is None else failed
            self.retry_delay = memory.retry_at - self.failed

    def remove(self) -> None:
        """Leave the list: the task is no longer due."""
        self.is_listed, self.times, self.retry_at, self.failed = False, None, None, None


_DUE: Letter = frozenset({"Due"})
_RETRY_DUE: Letter = frozenset({"RetryDue"})
_NEVER = 1 << 62

Tell = Callable[[int, Sequence[TaskInstance], Letter], bool]
"""Takes an instant and the tasks that see a letter then, one after the other; returns whether a state changed."""


class _ScheduleGroup:
    """The tasks of one schedule, which are due together, and when they are next."""

    __slots__ = ("at", "is_known", "present", "tasks", "times")

    def __init__(self, times: DueTimes) -> None:
        self.times = times
        self.tasks: dict[TaskInstance, None] = {}
        self.present: Sequence[TaskInstance] = ()
        self.is_known = False  # whether `present` is up to date
        self.at: int | None = None

    def gather(self) -> Sequence[TaskInstance]:
        """Return the tasks that still have this schedule, and forget those that have another, or none."""
        if not self.is_known:
            self.is_known = True
            self.present = [task for task in self.tasks if task.times is self.times]
            self.tasks = dict.fromkeys(self.present)
        return self.present


class ImplicitEvents:
    """One coming Due for each schedule and one coming RetryDue for each task; a trace that names its own gets none."""

    def __init__(self, *, dues: bool, retries: bool) -> None:
        self._dues, self._retries = dues, retries
        self._together: dict[DueTimes, _ScheduleGroup] = {}
        self._coming: list[
            tuple[int, int, _ScheduleGroup | TaskInstance]
        ] = []  # a number keeps the last from comparison
        self._numbers = count()
        self.soonest = _NEVER  # before this instant there is none
        self._again_until = -_NEVER  # what the clock shows until then it has shown before

    def schedule_due(self, task: TaskInstance, after: int) -> None:
        """Let a task be due when its schedule says so."""
        times = task.times
        if not self._dues or times is None:
            return
        together = self._together.get(times)
        if together is None:
            together = self._together[times] = _ScheduleGroup(times)
        if not together.tasks:
            self._expect(together, after)
        together.tasks[task] = None
        together.is_known = False

    def relist(self) -> None:
        """Take another list, by which tasks may have other schedules, or none."""
        for together in self._together.values():
            together.is_known = False

    def schedule_retry(self, task: TaskInstance, at: int) -> None:
        """Note when the delay after a failure will have passed; a start before then cancels it."""
        if self._retries:
            task.retry_at = at
            self._push(at, task)

    def emit_until(self, t: int, tell: Tell) -> None:
        """Emit those up to and including an instant; tasks of one schedule are due together.

        While tasks are due repeatedly and nothing else happens, their states stay the same: one Due is enough then.
        """
        coming = self._coming
        while coming and coming[0][0] <= t:
            at, _, who = heappop(coming)
            if isinstance(who, TaskInstance):
                if who.retry_at == at:
                    who.retry_at = None
                    tell(at, (who,), _RETRY_DUE)
            elif who.at == at:
                tasks = who.gather()
                owing = tasks if at > self._again_until else [task for task in tasks if task.is_unserved(at)]
                is_moved = bool(owing) and tell(at, owing, _DUE)
                if tasks:
                    self._expect(who, at if is_moved or len(owing) != len(tasks) else t)
        self.soonest = coming[0][0] if coming else _NEVER

    def rewind(self, clock: int, since: int) -> None:
        """Let be due again what the clock will show again; a start that has served it stays its start."""
        self._again_until = max(self._again_until, since)
        for together in self._together.values():
            if together.tasks and together.times.next(clock) != together.at:
                self._expect(together, clock)
        self.soonest = self._coming[0][0] if self._coming else _NEVER

    def _expect(self, together: _ScheduleGroup, after: int) -> None:
        together.at = together.times.next(after)
        if together.at is not None:
            self._push(together.at, together)

    def _push(self, at: int, who: _ScheduleGroup | TaskInstance) -> None:
        heappush(self._coming, (at, next(self._numbers), who))
        self.soonest = self._coming[0][0]
