"""Branch coverage of src/kron by the tests of `make test`: the figure, and each module below it.

    python -m tests.branch_coverage.measure [--again] [TEST ...]

Processes count, too: commands that the tests fork, krond, and every other Python that they start, unless it is killed
or starts without `site`, as the spawners of krond do. With tests to run, the figure is shown and not judged. `--again`
judges what the last run has left in `.branch_coverage`.

The exit code is 1 if a test fails, if the package is below the figure, if a module below it is not in `below.txt`, or
if one is listed there and is no longer below.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

PROJECT = Path(__file__).parents[2]
LIST = Path(__file__).with_name("below.txt")
RESULTS = PROJECT / ".branch_coverage"
LEAST = 92.0  # per cent of the branches
_CONFIG = """[run]
branch = true
parallel = true
source = {source}
data_file = {data}
patch =
    _exit
    fork
    subprocess
disable_warnings =
    already-imported
    module-not-imported
    module-not-measured
    no-data-collected
    trace-changed
"""
LEFT_OUT = {  # tests that are not run, and why
    "tests/architecture/test_import.py": "they list what a Python imports, which coverage adds to",
    "tests/architecture/test_test_runs.py": "they judge runs of pytest inside a test",
    "tests/conformance/test_mutants.py": "they run a package with a bug in it",
    "tests/hosts/krond/test_policy_mutants.py": "they run a package with a bug in it",
    "tests/mutation_score": "they trace Python themselves, and run packages with bugs in them",
    "tests/simulator/test_mutants.py": "they run a package with a bug in it",
}


@dataclass(frozen=True, slots=True)
class Branches:
    """The branches of a module, and how many of them were run."""

    all: int
    covered: int

    @property
    def percent(self) -> float:
        """Per cent of the branches that were run; a module without any is complete."""
        return 100.0 * self.covered / self.all if self.all else 100.0


def listed(text: str) -> dict[str, str]:
    """Return the modules of a list with their reasons."""
    rows = (line.partition("#") for line in text.splitlines() if line and not line.startswith("#"))
    return {name.strip(): reason.strip() for name, _, reason in rows}


def below(modules: Mapping[str, Branches]) -> dict[str, Branches]:
    """Return the modules below the figure, the lowest first."""
    ordered = sorted(modules.items(), key=lambda item: item[1].percent)
    return {name: branches for name, branches in ordered if branches.percent < LEAST}


def total(modules: Mapping[str, Branches]) -> Branches:
    """Return the branches of all modules."""
    return Branches(sum(each.all for each in modules.values()), sum(each.covered for each in modules.values()))


def objections(modules: Mapping[str, Branches], reasons: Mapping[str, str]) -> Iterator[str]:
    """Yield what is wrong with a run of all tests."""
    low = below(modules)
    if (percent := total(modules).percent) < LEAST:
        yield f"{percent:.1f} % of the branches are covered, less than {LEAST:.0f} %"
    for name in low:
        if not reasons.get(name):
            yield f"{name} is below {LEAST:.0f} % and has no reason in {LIST.name}: test it, or write the reason"
    for name in sorted(reasons.keys() - low.keys()):
        yield f"{name} is not below {LEAST:.0f} %: remove it from {LIST.name}"


def run_tests(tests: Collection[str], folder: Path) -> int:
    """Run tests and keep what they cover in a folder; return pytest's exit code."""
    shutil.rmtree(folder, ignore_errors=True)
    data = folder / "data"
    data.mkdir(parents=True)
    data.chmod(0o1777)  # processes of other users write there, too
    config = folder / "config"
    config.write_text(_CONFIG.format(source=PROJECT / "src" / "kron", data=data / "coverage"), "utf-8")
    chosen = tests or [f"--ignore={path}" for path in LEFT_OUT]
    command = [
        sys.executable, "-m", "coverage", "run", f"--rcfile={config}",
        "-m", "pytest", "--dist", "worksteal", "-m", "not slow and not cluster", *chosen,
    ]  # fmt: skip
    return subprocess.run(command, cwd=PROJECT, check=False).returncode


def covered(folder: Path) -> dict[str, Branches]:
    """Return the branches of each module after a run."""
    combined, report = folder / "coverage", folder / "report.json"
    if any((folder / "data").iterdir()):
        _coverage(folder, "combine", f"--data-file={combined}", str(folder / "data"))
    _coverage(folder, "json", f"--data-file={combined}", "-o", str(report))
    files = json.loads(report.read_text("utf-8"))["files"]
    return {
        os.path.relpath(PROJECT / name, PROJECT / "src"): Branches(
            found["summary"]["num_branches"], found["summary"]["covered_branches"]
        )
        for name, found in files.items()
    }


def _coverage(folder: Path, command: str, *words: str) -> None:
    program = [sys.executable, "-m", "coverage", command, f"--rcfile={folder / 'config'}", "--quiet", *words]
    subprocess.run(program, cwd=PROJECT, check=True)


def main() -> int:
    """Run and judge; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--again", action="store_true", help="judge the results of the last run")
    parser.add_argument("tests", nargs="*", metavar="TEST", help="run these tests only")
    words = parser.parse_args()
    code = 0 if words.again else run_tests(words.tests, RESULTS)
    modules = covered(RESULTS)
    for name, branches in below(modules).items():
        print(f"{branches.percent:5.1f} %  {branches.covered:4} of {branches.all:4}  {name}")
    whole = total(modules)
    print(f"{whole.percent:5.1f} %  {whole.covered} of {whole.all} branches of the package")
    wrong = [] if words.tests else list(objections(modules, listed(LIST.read_text("utf-8"))))
    if code:
        wrong.append("tests failed")
    print("\n".join(wrong))
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
