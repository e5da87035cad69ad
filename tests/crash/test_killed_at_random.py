"""SIGKILL from outside at random instants, hundreds of times, on a real clock."""

import time
from datetime import timedelta
from pathlib import Path
from random import Random

import pytest

from kron.rules.contract import DECLARATIVE, POLLING, POLLING_DRAFT
from tests.crash.fork_server import ForkServer
from tests.crash.lives import BEGINNING, SchedulerLives

_CONTRACTS = (DECLARATIVE, POLLING, POLLING_DRAFT)
_LONGEST = 0.3  # seconds of a life that is killed: three minutes of schedules
_HOUR = timedelta(hours=1)


def run_lives(fork_server: ForkServer, folder: Path, seed: int) -> SchedulerLives:
    """Tell a story of one to three violent deaths and a quiet end."""
    chance = Random(seed)
    story = SchedulerLives(fork_server, folder / str(seed), _CONTRACTS[seed % len(_CONTRACTS)])
    start, origin = BEGINNING, time.monotonic()
    for _ in range(chance.randint(1, 3)):
        story.live(lasting=_HOUR, clock=(start, origin), seconds=chance.uniform(0, _LONGEST))
        start += timedelta(seconds=chance.choice([0, 0, 45, 400]))  # for so long nothing was running
    story.live(lasting=timedelta(minutes=5), after=timedelta(seconds=chance.choice([0, 10, 300])))
    return story


@pytest.mark.parametrize("seed", range(3))
def test_a_scheduler_killed_at_any_instant_owes_what_it_owed(
    fork_server: ForkServer, quick_folder: Path, seed: int
) -> None:
    assert run_lives(fork_server, quick_folder, seed).complaints() == []


@pytest.mark.slow
@pytest.mark.parametrize("seeds", [range(low, low + 20) for low in range(100, 340, 20)], ids=str)
def test_a_scheduler_killed_hundreds_of_times_owes_what_it_owed(
    fork_server: ForkServer, quick_folder: Path, seeds: range
) -> None:
    complaints = {seed: run_lives(fork_server, quick_folder, seed).complaints() for seed in seeds}

    assert not any(complaints.values()), complaints
