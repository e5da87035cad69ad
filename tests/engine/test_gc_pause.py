"""The garbage collector is paused inside, and restored afterwards."""

import gc

import pytest

from kron.engine.gc_pause import gc_paused
from tests.hosts.scheduler_harness import MINUTE, SchedulerHarness


def test_the_collector_is_off_inside_and_on_again_afterwards() -> None:
    with gc_paused():
        inside = gc.isenabled()

    assert (inside, gc.isenabled()) == (False, True)


def test_the_collector_is_on_again_after_an_error() -> None:
    with pytest.raises(ValueError, match="inside"), gc_paused():
        raise ValueError("inside")

    assert gc.isenabled()


def test_one_that_was_off_stays_off() -> None:
    gc.disable()
    try:
        with gc_paused():
            pass

        assert not gc.isenabled()
    finally:
        gc.enable()


async def test_the_collector_is_on_while_a_callback_runs() -> None:
    seen: list[bool] = []

    async def look() -> None:
        seen.append(gc.isenabled())

    harness = SchedulerHarness()
    scheduler = harness.scheduler()
    await scheduler.initialize([harness.task(then=look)])

    await harness.clock.advance(MINUTE)

    assert seen == [True]
    await scheduler.stop()
