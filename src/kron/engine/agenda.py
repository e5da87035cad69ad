"""Agenda: which entries to look at next, and when. Entries that are not due are never looked at."""

from collections import deque
from heapq import heappop, heappush
from operator import itemgetter
from typing import Generic, Protocol, TypeVar

from kron.instant import Instant
from kron.rules.due import Due
from kron.rules.registration import Callback
from kron.rules.task_record import TaskRecord


class AgendaItem(Protocol):
    """Whatever can stand in an agenda, and when it is to be looked at."""

    at: Instant | None


_Entry = TypeVar("_Entry", bound=AgendaItem)


class TaskEntry:
    """A declared task: what to call, when it is due, what is remembered of it, and where it stands in the agenda.

    A million of them are kept, so there is nothing in it that the record has.
    """

    __slots__ = ("at", "callback", "due", "record")

    def __init__(self, callback: Callback, due: Due, record: TaskRecord) -> None:
        self.callback = callback
        self.due = due
        self.record = record
        self.at: Instant | None = None


class Agenda(Generic[_Entry]):
    """Entries by the instant at which they are to be looked at.

    Many tasks share an instant, so a heap holds the distinct instants and each of them has a list: a million tasks due
    in one minute are one element of the heap. An entry that moves leaves its old place behind, which is skipped when
    its time comes.
    """

    __slots__ = ("_come", "_heap", "_lists")

    def __init__(self) -> None:
        self._heap: list[Instant] = []
        self._lists: dict[Instant, list[_Entry]] = {}
        self._come: deque[tuple[Instant, list[_Entry]]] = deque()  # instants that have come, each list last entry first

    def schedule(self, entry: _Entry, at: Instant | None) -> None:
        """Look at an entry at an instant, and not before; None: not at all."""
        if entry.at == at:
            return
        entry.at = at
        if at is None:
            return
        places = self._lists.get(at)
        if places is None:
            heappush(self._heap, at)
            places = self._lists[at] = []
        places.append(entry)

    def next_instant(self) -> Instant | None:
        """Return the earliest instant of an entry, None if there is none."""
        first = self._heap[0] if self._heap else None
        for at, _ in self._come:  # few have come: one for each instant, not for each task
            first = at if first is None or at < first else first
        return first

    def pop_due(self, now: Instant, most: int) -> list[_Entry]:
        """Remove and return entries whose instant has come, the earliest first, at most so many."""
        while self._heap and self._heap[0] <= now:
            at = heappop(self._heap)
            places = self._lists.pop(at)
            places.reverse()
            self._come.append((at, places))
            if at < self._come[0][0]:  # the clock was set back, and what had come has not come yet
                self._come = deque(sorted(self._come, key=itemgetter(0)))
        taken: list[_Entry] = []
        while self._come and len(taken) < most:
            at, places = self._come[0]
            while places and len(taken) < most:
                entry = places.pop()
                if entry.at == at:  # otherwise it has moved
                    entry.at = None
                    taken.append(entry)
            if not places:
                self._come.popleft()
        return taken
