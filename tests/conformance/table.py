"""Write docs/conformance.md: every clause, its contracts, its tests and its verdict.

`python -m tests.conformance.table` runs the suite and writes the page; the verdicts are those of that run.
"""

import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Mapping
from functools import cache
from importlib import import_module
from pathlib import Path
from xml.etree import ElementTree

from tests.conformance.citing import CITATIONS, Citation
from tests.conformance.clause import EVERY, Clause
from tests.conformance.clauses import CLAUSES

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
PAGE = ROOT / "docs" / "conformance.md"
HOLDS, BROKEN = "holds", "broken"

_HEAD = """\
# Conformance

Every demand of the four contracts, the tests that show it, and the result of these tests when this page was written.
`polling-draft`, `polling` and `declarative` are the contracts of the library (`all` means these three), `kron` is that
of krond and the operator. A test runs once under each contract named in its row; `holds` means that every one passed.

A test without a directory is in `tests/conformance`, the others are in the directory of `tests` that their name begins
with. `python -m tests.conformance.table` runs all of them and writes this page. `tests/conformance/mutants.py` lists
bugs, each with the clauses that it violates and the test that fails because of it.
"""


@cache
def citations() -> tuple[Citation, ...]:
    """Return every citation of the suite."""
    for path in sorted(HERE.glob("test_*.py")):
        import_module(f"tests.conformance.{path.stem}")
    return tuple(sorted(CITATIONS, key=lambda citation: citation.test))


def cited_by(clause: Clause) -> list[str]:
    """Return the tests that show the clause: module::test."""
    return [citation.test for citation in citations() if clause.id in citation.clauses] + [
        f"tests.{test.replace('/', '.')}" for test in clause.shown_by
    ]


def place_of(test: str) -> str:
    """Return what pytest calls a test: tests/rules/test_verdict.py::test_…"""
    module, _, name = test.partition("::")
    return f"{module.replace('.', '/')}.py::{name}"


def page(verdicts: Mapping[str, str]) -> str:
    """Return the page with the given verdicts, by clause."""
    sections: dict[str, list[Clause]] = defaultdict(list)
    for clause in CLAUSES:
        sections[clause.section].append(clause)
    holding = sum(verdicts.get(clause.id) == HOLDS for clause in CLAUSES)
    lines = [_HEAD, f"{len(CLAUSES)} clauses, of which {holding} hold."]
    for section, clauses in sections.items():
        lines += ["", f"## {section}", "", "| Clause | Contracts | What must hold | Tests | Verdict |"]
        lines += ["|---|---|---|---|---|", *(_row(clause, verdicts) for clause in clauses)]
    return "\n".join(lines) + "\n"


def verdicts_on_the_page() -> dict[str, str]:
    """Return what the page says of each clause."""
    rows = [line.split(" | ") for line in PAGE.read_text("utf-8").splitlines() if line.startswith("| `")]
    return {row[0].strip("|` "): row[-1].strip("| ") for row in rows}


def verdicts_of_a_run() -> dict[str, str]:
    """Run the suite and return what it says of each clause."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.xml"
        tests = sorted({place_of(test) for clause in CLAUSES for test in cited_by(clause)})
        command = [sys.executable, "-m", "pytest", f"--junitxml={report}", f"--basetemp={folder}/temporary", *tests]
        code = subprocess.run(command, cwd=ROOT, check=False).returncode
        assert code in (0, 1), f"pytest could not run the tests: it ended with {code}"
        cases = list(ElementTree.parse(report).iter("testcase"))
    passed: dict[str, list[bool]] = defaultdict(list)
    for case in cases:
        test = f"{case.get('classname')}::{str(case.get('name')).partition('[')[0]}"
        passed[test].append(len(case) == 0)  # a failure, an error and a skip are all children of their case
    return {clause.id: verdict(clause, passed) for clause in CLAUSES}


def verdict(clause: Clause, passed: Mapping[str, list[bool]]) -> str:
    """Return what a run says of the clause, given how the cases of each test went."""
    if clause.untestable:
        return f"not testable: {clause.untestable}"
    results = [result for test in cited_by(clause) for result in passed.get(test, [False])]
    return HOLDS if results and all(results) else BROKEN


def _row(clause: Clause, verdicts: Mapping[str, str]) -> str:
    contracts = "all" if clause.revisions == EVERY else ", ".join(clause.revisions)
    tests = "<br>".join(f"`{_shown(test)}`" for test in cited_by(clause))
    said = verdicts.get(clause.id, "not yet run")
    return f"| `{clause.id}` | {contracts} | {clause.sentence} | {tests} | {said} |"


def _shown(test: str) -> str:
    return test.removeprefix("tests.").removeprefix("conformance.").replace(".", "/")


if __name__ == "__main__":
    PAGE.write_text(page(verdicts_of_a_run()), "utf-8")
