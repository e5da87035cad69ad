"""Court: where in a trace its readers stand, how late it is there, and what the juries have found by then."""

from collections.abc import Sequence
from itertools import islice
from typing import NamedTuple

from kron.errors import InvalidTraceError
from kron.theory.clocks import Clocks
from kron.theory.findings import Findings
from kron.theory.jury import Jury
from kron.theory.meaning import Letter
from kron.theory.properties import Property
from kron.theory.stand import Debt
from kron.theory.subjects import Subject
from kron.theory.trace import Bounds


class _Gathered(NamedTuple):
    """What a subject sees at a position that holds several events."""

    jury: Jury
    letter: set[str]
    event: str  # one of those it sees
    size: int | None
    is_stranger: bool


class Court:
    """Lets subjects see letters, and notes what is violated and what is owed."""

    def __init__(self, bounds: Bounds | None, *, bounds_grow: bool = True) -> None:
        self.findings = Findings(bounds)
        self.clocks = Clocks(bounds, grow=bounds_grow)
        self.line = self.position = -1
        self.clock = -(1 << 62)  # what the clock showed: earlier than the trace has it, if it was set back
        self.is_behind = False  # at a list, or where the scheduler has noticed it: the clock is set back
        self.event = ""
        self.listed = 0  # how many tasks the current list has: so much longer may things take
        self._gathered: dict[Subject, _Gathered] | None = None  # while the events of a set are taken

    def tell(self, jury: Jury, subject: Subject, letter: Letter, *, size: int | None = None) -> None:
        """Let a subject see a letter here; what it is owed then depends on the size of a list, the current one's."""
        if self._gathered is not None:
            self._gather(subject, _Gathered(jury, set(letter), self.event, size, is_stranger=False))
            return
        position, stand = self.position, subject.stand
        known = stand.after_rest if position - subject.touched > 1 else stand.at_once
        found = known.get(letter) or jury.step(stand, letter, rested=known is stand.after_rest)
        subject.stand, subject.touched = found, position
        if found.is_quiet:
            subject.debts = jury.nothing_owed
        elif found.marks is not stand.marks:
            self._look(jury, subject, self.listed if size is None else size)

    def tell_each(self, jury: Jury, subjects: Sequence[Subject], letter: Letter) -> bool:
        """Let each of the subjects, no two the same, see a letter at a position; return whether a state changed."""
        before = subjects[0].stand
        self.position += 1
        self.tell(jury, subjects[0], letter)  # the only one that may not have rested
        after, debts = subjects[0].stand, subjects[0].debts
        is_moved = after.state != before.state
        stand, owed = None, debts
        debt, asked = Debt(self.clocks.deadline(self.listed), self.line), set[int]()
        for subject in islice(subjects, 1, None):
            if subject.stand is not stand or subject.debts is not debts:  # otherwise it is like the one before
                stand, debts = subject.stand, subject.debts
                after = subject.stand = jury.step(stand, letter, rested=True)
                is_moved |= after.state != stand.state
                marks, owed = after.marks, debts
                if marks is not None and marks is not stand.marks:
                    for each in marks.broken:
                        self.violate(jury, each, subject)
                    owed = marks.settle(debts, debt)
                    asked.update(marks.asked)
            subject.stand, subject.debts = after, owed
        for place in asked:
            self.clocks.owe(debt, jury, place, subjects)
        self.position += len(subjects) - 1
        subjects[-1].touched = self.position  # of the others it counts only that they were touched before
        return is_moved

    def pass_by(self, jury: Jury, stranger: Subject, letter: Letter) -> None:
        """Let somebody see a letter whom nobody has named yet, and at whom nobody looks."""
        if self._gathered is not None:
            self._gather(stranger, _Gathered(jury, set(letter), self.event, None, is_stranger=True))
            return
        rested = self.position - stranger.touched > 1
        stranger.stand = jury.unseen(jury.step(stranger.stand, letter, rested=rested).state)
        stranger.touched = self.position

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
                self.pass_by(jury, subject, frozenset(letter))
            else:
                self.tell(jury, subject, frozenset(letter), size=size)

    def _gather(self, subject: Subject, new: _Gathered) -> None:
        assert self._gathered is not None
        known = self._gathered.setdefault(subject, new)
        known.letter.update(new.letter)

    # --- what is owed and violated ------------------------------------------------------------------------------------

    def _look(self, jury: Jury, subject: Subject, size: int) -> None:
        """Note what a jury says of a subject; what it is owed depends on the size of a list."""
        marks = subject.stand.marks
        assert marks is not None, "it has seen a letter"
        for each in marks.broken:
            self.violate(jury, each, subject)
        debt = Debt(self.clocks.deadline(size), self.line)
        subject.debts = marks.settle(subject.debts, debt)
        for place in marks.asked:
            if subject.debts[place] is debt:
                self.clocks.owe(debt, jury, place, (subject,))

    def expire(self) -> None:
        """Note what was owed until now and did not come."""
        for jury, subject, place in self.clocks.expired():
            self.violate(jury, jury.timed[place], subject)

    def violate(self, jury: Jury, each: Property, subject: Subject) -> None:
        """Note a violation here."""
        self.findings.violate(jury, each, subject, (self.line, self.event))

    def misplaced(self, field: str, found: object, reason: str) -> InvalidTraceError:
        """Return what to raise at a field that cannot stand here."""
        return InvalidTraceError(line=self.line + 2, field=field, found=found, reason=reason)
