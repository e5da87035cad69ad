"""The mutation score: how many small bugs the tests find in each module, and which they miss.

    python -m tests.mutation_score.score [--sample N] [--seed S] [--tests FOLDER] [--jobs N] [--list] [MODULE ...]

First each test runs once under a tracer, which writes what lines it runs. Then each bug is put into a copy of the
package, and the tests that run its line run against the copy, the shortest first, until one fails. Results are kept in
`.mutation` and used again while neither the module nor its tests have changed: a run that was interrupted continues.

The exit code is 1 if a bug survives that `survivors.txt` does not list, or a listed one is found or gone.
"""

import argparse
import hashlib
import json
import os
import random
import subprocess
import sys
import tempfile
import threading
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from time import perf_counter

from tests import forked
from tests.mutation import PROJECT, QUICK, replace_module
from tests.mutation_score.operators import Mutant, mutants_of

SOURCE = PROJECT / "src"
SURVIVORS = Path(__file__).with_name("survivors.txt")
RESULTS = PROJECT / ".mutation"
SCOPES = {  # which tests are asked about the modules of a package
    "kron.rules": ("tests/rules", "tests/engine", "tests/architecture/test_values.py", "tests/conformance"),
    "kron.engine": ("tests/engine", "tests/hosts/library", "tests/conformance"),
    "kron.hosts.library": ("tests/hosts/library", "tests/conformance"),
}
KILLED, SURVIVED, UNTESTED, TIMEOUT = "killed", "survived", "untested", "timeout"
_SHORTEST_TIMEOUT = 20.0  # seconds: pytest itself takes some on a busy machine
_TIMEOUT_FACTOR = 10.0  # of what the tests took under the tracer
_PYTEST_PASSED, _PYTEST_USAGE = 0, 4


@dataclass(frozen=True, slots=True)
class CoveringTest:
    """A test, how long it took, and which lines of which file it ran."""

    name: str
    seconds: float
    lines: Mapping[str, frozenset[int]]


def module_path(module: str) -> Path:
    """Return the file of a module."""
    return SOURCE / f"{module.replace('.', '/')}.py"


def modules_of(names: Sequence[str]) -> list[str]:
    """Return the modules that are named, or all below a package that is named; without names those of all scopes."""
    found = []
    for name in names or list(SCOPES):
        folder = module_path(name).with_suffix("")
        files = sorted(folder.rglob("*.py")) if folder.is_dir() else [module_path(name)]
        found += [".".join(file.relative_to(SOURCE).with_suffix("").parts) for file in files]
    return [each for each in dict.fromkeys(found) if not each.endswith("__init__")]


def tests_of(module: str) -> tuple[str, ...]:
    """Return the folders with the tests that are asked about a module."""
    return next((folders for scope, folders in SCOPES.items() if module.startswith(f"{scope}.")), ("tests",))


def covering(mutant: Mutant, tests: Iterable[CoveringTest]) -> list[CoveringTest]:
    """Return the tests that can find a bug, the shortest first.

    These are the tests that run its statement. What runs at import may be seen by all tests that run anything of the
    module, and by those that import a name of it.
    """
    file = str(module_path(mutant.module).relative_to(SOURCE / "kron"))
    found = [test for test in tests if not test.lines.get(file, frozenset[int]()).isdisjoint(mutant.lines)]
    if not found:
        found = [test for test in tests if file in test.lines or imports(test.name.partition("::")[0], mutant.module)]
    return sorted(found, key=lambda test: (test.seconds, test.name))


@cache
def imports(file: str, module: str) -> bool:
    """Whether a file of tests imports a module or names of it."""
    return f"from {module} import" in (PROJECT / file).read_text("utf-8")


def read_line_map(file: Path) -> list[CoveringTest]:
    """Return the tests of a file that `line_map` has written."""
    return [
        CoveringTest(name, test["seconds"], {path: frozenset(lines) for path, lines in test["lines"].items()})
        for name, test in json.loads(file.read_text("utf-8")).items()
    ]


def listed_survivors(text: str) -> dict[str, str]:
    """Return the bugs that may survive, each with its reason; a line is `bug  # reason`."""
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    return {name.strip(): reason.strip() for name, _, reason in (line.rpartition("  # ") for line in lines)}


# --- running ----------------------------------------------------------------------------------------------------------


def digest_of(paths: Iterable[Path]) -> str:
    """Return a hash of files."""
    found = hashlib.sha256()
    for path in sorted(paths):
        found.update(path.read_bytes())
    return found.hexdigest()[:16]


def _python_files(folders: Iterable[str]) -> Iterator[Path]:
    for folder in folders:
        path = PROJECT / folder
        yield from path.rglob("*.py") if path.is_dir() else [path]


def line_map(folders: Sequence[str]) -> list[CoveringTest]:
    """Run the tests of some folders under the tracer, unless neither they nor the package have changed since."""
    digest = digest_of(_python_files(["src/kron", *folders]))
    file = RESULTS / f"lines-{digest}.json"
    if not file.exists():
        print(f"tracing {' '.join(folders)} ...", file=sys.stderr)
        RESULTS.mkdir(exist_ok=True)
        for old in RESULTS.glob("lines-*.json"):
            old.unlink()
        options = ("-o", "addopts=", "-p", "no:xdist", "-q", "-m", "not slow and not cluster")
        plugin = ("-p", "tests.mutation_score.line_map", f"--line-map={file}")
        command = [sys.executable, "-m", "pytest", *options, *plugin, *folders]
        subprocess.run(command, cwd=PROJECT, stdout=sys.stderr, check=False)  # a test that fails is left out
    return read_line_map(file)


def outcome_of(mutant: Mutant, tests: Sequence[CoveringTest]) -> str:
    """Return whether the tests find a bug. Tests that cannot be imported find it, too."""
    if not tests:
        return UNTESTED
    limit = max(_SHORTEST_TIMEOUT, _TIMEOUT_FACTOR * sum(test.seconds for test in tests))
    with tempfile.TemporaryDirectory(prefix="mutant-") as folder:
        package, file = Path(folder, "package"), module_path(mutant.module)
        package.mkdir()
        replace_module(str(file.relative_to(SOURCE / "kron")), mutant.applied(file.read_text("utf-8")), package)
        code = _run(Path(folder), package, [test.name for test in tests], limit)
        if code == _PYTEST_USAGE:  # the bug changes the names of parameters: ask all tests of the files
            code = _run(Path(folder), package, dict.fromkeys(test.name.partition("::")[0] for test in tests), limit)
    if code < 0:
        return TIMEOUT
    return SURVIVED if code == _PYTEST_PASSED else KILLED


def _run(folder: Path, package: Path, tests: Iterable[str], limit: float) -> int:
    """Return the exit code of pytest, or that of a killed process if it takes longer than the limit."""
    names = folder / "tests.txt"
    names.write_text("\n".join(tests), "utf-8")
    environment = {**os.environ, "HYPOTHESIS_STORAGE_DIRECTORY": str(folder / "hypothesis")}
    options = (*QUICK, "--hypothesis-seed=0", f"--basetemp={folder / 'temporary'}", f"@{names}")
    words = (forked.PYTEST, str(package), *options)
    process = forked.Forked(*words, environment=environment, pipes="stdin stdout stderr")
    watchdog = threading.Timer(limit, process.kill)
    watchdog.start()
    try:
        process.communicate()
    finally:
        watchdog.cancel()
    return process.wait()


class Results:
    """The outcomes of earlier runs, by bug; each belongs to one text of its module and of the tests."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._known: dict[tuple[str, str], str] = {}
        self._lock = threading.Lock()
        if file.exists():
            for line in file.read_text("utf-8").splitlines():
                result = json.loads(line)
                self._known[result["mutant"], result["digest"]] = result["outcome"]

    def get(self, mutant: Mutant, digest: str) -> str | None:
        """Return the outcome of a bug, if it is known."""
        return self._known.get((mutant.name, digest))

    def add(self, mutant: Mutant, digest: str, outcome: str) -> None:
        """Write an outcome down at once, so that an interrupted run keeps it."""
        with self._lock:
            self._known[mutant.name, digest] = outcome
            self._file.parent.mkdir(exist_ok=True)
            with self._file.open("a", encoding="utf-8") as file:
                file.write(json.dumps({"mutant": mutant.name, "digest": digest, "outcome": outcome}) + "\n")


# --- reporting --------------------------------------------------------------------------------------------------------


def table(outcomes: Mapping[Mutant, str], accepted: Mapping[str, str]) -> list[str]:
    """Return a row for each module: bugs, found, survived, and the share that was found of those not accepted."""
    rows = [f"{'module':44} {'bugs':>5} {'found':>6} {'left':>5} {'listed':>6}  score"]
    by_module: dict[str, Counter[str]] = {}
    for mutant, outcome in outcomes.items():
        kind = "found" if outcome in (KILLED, TIMEOUT) else "listed" if mutant.name in accepted else "left"
        by_module.setdefault(mutant.module, Counter())[kind] += 1
    total = Counter[str]()
    for module, counts in by_module.items():
        rows.append(_row(module, counts))
        total += counts
    return [*rows, _row("all", total)] if len(by_module) > 1 else rows


def _row(name: str, counts: Counter[str]) -> str:
    asked = counts["found"] + counts["left"]
    score = f"{counts['found'] / asked:.0%}" if asked else "-"
    return f"{name:44} {counts.total():5} {counts['found']:6} {counts['left']:5} {counts['listed']:6}  {score:>5}"


def complaints(outcomes: Mapping[Mutant, str], accepted: Mapping[str, str], whole: Iterable[str]) -> list[str]:
    """Return what has to be done: a test or a reason for each survivor, and entries that are wrong.

    `whole` are the modules of which every bug was tried.
    """
    said = [
        f"{outcome}: {module_path(mutant.module).relative_to(PROJECT)}:{mutant.line}: {mutant.name}"
        for mutant, outcome in outcomes.items()
        if outcome in (SURVIVED, UNTESTED) and mutant.name not in accepted
    ]
    found = {mutant.name for mutant, outcome in outcomes.items() if outcome in (KILLED, TIMEOUT)}
    there = {mutant.name for mutant in outcomes}
    said += [f"listed, but found: {name}" for name in accepted if name in found]
    return said + [
        f"listed, but not there: {name}"
        for name in accepted
        if name not in there and any(name.startswith((f"{module}:", f"{module}.")) for module in whole)
    ]


def _arguments(words: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.mutation_score.score", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("modules", nargs="*", metavar="MODULE", help=f"default: those of {', '.join(SCOPES)}")
    parser.add_argument("--sample", type=int, metavar="N", help="try so many bugs of all")
    parser.add_argument("--seed", type=int, default=0, help="of the sample")
    parser.add_argument("--tests", action="append", metavar="FOLDER", help="ask these tests, not those of the package")
    parser.add_argument("--jobs", type=int, default=1, metavar="N", help="bugs tried at the same time")
    parser.add_argument("--list", action="store_true", help="print the bugs and try none")
    return parser.parse_args(words)


def main(words: Sequence[str] | None = None) -> int:
    """Try the bugs and print the score."""
    options = _arguments(words)
    modules = modules_of(options.modules)
    every = [mutant for module in modules for mutant in mutants_of(module, module_path(module).read_text("utf-8"))]
    chosen = every
    if options.sample is not None and options.sample < len(every):
        kept = set(random.Random(options.seed).sample(range(len(every)), options.sample))
        chosen = [mutant for place, mutant in enumerate(every) if place in kept]
    if options.list:
        print("\n".join(mutant.name for mutant in chosen))
        return 0
    outcomes = try_all(chosen, options.tests, options.jobs)
    accepted = listed_survivors(SURVIVORS.read_text("utf-8"))
    left = complaints(outcomes, accepted, modules if chosen is every else ())
    print("\n".join([*table(outcomes, accepted), "", *left]).strip())
    return 1 if left else 0


def try_all(mutants: Sequence[Mutant], tests: Sequence[str] | None, jobs: int) -> dict[Mutant, str]:
    """Return the outcome of each bug, known or tried now, with the progress on standard error."""
    results = Results(RESULTS / "results.jsonl")
    outcomes: dict[Mutant, str] = {}
    start, tried = perf_counter(), 0
    by_folders: dict[tuple[str, ...], list[Mutant]] = {}
    for mutant in mutants:
        by_folders.setdefault(tuple(tests) if tests else tests_of(mutant.module), []).append(mutant)
    for folders, group in by_folders.items():
        lines = line_map(folders)
        for module in dict.fromkeys(mutant.module for mutant in group):
            _check_without_a_bug(module, lines)
        digests = {
            module: digest_of([module_path(module), *_python_files(folders)])
            for module in {mutant.module for mutant in group}
        }

        def attempt(mutant: Mutant, lines: Sequence[CoveringTest] = lines, digests: Mapping[str, str] = digests) -> str:
            digest = digests[mutant.module]
            outcome = results.get(mutant, digest)
            if outcome is None:
                outcome = outcome_of(mutant, covering(mutant, lines))
                results.add(mutant, digest, outcome)
            return outcome

        with ThreadPoolExecutor(jobs) as pool:
            for mutant, outcome in zip(group, pool.map(attempt, group), strict=True):
                outcomes[mutant] = outcome
                tried += 1
                passed = perf_counter() - start
                print(f"{tried}/{len(mutants)} {passed:.0f} s {outcome}: {mutant.name}"[:150], file=sys.stderr)
    return outcomes


def _check_without_a_bug(module: str, tests: Sequence[CoveringTest]) -> None:
    """Exit if the tests of a module fail without a bug: then every bug would seem to be found."""
    none = Mutant(f"{module}: no bug", module, 1, (), 0, 0, "")
    if outcome_of(none, covering(none, tests)) not in (SURVIVED, UNTESTED):
        sys.exit(f"the tests of {module} fail, or do not end, without a bug")


if __name__ == "__main__":
    sys.exit(main())
