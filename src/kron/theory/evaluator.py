"""Evaluator: advance instances by letters and active time, and note what is violated or pending."""

from collections.abc import Iterator, Sequence
from heapq import heappop, heappush
from itertools import islice
from typing import NamedTuple

from kron.errors import InvalidTraceError
from kron.theory.formula import Letter
from kron.theory.properties import Property
from kron.theory.property_monitor import MonitorInstance, PendingResponse, PropertyMonitor
from kron.theory.results import Violations
from kron.theory.trace_format import ResponseBounds

_MINUTE = 60_000
_TASKS_PER_MINUTE = 10_000
_FEW = 1_000  # of so few debts it does not matter whether they are paid


class ResponseDeadlines:
    """One deadline for each subject and timed property, the earliest first."""

    def __init__(self, bounds: ResponseBounds | None, *, grow: bool = True) -> None:
        """Bounds that the trace does not name are a minute, and may grow with the list."""
        self._bounds, self._grow = bounds, grow
        self._deadlines: list[int] = []  # a heap
        self._waiting: dict[int, list[_Batch]] = {}  # the subjects with a response due at each of them
        self._queued, self._most = 0, _FEW  # how many those are, including the served ones
        self._frozen_since: int | None = None
        self._frozen = 0
        self.t = 0
        self.active = 0

    def deadline(self, size: int) -> int:
        """Return the deadline, in active time, of a response due with a list of this size."""
        if self._bounds is None:
            return self.active + (max(_MINUTE, _MINUTE * size // _TASKS_PER_MINUTE) if self._grow else _MINUTE)
        return self.active + self._bounds.a * size + self._bounds.b + self._bounds.lag

    def advance_to(self, t: int) -> bool:
        """Set the time, and return whether a deadline may have passed."""
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

    def expect_response(
        self, debt: PendingResponse, jury: PropertyMonitor, place: int, subjects: Sequence[MonitorInstance]
    ) -> None:
        """Look at a debt by one of the timed properties when its deadline has passed; some of the subjects have it."""
        self._queue(_Batch(debt, jury, place, subjects))
        if self._queued > self._most:
            self._forget()

    def expired(self) -> Iterator[tuple[PropertyMonitor, MonitorInstance, int]]:
        """Yield the subjects whose deadline has passed, each once."""
        while self._deadlines and self._deadlines[0] < self.active:
            for group in self._waiting.pop(heappop(self._deadlines)):
                self._queued -= len(group.subjects)
                for subject in group.undischarged():
                    yield group.jury, subject, group.place
                    rest = enumerate(subject.pending)
                    subject.pending = tuple(None if place == group.place else debt for place, debt in rest)

    def _forget(self) -> None:
        """Forget discharged responses: then at most one is pending for each subject and timed property."""
        groups = [group for deadline in sorted(self._deadlines) for group in self._waiting[deadline]]
        self._deadlines, self._waiting, self._queued = [], {}, 0
        for group in groups:
            if unpaid := group.undischarged():
                self._queue(group._replace(subjects=unpaid))
        self._most = max(_FEW, 4 * self._queued)

    def _queue(self, group: "_Batch") -> None:
        self._queued += len(group.subjects)
        waiting = self._waiting.get(group.response.deadline)
        if waiting is None:
            self._waiting[group.response.deadline] = [group]
            heappush(self._deadlines, group.response.deadline)
        else:
            waiting.append(group)


class _Batch(NamedTuple):
    """Subjects some of which were owed the same."""

    response: PendingResponse
    jury: PropertyMonitor
    place: int
    subjects: Sequence[MonitorInstance]

    def undischarged(self) -> list[MonitorInstance]:
        """Return those that still are."""
        debt, _, place, subjects = self
        return [subject for subject in subjects if subject.pending[place] is debt]


class _Gathered(NamedTuple):
    """What a subject sees at a position that holds several events."""

    jury: PropertyMonitor
    letter: set[str]
    event: str  # one of those it sees
    size: int | None
    is_stranger: bool


class Evaluator:
    """Advances subjects by letters, and notes violations and pending responses."""

    def __init__(self, bounds: ResponseBounds | None, *, bounds_grow: bool = True) -> None:
        self.findings = Violations(bounds)
        self.clocks = ResponseDeadlines(bounds, grow=bounds_grow)
        self.line = self.position = -1
        self.clock = -(1 << 62)  # what the clock showed: earlier than the trace has it, if it was set back
        self.is_behind = False  # at a list, or where the scheduler has noticed it: the clock is set back
        self.event = ""
        self.listed = 0  # how many tasks the current list has: so much longer may things take
        self._gathered: dict[MonitorInstance, _Gathered] | None = None  # while the events of a set are taken

    def step(self, jury: PropertyMonitor, subject: MonitorInstance, letter: Letter, *, size: int | None = None) -> None:
        """Advance a subject by a letter; `size`, by default the current list's, sets deadlines of responses."""
        if self._gathered is not None:
            self._gather(subject, _Gathered(jury, set(letter), self.event, size, is_stranger=False))
            return
        position, stand = self.position, subject.stand
        known = stand.after_stutter if position - subject.last_position > 1 else stand.after_next
        found = known.get(letter) or jury.step(stand, letter, rested=known is stand.after_stutter)
        subject.stand, subject.last_position = found, position
        if found.is_clean:
            subject.pending = jury.no_pending
        elif found.labels is not stand.labels:
            self._look(jury, subject, self.listed if size is None else size)

    def step_all(self, jury: PropertyMonitor, subjects: Sequence[MonitorInstance], letter: Letter) -> bool:
        """Let each of the subjects, no two the same, see a letter at a position; return whether a state changed."""
        before = subjects[0].stand
        self.position += 1
        self.step(jury, subjects[0], letter)  # the only one that may not have rested
        after, debts = subjects[0].stand, subjects[0].pending
        is_moved = after.state != before.state
        stand, owed = None, debts
        debt, asked = PendingResponse(self.clocks.deadline(self.listed), self.line), set[int]()
        for subject in islice(subjects, 1, None):
            if subject.stand is not stand or subject.pending is not debts:  # otherwise it is like the one before
                stand, debts = subject.stand, subject.pending
                after = subject.stand = jury.step(stand, letter, rested=True)
                is_moved |= after.state != stand.state
                marks, owed = after.labels, debts
                if marks is not None and marks is not stand.labels:
                    for each in marks.violated:
                        self.violate(jury, each, subject)
                    owed = marks.update(debts, debt)
                    asked.update(marks.triggered)
            subject.stand, subject.pending = after, owed
        for place in asked:
            self.clocks.expect_response(debt, jury, place, subjects)
        self.position += len(subjects) - 1
        subjects[-1].last_position = self.position  # of the others it counts only that they were touched before
        return is_moved

    def step_default(self, jury: PropertyMonitor, stranger: MonitorInstance, letter: Letter) -> None:
        """Advance the initial state shared by subjects that the trace has not named yet."""
        if self._gathered is not None:
            self._gather(stranger, _Gathered(jury, set(letter), self.event, None, is_stranger=True))
            return
        rested = self.position - stranger.last_position > 1
        stranger.stand = jury.initial(jury.step(stranger.stand, letter, rested=rested).state)
        stranger.last_position = self.position

    # --- a set of events ----------------------------------------------------------------------------------------------

    @property
    def is_gathering(self) -> bool:
        """Whether the events of a set are being taken, so that no state has changed yet."""
        return self._gathered is not None

    def gather(self) -> None:
        """Keep what subjects see from now on until `show` lets each of them see all of it as one letter."""
        self._gathered = {}

    def show(self) -> None:
        """Let each subject see the union of its letters: the set is one position."""
        gathered, self._gathered = self._gathered or {}, None
        for subject, (jury, letter, event, size, is_stranger) in gathered.items():
            self.event = event
            if is_stranger:
                self.step_default(jury, subject, frozenset(letter))
            else:
                self.step(jury, subject, frozenset(letter), size=size)

    def _gather(self, subject: MonitorInstance, new: _Gathered) -> None:
        assert self._gathered is not None
        known = self._gathered.setdefault(subject, new)
        known.letter.update(new.letter)

    # --- what is owed and violated ------------------------------------------------------------------------------------

    def _look(self, jury: PropertyMonitor, subject: MonitorInstance, size: int) -> None:
        """Note a subject's violations and new responses, whose deadlines depend on the size of a list."""
        marks = subject.stand.labels
        assert marks is not None, "it has seen a letter"
        for each in marks.violated:
            self.violate(jury, each, subject)
        debt = PendingResponse(self.clocks.deadline(size), self.line)
        subject.pending = marks.update(subject.pending, debt)
        for place in marks.triggered:
            if subject.pending[place] is debt:
                self.clocks.expect_response(debt, jury, place, (subject,))

    def expire(self) -> None:
        """Note responses whose deadline has passed as violations."""
        for jury, subject, place in self.clocks.expired():
            self.violate(jury, jury.response_properties[place], subject)

    def violate(self, jury: PropertyMonitor, each: Property, subject: MonitorInstance) -> None:
        """Note a violation here."""
        self.findings.add_violation(jury, each, subject, (self.line, self.event))

    def invalid_event(self, field: str, found: object, reason: str) -> InvalidTraceError:
        """Return what to raise at a field that cannot stand here."""
        return InvalidTraceError(line=self.line + 2, field=field, found=found, reason=reason)
