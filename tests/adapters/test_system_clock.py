"""Tests of SystemClock: it reads the host's time and waits for it."""

import asyncio
import time
from datetime import UTC, datetime, timedelta

import pytest

from kron.adapters.system_clock import SystemClock
from kron.engine.clock_watch import WakeUp
from kron.instant import SECOND

DAY = timedelta(days=1)


def test_now_is_an_instant() -> None:
    assert SystemClock().now().tzinfo is UTC


def test_monotonic_time_does_not_go_back() -> None:
    clock = SystemClock()

    readings = [clock.monotonic() for _ in range(100)]

    assert readings == sorted(readings)


async def test_a_deadline_that_has_passed_lets_others_have_a_turn() -> None:
    other = asyncio.ensure_future(asyncio.wait([asyncio.get_running_loop().create_future()], timeout=0))

    await SystemClock().wait_until(datetime(2000, 1, 1, tzinfo=UTC), WakeUp())

    other.cancel()


async def test_a_deadline_is_waited_for() -> None:
    clock = SystemClock()
    deadline = clock.now() + timedelta(milliseconds=20)

    await clock.wait_until(deadline, WakeUp())

    assert clock.now() >= deadline - timedelta(milliseconds=5)


async def test_a_wake_ends_a_wait_for_tomorrow() -> None:
    clock, wake = SystemClock(), WakeUp()
    asyncio.get_running_loop().call_soon(wake.set)

    await clock.wait_until(clock.now() + DAY, wake)

    assert wake.is_set()


async def test_a_wait_without_a_deadline_ends_with_a_wake() -> None:
    clock, wake = SystemClock(), WakeUp()
    asyncio.get_running_loop().call_soon(wake.set)

    await clock.wait_until(None, wake)

    assert wake.is_set()


@pytest.mark.slow
async def test_a_process_that_does_not_run_while_the_disk_is_waited_for_stood_still() -> None:
    clock, begun = SystemClock(), time.monotonic()
    with clock.busy(watched=True):
        asyncio.get_running_loop().call_later(0.2, time.sleep, 2.5)  # as if it was stopped
        await asyncio.wait([asyncio.get_running_loop().create_future()], timeout=0.3)

    assert 1 < clock.stood_still() / SECOND <= time.monotonic() - begun


@pytest.mark.slow
async def test_a_disk_that_is_slow_does_not_stand_still() -> None:
    clock = SystemClock()
    with clock.busy(watched=True):
        await asyncio.wait([asyncio.get_running_loop().create_future()], timeout=2.5)

    assert not clock.stood_still()
