"""The invariants that the draft lists for tests, each in the fewest steps that could violate it."""

import asyncio
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from kron.errors import KronError
from kron.rules.contract import Contract
from tests.conformance.citing import clause
from tests.conformance.contract_harness import HOUR, MINUTE, SECOND, ContractHarness, Registered, names_of, times


async def nothing() -> None:
    """Do nothing, as a callback."""


_SHAPE = "Invalid registration shape: expected [string, string, function, Duration]"
_SHORT = ("report", "0 * * * *", nothing)
_MISTAKES: dict[str, tuple[tuple[Any, ...], str, str, dict[str, object]]] = {
    "three elements": (_SHORT, "RegistrationShapeError", _SHAPE, {"registrationIndex": 1, "received": _SHORT}),
    "an empty name": (
        ("", "0 * * * *", nothing, MINUTE),
        "InvalidRegistrationError",
        "Invalid registration: name must not be empty",
        {"field": "name", "value": "", "reason": "must not be empty"},
    ),
    "a name twice": (
        ("good", "0 * * * *", nothing, MINUTE),
        "ScheduleDuplicateTaskError",
        'Task with name "good" is already scheduled',
        {"taskName": "good"},
    ),
    "a delay below zero": (
        ("report", "0 * * * *", nothing, -MINUTE),
        "NegativeRetryDelayError",
        "Retry delay must be non-negative",
        {"retryDelayMs": -60_000},
    ),
    "a minute that is none": (
        ("report", "60 * * * *", nothing, MINUTE),
        "CronExpressionInvalidError",
        'Invalid cron expression "60 * * * *": minute field value 60 is outside 0-59',
        {"expression": "60 * * * *", "field": "minute", "reason": "value 60 is outside 0-59"},
    ),
}

# --- calls ------------------------------------------------------------------------------------------------------------


@clause("invariant.empty-list")
async def test_a_scheduler_of_no_tasks_starts_and_stops(contract: Contract) -> None:
    harness = ContractHarness(contract)
    scheduler = harness.scheduler()

    await scheduler.initialize([])
    await scheduler.stop()

    assert [event.name for event in harness.events if event.level == "INFO"] == [
        "SchedulerStopRequested",
        "SchedulerStopped",
    ]
    assert harness.events_named("SchedulerInitializationFailed") == []


@clause("invariant.idempotent")
async def test_a_list_that_is_given_twice_leaves_the_records_that_it_left_once(contract: Contract) -> None:
    harness = ContractHarness(contract, "10:59:30")
    tasks = [harness.task(fails=1, retry=HOUR), harness.task("backup", takes=10 * MINUTE)]
    scheduler = await harness.start(*tasks)
    await harness.until("11:05")  # one waits for its retry, one runs
    before = dict(harness.store.records)

    await scheduler.initialize(tasks)
    await harness.settle()

    assert harness.store.records == before


@clause("invariant.idempotent")
async def test_a_list_that_is_given_twice_leads_to_the_starts_that_it_leads_to_once(contract: Contract) -> None:
    harness = ContractHarness(contract, "11:00:10")
    tasks = [harness.task(fails=1, retry=5 * MINUTE), harness.task("backup", "30 * * * *")]
    scheduler = await harness.start(*tasks)

    await scheduler.initialize(tasks)
    await harness.until("12:00")

    assert harness.starts("report") == times("11:00:10", "11:05:10", "12:00")
    assert harness.starts("backup") == times("11:30")


@clause("invariant.stop-first")
async def test_a_scheduler_that_was_never_initialised_can_be_stopped(contract: Contract) -> None:
    harness = ContractHarness(contract, "10:59:30")
    scheduler = harness.scheduler()

    await scheduler.stop()

    assert harness.events == []
    await scheduler.initialize([harness.task()])  # and it is as good as new
    await harness.until("11:00")
    assert harness.starts() == times("11:00")


# --- time -------------------------------------------------------------------------------------------------------------


@clause("invariant.on-time")
async def test_a_task_of_the_present_minute_runs_at_once(contract: Contract) -> None:
    harness = ContractHarness(contract, "11:00:59")

    await harness.start(harness.task(cron="0 * * * *"))

    assert harness.starts() == times("11:00:59")


@clause("invariant.on-time")
async def test_a_task_runs_when_its_minute_begins(contract: Contract) -> None:
    harness = ContractHarness(contract, "10:07:30")
    await harness.start(harness.task(cron="0 * * * *"))

    await harness.until("11:00")

    assert harness.starts() == times("11:00")


@clause("invariant.not-early")
async def test_a_task_does_not_run_before_its_minute(contract: Contract) -> None:
    harness = ContractHarness(contract, "10:07:30")
    await harness.start(harness.task(cron="0 * * * *"), harness.task("each minute", "* * * * *"))

    await harness.until("10:59:59.999999")

    assert harness.starts("report") == []
    assert len(harness.starts("each minute")) == 53  # the polls were there


@clause("invariant.no-make-up")
async def test_a_week_of_downtime_is_followed_by_one_run(contract: Contract) -> None:
    harness = ContractHarness(contract, "10:59:30")
    await (await harness.start(harness.task())).stop()
    await harness.until("2026-03-09T10:20:00Z")

    await harness.start(harness.task())
    await harness.until("2026-03-09T11:00:00Z")

    assert harness.starts() == times("2026-03-09T10:20:00Z", "2026-03-09T11:00:00Z")


# --- state ------------------------------------------------------------------------------------------------------------


@clause("invariant.state-persists")
async def test_the_history_and_debts_of_a_task_survive_a_restart(contract: Contract, tmp_path: Path) -> None:
    harness = ContractHarness(contract, "10:59:30")
    first = harness.scheduler(tmp_path / "tasks.db")
    await first.initialize([harness.task(fails=1, retry=10 * MINUTE), harness.task("backup")])
    await harness.until("11:00:20")
    await first.stop()

    second = harness.scheduler(tmp_path / "tasks.db")
    await second.initialize([harness.task(retry=10 * MINUTE), harness.task("backup")])
    await harness.until("11:59")
    await second.stop()

    assert harness.starts("report") == times("11:00", "11:10")  # its retry is still owed
    assert harness.starts("backup") == times("11:00")  # although its minute was not over, it owes nothing


@clause("invariant.changes-detected")
@pytest.mark.parametrize(
    ("cron", "retry", "change"),
    [
        ("30 * * * *", 5 * MINUTE, "cronExpression"),
        ("0  * * * *", 5 * MINUTE, "cronExpression"),
        ("0 * * * *", timedelta(minutes=5, milliseconds=1), "retryDelayMs"),
        ("30 * * * *", MINUTE, "cronExpression,retryDelayMs"),
    ],
    ids=["another expression", "the same expression in another text", "another delay", "both"],
)
async def test_a_change_of_configuration_is_recognised_and_recorded(
    contract: Contract, cron: str, retry: timedelta, change: str
) -> None:
    harness = ContractHarness(contract)
    await (await harness.start(harness.task(cron="0 * * * *", retry=5 * MINUTE), harness.task("backup"))).stop()

    await harness.start(harness.task(cron=cron, retry=retry), harness.task("backup"))

    changes = [
        (event.fields["taskName"], event.fields["changeType"]) for event in harness.events_named("TaskOverridden")
    ]
    assert changes == [("report", change)]
    assert [event.fields["taskName"] for event in harness.events_named("TaskPreserved")] == ["backup"]
    assert (harness.record().cron, harness.record().retry_delay) == (cron, retry)


@clause("invariant.orphans-removed")
async def test_nothing_is_left_of_a_task_that_is_not_in_the_list(contract: Contract) -> None:
    harness = ContractHarness(contract, "10:59:30")
    scheduler = await harness.start(harness.task("old", fails=1), harness.task("kept"))
    await harness.until("11:01")

    await scheduler.initialize([harness.task("kept")])
    await harness.until("12:30")

    assert set(harness.store.records) == {"kept"}
    assert harness.starts("old") == times("11:00")
    assert [event.fields["taskName"] for event in harness.events_named("TaskOrphaned")] == ["old"]


# --- errors -----------------------------------------------------------------------------------------------------------


@clause("invariant.right-error")
@pytest.mark.parametrize(("wrong", "name"), [row[:2] for row in _MISTAKES.values()], ids=_MISTAKES)
async def test_each_mistake_in_a_registration_raises_its_own_error(
    contract: Contract, wrong: Registered, name: str
) -> None:
    harness = ContractHarness(contract)

    with pytest.raises(KronError) as raised:
        await harness.start(harness.task("good"), wrong)

    assert raised.value.name == name


@clause("invariant.error-details")
@pytest.mark.parametrize(
    ("wrong", "message", "details"), [(row[0], *row[2:]) for row in _MISTAKES.values()], ids=_MISTAKES
)
async def test_an_error_says_what_is_wrong_in_words_and_in_fields(
    contract: Contract, wrong: Registered, message: str, details: dict[str, object]
) -> None:
    harness = ContractHarness(contract)

    with pytest.raises(KronError) as raised:
        await harness.start(harness.task("good"), wrong)

    assert str(raised.value) == message
    assert dict(raised.value.details) == details


@clause("invariant.error-first")
@pytest.mark.parametrize("wrong", [row[0] for row in _MISTAKES.values()], ids=_MISTAKES)
async def test_a_list_with_a_mistake_at_its_end_does_nothing(contract: Contract, wrong: Registered) -> None:
    harness = ContractHarness(contract, "11:00:30")  # the good task would run at once

    with pytest.raises(KronError):
        await harness.start(harness.task("good"), wrong)
    await harness.until("12:30")

    assert harness.store.records == {}
    assert harness.began == []
    assert harness.events_named("TaskAdded") == []


# --- side by side -----------------------------------------------------------------------------------------------------


@clause("invariant.simultaneous")
async def test_tasks_of_the_same_minute_run_side_by_side(contract: Contract) -> None:
    harness = ContractHarness(contract, "10:59:30")
    await harness.start(*(harness.task(name, takes=10 * MINUTE) for name in ("a", "b", "c")))

    await harness.until("11:00")

    assert names_of(harness.began) == ["a", "b", "c"]
    assert harness.ended == []


@clause("invariant.never-with-itself")
async def test_a_task_never_runs_beside_itself(contract: Contract) -> None:
    harness = ContractHarness(contract, "11:00:00")
    await harness.start(harness.task(cron="* * * * *", takes=150 * SECOND))

    await harness.until("11:07:29")

    assert harness.starts() == times("11:00", "11:02:30", "11:05")
    assert [moment for _, moment in harness.ended] == times("11:02:30", "11:05")


@clause("invariant.stop-waits")
async def test_a_stop_waits_for_every_run_in_flight(contract: Contract) -> None:
    harness = ContractHarness(contract, "10:59:30")
    scheduler = await harness.start(harness.task("short", takes=MINUTE), harness.task("long", takes=HOUR))
    await harness.until("11:00")

    stopping = asyncio.create_task(scheduler.stop())
    await harness.until("11:59:59")
    waited = not stopping.done()
    await harness.until("12:00")

    assert waited
    assert stopping.done()
    assert names_of(harness.ended) == ["long", "short"]
