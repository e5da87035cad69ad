"""Tests of VirtualClock: time passes only when a test advances it."""

import asyncio
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from kron import Scheduler
from kron.testing import VirtualClock
from tests.hosts.scheduler_harness import HOUR, MINUTE, NOON, SECOND, SchedulerHarness, run


def test_a_virtual_clock_stands_still_until_it_is_advanced() -> None:
    assert VirtualClock(NOON).now() == NOON


def test_a_start_in_another_zone_is_an_instant() -> None:
    paris = datetime.fromisoformat("2026-03-01T13:00:00+01:00")

    assert VirtualClock(paris).now() == NOON


def test_time_does_not_run_backwards() -> None:
    with pytest.raises(ValueError, match="jump"):
        run(VirtualClock(NOON).advance(-SECOND))


async def test_sleepers_wake_at_their_instant_in_their_order() -> None:
    clock, woken = VirtualClock(NOON), []

    async def sleep(duration: timedelta) -> None:
        await clock.sleep(duration)
        woken.append(clock.now())

    sleepers = [asyncio.ensure_future(sleep(n * SECOND)) for n in (3, 1, 2, 10)]
    await clock.advance(5 * SECOND)

    assert woken == [NOON + n * SECOND for n in (1, 2, 3)]
    sleepers[-1].cancel()


async def test_a_jump_does_not_shorten_a_sleep() -> None:
    clock = VirtualClock(NOON)
    sleeper = asyncio.ensure_future(clock.sleep(HOUR))
    await clock.advance(timedelta(0))

    clock.jump(2 * HOUR)
    await clock.advance(59 * MINUTE)
    early = sleeper.done()
    await clock.advance(MINUTE)

    assert (early, sleeper.done()) == (False, True)
    assert clock.now() == NOON + 3 * HOUR


async def test_advancing_to_an_instant_ends_there() -> None:
    clock = VirtualClock(NOON)

    await clock.advance_to(datetime(2026, 3, 2, tzinfo=UTC))

    assert clock.now() == datetime(2026, 3, 2, tzinfo=UTC)


async def test_advance_returns_though_a_callback_waits_for_something_else() -> None:
    harness, forever = SchedulerHarness(), asyncio.Event()
    scheduler = harness.scheduler()

    async def wait() -> None:
        await forever.wait()

    await scheduler.initialize([harness.task(then=wait)])
    await harness.clock.advance(3 * HOUR)
    forever.set()
    await harness.clock.advance(timedelta(0))

    assert harness.starts == [NOON, NOON + 3 * HOUR - 30 * SECOND]
    await scheduler.stop()


async def test_advance_returns_though_a_callback_never_rests() -> None:
    harness, resting = SchedulerHarness(), asyncio.Event()
    scheduler = harness.scheduler()

    async def spin() -> None:
        while not resting.is_set():
            await harness.clock.sleep(timedelta(0))

    await scheduler.initialize([harness.task(then=spin)])
    await harness.clock.advance(MINUTE)
    resting.set()

    assert harness.starts == [NOON]
    await scheduler.stop()


async def test_the_ledgers_thread_is_waited_for(tmp_path: Path) -> None:
    harness = SchedulerHarness()
    scheduler = harness.scheduler(ledger=tmp_path / "ledger.db")
    await scheduler.initialize([harness.task()])

    await harness.clock.advance(24 * HOUR)

    assert harness.starts == [NOON + n * HOUR for n in range(24)]
    await scheduler.stop()


async def test_an_initialize_under_way_is_settled(tmp_path: Path) -> None:
    harness = SchedulerHarness(NOON)
    scheduler = harness.scheduler(ledger=tmp_path / "ledger.db")
    initializing = asyncio.ensure_future(scheduler.initialize([harness.task()]))

    await harness.clock.advance(timedelta(0))

    assert initializing.done()
    assert harness.starts == [NOON]
    await scheduler.stop()


async def test_two_schedulers_share_a_clock() -> None:
    harness = SchedulerHarness()
    first: Scheduler = harness.scheduler(ledger=None)
    second: Scheduler = harness.scheduler(ledger=None)
    await first.initialize([harness.task("a")])
    await second.initialize([harness.task("b", "30 * * * *")])

    await harness.clock.advance(HOUR)

    assert harness.starts == [NOON, NOON + 30 * MINUTE]
    await first.stop()
    await second.stop()
