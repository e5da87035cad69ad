"""python -m tests.simulator.nightly --minutes N [--seed S]: simulate new scenarios until one violates a property.

Each seed is lived under every contract of the library. The first violation ends it with 1: its life is shrunk, said on
standard error, and its trace is printed, ready for `kron verify`.
"""

import argparse
import secrets
import sys
import time
from collections.abc import Callable, Iterator
from itertools import count

from kron.simulator.scenario import Scenario
from kron.theory.trace_format import write_event, write_header
from tests.simulator.drawn_scenarios import CONTRACTS, draw
from tests.simulator.search import Counterexample, find_counterexample

_SEEDS = 2**40
_SECONDS = 60
_PERIOD = 10.0  # seconds between two words of progress


def main(arguments: list[str] | None = None) -> int:
    """Return 0 if nothing was violated, 1 otherwise."""
    parser = argparse.ArgumentParser(prog="python -m tests.simulator.nightly", description=__doc__)
    parser.add_argument("--minutes", type=float, required=True, help="how long; the first seed is lived in any case")
    parser.add_argument("--seed", type=int, default=None, help="the first seed; drawn if there is none")
    options = parser.parse_args(arguments)
    first = secrets.randbelow(_SEEDS) if options.seed is None else options.seed
    _say(f"from seed {first}")
    failure = find_counterexample(lives(first, options.minutes * _SECONDS, time.monotonic))
    if failure is None:
        return 0
    report_failure(failure)
    return 1


def lives(first: int, seconds: float, monotonic: Callable[[], float]) -> Iterator[Scenario]:
    """Yield the lives of one seed after the other until the time is over, those of the first in any case."""
    begun = said = monotonic()
    for seed in count(first):
        yield from (draw(seed, contract) for contract in CONTRACTS)
        now = monotonic()
        if now - begun >= seconds:
            _say(f"nothing was violated in {seed - first + 1} seeds")
            return
        if now - said >= _PERIOD:
            said = now
            _say(f"{seed - first + 1} seeds in {now - begun:.0f} s")


def report_failure(failure: Counterexample) -> None:
    """Say what is violated, in which scenario, and print the trace that shows it."""
    scenario = failure.scenario
    _say(f"{failure.violated} is violated under {scenario.contract.name}: {failure.explanation}")
    _say(f"seed {scenario.seed}, from {scenario.start} for {scenario.span} in {scenario.timezone}")
    for job in scenario.jobs:
        _say(f"  {job}")
    _say(f"  {scenario.accidents}")
    print(write_header(scenario.header))
    for position in failure.trace:
        print(write_event(position))


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
