"""The events of the scheduler, of polling and of lists, and what all events have in common."""

import json
from datetime import UTC, date, datetime

from kron.rules.contract import Contract
from kron.rules.events import Event
from tests.conformance.citing import clause
from tests.conformance.contract_harness import HOUR, MINUTE, ContractHarness

# Of every event: its level, and the kind of each value that it must have.
TEXT, TRUTH, STATE = (str,), (bool,), (dict,)
COUNT, SECONDS = (int,), (int, float)
CONFIGURATION = {"cronExpression": TEXT, "retryDelayMs": SECONDS}
DEMANDED: dict[str, tuple[str, dict[str, tuple[type, ...]]]] = {
    "SchedulerInitializationStarted": ("DEBUG", {"totalRegistrations": COUNT}),
    "SchedulerInitializationCompleted": (
        "DEBUG",
        {"totalRegistrations": COUNT, "scheduledCount": COUNT, "skippedCount": COUNT},
    ),
    "SchedulerReinitializationStarted": ("DEBUG", {}),
    "SchedulerStopRequested": ("INFO", {}),
    "SchedulerStopped": ("INFO", {}),
    "TaskRunStarted": ("INFO", {"taskName": TEXT, "scheduledTime": TEXT, "actualTime": TEXT}),
    "TaskRunCompleted": ("INFO", {"taskName": TEXT, "duration": SECONDS, "success": TRUTH}),
    "TaskRunFailed": ("WARNING", {"taskName": TEXT, "duration": SECONDS, "success": TRUTH, "error": TEXT}),
    "TaskRetryStarted": ("INFO", {"taskName": TEXT, "retryCount": COUNT}),
    "TaskRetryPreempted": ("INFO", {"taskName": TEXT, "reason": TEXT}),
    "PollStarted": ("DEBUG", {"pollTime": TEXT, "scheduledTaskCount": COUNT}),
    "PollCompleted": (
        "DEBUG",
        {"pollTime": TEXT, "tasksEvaluated": COUNT, "tasksExecuted": COUNT, "duration": SECONDS},
    ),
    "PollingStarted": ("DEBUG", {}),
    "PollingStopped": ("DEBUG", {}),
    "PollingStopRequested": ("DEBUG", {}),
    "TaskAdded": ("INFO", {"taskName": TEXT, **CONFIGURATION}),
    "TaskPreserved": ("DEBUG", {"taskName": TEXT}),
    "TaskOverridden": ("INFO", {"taskName": TEXT, "changeType": TEXT, "oldState": STATE, "newState": STATE}),
    "TaskOrphaned": ("WARNING", {"taskName": TEXT, "lastExecutionTime": TEXT, "schedulerIdentifier": TEXT}),
    "TaskScheduled": ("DEBUG", {"taskName": TEXT, **CONFIGURATION}),
    "TaskSkipped": ("DEBUG", {"taskName": TEXT, "reason": TEXT}),
}
TIMES = {"scheduledTime", "actualTime", "nextRetryAt", "pollTime", "lastExecutionTime"}


async def events_of_a_life(contract: Contract) -> list[Event]:
    """Return what is events in a life in which everything happens of which there is an event."""
    harness = ContractHarness(contract, "10:59:30")
    report = harness.task(fails=1)
    kept = harness.task("backup", fails=1, retry=2 * HOUR)
    scheduler = await harness.start(report, kept, harness.task("mail"), harness.task("old"))
    await harness.until("12:30")  # the report was tried again at 11:05, and 12:00 came before the retry of the backup
    await scheduler.initialize([report, kept, harness.task("mail", "15 * * * *")])
    await harness.until("13:30")
    await scheduler.stop()
    return harness.events


def only(harness: ContractHarness, name: str) -> tuple[str, dict[str, object]]:
    """Return level and fields of the only event of that name."""
    (event,) = harness.events_named(name)
    return event.level, dict(event.fields)


# --- the scheduler ----------------------------------------------------------------------------------------------------


@clause("events.initialization-started")
async def test_the_start_of_an_initialisation_has_the_length_of_the_list(contract: Contract) -> None:
    harness = ContractHarness(contract)

    await harness.start(harness.task("report"), harness.task("backup"))

    assert only(harness, "SchedulerInitializationStarted") == ("DEBUG", {"totalRegistrations": 2})


@clause("events.initialization-completed")
async def test_the_end_of_an_initialisation_has_the_numbers_of_scheduled_and_skipped_tasks(contract: Contract) -> None:
    harness = ContractHarness(contract)
    kept = harness.task("report")
    scheduler = await harness.start(kept, harness.task("backup"))

    await scheduler.initialize([kept, harness.task("backup", "30 * * * *"), harness.task("mail")])

    completed = harness.events_named("SchedulerInitializationCompleted")
    assert [event.level for event in completed] == ["DEBUG", "DEBUG"]
    assert [dict(event.fields) for event in completed] == [
        {"totalRegistrations": 2, "scheduledCount": 2, "skippedCount": 0},
        {"totalRegistrations": 3, "scheduledCount": 2, "skippedCount": 1},
    ]


@clause("events.reinitialization-started")
async def test_an_initialisation_of_a_running_scheduler_has_its_own_event(contract: Contract) -> None:
    harness = ContractHarness(contract)
    scheduler = await harness.start(harness.task())
    before = harness.event_names("SchedulerReinitializationStarted")

    await scheduler.initialize([harness.task()])

    assert before == []
    assert only(harness, "SchedulerReinitializationStarted") == ("DEBUG", {})


@clause("events.stop-requested", "events.stopped")
async def test_a_stop_is_emitted_when_it_begins_and_when_it_ends(contract: Contract) -> None:
    harness = ContractHarness(contract)
    scheduler = await harness.start(harness.task())

    await scheduler.stop()

    assert harness.event_names("SchedulerStopRequested", "SchedulerStopped") == [
        "SchedulerStopRequested",
        "SchedulerStopped",
    ]
    assert only(harness, "SchedulerStopRequested") == ("INFO", {})
    assert only(harness, "SchedulerStopped") == ("INFO", {})


# --- polling ----------------------------------------------------------------------------------------------------------


@clause("events.poll-started")
async def test_the_start_of_a_poll_has_its_time_and_the_number_of_scheduled_tasks(contract: Contract) -> None:
    harness = ContractHarness(contract, "10:07:30")

    await harness.start(harness.task("report"), harness.task("backup"))

    first = harness.events_named("PollStarted")[0]
    assert first.level == "DEBUG"
    assert dict(first.fields) == {"pollTime": "2026-03-02T10:07:30Z", "scheduledTaskCount": 2}


@clause("events.poll-completed")
async def test_the_end_of_a_poll_has_the_numbers_of_evaluated_and_started_tasks(contract: Contract) -> None:
    harness = ContractHarness(contract, "10:59:30")
    await harness.start(harness.task("report"), harness.task("backup"))

    await harness.until("11:00")

    hour = next(event for event in harness.events_named("PollCompleted") if event.fields["tasksExecuted"])
    assert hour.level == "DEBUG"
    assert dict(hour.fields) == {
        "pollTime": "2026-03-02T11:00:00Z",
        "tasksEvaluated": 2,
        "tasksExecuted": 2,
        "duration": 0.0,  # by the virtual clock
    }


@clause("events.polling-started")
async def test_polling_that_begins_with_the_first_task_is_emitted(contract: Contract) -> None:
    harness = ContractHarness(contract)
    scheduler = await harness.start()
    before = harness.event_names("PollingStarted")

    await scheduler.initialize([harness.task()])

    assert before == []
    assert only(harness, "PollingStarted") == ("DEBUG", {})


@clause("events.polling-stopped")
async def test_polling_that_ends_with_the_last_task_is_emitted(contract: Contract) -> None:
    harness = ContractHarness(contract)
    scheduler = await harness.start(harness.task())
    before = harness.event_names("PollingStopped")

    await scheduler.initialize([])

    assert before == []
    assert only(harness, "PollingStopped") == ("DEBUG", {})


@clause("events.polling-stop-requested", "events.polling-stopped")
async def test_a_stop_emits_that_polling_is_to_end_and_then_that_it_ended(contract: Contract) -> None:
    harness = ContractHarness(contract)
    scheduler = await harness.start(harness.task())

    await scheduler.stop()

    assert only(harness, "PollingStopRequested") == ("DEBUG", {})
    assert harness.event_names("PollingStopRequested", "PollingStopped") == ["PollingStopRequested", "PollingStopped"]


# --- the list ---------------------------------------------------------------------------------------------------------


@clause("events.task-added", "events.task-scheduled")
async def test_a_new_task_is_emitted_as_added_and_as_scheduled_with_its_configuration(contract: Contract) -> None:
    harness = ContractHarness(contract)

    await harness.start(harness.task("report", "0 9 * * 1-5", retry=5 * MINUTE))

    configured = {"taskName": "report", "cronExpression": "0 9 * * 1-5", "retryDelayMs": 300_000}
    assert only(harness, "TaskAdded") == ("INFO", configured)
    assert only(harness, "TaskScheduled") == ("DEBUG", configured)


@clause("events.task-preserved")
async def test_a_task_that_a_restart_finds_unchanged_is_emitted_as_preserved(contract: Contract) -> None:
    harness = ContractHarness(contract)
    await (await harness.start(harness.task())).stop()
    before = harness.event_names("TaskPreserved")

    await harness.start(harness.task())

    assert before == []
    assert only(harness, "TaskPreserved") == ("DEBUG", {"taskName": "report"})


@clause("events.task-overridden")
async def test_a_changed_task_is_emitted_with_its_old_and_new_state(contract: Contract) -> None:
    harness = ContractHarness(contract)
    await (await harness.start(harness.task(cron="0 * * * *"))).stop()

    await harness.start(harness.task(cron="30 * * * *"))

    level, fields = only(harness, "TaskOverridden")
    assert level == "INFO"
    assert fields["taskName"] == "report"
    assert fields["changeType"] == "cronExpression"
    assert fields["oldState"] == {"cronExpression": "0 * * * *", "retryDelayMs": 300_000}
    assert fields["newState"] == {"cronExpression": "30 * * * *", "retryDelayMs": 300_000}


@clause("events.task-orphaned")
async def test_a_task_that_left_the_list_is_emitted_with_its_last_run_and_its_scheduler(contract: Contract) -> None:
    harness = ContractHarness(contract, "10:59:30")
    scheduler = await harness.start(harness.task())
    await harness.until("11:30")
    await scheduler.stop()
    identifier = harness.record().scheduler

    await harness.start()

    assert identifier
    assert only(harness, "TaskOrphaned") == (
        "WARNING",
        {"taskName": "report", "lastExecutionTime": "2026-03-02T11:00:00Z", "schedulerIdentifier": identifier},
    )


@clause("events.task-skipped")
async def test_a_task_that_is_scheduled_already_is_emitted_as_skipped_with_the_reason(contract: Contract) -> None:
    harness = ContractHarness(contract)
    scheduler = await harness.start(harness.task())

    await scheduler.initialize([harness.task()])

    reason = "already scheduled and unchanged"
    assert only(harness, "TaskSkipped") == ("DEBUG", {"taskName": "report", "reason": reason})


# --- all together -----------------------------------------------------------------------------------------------------


@clause("events.stable-names")
async def test_the_events_of_a_whole_life_have_the_names_of_the_contract(contract: Contract) -> None:
    events = await events_of_a_life(contract)

    assert {event.name for event in events} == set(DEMANDED)


@clause("events.levels")
async def test_every_event_of_a_life_has_the_level_of_its_kind(contract: Contract) -> None:
    events = await events_of_a_life(contract)

    assert {(event.name, event.level) for event in events} == {(name, level) for name, (level, _) in DEMANDED.items()}


@clause("events.required-fields")
async def test_every_event_of_a_life_has_its_fields_in_their_form(contract: Contract) -> None:
    events = await events_of_a_life(contract)

    wrong = [
        (event.name, field, event.fields.get(field))
        for event in events
        for field, kinds in DEMANDED[event.name][1].items()
        if type(event.fields.get(field)) not in kinds
    ]
    assert len(events) > len(DEMANDED)
    assert wrong == []


@clause("events.machine-readable")
async def test_every_event_of_a_life_is_a_name_with_values_that_survive_json(contract: Contract) -> None:
    events = await events_of_a_life(contract)

    assert all(word.isidentifier() for event in events for word in (event.name, *event.fields))
    assert [json.loads(json.dumps(dict(event.fields))) for event in events] == [dict(event.fields) for event in events]


@clause("events.iso-times")
async def test_every_time_in_an_event_is_an_instant_in_iso_8601(contract: Contract) -> None:
    events = await events_of_a_life(contract)

    found = [(field, str(value)) for event in events for field, value in event.fields.items() if field in TIMES]
    assert {field for field, _ in found} == TIMES
    assert {datetime.fromisoformat(value).astimezone(UTC).date() for _, value in found} == {date(2026, 3, 2)}
    assert all(datetime.fromisoformat(value).utcoffset() is not None for _, value in found)
