"""Court: where in a trace its readers stand, how late it is there, and what the juries have found by then."""

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

    def __init__(self, bounds: Bounds | None) -> None:
        self.findings = Findings(bounds)
        self.clocks = Clocks(bounds)
        self.line = self.position = -1
        self.clock = -(1 << 62)  # what the clock showed: earlier than the trace has it, if it was set back
        self.event = ""
        self.listed = 0  # how many tasks the current list has: so much longer may things take

    def tell(self, jury: Jury, subject: Subject, letter: Letter) -> None:
        """Let a subject see a letter here."""
        marks = jury.step(subject, letter, self.position)
        if marks is not subject.marks:
            self.look(jury, subject, marks, self.listed)

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
                self.clocks.start(jury, subject, place, size)
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
