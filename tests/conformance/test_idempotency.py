"""Determinism and idempotency: repeated calls have the same result and no second effect."""

from collections.abc import Sequence
from contextlib import suppress

import pytest

from kron import Scheduler
from kron.engine.ports import Refusal, TaskBatch
from kron.errors import LedgerWriteError, SchedulerAlreadyActiveError
from kron.rules.contract import Contract
from kron.rules.task_record import TaskRecord
from kron.testing import FaultyLedger, MemoryTaskLedger
from tests.conformance.citing import clause
from tests.conformance.clause import BOTH_POLLING
from tests.conformance.contract_harness import HOUR, MINUTE, SECOND, ContractHarness, Registered, at, names_of, times


class UncertainLedger(FaultyLedger):
    """A disk that writes and then reports a failure, `doubts` times from now on."""

    doubts = 0

    async def append(self, batch: TaskBatch) -> Sequence[Refusal]:
        refused = await super().append(batch)
        if self.doubts:
            self.doubts -= 1
            raise LedgerWriteError(path="unsure", reason="connection lost")
        return refused


class DuplicatingLedger(MemoryTaskLedger):
    """A store that records everything two times."""

    async def append(self, batch: TaskBatch) -> Sequence[Refusal]:
        await super().append(batch)
        return await super().append(batch)


async def give(scheduler: Scheduler, *tasks: Registered) -> None:
    """Initialise once more; some contracts refuse that."""
    with suppress(SchedulerAlreadyActiveError):
        await scheduler.initialize(list(tasks))


def anonymous(records: dict[str, TaskRecord]) -> dict[str, TaskRecord]:
    """Return the records without the identifiers, which no two schedulers share."""
    return {name: record._replace(scheduler="") for name, record in records.items()}


# --- deterministic


@clause("again.selection-is-deterministic")
async def test_the_same_list_records_and_time_select_the_same_tasks_every_time(contract: Contract) -> None:
    crons = {"missed": "30 11 * * *", "served": "0 * * * *", "retried": "5 11 * * *", "never": "0 0 * * *"}
    first = ContractHarness(contract)
    tasks = [first.task(name, cron, fails=int(name == "retried"), retry=HOUR) for name, cron in crons.items()]
    scheduler = await first.start(*tasks)
    await first.until("11:10")
    await scheduler.stop()
    selected = []

    for _ in range(5):
        harness = ContractHarness(contract, "12:05:20")
        harness.store.records.update(first.store.records)
        again = [harness.task(name, cron, retry=HOUR) for name, cron in crons.items()]
        await harness.start(*again, harness.task("new", "5 * * * *"))
        selected.append(names_of(harness.began))

    assert selected == [["missed", "new", "retried", "served"]] * 5


@clause("again.selection-is-deterministic")
async def test_the_order_of_the_list_does_not_change_what_is_selected(contract: Contract) -> None:
    crons = {"hourly": "0 * * * *", "daily": "0 0 * * *", "every minute": "* * * * *", "other": "1 * * * *"}
    selected = []

    for names in (list(crons), sorted(crons), sorted(crons, reverse=True)):
        harness = ContractHarness(contract, "11:00:10")
        await harness.start(*(harness.task(name, crons[name]) for name in names))
        selected.append(names_of(harness.began))

    assert selected == [["every minute", "hourly"]] * 3


# --- the same list


@clause("again.same-list")
async def test_the_same_list_again_writes_nothing_and_schedules_no_task_again(contract: Contract) -> None:
    harness = ContractHarness(contract)
    tasks = [harness.task("done"), harness.task("busy", takes=HOUR), harness.task("failed", fails=1, retry=HOUR)]
    scheduler = await harness.start(*tasks)
    await harness.until("11:10")
    records, appends = dict(harness.store.records), harness.disk.appends
    harness.events.clear()

    await scheduler.initialize(tasks)
    await harness.settle()

    assert harness.store.records == records
    assert harness.disk.appends == appends
    assert harness.event_names("TaskAdded", "TaskOverridden", "TaskOrphaned", "TaskScheduled", "TaskRunStarted") == []
    (completed,) = harness.events_named("SchedulerInitializationCompleted")
    assert dict(completed.fields) == {"totalRegistrations": 3, "scheduledCount": 0, "skippedCount": 3}


@clause("again.same-list")
async def test_the_same_list_again_and_again_changes_no_start(contract: Contract) -> None:
    harness = ContractHarness(contract)
    report = harness.task(fails=1, retry=5 * MINUTE)
    scheduler = await harness.start(report)

    for _ in range(40):
        await harness.clock.advance(3 * MINUTE)
        await scheduler.initialize([report])

    assert harness.starts() == times("11:00", "11:05", "12:00")


@clause("again.refused-list")
async def test_the_same_list_again_is_refused_and_changes_nothing(contract: Contract) -> None:
    harness = ContractHarness(contract)
    report = harness.task(takes=30 * MINUTE)
    scheduler = await harness.start(report)
    await harness.until("11:10")
    records, appends, events = dict(harness.store.records), harness.disk.appends, len(harness.events)

    with pytest.raises(SchedulerAlreadyActiveError) as caught:
        await scheduler.initialize([report])

    assert caught.value.message == "Cannot initialize scheduler: scheduler is already running"
    assert caught.value.details == {"currentState": "running"}
    assert (harness.store.records, harness.disk.appends, len(harness.events)) == (records, appends, events)
    await harness.until("12:10")
    assert harness.starts() == times("11:00", "12:00")


# --- no duplicates


@clause("again.no-duplicates")
async def test_lists_given_again_in_the_due_minute_start_no_second_run(contract: Contract) -> None:
    harness = ContractHarness(contract, "11:00:05")
    report = harness.task()
    scheduler = await harness.start(report)

    for _ in range(5):
        await harness.clock.advance(5 * SECOND)
        await give(scheduler, report)
    await harness.until("11:30")

    assert harness.starts() == times("11:00:05")


@clause("again.no-duplicates")
async def test_schedulers_that_follow_one_another_in_the_due_minute_start_one_run(contract: Contract) -> None:
    harness = ContractHarness(contract, "10:59:30")
    report = harness.task()

    for moment in ("11:00:10", "11:00:20", "11:00:30", "11:00:40"):
        scheduler = await harness.start(report)
        await harness.until(moment)
        await scheduler.stop()

    assert harness.starts() == times("11:00")


@clause("again.no-duplicates")
async def test_lists_given_again_before_the_due_minute_start_one_run_in_it(contract: Contract) -> None:
    harness = ContractHarness(contract, "10:59:00")
    report = harness.task()
    scheduler = await harness.start(report)

    for _ in range(5):
        await harness.clock.advance(5 * SECOND)
        await give(scheduler, report)
    await harness.until("11:30")

    assert harness.starts() == times("11:00")


# --- overrides


@clause("again.overrides-detected")
async def test_every_later_life_of_a_scheduler_finds_what_changed(contract: Contract) -> None:
    harness = ContractHarness(contract)
    scheduler = await harness.start(harness.task(cron="0 * * * *"))
    found = []

    for cron in ("30 * * * *", "30 * * * *", "0 * * * *"):
        await scheduler.stop()
        harness.events.clear()
        await scheduler.initialize([harness.task(cron=cron)])
        found += harness.event_names("TaskAdded", "TaskPreserved", "TaskOverridden")

    assert found == ["TaskOverridden", "TaskPreserved", "TaskOverridden"]
    assert harness.record().cron == "0 * * * *"


@clause("again.overrides-detected", under=BOTH_POLLING)
async def test_every_later_list_of_a_running_scheduler_finds_what_changed(contract: Contract) -> None:
    harness = ContractHarness(contract)
    scheduler = await harness.start(harness.task(cron="0 * * * *"))
    harness.events.clear()

    for cron in ("30 * * * *", "30 * * * *", "15 * * * *"):
        await scheduler.initialize([harness.task(cron=cron)])
    await harness.until("12:10")

    names = harness.event_names("TaskAdded", "TaskPreserved", "TaskOverridden")
    assert names == ["TaskOverridden", "TaskPreserved", "TaskOverridden"]
    assert harness.starts() == times("10:15", "11:15")


# --- the same state


@clause("again.same-state-written")
async def test_a_store_that_records_everything_twice_ends_with_the_same_records(contract: Contract) -> None:
    ends = []

    for store in (MemoryTaskLedger(), DuplicatingLedger()):
        harness = ContractHarness(contract)
        harness.store, harness.disk = store, FaultyLedger(store)
        scheduler = await harness.start(harness.task("good", takes=MINUTE), harness.task("bad", fails=1))
        await harness.until("11:02")
        await scheduler.stop()
        await harness.start(harness.task("good", "30 * * * *"), harness.task("new"))
        await harness.until("12:05")
        ends.append((anonymous(store.records), sorted(harness.began)))

    assert ends[0] == ends[1]
    assert set(ends[0][0]) == {"good", "new"}


@clause("again.same-state-written")
async def test_a_start_whose_record_is_written_again_happens_once(contract: Contract) -> None:
    harness = ContractHarness(contract)
    harness.disk = disk = UncertainLedger(harness.store)
    await harness.start(harness.task())
    disk.doubts = 3

    await harness.until("11:30")

    assert harness.starts() == times("11:00:07")
    assert harness.record().last_attempt == harness.record().last_success == at("11:00:07")
    assert len(harness.events_named("LedgerAppendFailed")) == 3


@clause("again.same-state-written")
async def test_an_end_whose_record_is_written_again_is_the_same_end(contract: Contract) -> None:
    harness = ContractHarness(contract)
    harness.disk = disk = UncertainLedger(harness.store)
    await harness.start(harness.task(takes=MINUTE, fails=1, retry=5 * MINUTE))
    await harness.until("11:00:30")
    disk.doubts = 3

    await harness.until("11:04")

    assert (harness.record().last_failure, harness.record().retry_until) == (at("11:01"), at("11:06"))
    assert len(harness.events_named("TaskRunFailed")) == 1
    await harness.until("11:30")
    assert harness.starts() == times("11:00", "11:06")
    assert [event.fields["retryCount"] for event in harness.events_named("TaskRetryStarted")] == [1]
