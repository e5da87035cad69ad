"""Records and overrides: interrupted runs, and the records after a crash."""

from pathlib import Path

import pytest

from kron.adapters.sqlite.task_ledger import SqliteTaskLedger
from kron.rules.contract import Contract, InterruptedRun
from kron.rules.task_record import TaskRecord
from kron.testing import crash
from tests.conformance.citing import clause
from tests.conformance.contract_harness import HOUR, MINUTE, ContractHarness, at, times


async def records_in(path: Path) -> dict[str, TaskRecord]:
    """Return what is stored in the file."""
    ledger = SqliteTaskLedger(path)
    await ledger.open()
    records = dict(await ledger.load())
    await ledger.close()
    return records


@clause("override.interrupted-is-orphaned")
async def test_a_run_that_was_cut_off_restarts_at_once(contract: Contract) -> None:
    harness = ContractHarness(contract)
    report = harness.task(takes=30 * MINUTE)
    first = await harness.start(report)
    await harness.until("11:10")
    await crash(first)
    await harness.until("11:20")

    await harness.start(report)

    (orphaned,) = harness.events_named("TaskOrphaned")
    assert orphaned.fields["taskName"] == "report"
    assert orphaned.fields["lastExecutionTime"] == "2026-03-02T11:00:00Z"
    assert harness.starts() == times("11:00", "11:20")


@clause("override.interrupted-is-orphaned")
async def test_a_run_that_was_cut_off_restarts_with_its_new_configuration(contract: Contract) -> None:
    harness = ContractHarness(contract)
    first = await harness.start(harness.task(takes=30 * MINUTE))
    await harness.until("11:10")
    await crash(first)
    await harness.until("11:20")

    await harness.start(harness.task(cron="0 3 * * *", retry=MINUTE, fails=1))
    await harness.until("12:30")

    assert len(harness.events_named("TaskOrphaned")) == 1
    assert (harness.record().cron, harness.record().retry_delay) == ("0 3 * * *", MINUTE)
    assert harness.starts() == times("11:00", "11:20", "11:21")


@clause("override.interrupted-is-orphaned")
async def test_a_run_that_ended_before_the_crash_is_not_orphaned(contract: Contract) -> None:
    harness = ContractHarness(contract)
    report = harness.task(takes=5 * MINUTE)
    first = await harness.start(report)
    await harness.until("11:10")
    await crash(first)

    await harness.start(report)
    await harness.until("11:45")

    assert harness.events_named("TaskOrphaned") == []
    assert harness.starts() == times("11:00")


@clause("override.interrupted-is-orphaned")
async def test_a_restart_happens_once(contract: Contract) -> None:
    harness = ContractHarness(contract)
    report = harness.task(takes=5 * MINUTE)
    first = await harness.start(report)
    await harness.until("11:01")
    await crash(first)
    second = await harness.start(report)
    await harness.until("11:10")
    await crash(second)

    await harness.start(report)
    await harness.until("11:45")

    assert harness.starts() == times("11:00", "11:01")


@clause("override.interrupted-waits")
async def test_a_run_that_was_cut_off_waits_for_the_next_occurrence(contract: Contract) -> None:
    harness = ContractHarness(contract)
    report = harness.task(takes=30 * MINUTE)
    first = await harness.start(report)
    await harness.until("11:10")
    await crash(first)

    await harness.start(report)
    await harness.until("12:15")

    assert harness.starts() == times("11:00", "12:00")


# --- what is left after a crash


@clause("again.crash")
async def test_after_a_crash_the_file_has_every_end_and_every_start_that_happened(
    contract: Contract, tmp_path: Path
) -> None:
    harness, path = ContractHarness(contract), tmp_path / "tasks.db"
    scheduler = harness.scheduler(path)
    await scheduler.initialize(
        [harness.task("done"), harness.task("failed", fails=1), harness.task("cut off", takes=HOUR)]
    )
    await harness.until("11:01")

    await crash(scheduler)

    records = await records_in(path)
    assert {name: record.last_attempt for name, record in records.items()} == {
        "done": at("11:00"),
        "failed": at("11:00"),
        "cut off": at("11:00"),
    }
    assert {name: record.running_since for name, record in records.items()} == {
        "done": None,
        "failed": None,
        "cut off": at("11:00"),
    }
    assert records["done"].last_success == at("11:00")
    assert records["failed"].retry_until == at("11:05")


@clause("again.crash")
async def test_after_a_crash_every_task_goes_on_where_it_was(contract: Contract, tmp_path: Path) -> None:
    harness, path = ContractHarness(contract), tmp_path / "tasks.db"
    tasks = [harness.task("done"), harness.task("failed", fails=1), harness.task("cut off", takes=20 * MINUTE)]
    first, second = harness.scheduler(path), harness.scheduler(path)
    await first.initialize(tasks)
    await harness.until("11:01")
    await crash(first)
    await harness.until("11:03")

    await second.initialize(tasks)
    await harness.until("12:01")

    restarts = [] if contract.interrupted_run is InterruptedRun.WAIT_FOR_DUE else times("11:03")
    assert harness.starts("done") == times("11:00", "12:00")
    assert harness.starts("failed") == times("11:00", "11:05", "12:00")
    assert harness.starts("cut off") == [at("11:00"), *restarts, at("12:00")]
    await crash(second)


@pytest.mark.parametrize("moment", ["10:30", "11:00", "11:15", "11:30"])
@clause("again.crash")
async def test_a_crash_at_any_moment_loses_no_occurrence_to_come(contract: Contract, moment: str) -> None:
    harness = ContractHarness(contract)
    report = harness.task(takes=30 * MINUTE)
    first = await harness.start(report)
    await harness.until(moment)
    await crash(first)

    await harness.start(report)
    await harness.until("12:05")

    assert at("12:00") in harness.starts()
    assert harness.record().running_since == at("12:00")
