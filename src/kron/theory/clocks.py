"""Clocks: what has to come soon, and the active time by which it must. Frozen time does not count."""

from collections.abc import Iterable, Iterator
from heapq import heappop, heappush
from typing import NamedTuple

from kron.theory.jury import Jury
from kron.theory.subjects import Subject
from kron.theory.trace import Bounds

_MINUTE = 60_000
_TASKS_PER_MINUTE = 10_000


class Clocks:
    """One deadline for each subject and timed property, the earliest first."""

    def __init__(self, bounds: Bounds | None, *, grow: bool = True) -> None:
        """Bounds that the trace does not name are a minute, and may grow with the list."""
        self._bounds, self._grow = bounds, grow
        self._deadlines: list[int] = []  # a heap
        self._waiting: dict[int, list[_Group]] = {}  # who waits for each of them
        self._frozen_since: int | None = None
        self._frozen = 0
        self.t = 0
        self.active = 0

    def bound(self, size: int) -> int:
        """Return how much active time something may take with a list of this size."""
        if self._bounds is None:
            return _MINUTE if not self._grow else max(_MINUTE, _MINUTE * size // _TASKS_PER_MINUTE)
        return self._bounds.a * size + self._bounds.b + self._bounds.lag

    def set(self, t: int) -> bool:
        """Let it be that late, and return whether a deadline may have passed."""
        self.t = t
        active = self.active = (t if self._frozen_since is None else self._frozen_since) - self._frozen
        deadlines = self._deadlines
        return bool(deadlines) and deadlines[0] < active

    def freeze(self) -> None:
        """Stand still from now on."""
        if self._frozen_since is None:
            self._frozen_since = self.t

    def thaw(self) -> None:
        """Go on."""
        if self._frozen_since is not None:
            self._frozen += self.t - self._frozen_since
            self._frozen_since = None

    def start(self, jury: Jury, subjects: Iterable[Subject], place: int, size: int) -> None:
        """Give subjects until the bound for one of their timed properties."""
        deadline = self.active + self.bound(size)
        looked_at: list[Subject] = []
        for subject in subjects:
            subject.deadlines[place] = deadline
            if not subject.is_queued[place]:
                subject.is_queued[place] = True
                looked_at.append(subject)
        if looked_at:
            self._queue(deadline, _Group(jury, place, looked_at))

    def expired(self) -> Iterator[tuple[Jury, Subject, int]]:
        """Yield those whose time has run out, each once."""
        while self._deadlines and self._deadlines[0] < self.active:
            for jury, place, subjects in self._waiting.pop(heappop(self._deadlines)):
                again: dict[int, list[Subject]] = {}  # those that were served in time, and are asked for again
                for subject in subjects:
                    deadline = subject.deadlines[place]
                    if deadline is not None and deadline >= self.active:
                        again.setdefault(deadline, []).append(subject)
                        continue
                    subject.is_queued[place] = False
                    if deadline is not None:
                        yield jury, subject, place
                        subject.deadlines[place] = None
                for deadline, some in again.items():
                    self._queue(deadline, _Group(jury, place, some))

    def _queue(self, deadline: int, group: "_Group") -> None:
        waiting = self._waiting.get(deadline)
        if waiting is None:
            self._waiting[deadline] = [group]
            heappush(self._deadlines, deadline)
        else:
            waiting.append(group)


class _Group(NamedTuple):
    """Subjects that wait for the same."""

    jury: Jury
    place: int
    subjects: list[Subject]
