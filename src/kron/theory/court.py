"""Court: where in a trace its readers stand, how late it is there, and what the juries have found by then."""

from collections.abc import Sequence

from kron.errors import InvalidTraceError
from kron.theory.clocks import Clocks
from kron.theory.findings import Findings
from kron.theory.jury import Jury, Marks
from kron.theory.meaning import Letter
from kron.theory.properties import Property
from kron.theory.subjects import Subject
from kron.theory.trace import Bounds


class Court:
    """Lets subjects see letters, and notes what is violated and what is owed."""

    def __init__(self, bounds: Bounds | None, *, bounds_grow: bool = True) -> None:
        self.findings = Findings(bounds)
        self.clocks = Clocks(bounds, grow=bounds_grow)
        self.line = self.position = -1
        self.clock = -(1 << 62)  # what the clock showed: earlier than the trace has it, if it was set back
        self.event = ""
        self.listed = 0  # how many tasks the current list has: so much longer may things take

    def tell(self, jury: Jury, subject: Subject, letter: Letter) -> None:
        """Let a subject see a letter here."""
        marks = jury.step(subject, letter, self.position)
        if marks is not subject.marks:
            self.look(jury, subject, marks, self.listed)

    def tell_each(self, jury: Jury, subjects: Sequence[Subject], letter: Letter, event: str = "") -> None:
        """Let each of the subjects see a letter at a position of its own; an event has a line of the trace each."""
        moves, position, line = jury.moves(letter), self.position, self.line
        alike: list[Subject] = []  # those whose marks changed to the same, one after the other
        common: Marks | None = None
        for subject in subjects:
            position += 1
            if position - subject.touched > 1:
                before, after, marks = moves.get(subject.state) or jury.move(subject.state, letter)
                subject.before, subject.state, subject.touched = before, after, position
            else:  # it has not rested
                marks = jury.step(subject, letter, position)
            if event:
                line += 1
            if marks is not subject.marks:
                if marks.broken or (event and marks.asked):  # the line counts
                    self.line = line
                    self.look(jury, subject, marks, self.listed)
                else:
                    subject.marks = marks
                    if marks is not common:
                        self._look_at_all(jury, alike, common)
                        alike, common = [], marks
                    alike.append(subject)
            if event:
                subject.lines[event] = line
        self._look_at_all(jury, alike, common)
        self.position, self.line = position, line

    def look(self, jury: Jury, subject: Subject, marks: Marks, size: int) -> None:
        """Note what a jury said of a subject; what it is owed depends on the size of a list."""
        subject.marks = marks
        for each in marks.broken:
            self.violate(jury, each, subject)
        deadlines = subject.deadlines
        for place in marks.ended:
            deadlines[place] = None
        for place in marks.asked:
            if deadlines[place] is None:
                self.clocks.start(jury, (subject,), place, size)
                subject.owed[place] = self.line

    def _look_at_all(self, jury: Jury, subjects: Sequence[Subject], marks: Marks | None) -> None:
        """Note what a jury said of them all at this line."""
        if marks is None:
            return
        for place in marks.ended:
            for subject in subjects:
                subject.deadlines[place] = None
        for place in marks.asked:
            asking = [subject for subject in subjects if subject.deadlines[place] is None]
            self.clocks.start(jury, asking, place, self.listed)
            for subject in asking:
                subject.owed[place] = self.line

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
