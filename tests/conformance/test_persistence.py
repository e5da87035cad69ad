"""Records and overrides: how a list is compared with the stored tasks, and the result for each task."""

from collections import defaultdict

from kron.rules.contract import Contract
from kron.rules.task_record import TaskRecord
from kron.testing import crash
from tests.conformance.citing import clause
from tests.conformance.clause import BOTH_POLLING, DECLARATIVE
from tests.conformance.contract_harness import HOUR, MINUTE, ContractHarness, at, times

CLASSES = ("TaskAdded", "TaskPreserved", "TaskOverridden", "TaskOrphaned")


def classes(harness: ContractHarness) -> dict[str, list[str]]:
    """Return the classes that the events give for each task."""
    found: dict[str, list[str]] = defaultdict(list)
    for event in harness.events:
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
    harness = ContractHarness(contract)
    first = await harness.start(harness.task("kept"), harness.task("changed"), harness.task("gone"))
    await first.stop()
    harness.events.clear()

    await harness.start(harness.task("kept"), harness.task("changed", "30 * * * *"), harness.task("fresh"))

    assert classes(harness) == {
        "kept": ["TaskPreserved"],
        "changed": ["TaskOverridden"],
        "fresh": ["TaskAdded"],
        "gone": ["TaskOrphaned"],
    }


@clause("override.compares", under=(DECLARATIVE,))
async def test_every_task_of_the_list_is_in_one_class(contract: Contract) -> None:
    harness = ContractHarness(contract)
    kept, changed = harness.task("kept", "0 3 * * *"), harness.task("changed", "0 3 * * *")
    cut_off = harness.task("cut off", takes=HOUR)
    first = await harness.start(kept, changed, cut_off)
    await harness.until("11:10")
    await crash(first)
    harness.events.clear()

    await harness.start(kept, harness.task("changed", "0 4 * * *"), cut_off, harness.task("fresh"))

    assert classes(harness) == {
        "kept": ["TaskPreserved"],
        "changed": ["TaskOverridden"],
        "cut off": ["TaskOrphaned"],
        "fresh": ["TaskAdded"],
    }


# --- new


@clause("override.new")
async def test_a_task_without_a_record_gets_one_without_a_past(contract: Contract) -> None:
    harness = ContractHarness(contract, "10:07:30")

    await harness.start(harness.task(cron="0 * * * *", retry=5 * MINUTE))

    expected = TaskRecord("report", "0 * * * *", 5 * MINUTE, at("10:07:30"))
    assert harness.record()._replace(scheduler="") == expected


@clause("override.new")
async def test_a_new_task_beside_stored_ones_runs_in_its_minute_and_owes_nothing_for_the_past(
    contract: Contract,
) -> None:
    harness = ContractHarness(contract, "10:07:30")
    stored = harness.task("stored", "0 0 * * *")
    await (await harness.start(stored)).stop()
    await harness.until("11:00:30")

    await harness.start(stored, harness.task("in its minute", "0 * * * *"), harness.task("past it", "59 * * * *"))

    assert harness.began == [("in its minute", at("11:00:30"))]


# --- preserved


@clause("override.preserved")
async def test_a_preserved_task_keeps_its_history(contract: Contract) -> None:
    harness = ContractHarness(contract, "10:07:30")
    report = harness.task(fails=1, retry=5 * MINUTE)
    first = await harness.start(report)
    await harness.until("11:01")
    await first.stop()
    before = history(harness.record())

    await harness.start(report)

    expected = (at("10:07:30"), at("11:00"), None, at("11:00"), at("11:05"))
    assert before[:5] == expected
    assert history(harness.record()) == before


@clause("override.preserved")
async def test_a_preserved_task_goes_on_with_its_retry_and_its_schedule(contract: Contract) -> None:
    harness = ContractHarness(contract)
    report = harness.task(fails=1, retry=5 * MINUTE)
    first = await harness.start(report)
    await harness.until("11:01")
    await first.stop()

    await harness.start(report)
    await harness.until("12:30")

    assert harness.starts() == times("11:00", "11:05", "12:00")


@clause("override.preserved")
async def test_a_preserved_task_runs_once_for_what_it_missed(contract: Contract) -> None:
    harness = ContractHarness(contract)
    report = harness.task()
    first = await harness.start(report)
    await harness.until("11:30")
    await first.stop()
    await harness.until("14:30")

    await harness.start(report)
    await harness.until("14:59")

    assert harness.starts() == times("11:00", "14:30")


# --- overridden


@clause("override.resets")
async def test_an_overridden_task_gets_its_new_configuration_and_no_history(contract: Contract) -> None:
    harness = ContractHarness(contract)
    first = await harness.start(harness.task(fails=1))
    await harness.until("11:02")
    await first.stop()

    await harness.start(harness.task(cron="30 * * * *", retry=MINUTE))

    expected = TaskRecord("report", "30 * * * *", MINUTE, at("11:02"))
    assert harness.record()._replace(scheduler="") == expected


@clause("override.resets")
async def test_an_overridden_task_owes_neither_its_retry_nor_what_it_missed(contract: Contract) -> None:
    harness = ContractHarness(contract)
    first = await harness.start(harness.task(fails=1, retry=50 * MINUTE))
    await harness.until("11:45")
    await first.stop()

    await harness.start(harness.task(cron="30 * * * *", retry=50 * MINUTE))
    await harness.until("12:45")

    assert harness.starts() == times("11:00", "12:30")


@clause("override.keeps")
async def test_an_overridden_task_gets_its_new_configuration_and_keeps_its_history(contract: Contract) -> None:
    harness = ContractHarness(contract)
    first = await harness.start(harness.task(fails=1))
    await harness.until("11:02")
    await first.stop()
    before = harness.record()

    await harness.start(harness.task(cron="30 * * * *", retry=MINUTE))

    assert history(before)[1:5] == (at("11:00"), None, at("11:00"), at("11:05"))
    assert harness.record() == before._replace(cron="30 * * * *", retry_delay=MINUTE)


@clause("override.keeps")
async def test_an_overridden_task_still_owes_its_retry_and_then_follows_its_new_schedule(contract: Contract) -> None:
    harness = ContractHarness(contract)
    first = await harness.start(harness.task(fails=1, retry=5 * MINUTE))
    await harness.until("11:02")
    await first.stop()

    await harness.start(harness.task(cron="30 * * * *", retry=5 * MINUTE))
    await harness.until("12:15")

    assert harness.starts() == times("11:00", "11:05", "11:30")


@clause("override.keeps")
async def test_an_overridden_task_owes_what_its_new_schedule_had_since_its_last_start(contract: Contract) -> None:
    harness = ContractHarness(contract)
    first = await harness.start(harness.task())
    await harness.until("11:45")
    await first.stop()

    await harness.start(harness.task(cron="30 * * * *"))

    (overridden,) = harness.events_named("TaskOverridden")
    assert overridden.fields["runFollows"] is True
    assert harness.starts() == times("11:00", "11:45")


# --- unregistered


@clause("override.unregistered-is-orphaned")
async def test_an_unregistered_task_is_reported_as_orphaned_and_its_record_removed(contract: Contract) -> None:
    harness = ContractHarness(contract)
    first = await harness.start(harness.task("kept"), harness.task("gone"))
    await harness.until("11:30")
    await first.stop()
    left = harness.record("gone").scheduler

    await harness.start(harness.task("kept"))

    (orphaned,) = harness.events_named("TaskOrphaned")
    expected = {"taskName": "gone", "lastExecutionTime": "2026-03-02T11:00:00Z", "schedulerIdentifier": left}
    assert dict(orphaned.fields) == expected
    assert set(harness.store.records) == {"kept"}


@clause("override.unregistered-is-orphaned")
async def test_a_task_that_a_running_scheduler_is_no_longer_given_does_not_run(contract: Contract) -> None:
    harness = ContractHarness(contract)
    scheduler = await harness.start(harness.task("kept"), harness.task("gone", fails=1, retry=5 * MINUTE))
    await harness.until("11:01")

    await scheduler.initialize([harness.task("kept")])
    await harness.until("12:30")

    assert set(harness.store.records) == {"kept"}
    assert harness.starts("kept") == times("11:00", "12:00")
    assert harness.starts("gone") == times("11:00")


@clause("override.unregistered-is-forgotten")
async def test_the_record_of_an_unregistered_task_is_removed_and_it_does_not_run(contract: Contract) -> None:
    harness = ContractHarness(contract)
    first = await harness.start(harness.task("kept"), harness.task("gone", fails=1, retry=5 * MINUTE))
    await harness.until("11:01")
    await first.stop()

    await harness.start(harness.task("kept"))
    await harness.until("12:30")

    assert set(harness.store.records) == {"kept"}
    assert harness.starts("kept") == times("11:00", "12:00")
    assert harness.starts("gone") == times("11:00")


@clause("override.unregistered-is-forgotten")
async def test_a_task_that_was_unregistered_and_comes_back_is_new(contract: Contract) -> None:
    harness = ContractHarness(contract)
    for tasks, until in (([harness.task()], "11:30"), ([], "12:30")):
        scheduler = await harness.start(*tasks)
        await harness.until(until)
        await scheduler.stop()

    await harness.start(harness.task())
    await harness.until("13:15")

    assert harness.record().first_seen == at("12:30")
    assert harness.event_names("TaskAdded", "TaskPreserved") == ["TaskAdded", "TaskAdded"]
    assert harness.starts() == times("11:00", "13:00")
