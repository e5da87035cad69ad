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
    harness = ContractHarness(contract, "10:59:30")
    scheduler = await harness.start(harness.task(takes=10 * MINUTE), harness.task("backup", takes=20 * MINUTE))
    await harness.until("11:05")

    stopping = asyncio.create_task(scheduler.stop())
    await harness.until("11:19:59")
    early = stopping.done()
    await harness.until("11:20")

    assert not early
    assert stopping.done()
    assert harness.ended == [("report", *times("11:10")), ("backup", *times("11:20"))]


@clause("trace.stop-flushes")
async def test_the_end_of_every_run_in_flight_is_recorded_and_emitted_before_a_stop_ends(contract: Contract) -> None:
    harness = ContractHarness(contract, "10:59:30")
    scheduler = await harness.start(harness.task(takes=10 * MINUTE), harness.task("backup", takes=10 * MINUTE, fails=1))
    await harness.until("11:05")

    stopping = asyncio.create_task(scheduler.stop())
    await harness.until("11:10")
    await stopping

    assert [harness.record("report").last_success, harness.record("backup").last_failure] == times("11:10", "11:10")
    assert [harness.record(name).running_since for name in ("report", "backup")] == [None, None]
    *ends, stopped = harness.event_names(*_ENDS, "SchedulerStopped")
    assert sorted(ends) == ["TaskRunCompleted", "TaskRunFailed"]
    assert stopped == "SchedulerStopped"


# --- a crash ----------------------------------------------------------------------------------------------------------


@clause("trace.crash-consistency")
async def test_after_a_crash_nothing_starts_until_a_scheduler_is_initialised(contract: Contract) -> None:
    harness = ContractHarness(contract, "10:59:30")
    scheduler = await harness.start(harness.task(takes=10 * MINUTE), harness.task("backup", fails=1))
    await harness.until("11:04")

    await crash(scheduler)
    await harness.until("13:30")

    assert harness.starts("report") == times("11:00")
    assert harness.starts("backup") == times("11:00")


@clause("trace.crash-consistency")
async def test_the_only_end_after_a_crash_is_that_of_the_run_that_started_again(contract: Contract) -> None:
    harness = ContractHarness(contract, "10:59:30")
    scheduler = await harness.start(harness.task(takes=10 * MINUTE))
    await harness.until("11:05")
    await crash(scheduler)
    await harness.until("11:30")

    await harness.start(harness.task(takes=10 * MINUTE))
    await harness.until("11:59")

    assert harness.starts() == times("11:00", "11:30")
    assert harness.event_names("TaskRunStarted", *_ENDS) == ["TaskRunStarted", "TaskRunStarted", "TaskRunCompleted"]
    assert harness.record().last_success == times("11:40")[0]


@clause("trace.no-invented-ends")
async def test_no_end_is_emitted_or_recorded_for_a_run_that_a_crash_interrupted(contract: Contract) -> None:
    harness = ContractHarness(contract, "10:59:30")
    scheduler = await harness.start(harness.task(takes=10 * MINUTE))
    await harness.until("11:05")
    await crash(scheduler)

    await harness.start(harness.task(takes=10 * MINUTE))
    await harness.until("11:12")  # when the first run would have ended, and the second has not

    assert harness.event_names(*_ENDS) == []
    assert (harness.record().last_success, harness.record().last_failure) == (None, None)
    assert [(run.started, run.ended, run.result) for run in harness.store.history] == [
        (*times("11:00"), None, TaskRunOutcome.INTERRUPTED)
    ]


@clause("trace.no-invented-ends")
async def test_a_run_that_a_crash_cut_off_is_no_failure_that_is_tried_again(contract: Contract) -> None:
    harness = ContractHarness(contract, "10:59:30")
    scheduler = await harness.start(harness.task(takes=2 * MINUTE, retry=5 * MINUTE))
    await harness.until("11:01")
    await crash(scheduler)

    await harness.start(harness.task(takes=2 * MINUTE, retry=5 * MINUTE))
    await harness.until("11:59")

    assert harness.starts() == times("11:00", "11:01")
    assert harness.events_named("TaskRetryStarted") == []


# --- another list -----------------------------------------------------------------------------------------------------


@clause("trace.later-list-replaces")
async def test_only_the_tasks_of_the_later_list_start(contract: Contract) -> None:
    harness = ContractHarness(contract, "10:30")
    scheduler = await harness.start(harness.task("old"), harness.task("kept"))

    await scheduler.initialize([harness.task("kept"), harness.task("new")])
    await harness.until("11:30")

    assert sorted(harness.began) == [("kept", *times("11:00")), ("new", *times("11:00"))]
    assert set(harness.store.records) == {"kept", "new"}


@clause("trace.later-list-replaces")
async def test_the_expression_of_the_later_list_counts(contract: Contract) -> None:
    harness = ContractHarness(contract, "10:30:30")
    scheduler = await harness.start(harness.task(cron="0 * * * *"))

    await scheduler.initialize([harness.task(cron="45 * * * *")])
    await harness.until("11:50")

    assert harness.starts() == times("10:45", "11:45")


@clause("trace.later-list-replaces")
async def test_the_callback_of_the_later_list_is_called(contract: Contract) -> None:
    harness = ContractHarness(contract, "10:30")
    scheduler = await harness.start(harness.task(fails=1))

    await scheduler.initialize([harness.task(fails=0)])
    await harness.until("11:00")

    assert harness.event_names(*_ENDS) == ["TaskRunCompleted"]


@clause("trace.later-list-replaces")
async def test_a_scheduler_of_a_later_process_goes_by_its_own_list(contract: Contract) -> None:
    harness = ContractHarness(contract, "10:30")
    await crash(await harness.start(harness.task("old"), harness.task("kept")))

    await harness.start(harness.task("kept"), harness.task("new"))
    await harness.until("11:30")

    assert sorted(harness.began) == [("kept", *times("11:00")), ("new", *times("11:00"))]


@clause("invariant.never-with-itself")
async def test_a_list_that_changes_a_running_task_does_not_start_it_beside_itself(contract: Contract) -> None:
    harness = ContractHarness(contract, "10:59:30")
    scheduler = await harness.start(harness.task(takes=10 * MINUTE))
    await harness.until("11:05")

    await scheduler.initialize([harness.task(cron="* * * * *", takes=10 * MINUTE)])
    await harness.until("11:10")

    assert harness.starts() == times("11:00", "11:10")
