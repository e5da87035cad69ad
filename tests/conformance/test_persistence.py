"""Records and overrides: how a list is compared with the stored tasks, and the result for each task."""

from collections import defaultdict

from kron.rules.contract import Contract
from kron.rules.task_record import TaskRecord
from kron.testing import crash
from tests.conformance.citing import clause
from tests.conformance.clause import BOTH_POLLING, DECLARATIVE
from tests.conformance.contract_harness import HOUR, MINUTE, ContractHarness, at, times

CLASSES = ("TaskAdded", "TaskPreserved", "TaskOverridden", "TaskOrphaned")


def classes(world: ContractHarness) -> dict[str, list[str]]:
    """Return the classes that the events give for each task."""
    found: dict[str, list[str]] = defaultdict(list)
    for event in world.events:
        if event.name in CLASSES:
            found[str(event.fields["taskName"])].append(event.name)
    return found


def history(record: TaskRecord) -> tuple[object, ...]:
    """Return everything that a record says of the past."""
    return (
        record.first_seen,
        record.last_attempt,
        record.last_success,
        record.last_failure,
        record.retry_until,
        record.retry_count,
    )


# --- classes


@clause("override.compares", under=BOTH_POLLING)
async def test_every_task_of_the_list_and_of_the_store_is_in_one_class(contract: Contract) -> None:
    world = ContractHarness(contract)
    first = await world.start(world.task("kept"), world.task("changed"), world.task("gone"))
    await first.stop()
    world.events.clear()

    await world.start(world.task("kept"), world.task("changed", "30 * * * *"), world.task("fresh"))

    assert classes(world) == {
        "kept": ["TaskPreserved"],
        "changed": ["TaskOverridden"],
        "fresh": ["TaskAdded"],
        "gone": ["TaskOrphaned"],
    }


@clause("override.compares", under=(DECLARATIVE,))
async def test_every_task_of_the_list_is_in_one_class(contract: Contract) -> None:
    world = ContractHarness(contract)
    kept, changed = world.task("kept", "0 3 * * *"), world.task("changed", "0 3 * * *")
    cut_off = world.task("cut off", takes=HOUR)
    first = await world.start(kept, changed, cut_off)
    await world.until("11:10")
    await crash(first)
    world.events.clear()

    await world.start(kept, world.task("changed", "0 4 * * *"), cut_off, world.task("fresh"))

    assert classes(world) == {
        "kept": ["TaskPreserved"],
        "changed": ["TaskOverridden"],
        "cut off": ["TaskOrphaned"],
        "fresh": ["TaskAdded"],
    }


# --- new


@clause("override.new")
async def test_a_task_without_a_record_gets_one_without_a_past(contract: Contract) -> None:
    world = ContractHarness(contract, "10:07:30")

    await world.start(world.task(cron="0 * * * *", retry=5 * MINUTE))

    expected = TaskRecord("report", "0 * * * *", 5 * MINUTE, at("10:07:30"))
    assert world.record()._replace(scheduler="") == expected


@clause("override.new")
async def test_a_new_task_beside_stored_ones_runs_in_its_minute_and_owes_nothing_for_the_past(
    contract: Contract,
) -> None:
    world = ContractHarness(contract, "10:07:30")
    stored = world.task("stored", "0 0 * * *")
    await (await world.start(stored)).stop()
    await world.until("11:00:30")

    await world.start(stored, world.task("in its minute", "0 * * * *"), world.task("past it", "59 * * * *"))

    assert world.began == [("in its minute", at("11:00:30"))]


# --- preserved


@clause("override.preserved")
async def test_a_preserved_task_keeps_its_history(contract: Contract) -> None:
    world = ContractHarness(contract, "10:07:30")
    report = world.task(fails=1, retry=5 * MINUTE)
    first = await world.start(report)
    await world.until("11:01")
    await first.stop()
    before = history(world.record())

    await world.start(report)

    expected = (at("10:07:30"), at("11:00"), None, at("11:00"), at("11:05"))
    assert before[:5] == expected
    assert history(world.record()) == before


@clause("override.preserved")
async def test_a_preserved_task_goes_on_with_its_retry_and_its_schedule(contract: Contract) -> None:
    world = ContractHarness(contract)
    report = world.task(fails=1, retry=5 * MINUTE)
    first = await world.start(report)
    await world.until("11:01")
    await first.stop()

    await world.start(report)
    await world.until("12:30")

    assert world.starts() == times("11:00", "11:05", "12:00")


@clause("override.preserved")
async def test_a_preserved_task_runs_once_for_what_it_missed(contract: Contract) -> None:
    world = ContractHarness(contract)
    report = world.task()
    first = await world.start(report)
    await world.until("11:30")
    await first.stop()
    await world.until("14:30")

    await world.start(report)
    await world.until("14:59")

    assert world.starts() == times("11:00", "14:30")


# --- overridden


@clause("override.resets")
async def test_an_overridden_task_gets_its_new_configuration_and_no_history(contract: Contract) -> None:
    world = ContractHarness(contract)
    first = await world.start(world.task(fails=1))
    await world.until("11:02")
    await first.stop()

    await world.start(world.task(cron="30 * * * *", retry=MINUTE))

    expected = TaskRecord("report", "30 * * * *", MINUTE, at("11:02"))
    assert world.record()._replace(scheduler="") == expected


@clause("override.resets")
async def test_an_overridden_task_owes_neither_its_retry_nor_what_it_missed(contract: Contract) -> None:
    world = ContractHarness(contract)
    first = await world.start(world.task(fails=1, retry=50 * MINUTE))
    await world.until("11:45")
    await first.stop()

    await world.start(world.task(cron="30 * * * *", retry=50 * MINUTE))
    await world.until("12:45")

    assert world.starts() == times("11:00", "12:30")


@clause("override.keeps")
async def test_an_overridden_task_gets_its_new_configuration_and_keeps_its_history(contract: Contract) -> None:
    world = ContractHarness(contract)
    first = await world.start(world.task(fails=1))
    await world.until("11:02")
    await first.stop()
    before = world.record()

    await world.start(world.task(cron="30 * * * *", retry=MINUTE))

    assert history(before)[1:5] == (at("11:00"), None, at("11:00"), at("11:05"))
    assert world.record() == before._replace(cron="30 * * * *", retry_delay=MINUTE)


@clause("override.keeps")
async def test_an_overridden_task_still_owes_its_retry_and_then_follows_its_new_schedule(contract: Contract) -> None:
    world = ContractHarness(contract)
    first = await world.start(world.task(fails=1, retry=5 * MINUTE))
    await world.until("11:02")
    await first.stop()

    await world.start(world.task(cron="30 * * * *", retry=5 * MINUTE))
    await world.until("12:15")

    assert world.starts() == times("11:00", "11:05", "11:30")


@clause("override.keeps")
async def test_an_overridden_task_owes_what_its_new_schedule_had_since_its_last_start(contract: Contract) -> None:
    world = ContractHarness(contract)
    first = await world.start(world.task())
    await world.until("11:45")
    await first.stop()

    await world.start(world.task(cron="30 * * * *"))

    (overridden,) = world.events_named("TaskOverridden")
    assert overridden.fields["runFollows"] is True
    assert world.starts() == times("11:00", "11:45")


# --- unregistered


@clause("override.unregistered-is-orphaned")
async def test_an_unregistered_task_is_told_to_be_orphaned_and_its_record_removed(contract: Contract) -> None:
    world = ContractHarness(contract)
    first = await world.start(world.task("kept"), world.task("gone"))
    await world.until("11:30")
    await first.stop()
    left = world.record("gone").scheduler

    await world.start(world.task("kept"))

    (orphaned,) = world.events_named("TaskOrphaned")
    expected = {"taskName": "gone", "lastExecutionTime": "2026-03-02T11:00:00Z", "schedulerIdentifier": left}
    assert dict(orphaned.fields) == expected
    assert set(world.store.records) == {"kept"}


@clause("override.unregistered-is-orphaned")
async def test_a_task_that_a_running_scheduler_is_no_longer_given_does_not_run(contract: Contract) -> None:
    world = ContractHarness(contract)
    scheduler = await world.start(world.task("kept"), world.task("gone", fails=1, retry=5 * MINUTE))
    await world.until("11:01")

    await scheduler.initialize([world.task("kept")])
    await world.until("12:30")

    assert set(world.store.records) == {"kept"}
    assert world.starts("kept") == times("11:00", "12:00")
    assert world.starts("gone") == times("11:00")


@clause("override.unregistered-is-forgotten")
async def test_the_record_of_an_unregistered_task_is_removed_and_it_does_not_run(contract: Contract) -> None:
    world = ContractHarness(contract)
    first = await world.start(world.task("kept"), world.task("gone", fails=1, retry=5 * MINUTE))
    await world.until("11:01")
    await first.stop()

    await world.start(world.task("kept"))
    await world.until("12:30")

    assert set(world.store.records) == {"kept"}
    assert world.starts("kept") == times("11:00", "12:00")
    assert world.starts("gone") == times("11:00")


@clause("override.unregistered-is-forgotten")
async def test_a_task_that_was_unregistered_and_comes_back_is_new(contract: Contract) -> None:
    world = ContractHarness(contract)
    for tasks, until in (([world.task()], "11:30"), ([], "12:30")):
        scheduler = await world.start(*tasks)
        await world.until(until)
        await scheduler.stop()

    await world.start(world.task())
    await world.until("13:15")

    assert world.record().first_seen == at("12:30")
    assert world.story("TaskAdded", "TaskPreserved") == ["TaskAdded", "TaskAdded"]
    assert world.starts() == times("11:00", "13:00")
