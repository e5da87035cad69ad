"""Pulses: the Dues and RetryDues that the environment owes a trace, in the order of time."""

from collections.abc import Callable, Sequence
from heapq import heappop, heappush
from itertools import count

from kron.theory.environment import Times
from kron.theory.meaning import Letter
from kron.theory.subjects import Task

_DUE: Letter = frozenset({"Due"})
_RETRY_DUE: Letter = frozenset({"RetryDue"})
_NEVER = 1 << 62

Tell = Callable[[int, Sequence[Task], Letter], bool]
"""Takes an instant and the tasks that see a letter then, one after the other; returns whether a state changed."""


class _Together:
    """The tasks of one schedule, which are due together, and when they are next."""

    __slots__ = ("at", "is_known", "present", "tasks", "times")

    def __init__(self, times: Times) -> None:
        self.times = times
        self.tasks: dict[Task, None] = {}
        self.present: Sequence[Task] = ()
        self.is_known = False  # who is present
        self.at: int | None = None

    def gather(self) -> Sequence[Task]:
        """Return the tasks that still have this schedule, and forget those that have another, or none."""
        if not self.is_known:
            self.is_known = True
            self.present = [task for task in self.tasks if task.times is self.times]
            self.tasks = dict.fromkeys(self.present)
        return self.present


class Pulses:
    """One coming Due for each schedule and one coming RetryDue for each task; a trace that names its own gets none."""

    def __init__(self, *, dues: bool, retries: bool) -> None:
        self._dues, self._retries = dues, retries
        self._together: dict[Times, _Together] = {}
        self._coming: list[tuple[int, int, _Together | Task]] = []  # a number keeps the last from comparison
        self._numbers = count()
        self.soonest = _NEVER  # before this instant there is none
        self._again_until = -_NEVER  # what the clock shows until then it has shown before

    def expect_due(self, task: Task, after: int) -> None:
        """Let a task be due when its schedule says so."""
        times = task.times
        if not self._dues or times is None:
            return
        together = self._together.get(times)
        if together is None:
            together = self._together[times] = _Together(times)
        if not together.tasks:
            self._expect(together, after)
        together.tasks[task] = None
        together.is_known = False

    def relist(self) -> None:
        """Take another list, by which tasks may have other schedules, or none."""
        for together in self._together.values():
            together.is_known = False

    def expect_retry(self, task: Task, at: int) -> None:
        """Note when the delay after a failure will have passed; a start before then cancels it."""
        if self._retries:
            task.retry_at = at
            self._push(at, task)

    def until(self, t: int, tell: Tell) -> None:
        """Tell of those up to an instant, and that instant's own; tasks of one schedule are due together.

        While tasks go on being due and nothing happens, their states stay the same: then one Due stands for the rest.
        """
        coming = self._coming
        while coming and coming[0][0] <= t:
            at, _, who = heappop(coming)
            if isinstance(who, Task):
                if who.retry_at == at:
                    who.retry_at = None
                    tell(at, (who,), _RETRY_DUE)
            elif who.at == at:
                tasks = who.gather()
                owing = tasks if at > self._again_until else [task for task in tasks if task.owes(at)]
                is_moved = bool(owing) and tell(at, owing, _DUE)
                if tasks:
                    self._expect(who, at if is_moved or len(owing) != len(tasks) else t)
        self.soonest = coming[0][0] if coming else _NEVER

    def set_back(self, clock: int, since: int) -> None:
        """Let be due again what the clock will show again; a start that has served it stays its start."""
        self._again_until = max(self._again_until, since)
        for together in self._together.values():
            if together.tasks and together.times.next(clock) != together.at:
                self._expect(together, clock)
        self.soonest = self._coming[0][0] if self._coming else _NEVER

    def _expect(self, together: _Together, after: int) -> None:
        together.at = together.times.next(after)
        if together.at is not None:
            self._push(together.at, together)

    def _push(self, at: int, who: _Together | Task) -> None:
        heappush(self._coming, (at, next(self._numbers), who))
        self.soonest = self._coming[0][0]
