"""Run every (suite, peer, repeat) in its own process, with repeats interleaved between the peers."""

import json
import os
import subprocess
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter

from bench.environments import ROOT, environment_of
from bench.load import QUIET, OtherLoad, wait_for_quiet
from bench.results import Run
from bench.rows import peer_of, size_of
from bench.suite import Suite


@dataclass(frozen=True, slots=True)
class Plan:
    """What to run, with which interpreter for which environment, and where to write each run down."""

    suites: tuple[Suite, ...]
    peers: frozenset[str]  # all if empty
    repeats: int
    pythons: Mapping[str, Path]
    results: Path
    patience: float  # seconds, in all, that may be spent on waiting for a quiet machine
    largest: int | None = None  # rows with more tasks than this are left out
    kept: tuple[Run, ...] = ()  # of an earlier time, to stand in the results beside those of this one

    def peers_of(self, suite: Suite) -> tuple[str, ...]:
        """Return the peers, or rows, to measure: Kron is always one of them, because every ratio is to it."""
        wanted = (p for p in suite.peers if not self.peers or peer_of(p) in self.peers or p.startswith("kron"))
        return tuple(p for p in wanted if self.largest is None or size_of(p) <= self.largest)

    def repeats_of(self, suite: Suite, peer: str) -> int:
        """Return how often to measure a peer."""
        repeats = max(self.repeats, suite.fewest_repeats)
        return min(repeats, suite.most_repeats.get(peer, repeats))

    def size(self) -> int:
        """Return the number of processes."""
        return sum(self.repeats_of(suite, peer) for suite in self.suites for peer in self.peers_of(suite))


def run_suites(plan: Plan, say: Callable[[str], None]) -> list[Run]:
    """Run the plan; a peer that fails is named, and not tried again."""
    runs = list(plan.kept)
    failed: set[tuple[str, str]] = set()
    patience = plan.patience
    plan.results.parent.mkdir(parents=True, exist_ok=True)
    with plan.results.open("w", encoding="utf-8") as file:
        file.writelines(json.dumps(run.as_json()) + "\n" for run in plan.kept)
        for number, (suite, peer, repeat) in enumerate(_order(plan), 1):
            if (suite.name, peer) in failed:
                continue
            if runs and (runs[-1].others or 0.0) > QUIET:
                patience = wait_for_quiet(patience)
            run = _measure(suite, peer, repeat, plan.pythons[environment_of(peer)])
            runs.append(run)
            file.write(json.dumps(run.as_json()) + "\n")
            file.flush()
            if run.error:
                failed.add((suite.name, peer))
            load = "" if run.others is None else f", others used {run.others} cores"
            outcome = f"FAILED, skipped from here on: {run.error}" if run.error else f"{run.seconds:.1f} s{load}"
            say(f"[{number:3}/{plan.size()}] {suite.name:8}{peer:24} repeat {repeat + 1}: {outcome}")
    return runs


def _order(plan: Plan) -> Iterator[tuple[Suite, str, int]]:
    for suite in plan.suites:
        peers = {peer: plan.repeats_of(suite, peer) for peer in plan.peers_of(suite)}
        for repeat in range(max(peers.values(), default=0)):
            for peer, repeats in peers.items():
                if repeat < repeats:
                    yield suite, peer, repeat


def _measure(suite: Suite, peer: str, repeat: int, python: Path) -> Run:
    command = [str(python), "-m", "bench.worker", suite.name, peer, str(repeat)]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    environment |= {"TZ": "UTC", "PYTHONHASHSEED": "0"}
    others, start = OtherLoad(), perf_counter()
    figures: dict[str, float] = {}
    facts: dict[str, str] = {}
    try:
        done = subprocess.run(
            command,
            cwd=ROOT,
            env=environment,
            capture_output=True,
            text=True,
            timeout=suite.seconds_allowed,
            check=False,
        )
        answer = json.loads((done.stdout.strip().splitlines() or ["null"])[-1])
        figures, facts, error = answer.get("figures", {}), answer.get("facts", {}), answer.get("error", "")
    except subprocess.TimeoutExpired:
        error = f"did not finish in {suite.seconds_allowed:.0f} s"
    except OSError as problem:
        error = f"could not be started: {problem}"
    except (ValueError, AttributeError):
        error = f"died: {(done.stderr.strip().splitlines() or ['no output'])[-1]}"[:300]
    return Run(suite.name, peer, repeat, figures, facts, error, round(perf_counter() - start, 2), others.cores())
