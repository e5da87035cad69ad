"""The demands of the formal theory: a new task, a due instant, a retry, an interrupted run."""

import asyncio

from kron.rules.contract import Contract
from tests.conformance.citing import clause
from tests.conformance.contract_harness import HOUR, MINUTE, SECOND, times
from tests.conformance.test_theory import TracedHarness


@clause("theory.first-coming")
async def test_a_task_that_left_the_list_and_comes_back_owes_nothing_from_before(contract: Contract) -> None:
    harness = TracedHarness(contract)
    leaving = harness.task(fails=1, retry=2 * HOUR)
    for tasks in ((leaving, harness.task("other", "0 3 * * *")), (harness.task("other", "0 3 * * *"),)):
        scheduler = await harness.start(*tasks)
        await harness.clock.advance(HOUR)
        await scheduler.stop()
    await harness.until("13:30")

    await harness.start(leaving, harness.task("other", "0 3 * * *"))
    await harness.until("13:59")
    early = harness.starts()
    await harness.until("14:00")

    assert early == times("11:00")
    assert harness.starts() == times("11:00", "14:00")


@clause("theory.due-pending")
async def test_due_instants_during_a_run_and_during_a_pause_are_one_demand_each(contract: Contract) -> None:
    harness = TracedHarness(contract)
    scheduler = await harness.start(harness.task(cron="0,10,20,30,40,50 * * * *", takes=25 * MINUTE))
    await harness.until("11:51")
    stopping = asyncio.create_task(scheduler.stop())
    await harness.until("13:33:20")
    await stopping

    await harness.start(harness.task(cron="0,10,20,30,40,50 * * * *"))
    await harness.until("13:40")

    assert harness.starts() == times("11:00", "11:25", "11:50", "13:33:20", "13:40")


@clause("theory.retry-pending")
async def test_a_retry_is_owed_from_its_instant_on_until_the_next_start(contract: Contract) -> None:
    harness = TracedHarness(contract)
    scheduler = await harness.start(harness.task(fails=1, takes=MINUTE, retry=10 * MINUTE))
    await harness.until("11:10:59")
    await scheduler.stop()
    early = harness.starts()
    await harness.until("11:20")

    await harness.start(harness.task())
    await harness.until("11:59")

    assert (early, harness.starts()) == (times("11:00"), times("11:00", "11:20"))


@clause("theory.orphaned-pending")
async def test_a_run_that_a_crash_cut_off_is_owed_until_the_next_start_and_not_after_it(contract: Contract) -> None:
    harness = TracedHarness(contract)
    scheduler = await harness.start(harness.task(takes=10 * MINUTE))
    await harness.until("11:01")
    await harness.crash(scheduler)
    await harness.until("11:02")
    scheduler = await harness.start(harness.task())
    await harness.until("11:03")
    await harness.crash(scheduler)
    await harness.until("11:04")

    await harness.start(harness.task())
    await harness.clock.advance(SECOND)

    assert harness.starts() == times("11:00", "11:02")
