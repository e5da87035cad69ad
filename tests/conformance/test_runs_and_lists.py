"""Runs in flight at a stop or a crash, and a list that is replaced."""

import asyncio

from kron.rules.contract import Contract
from kron.rules.task_record import TaskRunOutcome
from kron.testing import crash
from tests.conformance.citing import clause
from tests.conformance.contract_harness import MINUTE, ContractHarness, times

_ENDS = ("TaskRunCompleted", "TaskRunFailed")


# --- a stop -----------------------------------------------------------------------------------------------------------


@clause("trace.stop-flushes")
async def test_a_stop_ends_when_the_longest_of_the_runs_in_flight_has_ended(contract: Contract) -> None:
    world = ContractHarness(contract, "10:59:30")
    scheduler = await world.start(world.task(takes=10 * MINUTE), world.task("backup", takes=20 * MINUTE))
    await world.until("11:05")

    stopping = asyncio.create_task(scheduler.stop())
    await world.until("11:19:59")
    early = stopping.done()
    await world.until("11:20")

    assert not early
    assert stopping.done()
    assert world.ended == [("report", *times("11:10")), ("backup", *times("11:20"))]


@clause("trace.stop-flushes")
async def test_the_end_of_every_run_in_flight_is_recorded_and_told_before_a_stop_ends(contract: Contract) -> None:
    world = ContractHarness(contract, "10:59:30")
    scheduler = await world.start(world.task(takes=10 * MINUTE), world.task("backup", takes=10 * MINUTE, fails=1))
    await world.until("11:05")

    stopping = asyncio.create_task(scheduler.stop())
    await world.until("11:10")
    await stopping

    assert [world.record("report").last_success, world.record("backup").last_failure] == times("11:10", "11:10")
    assert [world.record(name).running_since for name in ("report", "backup")] == [None, None]
    *ends, stopped = world.story(*_ENDS, "SchedulerStopped")
    assert sorted(ends) == ["TaskRunCompleted", "TaskRunFailed"]
    assert stopped == "SchedulerStopped"


# --- a crash ----------------------------------------------------------------------------------------------------------


@clause("trace.crash-consistency")
async def test_after_a_crash_nothing_starts_until_a_scheduler_is_initialised(contract: Contract) -> None:
    world = ContractHarness(contract, "10:59:30")
    scheduler = await world.start(world.task(takes=10 * MINUTE), world.task("backup", fails=1))
    await world.until("11:04")

    await crash(scheduler)
    await world.until("13:30")

    assert world.starts("report") == times("11:00")
    assert world.starts("backup") == times("11:00")


@clause("trace.crash-consistency")
async def test_the_only_end_after_a_crash_is_that_of_the_run_that_started_anew(contract: Contract) -> None:
    world = ContractHarness(contract, "10:59:30")
    scheduler = await world.start(world.task(takes=10 * MINUTE))
    await world.until("11:05")
    await crash(scheduler)
    await world.until("11:30")

    await world.start(world.task(takes=10 * MINUTE))
    await world.until("11:59")

    assert world.starts() == times("11:00", "11:30")
    assert world.story("TaskRunStarted", *_ENDS) == ["TaskRunStarted", "TaskRunStarted", "TaskRunCompleted"]
    assert world.record().last_success == times("11:40")[0]


@clause("trace.no-invented-ends")
async def test_no_end_is_told_or_recorded_for_a_run_that_a_crash_cut_off(contract: Contract) -> None:
    world = ContractHarness(contract, "10:59:30")
    scheduler = await world.start(world.task(takes=10 * MINUTE))
    await world.until("11:05")
    await crash(scheduler)

    await world.start(world.task(takes=10 * MINUTE))
    await world.until("11:12")  # when the first run would have ended, and the second has not

    assert world.story(*_ENDS) == []
    assert (world.record().last_success, world.record().last_failure) == (None, None)
    assert [(run.started, run.ended, run.result) for run in world.store.history] == [
        (*times("11:00"), None, TaskRunOutcome.INTERRUPTED)
    ]


@clause("trace.no-invented-ends")
async def test_a_run_that_a_crash_cut_off_is_no_failure_that_is_tried_again(contract: Contract) -> None:
    world = ContractHarness(contract, "10:59:30")
    scheduler = await world.start(world.task(takes=2 * MINUTE, retry=5 * MINUTE))
    await world.until("11:01")
    await crash(scheduler)

    await world.start(world.task(takes=2 * MINUTE, retry=5 * MINUTE))
    await world.until("11:59")

    assert world.starts() == times("11:00", "11:01")
    assert world.events_named("TaskRetryStarted") == []


# --- another list -----------------------------------------------------------------------------------------------------


@clause("trace.later-list-replaces")
async def test_only_the_tasks_of_the_later_list_start(contract: Contract) -> None:
    world = ContractHarness(contract, "10:30")
    scheduler = await world.start(world.task("old"), world.task("kept"))

    await scheduler.initialize([world.task("kept"), world.task("new")])
    await world.until("11:30")

    assert sorted(world.began) == [("kept", *times("11:00")), ("new", *times("11:00"))]
    assert set(world.store.records) == {"kept", "new"}


@clause("trace.later-list-replaces")
async def test_the_expression_of_the_later_list_counts(contract: Contract) -> None:
    world = ContractHarness(contract, "10:30:30")
    scheduler = await world.start(world.task(cron="0 * * * *"))

    await scheduler.initialize([world.task(cron="45 * * * *")])
    await world.until("11:50")

    assert world.starts() == times("10:45", "11:45")


@clause("trace.later-list-replaces")
async def test_the_callback_of_the_later_list_is_called(contract: Contract) -> None:
    world = ContractHarness(contract, "10:30")
    scheduler = await world.start(world.task(fails=1))

    await scheduler.initialize([world.task(fails=0)])
    await world.until("11:00")

    assert world.story(*_ENDS) == ["TaskRunCompleted"]


@clause("trace.later-list-replaces")
async def test_a_scheduler_of_a_later_process_goes_by_its_own_list(contract: Contract) -> None:
    world = ContractHarness(contract, "10:30")
    await crash(await world.start(world.task("old"), world.task("kept")))

    await world.start(world.task("kept"), world.task("new"))
    await world.until("11:30")

    assert sorted(world.began) == [("kept", *times("11:00")), ("new", *times("11:00"))]


@clause("invariant.never-with-itself")
async def test_a_list_that_changes_a_running_task_does_not_start_it_beside_itself(contract: Contract) -> None:
    world = ContractHarness(contract, "10:59:30")
    scheduler = await world.start(world.task(takes=10 * MINUTE))
    await world.until("11:05")

    await scheduler.initialize([world.task(cron="* * * * *", takes=10 * MINUTE)])
    await world.until("11:10")

    assert world.starts() == times("11:00", "11:10")
