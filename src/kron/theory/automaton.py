"""Automaton: formulas -> a table from state and letter to the next state, filled in as it is needed.

A state holds one bit for each past operator and, for each formula, what is still owed: a disjunction of conjunctions of
formulas for the next position. There are finitely many states, so memory does not grow with the trace; after a while
each step is one look into the table, however many formulas there are.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from kron.theory.formula import (
    PAST,
    Always,
    And,
    Atom,
    Constant,
    Eventually,
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
    looks_ahead,
    walk,
)


class _ResidualLiteral(NamedTuple):
    """A formula, or its negation, that is owed at the next position."""

    formula: int  # its number
    positive: bool
    strong: bool  # it is not enough that there is no next position


Residual = frozenset[frozenset[_ResidualLiteral]]
"""One of the sets has to be paid in full."""

_SATISFIED: Residual = frozenset([frozenset()])
_VIOLATED: Residual = frozenset()


class _State(NamedTuple):
    bits: tuple[bool, ...] | None  # of each past operator at the last position; None: there was none
    residuals: tuple[Residual, ...]
    tracked: tuple[bool, ...]


class Automaton:
    """Reads words letter by letter. States are numbers; one automaton serves any number of readers."""

    START = 0

    def __init__(self, formulas: Sequence[Formula], watched: Sequence[Formula] = ()) -> None:
        """`formulas` get verdicts; `watched` ones, which must not look ahead, label the states where they hold."""
        assert not any(looks_ahead(formula) for formula in watched)
        self._formulas = tuple(formulas)
        self._watched = tuple(watched)
        self._parts = tuple(dict.fromkeys(part for each in (*formulas, *watched) for part in walk(each)))
        self._number = {part: number for number, part in enumerate(self._parts)}
        self._ahead = frozenset(part for part in self._parts if looks_ahead(part))
        self._past = tuple(part for part in self._parts if isinstance(part, PAST))
        assert not self._ahead.intersection(self._past), "a past operator holds a future one"
        first = tuple(self._defer(each, positive=True, strong=False) for each in self._formulas)
        self._states = [_State(None, first, (False,) * len(self._watched))]
        self._found = {self._states[0]: self.START}
        self.table: list[dict[Letter, int]] = [{}]  # public for readers in a hurry
        self._resting: dict[int, int] = {}

    def step(self, state: int, letter: Letter) -> int:
        """Return the state after one more position."""
        following = self.table[state].get(letter)
        if following is None:
            following = self.table[state][letter] = self._intern(self._advance(self._states[state], letter))
        return following

    def stutter(self, state: int) -> int:
        """Return the state after so many positions without any atom that further ones change nothing."""
        found = self._resting.get(state)
        if found is None:
            found = state
            while (following := self.step(found, frozenset())) != found:
                found = following
            self._resting[state] = found
        return found

    def verdicts(self, state: int) -> list[TruthValue]:
        """Return what is known of each formula if the word ends here."""
        return [
            TruthValue.VIOLATED
            if debt == _VIOLATED
            else TruthValue.HOLDS
            if any(not any(owed.strong for owed in way) for way in debt)
            else TruthValue.UNDECIDED
            for debt in self._states[state].residuals
        ]

    def violated(self, state: int) -> tuple[int, ...]:
        """Return the places of the formulas that are violated."""
        return tuple(place for place, debt in enumerate(self._states[state].residuals) if debt == _VIOLATED)

    def tracked(self, state: int) -> tuple[bool, ...]:
        """Return which of the watched formulas hold at the last position."""
        return self._states[state].tracked

    def __len__(self) -> int:
        """Return how many states were met so far."""
        return len(self._states)

    def _intern(self, state: _State) -> int:
        found = self._found.get(state)
        if found is None:
            found = self._found[state] = len(self._states)
            self._states.append(state)
            self.table.append({})
        return found

    def _advance(self, state: _State, letter: Letter) -> _State:
        truth = _Valuation(letter)
        bits = []
        for place, part in enumerate(self._past):
            before = None if state.bits is None else state.bits[place]
            bits.append(truth.update_past(part, before=before))
        debts = tuple(
            debt
            if debt == _VIOLATED
            else _any(_all(self._progress_literal(owed, truth) for owed in way) for way in debt)
            for debt in state.residuals
        )
        return _State(tuple(bits), debts, tuple(truth.value(formula) for formula in self._watched))

    def _progress_literal(self, owed: _ResidualLiteral, truth: "_Valuation") -> Residual:
        return self._progress(self._parts[owed.formula], truth, positive=owed.positive)

    def _progress(self, formula: Formula, truth: "_Valuation", *, positive: bool) -> Residual:
        """Return what a formula, or its negation, owes from the next position on if it is to hold here."""
        if formula not in self._ahead:
            return _SATISFIED if truth.value(formula) is positive else _VIOLATED
        both, either = (_all, _any) if positive else (_any, _all)  # a negation swaps them
        match formula:
            case Named(_, body):
                return self._progress(body, truth, positive=positive)
            case Not(operand):
                return self._progress(operand, truth, positive=not positive)
            case And(left, right):
                return both(self._progress(part, truth, positive=positive) for part in (left, right))
            case Or(left, right):
                return either(self._progress(part, truth, positive=positive) for part in (left, right))
            case Implies(left, right):
                parts = (
                    self._progress(left, truth, positive=not positive),
                    self._progress(right, truth, positive=positive),
                )
                return either(parts)
            case Next(operand):
                return self._defer(operand, positive=positive, strong=not positive)
            case Always(operand):
                here = self._progress(operand, truth, positive=positive)
                return both((here, self._defer(formula, positive=positive, strong=not positive)))
            case Eventually(operand):
                here = self._progress(operand, truth, positive=positive)
                return either((here, self._defer(formula, positive=positive, strong=positive)))
            case Until(left, right) | WeakUntil(left, right):
                strong = isinstance(formula, Until) is positive
                here = self._progress(right, truth, positive=positive)
                still = self._progress(left, truth, positive=positive)
                return either((here, both((still, self._defer(formula, positive=positive, strong=strong)))))
            case _:
                raise AssertionError(f"{type(formula).__name__} needs a clock")

    def _defer(self, formula: Formula, *, positive: bool, strong: bool) -> Residual:
        return frozenset([frozenset([_ResidualLiteral(self._number[formula], positive, strong)])])


class _Valuation:
    """What holds at one position, of formulas that do not look ahead."""

    def __init__(self, letter: Letter) -> None:
        self._letter = letter
        self._past: dict[Formula, bool] = {}

    def update_past(self, part: Formula, *, before: bool | None) -> bool:
        """Find the truth of a past operator from its bit, and return its bit for the next position."""
        match part:
            case Previous(operand):
                self._past[part] = bool(before)
                return self.value(operand)
            case Since(left, right):
                found = self.value(right) or (bool(before) and self.value(left))
            case Once(operand):
                found = self.value(operand) or bool(before)
            case Historically(operand):
                found = self.value(operand) and before is not False
            case _:
                raise AssertionError(f"{type(part).__name__} is no past operator")
        self._past[part] = found
        return found

    def value(self, formula: Formula) -> bool:
        match formula:
            case Constant(value):
                return value
            case Atom(name):
                return name in self._letter
            case Named(_, body):
                return self.value(body)
            case Not(operand):
                return not self.value(operand)
            case And(left, right):
                return self.value(left) and self.value(right)
            case Or(left, right):
                return self.value(left) or self.value(right)
            case Implies(left, right):
                return not self.value(left) or self.value(right)
            case _:
                return self._past[formula]


def _any(debts: Iterable[Residual]) -> Residual:
    """Return the debt that is paid if one of these is."""
    ways = frozenset[frozenset[_ResidualLiteral]]().union(*debts)
    return frozenset(way for way in ways if not any(other < way for other in ways))


def _all(debts: Iterable[Residual]) -> Residual:
    """Return the debt that is paid if all of these are."""
    found = _SATISFIED
    for debt in debts:
        found = _any([frozenset(one | other for one in found for other in debt)])
    return found
