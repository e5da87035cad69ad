"""Thousands of random scenarios under each contract of the library violate no property."""

import pytest

from tests.simulator.drawn_scenarios import CONTRACTS, draw
from tests.simulator.nightly import lives
from tests.simulator.search import run_and_check

FEW = range(30)
MANY, CHUNK = 1_000, 50
CHUNKS = [range(first, first + CHUNK) for first in range(0, MANY, CHUNK)]


def violations(seeds: range, contract: str) -> list[str]:
    """Return what is violated in the lives of some seeds, and how to see it again."""
    found: list[str] = []
    for seed in seeds:
        try:
            failures = run_and_check(draw(seed, contract))
        except Exception as error:
            error.add_note(f"in the life of seed {seed} under {contract}")
            raise
        again = f"python -m tests.simulator.nightly --minutes 0 --seed {seed}"
        found += [f"{contract}, seed {seed}: {each.violated}: {each.explanation} [{again}]" for each in failures]
    return found


@pytest.mark.parametrize("contract", CONTRACTS)
def test_a_few_lives_violate_nothing(contract: str) -> None:
    found = violations(FEW, contract)

    assert not found, "\n".join(found)


@pytest.mark.slow
@pytest.mark.parametrize("seeds", CHUNKS, ids=lambda seeds: f"{seeds.start} to {seeds.stop - 1}")
@pytest.mark.parametrize("contract", CONTRACTS)
def test_many_lives_violate_nothing(contract: str, seeds: range) -> None:
    found = violations(seeds, contract)

    assert not found, "\n".join(found)


def test_a_seed_always_stands_for_the_same_life() -> None:
    assert all(draw(seed, contract) == draw(seed, contract) for seed in FEW for contract in CONTRACTS)


def test_a_night_without_time_lives_one_seed_under_each_contract() -> None:
    found = [(life.seed, life.contract.name) for life in lives(5, 0.0, lambda: 0.0)]

    assert found == [(5, contract) for contract in CONTRACTS]
