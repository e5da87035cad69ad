"""Clocks: what has to come soon, and the active time by which it must. Frozen time does not count."""

from collections.abc import Iterator, Sequence
from heapq import heappop, heappush
from typing import NamedTuple

from kron.theory.jury import Jury
from kron.theory.stand import Debt
from kron.theory.subjects import Subject
from kron.theory.trace import Bounds

_MINUTE = 60_000
_TASKS_PER_MINUTE = 10_000
_FEW = 1_000  # of so few debts it does not matter whether they are paid


class Clocks:
    """One deadline for each subject and timed property, the earliest first."""

    def __init__(self, bounds: Bounds | None, *, grow: bool = True) -> None:
        """Bounds that the trace does not name are a minute, and may grow with the list."""
        self._bounds, self._grow = bounds, grow
        self._deadlines: list[int] = []  # a heap
        self._waiting: dict[int, list[_Group]] = {}  # who was to be served by each of them
        self._queued, self._most = 0, _FEW  # how many those are, the ones that were served included
        self._frozen_since: int | None = None
        self._frozen = 0
        self.t = 0
        self.active = 0

    def deadline(self, size: int) -> int:
        """Return by when, in active time, something has to come with a list of this size."""
        if self._bounds is None:
            return self.active + (max(_MINUTE, _MINUTE * size // _TASKS_PER_MINUTE) if self._grow else _MINUTE)
        return self.active + self._bounds.a * size + self._bounds.b + self._bounds.lag

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

    def owe(self, debt: Debt, jury: Jury, place: int, subjects: Sequence[Subject]) -> None:
        """Look at a debt by one of the timed properties when its deadline has passed; some of the subjects have it."""
        self._queue(_Group(debt, jury, place, subjects))
        if self._queued > self._most:
            self._forget()

    def expired(self) -> Iterator[tuple[Jury, Subject, int]]:
        """Yield those whose time has run out, each once."""
        while self._deadlines and self._deadlines[0] < self.active:
            for group in self._waiting.pop(heappop(self._deadlines)):
                self._queued -= len(group.subjects)
                for subject in group.unpaid():
                    yield group.jury, subject, group.place
                    rest = enumerate(subject.debts)
                    subject.debts = tuple(None if place == group.place else debt for place, debt in rest)

    def _forget(self) -> None:
        """Forget what was paid: then there is at most one debt for each subject and timed property."""
        groups = [group for deadline in sorted(self._deadlines) for group in self._waiting[deadline]]
        self._deadlines, self._waiting, self._queued = [], {}, 0
        for group in groups:
            if unpaid := group.unpaid():
                self._queue(group._replace(subjects=unpaid))
        self._most = max(_FEW, 4 * self._queued)

    def _queue(self, group: "_Group") -> None:
        self._queued += len(group.subjects)
        waiting = self._waiting.get(group.debt.deadline)
        if waiting is None:
            self._waiting[group.debt.deadline] = [group]
            heappush(self._deadlines, group.debt.deadline)
        else:
            waiting.append(group)


class _Group(NamedTuple):
    """Subjects some of which were owed the same."""

    debt: Debt
    jury: Jury
    place: int
    subjects: Sequence[Subject]

    def unpaid(self) -> list[Subject]:
        """Return those that still are."""
        debt, _, place, subjects = self
        return [subject for subject in subjects if subject.debts[place] is debt]
