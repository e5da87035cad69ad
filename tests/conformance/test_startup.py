"""Start: what a new task owes in its first minute, and what a restart owes."""

from pathlib import Path

import pytest

from kron.rules.contract import Contract
from kron.testing import crash
from tests.conformance.citing import clause
from tests.conformance.contract_harness import MINUTE, SECOND, ContractHarness, at, names_of, times

# --- tasks without a record -------------------------------------------------------------------------------------------


@clause("start.evaluates-cron")
@pytest.mark.parametrize("cron", ["* * * * *", "7 * * * *", "7 10 2 3 *", "7 10 * * 1", "0-10 8-12 1-5 3 *"])
async def test_an_expression_of_the_present_minute_matches_it(contract: Contract, cron: str) -> None:
    harness = ContractHarness(contract, "10:07:30")

    await harness.start(harness.task(cron=cron))

    assert harness.starts() == times("10:07:30")


@clause("start.evaluates-cron", "start.only-first-minute")
@pytest.mark.parametrize("cron", ["6 * * * *", "8 * * * *", "7 9 * * *", "7 10 1 * *", "7 10 2 4 *", "7 10 * * 2"])
async def test_an_expression_with_one_other_field_does_not_match(contract: Contract, cron: str) -> None:
    harness = ContractHarness(contract, "10:07:30")

    await harness.start(harness.task(cron=cron))
    await harness.until("10:07:59")

    assert harness.starts() == []


@clause("start.first-minute")
@pytest.mark.parametrize("now", ["11:00:00", "11:00:30", "11:00:59.999"])
async def test_a_task_registered_in_its_minute_runs_at_once(contract: Contract, now: str) -> None:
    harness = ContractHarness(contract, now)

    await harness.start(harness.task())

    assert harness.starts() == times(now)


@clause("start.first-minute")
async def test_a_task_registered_in_its_minute_runs_once_in_it(contract: Contract) -> None:
    harness = ContractHarness(contract, "11:00:10")

    await harness.start(harness.task())
    await harness.until("11:00:59")

    assert harness.starts() == times("11:00:10")


@clause("start.first-minute")
async def test_the_run_of_the_first_minute_is_for_its_beginning(contract: Contract) -> None:
    harness = ContractHarness(contract, "11:00:30")

    await harness.start(harness.task())

    assert [event.fields["scheduledTime"] for event in harness.events_named("TaskRunStarted")] == [
        "2026-03-02T11:00:00Z"
    ]


@clause("start.only-first-minute")
@pytest.mark.parametrize("now", ["10:59:59.999", "11:01:00", "11:30:00"])
async def test_a_task_registered_outside_its_minute_does_not_run_at_the_start(contract: Contract, now: str) -> None:
    harness = ContractHarness(contract, now)

    await harness.start(harness.task())

    assert harness.starts() == []


@clause("start.only-first-minute")
async def test_times_before_the_registration_are_never_owed(contract: Contract) -> None:
    harness = ContractHarness(contract, "11:01:00")

    await harness.start(harness.task())
    await harness.until("11:59:59")

    assert harness.starts() == []


@clause("start.next-occurrence")
@pytest.mark.parametrize(
    ("now", "starts"),
    [("10:07:30", ["11:00", "12:00"]), ("10:00:30", ["10:00:30", "11:00", "12:00"])],
    ids=["not in its minute", "in its minute"],
)
async def test_after_the_start_a_new_task_runs_at_its_next_occurrences(
    contract: Contract, now: str, starts: list[str]
) -> None:
    harness = ContractHarness(contract, now)

    await harness.start(harness.task())
    await harness.until("12:30")

    assert harness.starts() == times(*starts)


@clause("start.next-occurrence")
async def test_an_occurrence_while_the_run_of_the_first_minute_lasts_is_not_lost(contract: Contract) -> None:
    harness = ContractHarness(contract, "10:00:30")

    await harness.start(harness.task(takes=65 * MINUTE))
    await harness.until("12:00")

    assert harness.starts() == times("10:00:30", "11:05:30")


@clause("start.each-task-by-itself")
async def test_a_new_task_runs_in_its_minute_beside_one_that_has_run_in_it(contract: Contract) -> None:
    harness = ContractHarness(contract, "10:59:30")
    scheduler = await harness.start(harness.task("old"))
    await harness.until("11:00:10")
    await scheduler.stop()

    await harness.until("11:00:30")
    await harness.start(harness.task("old"), harness.task("new"))

    assert harness.starts("old") == times("11:00")
    assert harness.starts("new") == times("11:00:30")


@clause("start.each-task-by-itself")
async def test_a_new_task_owes_nothing_for_the_past_beside_one_that_catches_up(contract: Contract) -> None:
    harness = ContractHarness(contract)
    scheduler = await harness.start(harness.task("old"))
    await scheduler.stop()

    await harness.until("11:05")
    await harness.start(harness.task("old"), harness.task("new"))

    assert names_of(harness.began) == ["old"]


@clause("start.each-task-by-itself")
async def test_of_several_new_tasks_those_of_the_minute_run(contract: Contract) -> None:
    harness = ContractHarness(contract, "11:00:30")

    await harness.start(harness.task("now"), harness.task("also now", "0 11 * * 1"), harness.task("later", "1 * * * *"))

    assert names_of(harness.began) == ["also now", "now"]


# --- restarts ---------------------------------------------------------------------------------------------------------


@clause("start.loads-state")
async def test_a_run_before_the_restart_is_remembered(contract: Contract) -> None:
    harness = ContractHarness(contract, "11:00:10")
    scheduler = await harness.start(harness.task())
    await scheduler.stop()

    await harness.until("11:00:40")
    await harness.start(harness.task())
    await harness.until("11:59")

    assert harness.starts() == times("11:00:10")


@clause("start.loads-state")
async def test_a_run_before_a_crash_is_remembered(contract: Contract) -> None:
    harness = ContractHarness(contract, "11:00:10")
    await crash(await harness.start(harness.task()))

    await harness.until("11:00:40")
    await harness.start(harness.task())
    await harness.until("11:59")

    assert harness.starts() == times("11:00:10")


@clause("start.loads-state")
async def test_a_file_remembers_a_run_for_the_next_process(contract: Contract, tmp_path: Path) -> None:
    harness = ContractHarness(contract, "11:00:10")
    for _ in range(2):
        scheduler = harness.scheduler(tmp_path / "tasks.db")
        await scheduler.initialize([harness.task()])
        await harness.clock.advance(10 * SECOND)
        await scheduler.stop()

    assert harness.starts() == times("11:00:10")


@clause("start.applies-overrides")
async def test_a_restart_adds_keeps_changes_and_removes_what_the_list_says(contract: Contract) -> None:
    harness = ContractHarness(contract)
    scheduler = await harness.start(harness.task("kept"), harness.task("changed"), harness.task("gone"))
    await scheduler.stop()

    await harness.start(harness.task("kept"), harness.task("changed", "30 * * * *"), harness.task("added"))

    assert {name: record.cron for name, record in harness.store.records.items()} == {
        "kept": "0 * * * *",
        "changed": "30 * * * *",
        "added": "0 * * * *",
    }


@clause("start.applies-overrides")
async def test_after_a_restart_the_tasks_run_as_the_new_list_says(contract: Contract) -> None:
    harness = ContractHarness(contract)
    scheduler = await harness.start(harness.task("changed"), harness.task("gone"))
    await scheduler.stop()

    await harness.start(harness.task("changed", "30 * * * *"), harness.task("added"))
    await harness.until("11:45")

    assert harness.starts("changed") == times("10:30", "11:30")
    assert harness.starts("added") == times("11:00")
    assert harness.starts("gone") == []


@clause("start.applies-overrides")
async def test_a_changed_delay_holds_for_the_next_failure(contract: Contract) -> None:
    harness = ContractHarness(contract)
    scheduler = await harness.start(harness.task(retry=5 * MINUTE))
    await scheduler.stop()

    await harness.start(harness.task(retry=20 * MINUTE, fails=1))
    await harness.until("11:45")

    assert harness.record().retry_delay == 20 * MINUTE
    assert harness.starts() == times("11:00", "11:20")


@clause("start.continues")
async def test_a_restart_goes_on_from_the_last_attempt(contract: Contract) -> None:
    harness = ContractHarness(contract)
    scheduler = await harness.start(harness.task())
    await harness.until("11:10")
    await scheduler.stop()

    await harness.until("11:20")
    await harness.start(harness.task())
    await harness.until("12:30")

    assert harness.starts() == times("11:00", "12:00")


@clause("start.continues")
async def test_a_restart_after_a_missed_occurrence_goes_on_with_it(contract: Contract) -> None:
    harness = ContractHarness(contract)
    scheduler = await harness.start(harness.task())
    await harness.until("11:10")
    await scheduler.stop()

    await harness.until("12:10")
    await harness.start(harness.task())
    await harness.until("13:30")

    assert harness.starts() == times("11:00", "12:10", "13:00")


@clause("start.continues")
@pytest.mark.parametrize(("back", "retry"), [("11:02", "11:05"), ("11:20", "11:20")], ids=["too early", "late"])
async def test_a_restart_retries_a_failure_when_its_delay_has_passed(contract: Contract, back: str, retry: str) -> None:
    harness = ContractHarness(contract)
    task = harness.task(retry=5 * MINUTE, fails=1)
    scheduler = await harness.start(task)
    await harness.until("11:01")
    await scheduler.stop()

    await harness.until(back)
    await harness.start(task)
    await harness.until("11:30")

    assert harness.starts() == times("11:00", retry)


@clause("start.continues")
async def test_a_restart_keeps_the_recorded_times(contract: Contract) -> None:
    harness = ContractHarness(contract)
    task = harness.task(retry=5 * MINUTE, takes=MINUTE, fails=1)
    scheduler = await harness.start(task)
    await harness.until("11:30")
    await scheduler.stop()

    await harness.until("11:40")
    await harness.start(task)

    record = harness.record()
    assert record.last_attempt == at("11:06")
    assert record.last_failure == at("11:01")
    assert record.last_success == at("11:07")
