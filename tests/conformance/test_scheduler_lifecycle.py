"""The states of a scheduler: from its first list to its stop, and to the next list."""

import asyncio
from typing import Any

import pytest

from kron import KronError, Scheduler
from kron.rules.contract import Contract
from kron.rules.lifecycle import scheduler_table
from tests.conformance.citing import clause
from tests.conformance.contract_harness import MINUTE, SECOND, ContractHarness, at, disk_full, times

STARTED, COMPLETED = "SchedulerInitializationStarted", "SchedulerInitializationCompleted"
FAILED, AGAIN = "SchedulerInitializationFailed", "SchedulerReinitializationStarted"
REQUESTED, STOPPED = "SchedulerStopRequested", "SchedulerStopped"
LIFE = (STARTED, COMPLETED, FAILED, AGAIN, REQUESTED, STOPPED)


async def refused(scheduler: Scheduler, registrations: Any) -> None:
    """Initialise, and expect a failure."""
    with pytest.raises(KronError):
        await scheduler.initialize(registrations)


def states(contract: Contract) -> set[str]:
    """Return the names of all states that a scheduler of this contract can come from or get to."""
    return {str(state.value) for row in scheduler_table(contract) for state in (row.source, row.target)}


# --- the states -------------------------------------------------------------------------------------------------------


@clause("scheduler.six-states")
def test_the_table_of_a_polling_scheduler_has_six_states(contract: Contract) -> None:
    assert states(contract) == {"Uninitialized", "Initializing", "Running", "Reinitializing", "Stopping", "Stopped"}


@clause("scheduler.six-states")
async def test_a_life_with_a_second_list_passes_through_all_six_states_in_their_order(contract: Contract) -> None:
    harness = ContractHarness(contract)
    scheduler = await harness.start(harness.task())

    await scheduler.initialize([harness.task("other")])
    await scheduler.stop()

    assert harness.event_names(*LIFE) == [STARTED, COMPLETED, AGAIN, COMPLETED, REQUESTED, STOPPED]


@clause("scheduler.five-states")
def test_the_table_of_a_declarative_scheduler_has_five_states(contract: Contract) -> None:
    assert states(contract) == {"Uninitialized", "Initializing", "Running", "Stopping", "Stopped"}


@clause("scheduler.five-states")
async def test_a_life_with_a_second_list_knows_no_reinitialisation(contract: Contract) -> None:
    harness = ContractHarness(contract)
    scheduler = await harness.start(harness.task())

    await refused(scheduler, [harness.task("other")])
    await scheduler.stop()

    assert harness.event_names(*LIFE) == [STARTED, COMPLETED, REQUESTED, STOPPED]


# --- initialising -----------------------------------------------------------------------------------------------------


@clause("scheduler.begins-to-initialize")
async def test_the_first_event_of_a_first_list_is_its_start(contract: Contract) -> None:
    harness = ContractHarness(contract)

    await harness.scheduler().initialize([harness.task(), harness.task("other")])

    assert harness.events[0].name == STARTED
    assert harness.events[0].fields["totalRegistrations"] == 2
    assert len(harness.events_named(STARTED)) == 1


@clause("scheduler.begins-to-initialize")
async def test_an_initialisation_begins_before_anything_is_recorded(contract: Contract) -> None:
    harness = ContractHarness(contract)
    harness.disk.fail_next(error=disk_full())

    await refused(harness.scheduler(), [harness.task()])

    assert harness.events[0].name == STARTED


@clause("scheduler.initialized")
async def test_the_end_of_an_initialisation_is_emitted_after_its_tasks(contract: Contract) -> None:
    harness = ContractHarness(contract)

    await harness.scheduler().initialize([harness.task(), harness.task("other")])

    assert harness.event_names("TaskScheduled", "PollingStarted", *LIFE) == [
        STARTED, "TaskScheduled", "TaskScheduled", "PollingStarted", COMPLETED,
    ]  # fmt: skip


@clause("scheduler.initialized")
async def test_an_initialised_scheduler_starts_what_comes(contract: Contract) -> None:
    harness = ContractHarness(contract)
    await harness.scheduler().initialize([harness.task()])

    await harness.until("12:30")

    assert harness.starts() == times("11:00", "12:00")


@clause("scheduler.invalid-list")
async def test_an_invalid_first_list_emits_its_failure_and_leaves_nothing_behind(contract: Contract) -> None:
    harness = ContractHarness(contract, "11:00:30")

    await refused(harness.scheduler(), [harness.task(), harness.task("other", "61 * * * *")])
    await harness.until("13:00")

    assert [event.name for event in harness.events] == [STARTED, FAILED]
    assert (harness.starts(), harness.store.records) == ([], {})


@clause("scheduler.invalid-list")
async def test_after_an_invalid_list_a_valid_one_is_a_first_one(contract: Contract) -> None:
    harness = ContractHarness(contract)
    scheduler = harness.scheduler()
    await refused(scheduler, [harness.task(cron="61 * * * *")])

    await scheduler.initialize([harness.task()])
    await harness.until("11:00")

    assert harness.event_names(*LIFE) == [STARTED, FAILED, STARTED, COMPLETED]
    assert harness.starts() == times("11:00")


@clause("scheduler.cannot-schedule")
async def test_a_first_list_that_cannot_be_recorded_emits_its_failure_and_leaves_nothing_behind(
    contract: Contract,
) -> None:
    harness = ContractHarness(contract, "11:00:30")
    harness.disk.fail_next(error=disk_full())

    await refused(harness.scheduler(), [harness.task()])
    await harness.until("13:00")

    assert [event.name for event in harness.events] == [STARTED, FAILED]
    assert (harness.starts(), harness.store.records) == ([], {})


@clause("scheduler.cannot-schedule")
async def test_after_a_list_that_could_not_be_recorded_the_next_is_a_first_one(contract: Contract) -> None:
    harness = ContractHarness(contract)
    scheduler = harness.scheduler()
    harness.disk.fail_next(error=disk_full())
    await refused(scheduler, [harness.task()])

    await scheduler.initialize([harness.task()])
    await harness.until("11:00")

    assert harness.event_names(*LIFE) == [STARTED, FAILED, STARTED, COMPLETED]
    assert harness.starts() == times("11:00")


@clause("scheduler.cannot-schedule")
async def test_a_list_that_could_not_be_recorded_leaves_the_store_to_another_scheduler(contract: Contract) -> None:
    harness = ContractHarness(contract)
    harness.disk.fail_next(error=disk_full())
    await refused(harness.scheduler(), [harness.task()])

    await harness.start(harness.task())

    assert harness.record().first_seen == at("10:07:30")


# --- stopping ---------------------------------------------------------------------------------------------------------


@clause("scheduler.stop-requested")
async def test_a_stop_is_emitted_at_once_and_waits_for_active_runs(contract: Contract) -> None:
    harness = ContractHarness(contract)
    scheduler = await harness.start(harness.task(takes=10 * MINUTE))
    await harness.until("11:01")

    stopping = asyncio.create_task(scheduler.stop())
    await harness.until("11:09:59")

    assert not stopping.done()
    assert harness.event_names(*LIFE) == [STARTED, COMPLETED, REQUESTED]
    await harness.until("11:10")
    assert stopping.done()
    assert harness.ended == [("report", at("11:10"))]


@clause("scheduler.stop-requested")
async def test_from_a_stop_on_nothing_starts_although_something_still_runs(contract: Contract) -> None:
    harness = ContractHarness(contract)
    scheduler = await harness.start(harness.task(takes=10 * MINUTE), harness.task("other", "5 * * * *"))
    await harness.until("11:01")

    stopping = asyncio.create_task(scheduler.stop())
    await harness.until("13:00")

    assert stopping.done()
    assert harness.began == [("report", at("11:00"))]


@clause("scheduler.stopped")
async def test_the_end_of_a_stop_is_emitted_when_the_last_run_has_ended(contract: Contract) -> None:
    harness = ContractHarness(contract)
    scheduler = await harness.start(harness.task(takes=2 * MINUTE), harness.task("other", takes=5 * MINUTE))
    await harness.until("11:01")
    stopping = asyncio.create_task(scheduler.stop())

    await harness.until("11:04:59")
    early = harness.events_named(STOPPED)
    await harness.until("11:05")

    assert early == []
    assert harness.event_names(REQUESTED, STOPPED, "TaskRunCompleted") == [
        REQUESTED, "TaskRunCompleted", "TaskRunCompleted", STOPPED,
    ]  # fmt: skip
    assert stopping.done()


@clause("scheduler.stopped")
async def test_without_runs_a_stop_has_stopped_when_it_returns(contract: Contract) -> None:
    harness = ContractHarness(contract)
    scheduler = await harness.start(harness.task())

    await scheduler.stop()

    assert harness.events[-1].name == STOPPED
    assert harness.clock.now() == at("10:07:30")


@clause("scheduler.restartable")
async def test_a_scheduler_that_has_stopped_takes_a_list_again_as_its_first(contract: Contract) -> None:
    harness = ContractHarness(contract)
    scheduler = await harness.start(harness.task())
    await harness.until("11:00")
    await scheduler.stop()

    await scheduler.initialize([harness.task()])
    await harness.until("12:00")

    assert harness.event_names(*LIFE) == [STARTED, COMPLETED, REQUESTED, STOPPED, STARTED, COMPLETED]
    assert harness.starts() == times("11:00", "12:00")


@clause("scheduler.restartable")
async def test_a_restarted_scheduler_stops_again(contract: Contract) -> None:
    harness = ContractHarness(contract)
    scheduler = await harness.start(harness.task())
    await scheduler.stop()
    await scheduler.initialize([harness.task()])

    await scheduler.stop()
    await harness.clock.advance(90 * MINUTE + SECOND)

    assert len(harness.events_named(STOPPED)) == 2
    assert harness.starts() == []
