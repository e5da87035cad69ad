"""Records and overrides: a list is applied completely or not at all, and the effect of a failed write."""

import sqlite3
from contextlib import closing, suppress
from pathlib import Path

import pytest

from kron.errors import KronError, SchedulerStepError, ScheduleTaskError
from kron.rules.contract import Contract
from tests.conformance.citing import clause
from tests.conformance.clause import BOTH_POLLING, DECLARATIVE
from tests.conformance.contract_harness import (
    MINUTE,
    ContractHarness,
    RegistrationTuple,
    at,
    disk_full,
    names_of,
    times,
)

CHANGED_CRON, CHANGED_RETRY, GONE, FRESH = "changed cron", "changed retry", "gone", "fresh"
OLD = {CHANGED_CRON: "0 3 * * *", CHANGED_RETRY: "0 3 * * *", GONE: "0 3 * * *"}
NEW = {CHANGED_CRON: "0 4 * * *", CHANGED_RETRY: "0 3 * * *", FRESH: "0 3 * * *"}


def before(harness: ContractHarness) -> list[RegistrationTuple]:
    """Return the list that is stored first."""
    return [harness.task(name, cron, retry=5 * MINUTE) for name, cron in OLD.items()]


def after(harness: ContractHarness) -> list[RegistrationTuple]:
    """Return the list that overrides two tasks, adds one and lacks one."""
    return [harness.task(name, cron, retry=MINUTE) for name, cron in NEW.items()]


def crons(harness: ContractHarness) -> dict[str, str]:
    """Return the stored expressions."""
    return {name: record.cron for name, record in harness.store.records.items()}


def rows_in(path: Path) -> dict[str, str]:
    """Return the expressions that are stored in the file."""
    with closing(sqlite3.connect(path)) as connection:
        return dict(connection.execute("SELECT name, cronExpression FROM task"))


def refuse_to_store(path: Path, name: str) -> None:
    """Let the file refuse one task, after others of the same transaction were written."""
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(
            f"CREATE TRIGGER no BEFORE INSERT ON task WHEN NEW.name = '{name}' BEGIN SELECT RAISE(ABORT, 'no'); END"
        )


# --- all or nothing


@pytest.mark.parametrize("successes", [0, 1, 2, 3])
@clause("override.atomic")
async def test_wherever_the_disk_fails_the_overrides_are_all_recorded_or_none(
    contract: Contract, successes: int
) -> None:
    harness = ContractHarness(contract)
    await (await harness.start(*before(harness))).stop()
    harness.disk.fail_next(10, after=successes)

    with suppress(KronError):
        await harness.start(*after(harness))

    assert crons(harness) == (NEW if successes else OLD)


@clause("override.atomic", "again.partial-failure")
async def test_a_file_that_refuses_one_task_of_a_list_keeps_none_of_it(contract: Contract, tmp_path: Path) -> None:
    harness, path = ContractHarness(contract), tmp_path / "tasks.db"
    first = harness.scheduler(path)
    await first.initialize(before(harness))
    await first.stop()
    refuse_to_store(path, FRESH)

    with pytest.raises(KronError):
        await harness.scheduler(path).initialize(after(harness))

    assert rows_in(path) == OLD


# --- a failure


@clause("override.failure-restores")
async def test_a_failed_override_leaves_the_records_as_they_were(contract: Contract) -> None:
    harness = ContractHarness(contract)
    await (await harness.start(*before(harness))).stop()
    stored = dict(harness.store.records)
    harness.disk.fail_next(error=disk_full())

    with pytest.raises(KronError) as caught:
        await harness.start(*after(harness))

    assert isinstance(caught.value.details["cause"], OSError)
    assert harness.store.records == stored


@clause("override.failure-restores")
async def test_after_a_failed_override_the_same_list_can_be_given_again(contract: Contract) -> None:
    harness = ContractHarness(contract)
    await (await harness.start(*before(harness))).stop()
    harness.disk.fail_next(error=disk_full())
    scheduler = harness.scheduler()
    with pytest.raises(KronError):
        await scheduler.initialize(after(harness))

    await scheduler.initialize(after(harness))

    assert crons(harness) == NEW


@clause("override.failure-restores", under=BOTH_POLLING)
async def test_a_failed_override_of_a_scheduler_that_runs_leaves_the_records_as_they_were(contract: Contract) -> None:
    harness = ContractHarness(contract)
    scheduler = await harness.start(*before(harness))
    stored = dict(harness.store.records)
    harness.disk.fail_next(error=disk_full())

    with pytest.raises(ScheduleTaskError):
        await scheduler.initialize(after(harness))

    assert harness.store.records == stored


@clause("override.failure-restores", under=(DECLARATIVE,))
async def test_the_error_of_a_failed_override_names_the_step_and_its_cause(contract: Contract) -> None:
    harness, cause = ContractHarness(contract), disk_full()
    harness.disk.fail_next(error=cause)

    with pytest.raises(SchedulerStepError) as caught:
        await harness.start(harness.task())

    step = "initialize scheduler: recording the registered tasks"
    assert caught.value.message == f"Failed to {step}: [Errno 28] No space left on device"
    assert caught.value.details == {"step": step, "cause": cause}
    assert caught.value.__cause__ is cause


@clause("override.failure-is-schedule-task-error")
async def test_the_error_of_a_failed_override_is_schedule_task_error(contract: Contract) -> None:
    harness, cause = ContractHarness(contract), disk_full()
    await (await harness.start(harness.task())).stop()
    harness.disk.fail_next(error=cause)

    with pytest.raises(ScheduleTaskError) as caught:
        await harness.start(harness.task(cron="30 * * * *"))

    assert caught.value.message == "Failed to schedule tasks: [Errno 28] No space left on device"
    assert caught.value.details == {"name": None, "cronExpression": None, "cause": cause}
    assert caught.value.__cause__ is cause


# --- writes of a scheduler that runs


@clause("again.partial-failure")
async def test_starts_that_could_not_be_recorded_have_not_happened_and_come_later(contract: Contract) -> None:
    harness = ContractHarness(contract)
    await harness.start(harness.task("one"), harness.task("two"))
    stored = dict(harness.store.records)
    harness.disk.fail_next(1)

    await harness.until("11:00")

    assert harness.store.records == stored
    assert harness.began == []
    await harness.until("11:10")
    assert names_of(harness.began) == ["one", "two"]
    assert harness.starts("one") == harness.starts("two") == times("11:00:01")


@clause("again.partial-failure")
async def test_ends_that_could_not_be_recorded_are_recorded_later_and_emitted_then(contract: Contract) -> None:
    harness = ContractHarness(contract)
    await harness.start(harness.task("one", takes=MINUTE), harness.task("two", takes=MINUTE))
    await harness.until("11:00:30")
    harness.disk.fail_next(1)

    await harness.until("11:01")

    assert [record.last_success for record in harness.store.records.values()] == [None, None]
    assert harness.events_named("TaskRunCompleted") == []
    await harness.until("11:02")
    assert [record.last_success for record in harness.store.records.values()] == [at("11:01"), at("11:01")]
    assert len(harness.events_named("TaskRunCompleted")) == 2
