"""Formulas: printed in the theory's notation with minimal brackets, and aware of their parts."""

from dataclasses import FrozenInstanceError, fields, replace

import pytest
from hypothesis import given

from kron.theory.formula import (
    FALSE,
    TRUE,
    Always,
    And,
    Atom,
    Eventually,
    EventuallyWithin,
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
    definitions,
    looks_ahead,
    walk,
)
from kron.theory.properties import SUITES
from tests.theory.formula_strategies import formulas, past_formulas

P, Q, R = Atom("p"), Atom("q"), Atom("r")

# --- printing ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("formula", "text"),
    [
        (TRUE, "true"),
        (FALSE, "false"),
        (P, "p"),
        (~P, "¬p"),
        (~~P, "¬¬p"),
        (P & Q, "p ∧ q"),
        (P | Q, "p ∨ q"),
        (P >> Q, "p → q"),
        (Next(P), "X p"),
        (Always(P), "G p"),
        (Eventually(P), "F p"),
        (EventuallyWithin(P), "F≤ p"),
        (Previous(P), "Y p"),
        (Once(P), "O p"),
        (Historically(P), "H p"),
        (Until(P, Q), "p U q"),
        (WeakUntil(P, Q), "p W q"),
        (Since(P, Q), "p S q"),
    ],
    ids=str,
)
def test_every_operator_has_its_sign(formula: Formula, text: str) -> None:
    assert str(formula) == text


@pytest.mark.parametrize(
    ("formula", "text"),
    [
        (P >> (Q | (R & P)), "p → q ∨ r ∧ p"),
        ((P | Q) & R, "(p ∨ q) ∧ r"),
        ((P >> Q) | R, "(p → q) ∨ r"),
        (P & Until(Q, R), "p ∧ q U r"),
        (Until(P & Q, R), "(p ∧ q) U r"),
        (Since(~P, Always(Q)), "¬p S G q"),
        (~(P & Q), "¬(p ∧ q)"),
        (Always(P >> Next(WeakUntil(~P, Q))), "G (p → X (¬p W q))"),
        (~Previous(Since(P, Q)), "¬Y (p S q)"),
        (Always(Eventually(P)), "G F p"),
    ],
    ids=str,
)
def test_brackets_stand_where_it_is_bound_more_loosely_than_what_surrounds_it(formula: Formula, text: str) -> None:
    assert str(formula) == text


@pytest.mark.parametrize(
    ("formula", "text"),
    [
        ((P & Q) & R, "p ∧ q ∧ r"),
        (P & (Q & R), "p ∧ (q ∧ r)"),
        ((P | Q) | R, "p ∨ q ∨ r"),
        (P | (Q | R), "p ∨ (q ∨ r)"),
        ((P >> Q) >> R, "(p → q) → r"),
        (P >> (Q >> R), "p → (q → r)"),
        (Until(Until(P, Q), R), "(p U q) U r"),
        (Until(P, WeakUntil(Q, R)), "p U (q W r)"),
    ],
    ids=str,
)
def test_a_chain_is_read_from_the_left_and_only_and_and_or_form_chains(formula: Formula, text: str) -> None:
    assert str(formula) == text


@given(formulas)
def test_a_printed_formula_is_read_back(formula: Formula) -> None:
    unfolded = without_names(formula)

    assert read(str(unfolded)) == unfolded


def test_an_abbreviation_is_printed_by_its_name() -> None:
    both = Named("Both", P & Q)

    assert str(both) == "Both"
    assert str(~both | R) == "¬Both ∨ r"


_PREFIXES: dict[str, type[Formula]] = {
    "¬": Not, "X": Next, "G": Always, "F": Eventually, "Y": Previous, "O": Once, "H": Historically,
}  # fmt: skip
_LEVELS: list[dict[str, type[Formula]]] = [
    {"→": Implies}, {"∨": Or}, {"∧": And}, {"U": Until, "W": WeakUntil, "S": Since},
]  # fmt: skip


def read(text: str) -> Formula:
    """Return the formula that a text writes."""
    words = text.replace("(", " ( ").replace(")", " ) ").replace("¬", " ¬ ").split()[::-1]
    formula = _read_level(words, 0)
    assert not words
    return formula


def _read_level(words: list[str], level: int) -> Formula:
    if level == len(_LEVELS):
        return _read_unary(words)
    left = _read_level(words, level + 1)
    while words and words[-1] in _LEVELS[level]:
        operator = _LEVELS[level][words.pop()]
        left = operator(left, _read_level(words, level + 1))  # type: ignore[call-arg] # all of them take two
    return left


def _read_unary(words: list[str]) -> Formula:
    word = words.pop()
    if word == "(":
        inner = _read_level(words, 0)
        assert words.pop() == ")"
        return inner
    if word in _PREFIXES:
        return _PREFIXES[word](_read_unary(words))  # type: ignore[call-arg] # all of them take one
    return {"true": TRUE, "false": FALSE}.get(word) or Atom(word)


def without_names(formula: Formula) -> Formula:
    """Return the formula with every abbreviation written out."""
    if isinstance(formula, Named):
        return without_names(formula.body)
    parts = [without_names(part) for part in formula.parts]
    return type(formula)(*parts) if parts else formula


# --- parts ------------------------------------------------------------------------------------------------------------


def test_the_parts_of_a_formula_come_innermost_first() -> None:
    formula = Always(P >> Previous(Q))

    assert [str(part) for part in walk(formula)] == ["p", "q", "Y q", "p → Y q", "G (p → Y q)"]


def test_definitions_come_before_those_that_use_them() -> None:
    inner = Named("Inner", P & Q)
    outer = Named("Outer", ~inner)

    assert list(definitions(Always(outer >> inner)).items()) == [("Inner", P & Q), ("Outer", ~inner)]


def test_a_formula_without_abbreviations_defines_nothing() -> None:
    assert definitions(Always(P)) == {}


@pytest.mark.parametrize("contract", SUITES)
def test_no_abbreviation_of_a_suite_has_two_meanings(contract: str) -> None:
    named = {part for each in SUITES[contract].properties for part in walk(each.formula) if isinstance(part, Named)}

    assert len({part.name for part in named}) == len(named)


@pytest.mark.parametrize(
    "formula", [Next(P), Until(P, Q), WeakUntil(P, Q), Always(P), Eventually(P), EventuallyWithin(P)], ids=str
)
def test_a_formula_with_a_future_operator_looks_ahead_however_deep_it_is(formula: Formula) -> None:
    assert looks_ahead(formula)
    assert looks_ahead(Named("M", ~(P & (Q | formula))))


@given(past_formulas)
def test_a_formula_of_past_operators_does_not_look_ahead(formula: Formula) -> None:
    assert not looks_ahead(formula)


# --- values -----------------------------------------------------------------------------------------------------------


@given(formulas)
def test_equal_formulas_are_equal_values(formula: Formula) -> None:
    twin = replace(formula)

    assert twin is not formula
    assert twin == formula
    assert hash(twin) == hash(formula)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (Until(P, Q), WeakUntil(P, Q)),
        (P & Q, P | Q),
        (P & Q, Q & P),
        (Atom("p"), Named("p", P)),
        (Always(P), Eventually(P)),
        (TRUE, FALSE),
        (Named("M", P), Named("M", Q)),
    ],
    ids=str,
)
def test_formulas_that_are_built_differently_are_different(one: Formula, other: Formula) -> None:
    assert one != other
    assert len({one, other}) == 2


@pytest.mark.parametrize("formula", [P, TRUE, ~P, P & Q, Named("M", P)], ids=str)
def test_a_formula_never_changes(formula: Formula) -> None:
    for field in fields(formula):
        with pytest.raises(FrozenInstanceError):
            setattr(formula, field.name, Q)


def test_the_signs_of_python_build_formulas() -> None:
    assert Not(P) == ~P
    assert (And(P, Q), Or(P, Q), Implies(P, Q)) == (P & Q, P | Q, P >> Q)
