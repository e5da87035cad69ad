"""A host of jobs that dies at the first, second, third … append to its ledger, until a life passes."""

import asyncio
from datetime import timedelta
from itertools import count
from pathlib import Path

import pytest

from tests.faults.crashing_host import HostLives, When

_PAUSES = [timedelta(seconds=seconds) for seconds in (0, 7, 95, 600)]
sides = pytest.mark.parametrize("when", When, ids=lambda when: when.value)


def sweep(folder: Path, when: When, stride: int) -> int:
    """Die at every so many-th append, and come back for good; return how many died."""
    for number in count():
        place = folder / str(number)
        place.mkdir()
        lives = HostLives(place, 1 + number * stride, when, _PAUSES[number % len(_PAUSES)])

        complaints = asyncio.run(lives.run())

        assert complaints == [], f"died at append {1 + number * stride}, {when.value}"
        if not lives.has_died:
            return number
    raise AssertionError


@sides
def test_after_a_death_at_any_append_each_period_has_one_outcome_and_no_process_is_forgotten(
    quick_folder: Path, when: When
) -> None:
    assert sweep(quick_folder, when, 17) >= 5


@pytest.mark.slow
@sides
def test_a_host_that_dies_at_any_append_keeps_every_promise(quick_folder: Path, when: When) -> None:
    assert sweep(quick_folder, when, 1) >= 100
