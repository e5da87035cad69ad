"""After a frozen process, a task owes one run for all missed times, however long the freeze was."""

import asyncio

import pytest

from kron import running
from tests.engine.asked_clock import AskedClock
from tests.hosts.scheduler_harness import MINUTE, NOON, SECOND, SchedulerHarness


@pytest.mark.parametrize("contract", ["declarative", "polling", "polling-draft"])
@pytest.mark.parametrize("seconds", [20, 310], ids=["a stall", "a freeze"])
async def test_a_task_owes_one_run_for_all_the_times_that_a_standstill_passed_over(contract: str, seconds: int) -> None:
    harness = SchedulerHarness()
    scheduler = harness.scheduler(contract=contract)
    await scheduler.initialize([harness.task(cron="* * * * *")])
    await harness.clock.advance_to(NOON + 50 * SECOND)
    harness.starts.clear()

    harness.clock.freeze(seconds * SECOND)
    woke = harness.clock.now()
    await harness.clock.advance_to(woke + 20 * SECOND)

    assert len(harness.starts) == 1
    assert woke <= harness.starts[0] <= woke + 10 * SECOND
    await scheduler.stop()


async def test_a_run_that_ended_in_a_standstill_does_not_keep_the_next_one_from_running() -> None:
    harness = SchedulerHarness()
    scheduler = harness.scheduler()
    await scheduler.initialize([harness.task(cron="* * * * *", takes=30 * SECOND)])
    await harness.clock.advance_to(NOON + 10 * SECOND)
    harness.starts.clear()

    harness.clock.freeze(5 * MINUTE)
    await harness.clock.advance(SECOND)

    assert harness.starts == [NOON + 5 * MINUTE + 10 * SECOND]
    stopping = asyncio.ensure_future(scheduler.stop())
    await harness.clock.advance(MINUTE)
    await stopping


def test_no_wait_of_a_scheduler_for_its_ledger_is_watched_because_lateness_changes_nothing() -> None:
    clock = AskedClock(NOON)

    async def live() -> None:
        async def report() -> None: ...

        async with running([("report", "* * * * *", report, MINUTE)], clock=clock, timezone="UTC"):
            await clock.advance(5 * MINUTE)

    asyncio.run(live())

    assert clock.watched
    assert not any(clock.watched)
