"""SIGKILL when a point is reached for the first, second, third … time, until a life passes; then restarts.

Real processes, real callbacks and a real file on virtual time, so that each death falls where it is meant to.
"""

from datetime import timedelta
from itertools import count
from pathlib import Path

import pytest

from kron.rules.contract import DECLARATIVE, POLLING, POLLING_DRAFT, Contract
from tests.crash.fork_server import ForkServer
from tests.crash.kill_point import Point
from tests.crash.libc_disk import build
from tests.crash.lives import SchedulerLives
from tests.crash.sqlite_disk import library

_PAUSES = [timedelta(seconds=seconds) for seconds in (0, 7, 95)]
_SHORT, _LONG = timedelta(seconds=125), timedelta(minutes=4)

_LONG_SWEEPS = (Point.DISK_STEP, Point.EVENT_EMITTED)

points = pytest.mark.parametrize(
    "point",
    [
        pytest.param(point, id=point.value, marks=[pytest.mark.slow] if point in _LONG_SWEEPS else [])
        for point in Point
        if point is not Point.FILE_STEP
    ],
)


def sweep(fork_server: ForkServer, folder: Path, contract: Contract, point: Point, lasting: timedelta) -> int:
    """Die at every count of a point, restart, die again at another count, restart for good; return how many died."""
    if point is Point.DISK_STEP and library() is None:
        pytest.skip("SQLite's library is not a file of its own here: deaths inside a commit were NOT tried")
    for number in count(1):
        story = SchedulerLives(fork_server, folder / str(number), contract)
        pause = _PAUSES[number % len(_PAUSES)]

        survived = story.live(lasting=lasting, point=point, count=number)
        if number % 2:
            story.live(lasting=lasting, after=pause, point=point, count=1 + number // 2)
        story.live(lasting=lasting, after=pause)

        assert story.complaints() == [], f"died {point.value}, number {number}"
        if survived:
            return number - 1
    raise AssertionError


@points
def test_a_scheduler_killed_at_any_point_owes_what_it_owed(
    fork_server: ForkServer, quick_folder: Path, point: Point
) -> None:
    lasting = _SHORT / 3 if point is Point.DISK_STEP else _SHORT  # each commit is a dozen steps of the disk

    deaths = sweep(fork_server, quick_folder, DECLARATIVE, point, lasting)

    assert deaths >= 10


@pytest.mark.parametrize("contract", [POLLING, POLLING_DRAFT], ids=lambda contract: contract.name)
def test_under_another_contract_a_recorded_start_that_was_cut_off_is_treated_as_it_says(
    fork_server: ForkServer, quick_folder: Path, contract: Contract
) -> None:
    deaths = sweep(fork_server, quick_folder, contract, Point.APPEND_COMMITTED, _SHORT)

    assert deaths >= 10


@pytest.mark.slow
@points
@pytest.mark.parametrize("contract", [DECLARATIVE, POLLING, POLLING_DRAFT], ids=lambda contract: contract.name)
def test_a_longer_life_cut_at_any_point_keeps_every_contract(
    fork_server: ForkServer, quick_folder: Path, contract: Contract, point: Point
) -> None:
    lasting = _LONG / 3 if point is Point.DISK_STEP else _LONG

    deaths = sweep(fork_server, quick_folder, contract, point, lasting)

    assert deaths >= 15


@pytest.mark.slow
def test_a_scheduler_killed_at_any_call_that_changes_a_file_owes_what_it_owed(
    quick_folder: Path, tmp_path: Path
) -> None:
    """Also those of Python's own: the lock, the making of the file and its way to its place."""
    preload = build(tmp_path)
    if preload is None:
        pytest.skip("there is no C compiler here: deaths between two calls of the system were NOT tried")
    with ForkServer(preload) as fork_server:
        deaths = sweep(fork_server, quick_folder, DECLARATIVE, Point.FILE_STEP, _SHORT)

    assert deaths >= 60
