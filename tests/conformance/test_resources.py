"""Concurrency and reentrancy: what stop waits for and releases, and failures that affect one task only."""

import asyncio

from kron.rules.contract import Contract
from tests.conformance.citing import clause
from tests.conformance.contract_harness import HOUR, MINUTE, ContractHarness, at, names_of, times


@clause("resources.stop-waits-for-runs")
async def test_stop_returns_when_the_last_run_has_ended(contract: Contract) -> None:
    harness = ContractHarness(contract)
    scheduler = await harness.start(harness.task("short", takes=5 * MINUTE), harness.task("long", takes=30 * MINUTE))
    await harness.until("11:01")
    stopping = asyncio.ensure_future(scheduler.stop())

    await harness.until("11:29:59")
    early = stopping.done()
    await harness.until("11:30")

    assert not early
    assert stopping.done()
    assert names_of(harness.ended) == ["long", "short"]


@clause("resources.stop-waits-for-runs")
async def test_the_ends_of_the_runs_that_stop_waited_for_are_recorded(contract: Contract) -> None:
    harness = ContractHarness(contract)
    scheduler = await harness.start(harness.task("good", takes=MINUTE), harness.task("bad", takes=MINUTE, fails=1))
    await harness.until("11:00:30")
    stopping = asyncio.ensure_future(scheduler.stop())

    await harness.until("11:01")
    await stopping

    assert harness.record("good").last_success == at("11:01")
    assert harness.record("bad").last_failure == at("11:01")
    assert [record.running_since for record in harness.store.records.values()] == [None, None]


@clause("resources.polling-cleaned-up")
async def test_after_a_stop_whose_runs_failed_nothing_is_left_of_the_loop(contract: Contract) -> None:
    harness = ContractHarness(contract)
    scheduler = await harness.start(harness.task(takes=10 * MINUTE, fails=10, retry=MINUTE))
    await harness.until("11:01")
    stopping = asyncio.ensure_future(scheduler.stop())
    await harness.until("11:10")

    await stopping

    assert asyncio.all_tasks() == {asyncio.current_task()}
    assert len(harness.events_named("TaskRunFailed")) == 1
    assert harness.event_names("PollingStopRequested", "PollingStopped", "SchedulerStopped") == [
        "PollingStopRequested",
        "PollingStopped",
        "SchedulerStopped",
    ]


@clause("resources.polling-cleaned-up")
async def test_after_a_stop_whose_runs_failed_nothing_runs_and_the_store_is_free(contract: Contract) -> None:
    harness = ContractHarness(contract)
    report = harness.task(takes=10 * MINUTE, fails=1, retry=MINUTE)
    scheduler = await harness.start(report)
    await harness.until("11:01")
    stopping = asyncio.ensure_future(scheduler.stop())
    await harness.until("13:30")
    await stopping

    await harness.start(report)

    assert harness.starts() == times("11:00", "13:30")


@clause("resources.failures-stay-apart")
async def test_the_failure_of_one_run_leaves_runs_beside_it_and_after_it_alone(contract: Contract) -> None:
    harness = ContractHarness(contract)
    await harness.start(
        harness.task("bad", takes=MINUTE, fails=1, retry=HOUR),
        harness.task("beside", takes=10 * MINUTE),
        harness.task("after", "5 * * * *"),
    )

    await harness.until("11:30")

    assert [event.fields["taskName"] for event in harness.events_named("TaskRunFailed")] == ["bad"]
    assert harness.record("beside").last_success == at("11:10")
    assert harness.record("after").last_success == at("11:05")
    assert harness.record("bad").last_failure == at("11:01")


@clause("resources.failures-stay-apart")
async def test_a_run_that_is_cancelled_from_within_leaves_others_and_the_loop_alone(contract: Contract) -> None:
    harness = ContractHarness(contract)

    async def give_up() -> None:
        raise asyncio.CancelledError

    await harness.start(("bad", "0 * * * *", give_up, 2 * HOUR), harness.task("beside", takes=10 * MINUTE))

    await harness.until("12:30")

    assert [event.fields["taskName"] for event in harness.events_named("TaskRunFailed")] == ["bad", "bad"]
    assert harness.starts("beside") == times("11:00", "12:00")
