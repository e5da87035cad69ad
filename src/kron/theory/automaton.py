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
    Named,
    Next,
    Not,
    Once,
    Or,
    Previous,
    Since,
    Until,
    WeakUntil,
    looks_ahead,
    walk,
)
from kron.theory.meaning import Letter, Verdict


class _Owed(NamedTuple):
    """A formula, or its negation, that is owed at the next position."""

    formula: int  # its number
    positive: bool
    strong: bool  # it is not enough that there is no next position


Debt = frozenset[frozenset[_Owed]]
"""One of the sets has to be paid in full."""

_PAID: Debt = frozenset([frozenset()])
_BROKEN: Debt = frozenset()


class _State(NamedTuple):
    bits: tuple[bool, ...] | None  # of each past operator at the last position; None: there was none
    debts: tuple[Debt, ...]
    watched: tuple[bool, ...]


class Automaton:
    """Reads words letter by letter. States are numbers; one automaton serves any number of readers."""

    START = 0

    def __init__(self, formulas: Sequence[Formula], watched: Sequence[Formula] = ()) -> None:
        """`formulas` get verdicts; of the `watched` ones, which do not look ahead, it is told where they hold."""
        assert not any(looks_ahead(formula) for formula in watched)
        self._formulas = tuple(formulas)
        self._watched = tuple(watched)
        self._parts = tuple(dict.fromkeys(part for each in (*formulas, *watched) for part in walk(each)))
        self._number = {part: number for number, part in enumerate(self._parts)}
        self._ahead = frozenset(part for part in self._parts if looks_ahead(part))
        self._past = tuple(part for part in self._parts if isinstance(part, PAST))
        assert not self._ahead.intersection(self._past), "a past operator holds a future one"
        first = tuple(self._owe(each, positive=True, strong=False) for each in self._formulas)
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

    def rest(self, state: int) -> int:
        """Return the state after so many positions without any atom that further ones change nothing."""
        found = self._resting.get(state)
        if found is None:
            found = state
            while (following := self.step(found, frozenset())) != found:
                found = following
            self._resting[state] = found
        return found

    def verdicts(self, state: int) -> list[Verdict]:
        """Return what is known of each formula if the word ends here."""
        return [
            Verdict.VIOLATED
            if debt == _BROKEN
            else Verdict.HOLDS
            if any(not any(owed.strong for owed in way) for way in debt)
            else Verdict.UNDECIDED
            for debt in self._states[state].debts
        ]

    def broken(self, state: int) -> tuple[int, ...]:
        """Return the places of the formulas that are violated."""
        return tuple(place for place, debt in enumerate(self._states[state].debts) if debt == _BROKEN)

    def watched(self, state: int) -> tuple[bool, ...]:
        """Return which of the watched formulas hold at the last position."""
        return self._states[state].watched

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
        truth = _Truth(letter)
        bits = []
        for place, part in enumerate(self._past):
            before = None if state.bits is None else state.bits[place]
            bits.append(truth.take(part, before=before))
        debts = tuple(
            debt if debt == _BROKEN else _any(_all(self._pay(owed, truth) for owed in way) for way in debt)
            for debt in state.debts
        )
        return _State(tuple(bits), debts, tuple(truth.of(formula) for formula in self._watched))

    def _pay(self, owed: _Owed, truth: "_Truth") -> Debt:
        return self._progress(self._parts[owed.formula], truth, positive=owed.positive)

    def _progress(self, formula: Formula, truth: "_Truth", *, positive: bool) -> Debt:
        """Return what a formula, or its negation, owes from the next position on if it is to hold here."""
        if formula not in self._ahead:
            return _PAID if truth.of(formula) is positive else _BROKEN
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
                return self._owe(operand, positive=positive, strong=not positive)
            case Always(operand):
                here = self._progress(operand, truth, positive=positive)
                return both((here, self._owe(formula, positive=positive, strong=not positive)))
            case Eventually(operand):
                here = self._progress(operand, truth, positive=positive)
                return either((here, self._owe(formula, positive=positive, strong=positive)))
            case Until(left, right) | WeakUntil(left, right):
                strong = isinstance(formula, Until) is positive
                here = self._progress(right, truth, positive=positive)
                still = self._progress(left, truth, positive=positive)
                return either((here, both((still, self._owe(formula, positive=positive, strong=strong)))))
            case _:
                raise AssertionError(f"{type(formula).__name__} needs a clock")

    def _owe(self, formula: Formula, *, positive: bool, strong: bool) -> Debt:
        return frozenset([frozenset([_Owed(self._number[formula], positive, strong)])])


class _Truth:
    """What holds at one position, of formulas that do not look ahead."""

    def __init__(self, letter: Letter) -> None:
        self._letter = letter
        self._past: dict[Formula, bool] = {}

    def take(self, part: Formula, *, before: bool | None) -> bool:
        """Find the truth of a past operator from its bit, and return its bit for the next position."""
        match part:
            case Previous(operand):
                self._past[part] = bool(before)
                return self.of(operand)
            case Since(left, right):
                found = self.of(right) or (bool(before) and self.of(left))
            case Once(operand):
                found = self.of(operand) or bool(before)
            case Historically(operand):
                found = self.of(operand) and before is not False
            case _:
                raise AssertionError(f"{type(part).__name__} is no past operator")
        self._past[part] = found
        return found

    def of(self, formula: Formula) -> bool:
        match formula:
            case Constant(value):
                return value
            case Atom(name):
                return name in self._letter
            case Named(_, body):
                return self.of(body)
            case Not(operand):
                return not self.of(operand)
            case And(left, right):
                return self.of(left) and self.of(right)
            case Or(left, right):
                return self.of(left) or self.of(right)
            case Implies(left, right):
                return not self.of(left) or self.of(right)
            case _:
                return self._past[formula]


def _any(debts: Iterable[Debt]) -> Debt:
    """Return the debt that is paid if one of these is."""
    ways = frozenset[frozenset[_Owed]]().union(*debts)
    return frozenset(way for way in ways if not any(other < way for other in ways))


def _all(debts: Iterable[Debt]) -> Debt:
    """Return the debt that is paid if all of these are."""
    found = _PAID
    for debt in debts:
        found = _any([frozenset(one | other for one in found for other in debt)])
    return found
