"""Every clock passes the suite of the port."""

import asyncio
import time
from datetime import timedelta
from functools import partial

import pytest

from kron.adapters.system_clock import SystemClock
from kron.adapters.virtual_clock import VirtualClock
from kron.instant import SECOND
from kron.simulator.simulation import VirtualLoop
from kron.testing import CLOCK_SUITE
from kron.testing.clock_suite import ClockCheck
from tests.crash.fast_clock import SPEED, FastClock
from tests.hosts.scheduler_harness import NOON

every_check = pytest.mark.parametrize("check", CLOCK_SUITE, ids=lambda check: check.__name__)


async def pass_by(duration: timedelta, *, speed: int = 1) -> None:
    """Let real time pass."""
    await asyncio.wait([asyncio.get_running_loop().create_future()], timeout=duration / SECOND / speed)


@every_check
def test_system(check: ClockCheck) -> None:
    asyncio.run(check(SystemClock(), pass_by))


@every_check
def test_virtual(check: ClockCheck) -> None:
    clock = VirtualClock(NOON)

    asyncio.run(check(clock, clock.advance))


@every_check
def test_virtual_on_the_loop_of_the_simulator(check: ClockCheck) -> None:
    clock = VirtualClock(NOON)

    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        runner.run(check(clock, clock.advance))


@every_check
def test_one_that_is_faster_than_real_time(check: ClockCheck) -> None:
    clock = FastClock(NOON, time.monotonic())

    asyncio.run(check(clock, partial(pass_by, speed=SPEED)))
