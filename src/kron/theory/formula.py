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
class _Unary(Formula):
    """An operator with one operand."""

    operand: Formula


@dataclass(frozen=True, slots=True)
class _Binary(Formula):
    """An operator with two operands."""

    left: Formula
    right: Formula


@dataclass(frozen=True, slots=True)
class Not(_Unary):
    """It does not hold."""


@dataclass(frozen=True, slots=True)
class And(_Binary):
    """Both hold."""


@dataclass(frozen=True, slots=True)
class Or(_Binary):
    """One of them holds, or both."""


@dataclass(frozen=True, slots=True)
class Implies(_Binary):
    """If the left one holds, so does the right one."""


# --- future -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Next(_Unary):
    """It holds at the next position, if there is one."""


@dataclass(frozen=True, slots=True)
class Until(_Binary):
    """The right one comes, and the left one holds until then."""


@dataclass(frozen=True, slots=True)
class WeakUntil(_Binary):
    """The left one holds until the right one comes, or for ever."""


@dataclass(frozen=True, slots=True)
class Always(_Unary):
    """It holds here and at every later position."""


@dataclass(frozen=True, slots=True)
class Eventually(_Unary):
    """It holds here or at some later position."""


@dataclass(frozen=True, slots=True)
class EventuallyWithin(_Unary):
    """It holds here or later, before more than the bound of active time has passed."""


# --- past -------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Previous(_Unary):
    """There is a position before, and it held there."""


@dataclass(frozen=True, slots=True)
class Since(_Binary):
    """The right one held here or earlier, and the left one at every position after that."""


@dataclass(frozen=True, slots=True)
class Once(_Unary):
    """It holds here or held at some earlier position."""


@dataclass(frozen=True, slots=True)
class Historically(_Unary):
    """It holds here and held at every earlier position."""


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
