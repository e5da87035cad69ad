"""A second list while the scheduler is active: compared by the polling contracts, refused by the declarative one."""

import asyncio
from typing import Any

import pytest

from kron import KronError, Scheduler
from kron.errors import SchedulerAlreadyActiveError
from kron.rules.contract import Contract
from kron.testing import FaultyLedger, MemoryTaskLedger
from tests.conformance.citing import clause
from tests.conformance.contract_harness import MINUTE, ContractHarness, at, disk_full, times

STARTED, COMPLETED = "SchedulerInitializationStarted", "SchedulerInitializationCompleted"
FAILED, AGAIN = "SchedulerInitializationFailed", "SchedulerReinitializationStarted"
REQUESTED, STOPPED = "SchedulerStopRequested", "SchedulerStopped"
LIFE = (STARTED, COMPLETED, FAILED, AGAIN, REQUESTED, STOPPED)


class Slow(MemoryTaskLedger):
    """A store that cannot be opened before it is ready."""

    def __init__(self) -> None:
        super().__init__()
        self.ready = asyncio.Event()

    async def open(self) -> None:
        await self.ready.wait()
        await super().open()


async def refused(scheduler: Scheduler, registrations: Any) -> None:
    """Initialise, and expect a failure."""
    with pytest.raises(KronError):
        await scheduler.initialize(registrations)


async def state_told_by(scheduler: Scheduler, registrations: Any) -> object:
    """Return the state for which the list is refused."""
    with pytest.raises(SchedulerAlreadyActiveError) as caught:
        await scheduler.initialize(registrations)
    return caught.value.details["currentState"]


# --- compared ---------------------------------------------------------------------------------------------------------


@clause("scheduler.reinitializes")
async def test_a_second_list_tells_that_it_is_not_the_first(contract: Contract) -> None:
    world = ContractHarness(contract)
    scheduler = await world.start(world.task())
    world.events.clear()

    await scheduler.initialize([world.task()])

    assert world.events[0].name == AGAIN
    assert world.events_named(STARTED) == []


@clause("scheduler.reinitializes")
async def test_a_second_list_is_compared_with_the_first(contract: Contract) -> None:
    world = ContractHarness(contract)
    scheduler = await world.start(world.task("kept"), world.task("changed"), world.task("gone"))
    world.events.clear()

    await scheduler.initialize([world.task("kept"), world.task("changed", "30 * * * *"), world.task("new")])

    found = ("TaskPreserved", "TaskOverridden", "TaskAdded", "TaskOrphaned")
    assert {(event.name, event.fields["taskName"]) for event in world.events if event.name in found} == {
        ("TaskPreserved", "kept"), ("TaskOverridden", "changed"), ("TaskAdded", "new"), ("TaskOrphaned", "gone"),
    }  # fmt: skip
    assert sorted(world.store.records) == ["changed", "kept", "new"]


@clause("scheduler.reinitialized")
async def test_after_a_second_list_the_scheduler_runs_what_it_says(contract: Contract) -> None:
    world = ContractHarness(contract)
    scheduler = await world.start(world.task("gone"), world.task("kept"))

    await scheduler.initialize([world.task("kept"), world.task("new", "30 * * * *")])
    await world.until("11:30")

    assert world.began == [("new", at("10:30")), ("kept", at("11:00")), ("new", at("11:30"))]
    assert world.story(*LIFE) == [STARTED, COMPLETED, AGAIN, COMPLETED]


@clause("scheduler.reinitialized")
async def test_after_a_second_list_a_third_is_again_a_reinitialisation(contract: Contract) -> None:
    world = ContractHarness(contract)
    scheduler = await world.start(world.task())
    await scheduler.initialize([world.task("other")])

    await scheduler.initialize([world.task("third")])

    assert world.story(*LIFE) == [STARTED, COMPLETED, AGAIN, COMPLETED, AGAIN, COMPLETED]


@clause("scheduler.failed-again-stops")
async def test_an_invalid_second_list_stops_the_scheduler_when_nothing_runs_any_more(contract: Contract) -> None:
    world = ContractHarness(contract)
    scheduler = await world.start(world.task(takes=10 * MINUTE), world.task("other", "5 * * * *"))
    await world.until("11:01")

    await refused(scheduler, [world.task(cron="61 * * * *")])
    await world.until("11:09:59")

    assert world.story(*LIFE) == [STARTED, COMPLETED, AGAIN, FAILED]
    await world.until("13:00")
    assert world.story(*LIFE) == [STARTED, COMPLETED, AGAIN, FAILED, STOPPED]
    assert world.began == [("report", at("11:00"))]
    assert world.record().last_success == at("11:10")


@clause("scheduler.failed-again-stops")
async def test_a_second_list_that_cannot_be_recorded_stops_the_scheduler(contract: Contract) -> None:
    world = ContractHarness(contract)
    scheduler = await world.start(world.task())
    world.disk.fail_next(error=disk_full())

    await refused(scheduler, [world.task("other")])
    await world.until("13:00")

    assert world.story(*LIFE) == [STARTED, COMPLETED, AGAIN, FAILED, STOPPED]
    assert world.began == []


@clause("scheduler.failed-again-resets")
async def test_an_invalid_second_list_leaves_the_scheduler_uninitialised(contract: Contract) -> None:
    world = ContractHarness(contract)
    scheduler = await world.start(world.task())

    await refused(scheduler, [world.task(cron="61 * * * *")])
    await world.until("13:00")

    assert world.story(*LIFE) == [STARTED, COMPLETED, AGAIN, FAILED]
    assert world.began == []


@clause("scheduler.failed-again-resets")
async def test_after_a_second_list_that_failed_the_next_is_a_first_one(contract: Contract) -> None:
    world = ContractHarness(contract)
    scheduler = await world.start(world.task())
    world.disk.fail_next(error=disk_full())
    await refused(scheduler, [world.task("other")])

    await scheduler.initialize([world.task()])
    await world.until("11:00")

    assert world.story(*LIFE) == [STARTED, COMPLETED, AGAIN, FAILED, STARTED, COMPLETED]
    assert world.starts() == times("11:00")


# --- refused ----------------------------------------------------------------------------------------------------------


@clause("scheduler.rejects-while-running")
async def test_a_list_while_running_is_refused_and_told_to_nobody(contract: Contract) -> None:
    world = ContractHarness(contract)
    scheduler = await world.start(world.task())
    world.events.clear()

    state = await state_told_by(scheduler, [world.task("other")])

    assert state == "running"
    assert world.events == []


@clause("scheduler.rejects-while-running")
async def test_a_list_that_is_refused_while_running_changes_nothing(contract: Contract) -> None:
    world = ContractHarness(contract)
    scheduler = await world.start(world.task())
    before, appends = dict(world.store.records), world.disk.appends

    await refused(scheduler, [world.task(cron="30 * * * *"), world.task("other")])

    assert (world.store.records, world.disk.appends) == (before, appends)
    await world.until("12:30")
    assert world.began == [("report", at("11:00")), ("report", at("12:00"))]


@clause("scheduler.rejects-while-running")
async def test_while_running_even_an_invalid_list_is_refused_for_the_state(contract: Contract) -> None:
    world = ContractHarness(contract)
    scheduler = await world.start(world.task())

    state = await state_told_by(scheduler, [world.task(cron="61 * * * *")])

    assert state == "running"


@clause("scheduler.rejects-while-initializing")
async def test_a_list_while_another_is_being_recorded_is_refused(contract: Contract) -> None:
    world = ContractHarness(contract)
    world.store = slow = Slow()
    world.disk = FaultyLedger(slow)
    scheduler = world.scheduler()
    initializing = asyncio.create_task(scheduler.initialize([world.task()]))
    await asyncio.wait([initializing], timeout=0)

    state = await state_told_by(scheduler, [world.task("other")])

    assert state == "initializing"
    assert [event.name for event in world.events] == [STARTED]
    slow.ready.set()
    await initializing
    assert world.story(*LIFE) == [STARTED, COMPLETED]
    assert list(world.store.records) == ["report"]


@clause("scheduler.rejects-while-stopping")
async def test_a_list_while_a_stop_waits_for_a_run_is_refused(contract: Contract) -> None:
    world = ContractHarness(contract)
    scheduler = await world.start(world.task(takes=10 * MINUTE))
    await world.until("11:01")
    stopping = asyncio.create_task(scheduler.stop())
    await world.settle()

    state = await state_told_by(scheduler, [world.task()])

    assert (state, stopping.done()) == ("stopping", False)
    await world.until("13:00")
    assert world.story(*LIFE) == [STARTED, COMPLETED, REQUESTED, STOPPED]
    assert world.starts() == times("11:00")
