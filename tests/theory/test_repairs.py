"""The documents' own formulas, executed: each defect on the word that shows it."""

import pytest

from kron.theory.automaton import Automaton
from kron.theory.formula import EventuallyWithin, Formula, TruthValue, definitions, walk
from kron.theory.properties import E6, T3
from tests.theory import originals
from tests.theory.repairs import DEFECTS, DILEMMAS, Defect, Dilemma, Way, word
from tests.theory.semantics import Word, meaning


def of(row: Defect | Dilemma) -> str:
    return f"{row.name}: {row.witness if isinstance(row, Defect) else row.beginning}"


@pytest.mark.parametrize("defect", DEFECTS, ids=of)
def test_the_literal_formula_says_on_the_witness_what_it_does_not_mean(defect: Defect) -> None:
    assert meaning(defect.literal, word(defect.witness)) is defect.says


@pytest.mark.parametrize("defect", DEFECTS, ids=of)
def test_the_repaired_formula_says_on_the_witness_what_it_means(defect: Defect) -> None:
    assert meaning(defect.repaired, word(defect.witness)) is defect.should


@pytest.mark.parametrize("defect", DEFECTS, ids=of)
def test_a_witness_distinguishes_the_two_formulas(defect: Defect) -> None:
    assert defect.says is not defect.should


@pytest.mark.parametrize("defect", DEFECTS, ids=of)
def test_the_formulas_that_a_defect_shows_differ(defect: Defect) -> None:
    literal, repaired = definitions(defect.literal), definitions(defect.repaired)

    assert all(str(literal.get(name)) != str(repaired.get(name)) for name in defect.shown)


@pytest.mark.parametrize("defect", DEFECTS, ids=of)
def test_the_automaton_says_the_same_about_both(defect: Defect) -> None:
    for formula in (defect.literal, defect.repaired):
        if not needs_a_clock(formula):
            assert by_automaton(formula, word(defect.witness)) is meaning(formula, word(defect.witness))


def needs_a_clock(formula: Formula) -> bool:
    return any(isinstance(part, EventuallyWithin) for part in walk(formula))


def by_automaton(formula: Formula, read: Word) -> TruthValue:
    automaton = Automaton([formula])
    state = automaton.START
    for letter in read.letters:
        state = automaton.step(state, letter)
    return automaton.verdicts(state)[0]


@pytest.mark.parametrize(
    ("dilemma", "way"),
    [(dilemma, way) for dilemma in DILEMMAS for way in dilemma.ways],
    ids=lambda value: of(value) if isinstance(value, Dilemma) else value.how,
)
def test_every_way_on_from_a_dilemma_is_wrong(dilemma: Dilemma, way: Way) -> None:
    assert meaning(way.formula, word(f"{dilemma.beginning} {way.word}")) is way.says
    assert way.says is not TruthValue.HOLDS


@pytest.mark.parametrize("dilemma", DILEMMAS, ids=of)
def test_the_beginning_of_a_dilemma_is_not_wrong(dilemma: Dilemma) -> None:
    assert all(meaning(way.formula, word(dilemma.beginning)) is not TruthValue.VIOLATED for way in dilemma.ways)
    assert meaning(originals.theory().s1, word(dilemma.beginning)) is TruthValue.HOLDS


def test_theorem_3_is_broken_where_its_premise_holds() -> None:
    witness = next(defect.witness for defect in DEFECTS if defect.name.startswith("M6"))

    assert meaning(originals.theory().s1, word(witness)) is TruthValue.HOLDS
    assert meaning(T3.formula, word(witness)) is TruthValue.VIOLATED


@pytest.mark.parametrize("text", ["I Due RS REs", "I Due RS REf RetryDue RS REs", "I SS SE I Due RS REs"])
def test_on_ordinary_days_the_document_and_the_repaired_theory_agree(text: str) -> None:
    assert {meaning(each, word(text)) for each in (*originals.theory(), E6.formula)} == {TruthValue.HOLDS}
