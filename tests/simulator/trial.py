"""python -m tests.simulator.trial CONTRACT PROPERTY…: run the scripted schedulers until a property is violated.

Out comes a JSON line for each property as it is violated for the first time, on standard output. The lives are the
same each time: first those that are written down, then drawn ones of several kinds.
"""

import json
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import TypeAlias

from kron.rules.contract import PRESETS
from kron.simulator.scenario import CallbackBehaviour, FaultRates, Scenario, SimulatedJob
from kron.simulator.simulation import simulate
from kron.theory.checker import Checker
from kron.theory.results import PropertyResult
from kron.theory.trace_format import TraceEvent, TraceHeader
from tests.simulator.scripted_runs import LIVES, live
from tests.simulator.search import NO_FAULTS

SEEDS = range(12)
_DAY = timedelta(days=1)
_QUICK = CallbackBehaviour(slow=0.0, failing=0.0)
_FAILING = CallbackBehaviour(slow=0.5, longest=timedelta(minutes=10), failing=0.5)
_SLOW = CallbackBehaviour(slow=0.9, longest=timedelta(minutes=90), failing=0.3)
_JOBS = (
    SimulatedJob("hourly", "0 * * * *", timedelta(minutes=10), _FAILING),
    SimulatedJob("half-hourly", "0,30 * * * *", timedelta(minutes=3), _SLOW),
    SimulatedJob("nightly", "30 2 * * *", timedelta(minutes=90), _SLOW),
    SimulatedJob("often", "0-20 0,3,6,9,12,15,18,21 * * *", timedelta(0), _QUICK),
)
_LINES = (
    SimulatedJob("nightly", "30 2 * * * @win(after,3h) @tz(America/New_York)", timedelta(minutes=90), _SLOW),
    SimulatedJob("around", "0 * * * * @win(around,100m)", timedelta(minutes=3), _QUICK),  # windows that overlap
    SimulatedJob(
        "now and then", "0,30 * * * * @win(after,20m) @avoid(between=06:00-16:15)", timedelta(minutes=10), _FAILING
    ),
)
_SPRING = datetime(2026, 3, 28, 9, 17, 5, tzinfo=UTC)
_AUTUMN = datetime(2026, 10, 24, 14, 2, tzinfo=UTC)
_CALM = NO_FAULTS
_STOPS = FaultRates(crashes=0, stops=6, changes=0, freezes=1, jumps=0, faults=0)
_CHANGES = FaultRates(crashes=0, stops=0, changes=12, freezes=0, jumps=0, faults=0)
_CRASHES = FaultRates(crashes=10, stops=1, changes=0, freezes=1, jumps=0, faults=0)
_FAULTS = FaultRates(crashes=0, stops=2, changes=0, freezes=0, jumps=0, faults=10)
_CLOCKS = FaultRates(crashes=2, stops=0, changes=2, freezes=2, jumps=20, faults=0)
_CORRECTIONS = FaultRates(crashes=2, stops=0, changes=2, freezes=2, jumps=15, faults=0, corrections=5)
_LEAPS = FaultRates(
    crashes=0, stops=0, changes=0, freezes=60, jumps=60, faults=0
)  # often both before the loop wakes up
_KINDS = ((_SPRING, _CALM), (_AUTUMN, _CALM), (_SPRING, _STOPS), (_AUTUMN, _CHANGES), (_SPRING, _CRASHES),
    (_AUTUMN, _FAULTS), (_SPRING, _CLOCKS), (_SPRING, _CORRECTIONS), (_AUTUMN, _LEAPS),
)  # fmt: skip

_WITH_LINES = (_CALM, _CHANGES)

Story: TypeAlias = Callable[[Callable[[TraceEvent], object]], object]


def stories(contract: str, seeds: Iterable[int] = SEEDS) -> Iterator[tuple[str, TraceHeader, Story]]:
    """Yield lives: what each is called, its header, and a function that hands over the positions of its trace."""
    for name, life in LIVES.items():
        yield name, TraceHeader(contract), partial(live, life, contract)
    for seed in seeds:
        for number, (start, accidents) in enumerate(_KINDS):
            scenario = Scenario(_JOBS, start, _DAY, seed, PRESETS[contract], "Europe/Paris", accidents)
            yield f"seed {seed} of kind {number}", scenario.header, partial(simulate, scenario)
            if accidents in _WITH_LINES:
                lines = replace(scenario, jobs=_LINES, dialect="extended")
                yield f"seed {seed} of kind {number} with windows", lines.header, partial(simulate, lines)


def main(contract: str, wanted: Iterable[str]) -> None:
    """Live until one of the wanted properties is violated, or there is no life left."""
    reported: set[str] = set()

    def report(name: str, finding: PropertyResult) -> None:
        violated = finding.property.name
        if violated not in reported:
            reported.add(violated)
            print(json.dumps({"property": violated, "life": name, "explanation": finding.explanation}), flush=True)
        if violated in wanted:
            os._exit(0)  # what is wrong with a scheduler may also keep its life from coming to an end

    for name, header, story in stories(contract):
        checker = Checker(header)
        checker.listen(partial(report, name))
        story(checker.read)


if __name__ == "__main__":
    main(sys.argv[1], frozenset(sys.argv[2:]))
