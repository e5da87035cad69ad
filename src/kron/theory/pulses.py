"""Pulses: the Dues and RetryDues that the environment owes a trace, in the order of time."""

from collections.abc import Iterator
from heapq import heappop, heappush
from itertools import count

from kron.theory.meaning import Letter
from kron.theory.subjects import Task

_DUE: Letter = frozenset({"Due"})
_RETRY_DUE: Letter = frozenset({"RetryDue"})
_NEVER = 1 << 62
_FIRST, _SECOND = 0, 1  # at one instant Dues come before RetryDues


class Pulses:
    """One coming Due and one coming RetryDue for each task; a trace that names its own gets none added."""

    def __init__(self, *, dues: bool, retries: bool) -> None:
        self._dues, self._retries = dues, retries
        self._coming: list[tuple[int, int, int, Task]] = []  # a number keeps tasks from comparison
        self._numbers = count()
        self.soonest = _NEVER  # before this instant there is none

    def expect_due(self, task: Task, after: int) -> None:
        """Note when a task is due next."""
        at = task.next_due = task.times.next(after) if self._dues and task.times is not None else None
        if at is not None:
            heappush(self._coming, (at, _FIRST, next(self._numbers), task))
            self.soonest = self._coming[0][0]

    def expect_retry(self, task: Task, at: int) -> None:
        """Note when the delay after a failure will have passed; a start before then cancels it."""
        if self._retries:
            task.retry_at = at
            heappush(self._coming, (at, _SECOND, next(self._numbers), task))
            self.soonest = self._coming[0][0]

    def until(self, t: int) -> Iterator[tuple[int, Task, Letter]]:
        """Yield those up to an instant, and that instant's own.

        While a task goes on being due and nothing happens, its state stays the same: then one Due stands for the rest.
        """
        while self._coming and self._coming[0][0] <= t:
            at, rank, _, task = heappop(self._coming)
            if rank == _SECOND and task.retry_at == at:
                task.retry_at = None
                yield at, task, _RETRY_DUE
            elif rank == _FIRST and task.next_due == at:
                state = task.state
                yield at, task, _DUE
                self.expect_due(task, at if task.state != state else t)
        self.soonest = self._coming[0][0] if self._coming else _NEVER
