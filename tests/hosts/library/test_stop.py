"""Tests of stop: before, during and after other calls, cancelled, and with a failing ledger."""

import asyncio
from datetime import timedelta

import pytest

from kron.errors import (
    SchedulerAlreadyActiveError,
    SchedulerStepError,
)
from kron.testing import FaultyLedger
from tests.hosts.scheduler_harness import HOUR, MINUTE, NOON, SchedulerHarness, SlowToOpen


async def test_a_stop_before_the_first_initialize_is_nothing() -> None:
    harness = SchedulerHarness()

    await harness.scheduler().stop()

    assert harness.events == []


async def test_a_stop_during_initialize_lets_it_return_and_starts_nothing_at_all() -> None:
    harness, ledger = SchedulerHarness(NOON), SlowToOpen()
    scheduler = harness.scheduler(ledger=ledger)
    initializing = asyncio.ensure_future(scheduler.initialize([harness.task()]))
    await asyncio.wait([initializing], timeout=0)
    stopping = asyncio.ensure_future(scheduler.stop())
    await asyncio.wait([stopping], timeout=0)

    ledger.ready.set()
    await stopping
    await harness.clock.advance(3 * HOUR)

    assert initializing.done()
    assert initializing.exception() is None
    assert harness.starts == []


async def test_two_stops_at_once_both_wait_for_the_run() -> None:
    harness = SchedulerHarness()
    scheduler = harness.scheduler()
    await scheduler.initialize([harness.task(takes=10 * MINUTE)])
    await harness.clock.advance(MINUTE)
    stops = [asyncio.ensure_future(scheduler.stop()) for _ in range(2)]

    await harness.clock.advance(5 * MINUTE)
    early = [stop.done() for stop in stops]
    await harness.clock.advance(5 * MINUTE)

    assert early == [False, False]
    assert [stop.done() for stop in stops] == [True, True]
    assert len(harness.events_named("SchedulerStopped")) == 1


async def test_a_stop_that_its_caller_gave_up_goes_on() -> None:
    harness = SchedulerHarness()
    scheduler = harness.scheduler()
    await scheduler.initialize([harness.task(takes=HOUR)])
    await harness.clock.advance(MINUTE)
    impatient = asyncio.ensure_future(scheduler.stop())
    await harness.clock.advance(timedelta(0))

    impatient.cancel()
    await harness.clock.advance(2 * HOUR)

    assert harness.starts == [NOON]
    assert harness.events_named("SchedulerStopped")


async def test_initialize_while_stopping_is_refused_with_that_state() -> None:
    harness = SchedulerHarness()
    scheduler = harness.scheduler()
    await scheduler.initialize([harness.task(takes=HOUR)])
    await harness.clock.advance(MINUTE)
    stopping = asyncio.ensure_future(scheduler.stop())
    await harness.clock.advance(timedelta(0))

    with pytest.raises(SchedulerAlreadyActiveError) as caught:
        await scheduler.initialize([])

    assert caught.value.details == {"currentState": "stopping"}
    await harness.clock.advance(HOUR)
    await stopping


async def test_a_stop_whose_last_records_cannot_be_written_returns_with_an_error() -> None:
    harness = SchedulerHarness()
    ledger = FaultyLedger(harness.ledger)
    scheduler = harness.scheduler(ledger=ledger)
    await scheduler.initialize([harness.task(takes=MINUTE)])
    await harness.clock.advance(MINUTE)
    ledger.fail_next(100)
    stopping = asyncio.ensure_future(scheduler.stop())
    await harness.clock.advance(2 * MINUTE)

    with pytest.raises(SchedulerStepError, match="no space left"):
        await stopping


async def test_a_stop_whose_last_records_are_written_at_the_third_try_is_a_good_one() -> None:
    harness = SchedulerHarness()
    ledger = FaultyLedger(harness.ledger)
    scheduler = harness.scheduler(ledger=ledger)
    await scheduler.initialize([harness.task(takes=MINUTE)])
    await harness.clock.advance(MINUTE)
    stopping = asyncio.ensure_future(scheduler.stop())
    await harness.clock.advance(timedelta(0))
    ledger.fail_next(2)

    await harness.clock.advance(2 * MINUTE)
    await stopping

    assert harness.ledger.records["task"].last_success == NOON + MINUTE
