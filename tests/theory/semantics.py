"""The verdict of a formula on a finite word, by definition only.

Slow on purpose: this is what the monitor is measured against. A word may be cut off, so there are three readings of its
end. FINITE: nothing follows, and `X` holds at the last position. GRANTED: whatever is still open turns out well.
REFUSED: whatever is still open turns out badly.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

from kron.theory.formula import (
    Always,
    And,
    Atom,
    Constant,
    Eventually,
    EventuallyWithin,
    Formula,
    Historically,
    Implies,
    Letter,
    Named,
    Next,
    Not,
    Once,
    Or,
    Previous,
    Since,
    TruthValue,
    Until,
    WeakUntil,
)

"""The atoms that are true at one position."""


@dataclass(frozen=True, slots=True)
class Word:
    """Letters with the active time of each, and the bound of everything that has to come soon."""

    letters: Sequence[Letter]
    times: Sequence[int] = ()
    bound: int = 0


class _End(Enum):
    FINITE = "finite"
    GRANTED = "granted"
    REFUSED = "refused"

    @property
    def opposite(self) -> "_End":
        return {_End.GRANTED: _End.REFUSED, _End.REFUSED: _End.GRANTED}.get(self, self)


def meaning(formula: Formula, word: Word) -> TruthValue:
    """Return whether a formula holds from the first position on."""
    if not word.letters or _Reading(word).holds(formula, 0, _End.FINITE):
        return TruthValue.HOLDS
    return TruthValue.UNDECIDED if _Reading(word).holds(formula, 0, _End.GRANTED) else TruthValue.VIOLATED


def violated_at(formula: Formula, word: Word) -> int | None:
    """Return the position at which it is violated: the last of the shortest beginning that violates it."""
    for length in range(1, len(word.letters) + 1):
        beginning = Word(word.letters[:length], word.times[:length], word.bound)
        if meaning(formula, beginning) is TruthValue.VIOLATED:
            return length - 1
    return None


class _Reading:
    def __init__(self, word: Word) -> None:
        self._word = word
        self._last = len(word.letters) - 1
        self._known: dict[tuple[int, int, _End], bool] = {}

    def holds(self, formula: Formula, at: int, end: _End) -> bool:
        """Whether it holds at a position; nothing is computed twice."""
        key = (id(formula), at, end)
        if key not in self._known:
            self._known[key] = self._look(formula, at, end)
        return self._known[key]

    def _look(self, formula: Formula, at: int, end: _End) -> bool:  # one line for each operator
        match formula:
            case Constant(value):
                return value
            case Atom(name):
                return name in self._word.letters[at]
            case Named(_, body):
                return self.holds(body, at, end)
            case Not(operand):
                return not self.holds(operand, at, end.opposite)
            case And(left, right):
                return self.holds(left, at, end) and self.holds(right, at, end)
            case Or(left, right):
                return self.holds(left, at, end) or self.holds(right, at, end)
            case Implies(left, right):
                return not self.holds(left, at, end.opposite) or self.holds(right, at, end)
            case Previous(operand):
                return at > 0 and self.holds(operand, at - 1, end)
            case Since(left, right):
                return any(
                    self.holds(right, k, end) and all(self.holds(left, m, end) for m in range(k + 1, at + 1))
                    for k in range(at + 1)
                )
            case Once(operand):
                return any(self.holds(operand, k, end) for k in range(at + 1))
            case Historically(operand):
                return all(self.holds(operand, k, end) for k in range(at + 1))
            case _:
                return self._look_ahead(formula, at, end)

    def _look_ahead(self, formula: Formula, at: int, end: _End) -> bool:
        later = range(at, self._last + 1)
        match formula:
            case Next(operand):
                return self.holds(operand, at + 1, end) if at < self._last else end is not _End.REFUSED
            case Always(operand):
                return all(self.holds(operand, k, end) for k in later) and end is not _End.REFUSED
            case Eventually(operand):
                return any(self.holds(operand, k, end) for k in later) or end is _End.GRANTED
            case Until(left, right):
                return self._comes(left, right, at, end) or (
                    end is _End.GRANTED and all(self.holds(left, k, end) for k in later)
                )
            case WeakUntil(left, right):
                return self._comes(left, right, at, end) or (
                    end is not _End.REFUSED and all(self.holds(left, k, end) for k in later)
                )
            case EventuallyWithin(operand):
                times, latest = self._word.times, self._word.times[at] + self._word.bound
                comes = any(self.holds(operand, k, end) for k in later if times[k] <= latest)
                return comes or (end is _End.GRANTED and times[self._last] <= latest)
            case _:
                raise AssertionError(f"{type(formula).__name__} has no meaning")

    def _comes(self, left: Formula, right: Formula, at: int, end: _End) -> bool:
        """Whether the right one comes and the left one holds until then."""
        return any(
            self.holds(right, k, end) and all(self.holds(left, m, end) for m in range(at, k))
            for k in range(at, self._last + 1)
        )
