"""Tests of the mutation score: what it runs and prints."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.mutation import PROJECT, QUICK
from tests.mutation_score.operators import Mutant, mutants_of
from tests.mutation_score.score import (
    KILLED,
    SCOPES,
    SURVIVED,
    SURVIVORS,
    TIMEOUT,
    UNTESTED,
    CoveringTest,
    Results,
    complaints,
    covering,
    digest_of,
    listed_survivors,
    module_path,
    modules_of,
    outcome_of,
    read_line_map,
    table,
)

VERDICT = "kron.rules.verdict"
FILE = "rules/verdict.py"
TWO_TESTS = """
from kron.instant import parse_instant
from kron.rules.verdict import lateness
NOON = parse_instant("2026-03-02T12:00:00Z")
def test_good(): assert lateness(NOON, NOON) == 0
def test_bad(): assert lateness(NOON, NOON) == 1
"""


def bug(name: str = "kron.rules.verdict: bug", *, lines: tuple[int, ...] = (5,)) -> Mutant:
    return Mutant(name, VERDICT, 5, lines, 0, 0, "")


def ran(name: str, seconds: float, lines: set[int], file: str = FILE) -> CoveringTest:
    return CoveringTest(name, seconds, {file: frozenset(lines)})


# --- which tests are asked --------------------------------------------------------------------------------------------


def test_the_tests_that_run_the_line_are_asked_and_the_shortest_first() -> None:
    slow, quick = ran("tests/slow.py::t", 2.0, {4, 5}), ran("tests/quick.py::t", 1.0, {5})
    beside = ran("tests/beside.py::t", 0.1, {4})

    assert covering(bug(), [slow, beside, quick]) == [quick, slow]


def test_a_line_that_runs_at_import_is_tested_by_all_tests_that_import_or_run_its_module() -> None:
    touching, importing = (
        ran("tests/a.py::t", 1.0, {1}),
        ran("tests/rules/test_verdict.py::t", 2.0, {1}, "x.py"),
    )
    (PROJECT / "tests" / "rules" / "test_policy.py").read_text("utf-8")
    other = ran("tests/rules/test_policy.py::t", 1.0, {1}, "x.py")

    assert covering(bug(lines=(99,)), [touching, importing, other]) == [touching, importing]


def test_all_modules_of_a_package_are_asked_about_but_its_init() -> None:
    found = modules_of(["kron.engine"])

    assert "kron.engine.loop" in found
    assert "kron.engine.jobs.step" in found
    assert not any(each.endswith("__init__") for each in found)


def test_every_scope_is_there() -> None:
    assert all(module_path(scope).with_suffix("").is_dir() for scope in SCOPES)
    assert all((PROJECT / folder).exists() for folders in SCOPES.values() for folder in folders)


def test_a_line_map_names_the_lines_that_a_test_ran(tmp_path: Path) -> None:
    file = tmp_path / "lines.json"
    file.write_text(json.dumps({"a::t": {"seconds": 0.5, "lines": {FILE: [1, 2]}}}))

    assert read_line_map(file) == [ran("a::t", 0.5, {1, 2})]


def test_the_line_map_of_a_run_has_the_lines_of_tests_that_pass(tmp_path: Path) -> None:
    (tmp_path / "test_lines.py").write_text(TWO_TESTS)
    plugin = ("-p", "tests.mutation_score.line_map", f"--line-map={tmp_path / 'lines.json'}")
    command = [sys.executable, "-m", "pytest", *QUICK[:-2], *plugin, f"--rootdir={tmp_path}", str(tmp_path)]
    subprocess.run(command, cwd=PROJECT, capture_output=True, check=False)

    [found] = read_line_map(tmp_path / "lines.json")

    text = module_path(VERDICT).read_text("utf-8").splitlines()
    assert found.name.endswith("::test_good")
    assert any("// SECOND" in text[line - 1] for line in found.lines[FILE])
    assert not any("start_before" in text[line - 1] for line in found.lines[FILE])


# --- whether they find it ---------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_bug_is_found_by_a_test_and_no_bug_is_not() -> None:
    text = module_path(VERDICT).read_text("utf-8")
    found = next(each for each in mutants_of(VERDICT, text) if each.name.startswith(f"{VERDICT}.is_late"))
    tests = [ran("tests/rules/test_verdict.py", 1.0, {1})]

    assert outcome_of(found, tests) == KILLED
    assert outcome_of(bug(), tests) == SURVIVED


def test_a_bug_that_no_test_runs_is_untested() -> None:
    assert outcome_of(bug(), []) == UNTESTED


def test_an_outcome_is_known_to_the_next_run_until_a_file_changes(tmp_path: Path) -> None:
    source = tmp_path / "module.py"
    source.write_text("one")
    before = digest_of([source])
    Results(tmp_path / "results").add(bug(), before, KILLED)
    source.write_text("two")

    again = Results(tmp_path / "results")

    assert again.get(bug(), before) == KILLED
    assert again.get(bug(), digest_of([source])) is None


# --- what is said -----------------------------------------------------------------------------------------------------


def test_the_score_is_the_share_of_bugs_that_were_found_without_those_that_are_listed() -> None:
    outcomes = {bug("a"): KILLED, bug("b"): TIMEOUT, bug("c"): SURVIVED, bug("d"): SURVIVED}

    row = table(outcomes, {"d": "a reason"})[-1]

    assert row.split() == [VERDICT, "4", "2", "1", "1", "67%"]


def test_a_survivor_that_is_not_listed_is_reported_with_its_place() -> None:
    said = complaints({bug("a"): SURVIVED, bug("b"): SURVIVED}, {"b": "a reason"}, ())

    assert said == ["survived: src/kron/rules/verdict.py:5: a"]


def test_a_listed_bug_that_is_found_or_gone_is_reported() -> None:
    listed = {"kron.rules.verdict: a": "x", "kron.rules.verdict.f: gone": "x", "kron.rules.due: other": "x"}

    said = complaints({bug("kron.rules.verdict: a"): KILLED}, listed, [VERDICT])

    assert said == ["listed, but found: kron.rules.verdict: a", "listed, but not there: kron.rules.verdict.f: gone"]


def test_a_listed_bug_is_there_and_has_a_reason() -> None:
    listed = listed_survivors(SURVIVORS.read_text("utf-8"))
    modules = {name.partition(":")[0] for name in listed}
    names = {
        mutant.name
        for module in modules_of([])
        if any(each == module or each.startswith(f"{module}.") for each in modules)
        for mutant in mutants_of(module, module_path(module).read_text("utf-8"))
    }

    assert set(listed) <= names
    assert all(listed.values())
