"""Formula: linear temporal logic with past and future over named atoms; frozen values that print as they are written.

An atom is true or false at a position. Past operators look at operands without future ones; a future operator may hold
anything. `X` is weak: it holds at the last position.
"""

from collections.abc import Iterator
from dataclasses import dataclass, fields
from enum import Enum

_ARROW, _OR, _AND, _BINARY, _UNARY, _ATOM = range(6)  # how tightly a formula is bound, loosest first


@dataclass(frozen=True, slots=True)
class Formula:
    """What every formula can do: be combined, be printed, and name its parts."""

    def __and__(self, other: "Formula") -> "Formula":
        return And(self, other)

    def __or__(self, other: "Formula") -> "Formula":
        return Or(self, other)

    def __rshift__(self, other: "Formula") -> "Formula":
        return Implies(self, other)

    def __invert__(self) -> "Formula":
        return Not(self)

    def __str__(self) -> str:
        return _print(self, _ARROW)

    @property
    def parts(self) -> tuple["Formula", ...]:
        """The formulas that it is made of."""
        values = [getattr(self, field.name) for field in fields(self)]
        return tuple(value for value in values if isinstance(value, Formula))


@dataclass(frozen=True, slots=True)
class Constant(Formula):
    """True or false, everywhere."""

    value: bool


@dataclass(frozen=True, slots=True)
class Atom(Formula):
    """A fact about one position."""

    name: str


@dataclass(frozen=True, slots=True)
class Named(Formula):
    """An abbreviation: printed by its name, meaning its body."""

    name: str
    body: Formula


@dataclass(frozen=True, slots=True)
class Not(Formula):
    """It does not hold."""

    operand: Formula


@dataclass(frozen=True, slots=True)
class And(Formula):
    """Both hold."""

    left: Formula
    right: Formula


@dataclass(frozen=True, slots=True)
class Or(Formula):
    """One of them holds, or both."""

    left: Formula
    right: Formula


@dataclass(frozen=True, slots=True)
class Implies(Formula):
    """If the left one holds, so does the right one."""

    left: Formula
    right: Formula


# --- future -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Next(Formula):
    """It holds at the next position, if there is one."""

    operand: Formula


@dataclass(frozen=True, slots=True)
class Until(Formula):
    """The right one comes, and the left one holds until then."""

    left: Formula
    right: Formula


@dataclass(frozen=True, slots=True)
class WeakUntil(Formula):
    """The left one holds until the right one comes, or for ever."""

    left: Formula
    right: Formula


@dataclass(frozen=True, slots=True)
class Always(Formula):
    """It holds here and at every later position."""

    operand: Formula


@dataclass(frozen=True, slots=True)
class Eventually(Formula):
    """It holds here or at some later position."""

    operand: Formula


@dataclass(frozen=True, slots=True)
class EventuallyWithin(Formula):
    """It holds here or later, before more than the bound of active time has passed."""

    operand: Formula


# --- past -------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Previous(Formula):
    """There is a position before, and it held there."""

    operand: Formula


@dataclass(frozen=True, slots=True)
class Since(Formula):
    """The right one held here or earlier, and the left one at every position after that."""

    left: Formula
    right: Formula


@dataclass(frozen=True, slots=True)
class Once(Formula):
    """It holds here or held at some earlier position."""

    operand: Formula


@dataclass(frozen=True, slots=True)
class Historically(Formula):
    """It holds here and held at every earlier position."""

    operand: Formula


TRUE, FALSE = Constant(value=True), Constant(value=False)
FUTURE = (Next, Until, WeakUntil, Always, Eventually, EventuallyWithin)
PAST = (Previous, Since, Once, Historically)

_SIGNS: dict[type[Formula], tuple[str, int]] = {
    Not: ("¬", _UNARY),
    Next: ("X ", _UNARY),
    Always: ("G ", _UNARY),
    Eventually: ("F ", _UNARY),
    EventuallyWithin: ("F≤ ", _UNARY),
    Previous: ("Y ", _UNARY),
    Once: ("O ", _UNARY),
    Historically: ("H ", _UNARY),
    Until: (" U ", _BINARY),
    WeakUntil: (" W ", _BINARY),
    Since: (" S ", _BINARY),
    And: (" ∧ ", _AND),
    Or: (" ∨ ", _OR),
    Implies: (" → ", _ARROW),
}
_ASSOCIATIVE = (And, Or)


def walk(formula: Formula) -> Iterator[Formula]:
    """Yield every part of a formula, innermost first, the formula itself last."""
    for part in formula.parts:
        yield from walk(part)
    yield formula


def looks_ahead(formula: Formula) -> bool:
    """Whether its truth at a position may depend on later ones."""
    return any(isinstance(part, FUTURE) for part in walk(formula))


def definitions(formula: Formula) -> dict[str, Formula]:
    """Return the abbreviations that a formula uses, each before those that use it."""
    return {part.name: part.body for part in walk(formula) if isinstance(part, Named)}


def _print(formula: Formula, outside: int) -> str:
    """Return the text; brackets where it is bound more loosely than what surrounds it."""
    if isinstance(formula, Constant):
        return "true" if formula.value else "false"
    if isinstance(formula, Atom | Named):
        return formula.name
    sign, binding = _SIGNS[type(formula)]
    if binding == _UNARY:
        text = f"{sign}{_print(formula.parts[0], _UNARY)}"
    else:
        first, second = formula.parts
        same = binding if isinstance(formula, _ASSOCIATIVE) else binding + 1
        text = f"{_print(first, same)}{sign}{_print(second, binding + 1)}"
    return f"({text})" if binding < outside else text


Letter = frozenset[str]


class TruthValue(Enum):
    """What is known of a property at the end of a trace."""

    HOLDS = "holds"
    VIOLATED = "violated"
    UNDECIDED = "undecided"
