"""The form of every required field of every event."""

import json
import logging
import re
from collections.abc import Callable

import pytest

from kron import Scheduler
from kron.rules.contract import Contract
from kron.rules.events import Event
from tests.conformance.citing import clause
from tests.conformance.contract_harness import HOUR, SECOND, ContractHarness

ISO_8601 = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,6})?(Z|[+-]\d\d:\d\d)")
Form = Callable[[object], bool]


def a_time(value: object) -> bool:
    return isinstance(value, str) and ISO_8601.fullmatch(value) is not None


def a_time_or_null(value: object) -> bool:
    return value is None or a_time(value)


def a_text(value: object) -> bool:
    return isinstance(value, str) and bool(value)


def a_count(value: object) -> bool:
    return type(value) is int and value >= 0


def a_number(value: object) -> bool:
    return type(value) in (int, float) and value >= 0  # type: ignore[operator] # a number by its type


def true(value: object) -> bool:
    return value is True


def false(value: object) -> bool:
    return value is False


def a_state(value: object) -> bool:
    return isinstance(value, dict) and a_text(value.get("cronExpression")) and a_number(value.get("retryDelayMs"))


CONFIGURED: dict[str, Form] = {"taskName": a_text, "cronExpression": a_text, "retryDelayMs": a_number}
FORMS: dict[str, dict[str, Form]] = {
    "SchedulerInitializationStarted": {"totalRegistrations": a_count},
    "SchedulerInitializationCompleted": {
        "totalRegistrations": a_count,
        "scheduledCount": a_count,
        "skippedCount": a_count,
    },
    "SchedulerReinitializationStarted": {},
    "SchedulerStopRequested": {},
    "SchedulerStopped": {},
    "TaskRunStarted": {"taskName": a_text, "scheduledTime": a_time, "actualTime": a_time},
    "TaskRunCompleted": {"taskName": a_text, "duration": a_number, "success": true},
    "TaskRunFailed": {"taskName": a_text, "duration": a_number, "success": false, "error": a_text},
    "TaskRetryStarted": {"taskName": a_text, "retryCount": a_count},
    "TaskRetryPreempted": {"taskName": a_text, "reason": a_text},
    "PollStarted": {"pollTime": a_time, "scheduledTaskCount": a_count},
    "PollCompleted": {"pollTime": a_time, "tasksEvaluated": a_count, "tasksExecuted": a_count, "duration": a_number},
    "PollingStarted": {},
    "PollingStopped": {},
    "PollingStopRequested": {},
    "TaskAdded": CONFIGURED,
    "TaskPreserved": {"taskName": a_text},
    "TaskOverridden": {"taskName": a_text, "changeType": a_text, "oldState": a_state, "newState": a_state},
    "TaskOrphaned": {"taskName": a_text, "lastExecutionTime": a_time_or_null, "schedulerIdentifier": a_text},
    "TaskScheduled": CONFIGURED,
    "TaskSkipped": {"taskName": a_text, "reason": a_text},
}


async def live(harness: ContractHarness, scheduler: Scheduler) -> None:
    """Let everything happen of which there is an event, at odd fractions of a second."""
    report, kept = harness.task(fails=1, takes=SECOND / 4), harness.task("backup", fails=1, retry=2 * HOUR)
    await scheduler.initialize(
        [report, kept, harness.task("mail"), harness.task("old"), harness.task("unused", "0 3 * * *")]
    )
    await harness.until("12:30")
    await scheduler.initialize([report, kept, harness.task("mail", "15 * * * *")])
    await harness.until("13:30")
    await scheduler.stop()
    await scheduler.initialize([report, kept, harness.task("mail", "15 * * * *", retry=SECOND / 3)])
    await harness.until("14:30")
    await scheduler.stop()


async def emitted(contract: Contract) -> list[Event]:
    """Return the events of that life."""
    harness = ContractHarness(contract, "10:59:30.123456")
    await live(harness, harness.scheduler())
    assert {event.name for event in harness.events} == set(FORMS)
    return harness.events


@clause("events.required-fields")
async def test_every_required_field_of_every_event_has_its_form(contract: Contract) -> None:
    wrong = [
        (event.name, field, event.fields.get(field))
        for event in await emitted(contract)
        for field, is_right in FORMS[event.name].items()
        if field not in event.fields or not is_right(event.fields[field])
    ]

    assert wrong == []


@clause("events.required-fields")
async def test_every_required_field_of_every_event_reaches_the_log(
    contract: Contract, caplog: pytest.LogCaptureFixture
) -> None:
    harness = ContractHarness(contract, "10:59:30.123456")
    scheduler = Scheduler(ledger=harness.disk, contract=contract.name, clock=harness.clock, timezone="UTC")

    with caplog.at_level(logging.DEBUG, "kron"):
        await live(harness, scheduler)

    lines = [record.getMessage() for record in caplog.records]
    names = [line.split(" ", 1)[0] for line in lines]
    assert set(FORMS) <= set(names)
    missing = [
        (line, field)
        for name, line in zip(names, lines, strict=True)
        for field in FORMS.get(name, {})
        if f" {field}=" not in line
    ]
    assert missing == []


@clause("events.iso-times")
async def test_every_time_in_every_event_is_in_iso_8601_or_null_if_there_is_none(contract: Contract) -> None:
    events = await emitted(contract)

    times = [
        (event, field, value)
        for event in events
        for field, value in event.fields.items()
        if field.endswith(("Time", "At", "Until"))
    ]
    fields = {field for _, field, _ in times}
    assert fields == {"scheduledTime", "actualTime", "nextRetryAt", "pollTime", "lastExecutionTime"}
    assert [(event.name, value) for event, _, value in times if not a_time_or_null(value)] == []
    assert {event.name for event, _, value in times if value is None} == {"TaskOrphaned"}
    others = json.dumps([dict(event.fields) for event in events if event.name not in FORMS])
    assert not re.search(r"\d{4}-\d\d-\d\d \d\d:", others)


@clause("events.iso-times")
async def test_the_times_in_events_are_those_of_the_clock_to_the_microsecond(contract: Contract) -> None:
    harness = ContractHarness(contract, "10:00:30.123456")

    await harness.start(harness.task(cron="0 10 * * *", fails=1, retry=SECOND / 4))

    (started,), (failed,) = harness.events_named("TaskRunStarted"), harness.events_named("TaskRunFailed")
    assert started.fields["scheduledTime"] == "2026-03-02T10:00:00Z"
    assert started.fields["actualTime"] == "2026-03-02T10:00:30.123456Z"
    assert failed.fields["nextRetryAt"] == "2026-03-02T10:00:30.373456Z"


@clause("events.task-orphaned")
async def test_each_task_that_left_the_list_is_reported_with_its_own_last_run_or_null(contract: Contract) -> None:
    harness = ContractHarness(contract, "10:59:30")
    first = await harness.start(
        harness.task("hourly"), harness.task("unused", "0 3 * * *"), harness.task("often", "* * * * *")
    )
    await harness.until("11:30:20")
    await first.stop()
    identifier = harness.record("hourly").scheduler

    await harness.start(harness.task("stays"))

    orphans = {str(event.fields["taskName"]): event for event in harness.events_named("TaskOrphaned")}
    assert {name: event.fields["lastExecutionTime"] for name, event in orphans.items()} == {
        "hourly": "2026-03-02T11:00:00Z",
        "often": "2026-03-02T11:30:00Z",
        "unused": None,
    }
    assert {event.level for event in orphans.values()} == {"WARNING"}
    assert {event.fields["schedulerIdentifier"] for event in orphans.values()} == {identifier} != {""}
    assert set(harness.store.records) == {"stays"}
