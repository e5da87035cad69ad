"""A scheduler with a bug violates the property that forbids it, and one without violates none."""

import json
import os
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

import pytest

from kron.theory.checker import Checker
from kron.theory.formula import TruthValue
from kron.theory.properties import SUITES
from kron.theory.trace_format import TraceEvent
from tests.mutation import PACKAGE, changed, mutate
from tests.simulator.bugs.mutant import Mutant
from tests.simulator.drawn_scenarios import CONTRACTS
from tests.simulator.mutants import MUTANTS
from tests.simulator.scripted_runs import LIVES, live
from tests.simulator.trial import stories

PROJECT = Path(__file__).parents[2]
FEWEST = 40
LONGEST = 60.0  # seconds that a trial may take on a busy machine; most take one
FEW_SEEDS = range(2)


def violated_by(package: Path, contract: str, wanted: Iterable[str]) -> list[str]:
    """Return the properties that are violated in a trial of the package there; being late is no violation."""
    command = [sys.executable, "-m", "tests.simulator.trial", contract, *wanted]
    paths = {"PYTHONPATH": os.pathsep.join([str(package), str(PROJECT)]), "PYTHONDONTWRITEBYTECODE": "1"}
    try:
        done = subprocess.run(
            command, env={**os.environ, **paths}, cwd=package, capture_output=True, text=True, timeout=LONGEST
        )
        output = done.stdout
    except subprocess.TimeoutExpired as late:
        output = (late.stdout or b"").decode() if not isinstance(late.stdout, str) else late.stdout
    return [json.loads(line)["property"] for line in output.splitlines()]


@pytest.mark.slow
@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_a_bug_is_seen_by_the_property_that_forbids_it(mutant: Mutant, tmp_path: Path) -> None:
    mutate(mutant, tmp_path)

    found = violated_by(tmp_path, mutant.contract, mutant.caught_by)

    assert set(found) & set(mutant.caught_by), f"{mutant.name}: violated are {found or 'none'}"


@pytest.mark.slow
@pytest.mark.parametrize("contract", CONTRACTS)
def test_the_scheduler_without_a_bug_lives_the_same_lives_without_a_violation(contract: str) -> None:
    for name, header, story in stories(contract, FEW_SEEDS):
        checker = Checker(header)

        story(checker.read)

        found = [each for each in checker.report().findings if each.verdict is TruthValue.VIOLATED]
        assert not found, (name, found)


@pytest.mark.parametrize("name", LIVES)
def test_a_written_life_is_recorded(name: str) -> None:
    positions: list[TraceEvent] = []

    live(LIVES[name], "declarative", positions.append)

    assert "InitStart" in {event.kind for event in positions}


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_a_bug_changes_one_place_of_the_code(mutant: Mutant) -> None:
    text = (PACKAGE / mutant.module).read_text()

    mutated = changed(mutant, text)

    assert mutated != text
    compile(mutated, mutant.module, "exec")


def test_the_bugs_are_many_and_no_two_are_the_same() -> None:
    assert len(MUTANTS) >= FEWEST
    assert len({mutant.name for mutant in MUTANTS}) == len(MUTANTS)
    assert len({(mutant.module, mutant.before, mutant.after) for mutant in MUTANTS}) == len(MUTANTS)


def test_a_bug_is_forbidden_by_a_property_of_its_contract() -> None:
    for mutant in MUTANTS:
        assert set(mutant.caught_by) <= {each.name for each in SUITES[mutant.contract].properties}, mutant.name
