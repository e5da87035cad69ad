"""Tests of Automaton: letter by letter it agrees with the definition, in bounded memory."""

from random import Random

import pytest
from hypothesis import given, strategies as st

from kron.theory.automaton import Automaton
from kron.theory.formula import (
    Always,
    Atom,
    Eventually,
    Formula,
    Letter,
    Next,
    Previous,
    Since,
    TruthValue,
    Until,
    WeakUntil,
)
from tests.theory.formula_strategies import ATOMS, formulas, letters, past_formulas, words
from tests.theory.semantics import Word, meaning, violated_at

P, Q = Atom("p"), Atom("q")


def read(automaton: Automaton, word: list[Letter]) -> int:
    state = automaton.START
    for letter in word:
        state = automaton.step(state, letter)
    return state


@given(formulas, words)
def test_the_verdict_of_an_automaton_is_that_of_the_definition(formula: Formula, word: list[Letter]) -> None:
    automaton = Automaton([formula])

    assert automaton.verdicts(read(automaton, word)) == [meaning(formula, Word(word))]


@given(st.lists(formulas, min_size=2, max_size=3), words)
def test_formulas_judged_together_are_judged_as_they_are_alone(several: list[Formula], word: list[Letter]) -> None:
    automaton = Automaton(several)

    assert automaton.verdicts(read(automaton, word)) == [meaning(formula, Word(word)) for formula in several]


@given(formulas, words)
def test_a_violation_is_noticed_at_the_first_position_that_proves_it(formula: Formula, word: list[Letter]) -> None:
    automaton = Automaton([formula])
    broken = [k for k in range(len(word)) if automaton.violated(read(automaton, word[: k + 1]))]

    assert (broken[0] if broken else None) == violated_at(formula, Word(word))


@given(formulas, words)
def test_a_violated_formula_stays_violated(formula: Formula, word: list[Letter]) -> None:
    automaton = Automaton([formula])
    broken = [bool(automaton.violated(read(automaton, word[:length]))) for length in range(len(word) + 1)]

    assert broken == sorted(broken)


@given(past_formulas, st.lists(letters, min_size=1, max_size=8))
def test_a_watched_formula_is_known_at_each_position(formula: Formula, word: list[Letter]) -> None:
    automaton = Automaton([], [formula])

    known = [automaton.tracked(read(automaton, word[: k + 1]))[0] for k in range(len(word))]

    assert known == [holds_at(formula, word, k) for k in range(len(word))]


def holds_at(formula: Formula, word: list[Letter], at: int) -> bool:
    """Whether a formula without future holds at a position: it is shifted there by as many X."""
    shifted = formula
    for _ in range(at):
        shifted = Next(shifted)
    return meaning(shifted, Word(word)) is TruthValue.HOLDS


@given(formulas, words, st.integers(0, 30))
def test_resting_is_seeing_nothing_often_enough(formula: Formula, word: list[Letter], more: int) -> None:
    automaton = Automaton([formula])
    state = automaton.stutter(read(automaton, word))

    assert automaton.stutter(read(automaton, word + [frozenset()] * more)) == state
    assert automaton.step(state, frozenset()) == state


@pytest.mark.parametrize("seed", range(5))
def test_the_table_stops_growing(seed: int) -> None:
    automaton = Automaton(
        [Always(P >> Next(WeakUntil(~P, Q))), Always(P >> Previous(Since(~Q, P))), Always(Until(P, Q))]
    )
    choose = Random(seed).choice
    some = [frozenset(), frozenset("p"), frozenset("q"), frozenset("pq")]
    state = automaton.START
    for _ in range(2_000):
        state = automaton.step(state, choose(some))
    met = len(automaton)

    for _ in range(2_000):
        state = automaton.step(state, choose(some))

    assert len(automaton) <= met + 2
    assert len(automaton) < 64


def test_a_formula_that_may_still_hold_is_open_and_one_that_held_is_not() -> None:
    automaton = Automaton([Eventually(P)])

    assert automaton.verdicts(read(automaton, [frozenset()])) == [TruthValue.UNDECIDED]
    assert automaton.verdicts(read(automaton, [frozenset(), frozenset("p")])) == [TruthValue.HOLDS]


def test_at_the_last_position_next_holds() -> None:
    automaton = Automaton([Next(P)])

    assert automaton.verdicts(read(automaton, [frozenset()])) == [TruthValue.HOLDS]
    assert automaton.verdicts(read(automaton, [frozenset(), frozenset()])) == [TruthValue.VIOLATED]


def test_the_atoms_of_the_strategies_are_those_of_this_file() -> None:
    assert {P.name, Q.name} < set(ATOMS)
