"""No make-up runs: at most one run catches up after downtime."""

from collections.abc import Awaitable, Callable

import pytest

from kron import Scheduler
from kron.rules.contract import Contract
from kron.testing import crash
from tests.conformance.citing import clause
from tests.conformance.contract_harness import ContractHarness, times

TEN_MINUTES = "0,10,20,30,40,50 * * * *"
QUARTERS = "15,30,45,0 * * * *"


async def outage(harness: ContractHarness, cron: str, *, until: str) -> Scheduler:
    """Let a task run, stop at once, start again then and return the new scheduler."""
    scheduler = await harness.start(harness.task(cron=cron))
    await scheduler.stop()
    await harness.until(until)
    return await harness.start(harness.task(cron=cron))


@clause("makeup.at-most-once")
@pytest.mark.parametrize(
    ("back", "starts"),
    [
        ("2026-03-02T11:05:00Z", ["10:00:30", "11:05"]),
        ("2026-03-02T14:05:00Z", ["10:00:30", "14:05"]),
        ("2026-03-12T14:05:00Z", ["10:00:30", "2026-03-12T14:05:00Z"]),
        ("2028-07-01T00:05:00Z", ["10:00:30", "2028-07-01T00:05:00Z"]),
    ],
    ids=["one", "four", "hundreds", "twenty thousand"],
)
async def test_a_downtime_gives_one_run_however_many_it_swallowed(
    contract: Contract, back: str, starts: list[str]
) -> None:
    harness = ContractHarness(contract, "10:00:30")

    await outage(harness, "0 * * * *", until=back)

    assert harness.starts() == times(*starts)


@clause("makeup.at-most-once")
async def test_a_downtime_without_an_occurrence_gives_no_run(contract: Contract) -> None:
    harness = ContractHarness(contract, "10:00:30")

    await outage(harness, "0 * * * *", until="10:59:30")

    assert harness.starts() == times("10:00:30")


@clause("makeup.at-most-once")
async def test_after_the_one_run_the_schedule_goes_on(contract: Contract) -> None:
    harness = ContractHarness(contract, "10:00:30")

    await outage(harness, "0 * * * *", until="14:05")
    await harness.until("16:30")

    assert harness.starts() == times("10:00:30", "14:05", "15:00", "16:00")


@clause("makeup.at-most-once")
@pytest.mark.parametrize("end", [Scheduler.stop, crash], ids=["stop", "crash"])
async def test_each_task_runs_once_for_its_own_misses(
    contract: Contract, end: Callable[[Scheduler], Awaitable[None]]
) -> None:
    harness = ContractHarness(contract)
    tasks = [
        harness.task("by the hour"),
        harness.task("by the minute", "8-59 * * * *"),
        harness.task("at eight", "0 20 * * *"),
    ]

    await end(await harness.start(*tasks))
    await harness.until("14:05:30")
    await harness.start(*tasks)

    assert harness.starts("by the hour") == times("14:05:30")
    assert harness.starts("by the minute") == times("14:05:30")
    assert harness.starts("at eight") == []


@clause("makeup.at-most-once")
async def test_a_second_restart_does_not_make_up_again(contract: Contract) -> None:
    harness = ContractHarness(contract, "10:00:30")
    scheduler = await outage(harness, "0 * * * *", until="14:05")

    await scheduler.stop()
    await harness.until("14:10")
    await harness.start(harness.task())

    assert harness.starts() == times("10:00:30", "14:05")


@clause("makeup.at-most-once")
async def test_the_one_run_is_for_the_latest_occurrence(contract: Contract) -> None:
    harness = ContractHarness(contract, "10:00:30")

    await outage(harness, "0 * * * *", until="14:05")

    scheduled = [event.fields["scheduledTime"] for event in harness.events_named("TaskRunStarted")]
    assert scheduled == ["2026-03-02T10:00:00Z", "2026-03-02T14:00:00Z"]


@clause("makeup.six-in-an-hour")
async def test_six_misses_of_a_task_of_every_ten_minutes_are_one_run(contract: Contract) -> None:
    harness = ContractHarness(contract, "10:00:30")

    await outage(harness, TEN_MINUTES, until="11:05")
    await harness.until("11:15")

    assert harness.starts() == times("10:00:30", "11:05", "11:10")


@clause("makeup.four-in-an-hour")
async def test_four_misses_of_a_task_of_every_quarter_are_one_run(contract: Contract) -> None:
    harness = ContractHarness(contract, "10:00:30")

    await outage(harness, QUARTERS, until="11:05")
    await harness.until("11:20")

    assert harness.starts() == times("10:00:30", "11:05", "11:15")
