"""Timeouts: which runs have lasted longer than they may."""

from collections import deque
from collections.abc import Iterator
from datetime import timedelta

from kron.engine.ports import Run
from kron.instant import SECOND

_DAY = timedelta(days=1)


class Timeouts:
    """All runs have the same limit, so they pass it in the order in which they began."""

    def __init__(self, limit: timedelta | None) -> None:
        self._limit = limit
        self.watched: deque[tuple[float, Run]] = deque()  # runs, each with when its time is over

    def watch(self, run: Run) -> None:
        """Give a run its time."""
        if self._limit is not None:
            self.watched.append((run.started_monotonic + self._limit / SECOND, run))

    def overdue(self, monotonic: float) -> Iterator[Run]:
        """Yield the runs whose time is over, whether they have ended or not."""
        while self.watched and self.watched[0][0] <= monotonic:
            yield self.watched.popleft()[1]

    def left(self, monotonic: float) -> timedelta:
        """Return how long it is until the next one, a day at most, as a limit may be longer than the calendar."""
        return SECOND * min(max(0.0, self.watched[0][0] - monotonic), _DAY / SECOND)
