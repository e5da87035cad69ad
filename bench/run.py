"""The command: set up the peers, run the suites, print the tables, and say which promises held."""

import argparse
import os
import platform
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

if __name__ == "__main__":
    sys.path[0] = str(Path(__file__).resolve().parent.parent)  # started as a file: `bench` is found beside `src`

from bench.catalogue import SUITES
from bench.comparison import compare
from bench.environments import BENCH_HOME, ensure, environment_of
from bench.results import Cells, Run
from bench.rows import peer_of
from bench.runner import Plan, run_suites
from bench.tables import Table, promise_table

if TYPE_CHECKING:
    from bench.suite import Suite

_PREFACE = """# Benchmarks

Written by `bench/run.py --report`; what is measured, and how to read it, is in `bench/README.md`. Absolute figures are
those of one machine: compare the ratios."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run what the options ask for and print the tables; return 1 if `--compare` finds a promise missed, else 0."""
    options = _options(arguments)
    baseline = Run.read(options.compare) if options.compare else []  # before the run, which may overwrite this file
    suites = tuple(SUITES[name] for name in options.suite)
    peers = frozenset(options.peers)
    known = {peer_of(peer) for suite in suites for peer in suite.peers}
    for unknown in sorted(peers - known):
        _say(f"NO SUCH PEER in these suites: {unknown}; there are {' '.join(sorted(known))}")
    kept = tuple(run for run in Run.read(options.out) if run.suite not in options.suite) if options.keep else ()
    plan = Plan(suites, peers, options.repeats, {}, options.out, options.patience, options.largest, kept)
    pythons, complaints = {}, []
    for name in sorted({environment_of(peer) for suite in suites for peer in plan.peers_of(suite)}):
        environment = ensure(name, _say)
        pythons[name] = environment.python
        complaints += [f"NOT INSTALLED: {what}: {why}" for what, why in environment.missing.items()]
    for complaint in complaints:
        _say(complaint)
    runs = run_suites(replace(plan, pythons=pythons), _say)
    measured = {run.suite for run in runs}
    suites = tuple(suite for suite in SUITES.values() if suite.name in measured)
    plots = _draw(suites, runs, options.report.parent) if options.report else {}
    text = _report(suites, runs, complaints, plots)
    print(text)
    if options.report:
        options.report.write_text(f"{_PREFACE}\n\n{text}\n", "utf-8")
    if not options.compare:
        return 0
    comparison = compare(suites, baseline, runs)
    print(f"\n## Comparison with {options.compare}\n\n{comparison}")
    return 1 if comparison.missed else 0


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="bench/run.py", description=__doc__)
    names = ",".join(SUITES)
    parser.add_argument(
        "--suite", type=_suite_names, default=list(SUITES), help=f"some of {names}, by comma; default all"
    )
    parser.add_argument("--peers", type=_names, default=[], help="peers beside Kron, by comma; default all")
    parser.add_argument("--repeats", type=int, default=5, help="processes per suite and peer; default 5")
    parser.add_argument("--largest", type=int, help="leave out rows with more tasks than this; default none")
    parser.add_argument("--out", type=Path, default=BENCH_HOME / "results.jsonl", help="one line of JSON per process")
    parser.add_argument("--keep", action="store_true", help="report also on other suites that --out has results of")
    parser.add_argument("--compare", type=_results_file, help="results of an earlier run to compare this one with")
    parser.add_argument("--report", type=Path, help="write the tables to this file, too")
    parser.add_argument(
        "--patience", type=float, default=30, help="seconds to wait for a quiet machine, in all; default 30"
    )
    return parser.parse_args(arguments)


def _names(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]


def _results_file(text: str) -> Path:
    try:
        if Run.read(file := Path(text)):
            return file
    except (OSError, ValueError, TypeError) as problem:
        raise argparse.ArgumentTypeError(f"{text} holds no results of a run: {problem}") from None
    raise argparse.ArgumentTypeError(f"no results in {text}")


def _suite_names(text: str) -> list[str]:
    names = _names(text)
    for name in names:
        if name not in SUITES:
            raise argparse.ArgumentTypeError(f"no suite {name!r}; there are {' '.join(SUITES)}")
    return names


def _report(suites: "Sequence[Suite]", runs: Sequence[Run], complaints: Sequence[str], plots: Mapping[str, str]) -> str:
    parts = [
        f"Python {platform.python_version()}, {os.cpu_count()} cores. Medians of the quiet runs, a process each.",
        "An `x` column says how many times Kron's figure is the peer's. Differences below 1.5x are noise.",
    ]
    promises = []
    for suite in suites:
        cells = Cells(run for run in runs if run.suite == suite.name)
        parts.append(f"## {suite.name}")
        parts += [str(table) for table in suite.tables(cells) if table.rows]
        parts += [plots[suite.name]] if suite.name in plots else []
        parts += [f"FAILED in {suite.name}: {run.peer}, repeat {run.repeat + 1}: {run.error}" for run in cells.failed()]
        promises += suite.promises(cells)
    parts += [_load_table(suites, runs), *complaints, str(promise_table(promises))]
    return "\n\n".join(parts)


def _draw(suites: "Sequence[Suite]", runs: Sequence[Run], folder: Path) -> dict[str, str]:
    """Write the image of each suite that has one into the folder; return the Markdown that shows it."""
    shown = {}
    for suite in suites:
        image = suite.plot(Cells(run for run in runs if run.suite == suite.name)) if suite.plot else ""
        if image:
            (folder / f"{suite.name}.svg").write_text(image, "utf-8")
            shown[suite.name] = f"![{suite.name}]({suite.name}.svg)"
    return shown


def _load_table(suites: "Sequence[Suite]", runs: Sequence[Run]) -> str:
    """Return how much of the machine others used, so that a reader knows how far to trust the rest."""
    rows = []
    for suite in suites:
        loads = sorted(run.others for run in runs if run.suite == suite.name and run.others is not None)
        cells = Cells(run for run in runs if run.suite == suite.name).measured()
        counted = sum(len(cell.counted) for cell in cells)
        if loads:
            rows.append((suite.name, str(len(loads)), str(counted), f"{loads[len(loads) // 2]}", f"{loads[-1]}"))
    header = ("suite", "processes", "counted", "median cores of others", "greatest")
    return str(Table("Load of others", header, rows))


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
