"""Each bug that violates a clause makes the named test of the clause fail."""

from pathlib import Path

import pytest

from tests.conformance.clauses import CATALOGUE, CLAUSES
from tests.conformance.clauses_kron import PERIODS
from tests.conformance.clauses_theory import FOREVER, THEORY
from tests.conformance.mutant import Mutant
from tests.conformance.mutants import MUTANTS
from tests.conformance.table import cited_by, place_of
from tests.mutation import PACKAGE, changed, copy_package, mutate, run_pytest

STRENGTHENED = {
    "errors.schedule-task", "events.iso-times", "events.required-fields", "events.task-orphaned",
    "failures.no-internals", "polling.last-task-cancelled", "task.three-states", "errors.cron-calculation",
    "errors.no-occurrence", "errors.task-try-deserialize", "errors.task-invalid-structure",
}  # fmt: skip


def name_of(mutant: Mutant) -> str:
    """Return what a case is called."""
    return f"{' '.join(mutant.clauses)} {mutant.module} {MUTANTS.index(mutant)}"


@pytest.mark.slow
@pytest.mark.parametrize("mutant", MUTANTS, ids=name_of)
def test_a_bug_turns_the_test_of_its_clause_red(mutant: Mutant, tmp_path: Path) -> None:
    mutate(mutant, tmp_path)

    found = run_pytest(place_of(f"tests.{mutant.test.replace('/', '.')}"), tmp_path)

    assert found.is_red, found.output


@pytest.mark.slow
def test_the_package_without_a_bug_is_the_one_that_is_copied_and_its_tests_pass(tmp_path: Path) -> None:
    copy_package(tmp_path)

    test = "tests.conformance.test_kron_decisions::test_every_chosen_time_is_a_whole_second_in_utc"
    found = run_pytest(place_of(test), tmp_path)

    assert found.is_green, found.output


@pytest.mark.parametrize("mutant", MUTANTS, ids=name_of)
def test_a_bug_changes_one_place_of_the_code(mutant: Mutant) -> None:
    text = (PACKAGE / mutant.module).read_text("utf-8")

    mutated = changed(mutant, text)

    assert mutated != text
    compile(mutated, mutant.module, "exec")


@pytest.mark.parametrize("mutant", MUTANTS, ids=name_of)
def test_a_bug_names_clauses_and_a_test_that_shows_each_of_them(mutant: Mutant) -> None:
    test = f"tests.{mutant.test.replace('/', '.')}"

    assert [name for name in mutant.clauses if test not in cited_by(CATALOGUE[name])] == []
    assert mutant.clauses


def test_no_two_bugs_are_the_same() -> None:
    bugs = [(mutant.module, mutant.before, mutant.after, mutant.test) for mutant in MUTANTS]

    assert len(set(bugs)) == len(bugs)


def test_every_clause_whose_test_must_bite_has_a_bug() -> None:
    wanted = {*STRENGTHENED, *(each.id for each in (*PERIODS, *THEORY, *FOREVER))}
    caught = {name for mutant in MUTANTS for name in mutant.clauses}

    assert wanted <= {each.id for each in CLAUSES}
    assert wanted - caught == set()
