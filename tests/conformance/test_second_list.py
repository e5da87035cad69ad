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


class SlowToOpenLedger(MemoryTaskLedger):
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


async def state_reported_by(scheduler: Scheduler, registrations: Any) -> object:
    """Return the state for which the list is refused."""
    with pytest.raises(SchedulerAlreadyActiveError) as caught:
        await scheduler.initialize(registrations)
    return caught.value.details["currentState"]


# --- compared ---------------------------------------------------------------------------------------------------------


@clause("scheduler.reinitializes")
async def test_the_events_of_a_second_list_say_that_it_is_not_the_first(contract: Contract) -> None:
    harness = ContractHarness(contract)
    scheduler = await harness.start(harness.task())
    harness.events.clear()

    await scheduler.initialize([harness.task()])

    assert harness.events[0].name == AGAIN
    assert harness.events_named(STARTED) == []


@clause("scheduler.reinitializes")
async def test_a_second_list_is_compared_with_the_first(contract: Contract) -> None:
    harness = ContractHarness(contract)
    scheduler = await harness.start(harness.task("kept"), harness.task("changed"), harness.task("gone"))
    harness.events.clear()

    await scheduler.initialize([harness.task("kept"), harness.task("changed", "30 * * * *"), harness.task("new")])

    found = ("TaskPreserved", "TaskOverridden", "TaskAdded", "TaskOrphaned")
    assert {(event.name, event.fields["taskName"]) for event in harness.events if event.name in found} == {
        ("TaskPreserved", "kept"), ("TaskOverridden", "changed"), ("TaskAdded", "new"), ("TaskOrphaned", "gone"),
    }  # fmt: skip
    assert sorted(harness.store.records) == ["changed", "kept", "new"]


@clause("scheduler.reinitialized")
async def test_after_a_second_list_the_scheduler_runs_what_it_says(contract: Contract) -> None:
    harness = ContractHarness(contract)
    scheduler = await harness.start(harness.task("gone"), harness.task("kept"))

    await scheduler.initialize([harness.task("kept"), harness.task("new", "30 * * * *")])
    await harness.until("11:30")

    assert harness.began == [("new", at("10:30")), ("kept", at("11:00")), ("new", at("11:30"))]
    assert harness.event_names(*LIFE) == [STARTED, COMPLETED, AGAIN, COMPLETED]


@clause("scheduler.reinitialized")
async def test_after_a_second_list_a_third_is_again_a_reinitialisation(contract: Contract) -> None:
    harness = ContractHarness(contract)
    scheduler = await harness.start(harness.task())
    await scheduler.initialize([harness.task("other")])

    await scheduler.initialize([harness.task("third")])

    assert harness.event_names(*LIFE) == [STARTED, COMPLETED, AGAIN, COMPLETED, AGAIN, COMPLETED]


@clause("scheduler.failed-again-stops")
async def test_an_invalid_second_list_stops_the_scheduler_when_no_run_is_active(contract: Contract) -> None:
    harness = ContractHarness(contract)
    scheduler = await harness.start(harness.task(takes=10 * MINUTE), harness.task("other", "5 * * * *"))
    await harness.until("11:01")

    await refused(scheduler, [harness.task(cron="61 * * * *")])
    await harness.until("11:09:59")

    assert harness.event_names(*LIFE) == [STARTED, COMPLETED, AGAIN, FAILED]
    await harness.until("13:00")
    assert harness.event_names(*LIFE) == [STARTED, COMPLETED, AGAIN, FAILED, STOPPED]
    assert harness.began == [("report", at("11:00"))]
    assert harness.record().last_success == at("11:10")


@clause("scheduler.failed-again-stops")
async def test_a_second_list_that_cannot_be_recorded_stops_the_scheduler(contract: Contract) -> None:
    harness = ContractHarness(contract)
    scheduler = await harness.start(harness.task())
    harness.disk.fail_next(error=disk_full())

    await refused(scheduler, [harness.task("other")])
    await harness.until("13:00")

    assert harness.event_names(*LIFE) == [STARTED, COMPLETED, AGAIN, FAILED, STOPPED]
    assert harness.began == []


@clause("scheduler.failed-again-resets")
async def test_an_invalid_second_list_leaves_the_scheduler_uninitialised(contract: Contract) -> None:
    harness = ContractHarness(contract)
    scheduler = await harness.start(harness.task())

    await refused(scheduler, [harness.task(cron="61 * * * *")])
    await harness.until("13:00")

    assert harness.event_names(*LIFE) == [STARTED, COMPLETED, AGAIN, FAILED]
    assert harness.began == []


@clause("scheduler.failed-again-resets")
async def test_after_a_second_list_that_failed_the_next_is_a_first_one(contract: Contract) -> None:
    harness = ContractHarness(contract)
    scheduler = await harness.start(harness.task())
    harness.disk.fail_next(error=disk_full())
    await refused(scheduler, [harness.task("other")])

    await scheduler.initialize([harness.task()])
    await harness.until("11:00")

    assert harness.event_names(*LIFE) == [STARTED, COMPLETED, AGAIN, FAILED, STARTED, COMPLETED]
    assert harness.starts() == times("11:00")


# --- refused ----------------------------------------------------------------------------------------------------------


@clause("scheduler.rejects-while-running")
async def test_a_list_while_running_is_refused_without_an_event(contract: Contract) -> None:
    harness = ContractHarness(contract)
    scheduler = await harness.start(harness.task())
    harness.events.clear()

    state = await state_reported_by(scheduler, [harness.task("other")])

    assert state == "running"
    assert harness.events == []


@clause("scheduler.rejects-while-running")
async def test_a_list_that_is_refused_while_running_changes_nothing(contract: Contract) -> None:
    harness = ContractHarness(contract)
    scheduler = await harness.start(harness.task())
    before, appends = dict(harness.store.records), harness.disk.appends

    await refused(scheduler, [harness.task(cron="30 * * * *"), harness.task("other")])

    assert (harness.store.records, harness.disk.appends) == (before, appends)
    await harness.until("12:30")
    assert harness.began == [("report", at("11:00")), ("report", at("12:00"))]


@clause("scheduler.rejects-while-running")
async def test_while_running_even_an_invalid_list_is_refused_for_the_state(contract: Contract) -> None:
    harness = ContractHarness(contract)
    scheduler = await harness.start(harness.task())

    state = await state_reported_by(scheduler, [harness.task(cron="61 * * * *")])

    assert state == "running"


@clause("scheduler.rejects-while-initializing")
async def test_a_list_while_another_is_being_recorded_is_refused(contract: Contract) -> None:
    harness = ContractHarness(contract)
    harness.store = slow = SlowToOpenLedger()
    harness.disk = FaultyLedger(slow)
    scheduler = harness.scheduler()
    initializing = asyncio.create_task(scheduler.initialize([harness.task()]))
    await asyncio.wait([initializing], timeout=0)

    state = await state_reported_by(scheduler, [harness.task("other")])

    assert state == "initializing"
    assert [event.name for event in harness.events] == [STARTED]
    slow.ready.set()
    await initializing
    assert harness.event_names(*LIFE) == [STARTED, COMPLETED]
    assert list(harness.store.records) == ["report"]


@clause("scheduler.rejects-while-stopping")
async def test_a_list_while_a_stop_waits_for_a_run_is_refused(contract: Contract) -> None:
    harness = ContractHarness(contract)
    scheduler = await harness.start(harness.task(takes=10 * MINUTE))
    await harness.until("11:01")
    stopping = asyncio.create_task(scheduler.stop())
    await harness.settle()

    state = await state_reported_by(scheduler, [harness.task()])

    assert (state, stopping.done()) == ("stopping", False)
    await harness.until("13:00")
    assert harness.event_names(*LIFE) == [STARTED, COMPLETED, REQUESTED, STOPPED]
    assert harness.starts() == times("11:00")
