"""Clocks: what has to come soon, and the active time by which it must. Frozen time does not count."""

from collections.abc import Iterator
from heapq import heappop, heappush
from itertools import count

from kron.theory.jury import Jury
from kron.theory.subjects import Subject
from kron.theory.trace import Bounds

_MINUTE = 60_000
_TASKS_PER_MINUTE = 10_000


class Clocks:
    """One deadline for each subject and timed property, the earliest first."""

    def __init__(self, bounds: Bounds | None) -> None:
        self._bounds = bounds
        self._deadlines: list[tuple[int, int, Jury, Subject, int]] = []  # a number keeps what follows from comparison
        self._numbers = count()
        self._frozen_since: int | None = None
        self._frozen = 0
        self.t = 0
        self.active = 0

    def bound(self, size: int) -> int:
        """Return how much active time something may take with a list of this size."""
        if self._bounds is None:
            return max(_MINUTE, _MINUTE * size // _TASKS_PER_MINUTE)
        return self._bounds.a * size + self._bounds.b + self._bounds.lag

    def set(self, t: int) -> bool:
        """Let it be that late, and return whether a deadline may have passed."""
        self.t = t
        active = self.active = (t if self._frozen_since is None else self._frozen_since) - self._frozen
        deadlines = self._deadlines
        return bool(deadlines) and deadlines[0][0] < active

    def freeze(self) -> None:
        """Stand still from now on."""
        if self._frozen_since is None:
            self._frozen_since = self.t

    def thaw(self) -> None:
        """Go on."""
        if self._frozen_since is not None:
            self._frozen += self.t - self._frozen_since
            self._frozen_since = None

    def start(self, jury: Jury, subject: Subject, place: int, size: int) -> None:
        """Give a subject until the bound for one of its timed properties."""
        deadline = subject.deadlines[place] = self.active + self.bound(size)
        if not subject.is_queued[place]:
            self._queue(deadline, jury, subject, place)

    def expired(self) -> Iterator[tuple[Jury, Subject, int]]:
        """Yield those whose time has run out, each once."""
        while self._deadlines and self._deadlines[0][0] < self.active:
            _, _, jury, subject, place = heappop(self._deadlines)
            subject.is_queued[place] = False
            deadline = subject.deadlines[place]
            if deadline is None:
                continue  # it was served in time
            if deadline >= self.active:
                self._queue(deadline, jury, subject, place)  # it was, and is asked for again
                continue
            yield jury, subject, place
            subject.deadlines[place] = None

    def _queue(self, deadline: int, jury: Jury, subject: Subject, place: int) -> None:
        subject.is_queued[place] = True
        heappush(self._deadlines, (deadline, next(self._numbers), jury, subject, place))
