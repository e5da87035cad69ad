"""Report: the verdict on each property of a suite, and the one on the whole trace."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from kron.theory.alphabet import Owner
from kron.theory.meaning import Verdict
from kron.theory.properties import Property


@dataclass(frozen=True, slots=True)
class Finding:
    """What is known of one property: where it was violated first, whose fault that is, and what led there."""

    subject: Property
    verdict: Verdict
    at: int | None = None  # the number of the event's line, from 0; the header does not count
    about: str = ""  # which task, call or period
    blame: Owner | None = None
    explanation: str = ""
    lines: tuple[int, ...] = ()  # the lines that the explanation rests on

    def to_fields(self) -> dict[str, object]:
        """Return the finding as JSON has it."""
        return {
            "name": self.subject.name,
            "verdict": self.verdict.value,
            "at": self.at,
            "blame": self.blame.value if self.blame is not None else None,
            "explanation": self.explanation,
            "about": self.about or None,
            "lines": list(self.lines),
        }


@dataclass(frozen=True, slots=True)
class Report:
    """All findings, in the order of the suite."""

    findings: Sequence[Finding]
    positions: int = field(default=0)  # events and the pulses added to them

    @property
    def verdict(self) -> Verdict:
        """Violated if any property is; else undecided if any is that a longer trace would decide; else it holds."""
        counted = [finding.verdict for finding in self.findings if not finding.subject.is_always_open]
        if Verdict.VIOLATED in counted:
            return Verdict.VIOLATED
        return Verdict.UNDECIDED if Verdict.UNDECIDED in counted else Verdict.HOLDS

    @property
    def blames(self) -> frozenset[Owner]:
        """Whose fault the violations are."""
        violated = (finding for finding in self.findings if finding.verdict is Verdict.VIOLATED)
        return frozenset(finding.blame for finding in violated if finding.blame is not None)

    def to_fields(self) -> dict[str, object]:
        """Return the report as JSON has it."""
        return {"verdict": self.verdict.value, "properties": [finding.to_fields() for finding in self.findings]}
