"""The table of events: stable names, levels and fields."""

import pytest

from kron.rules.contract import POLLING
from kron.rules.events import EVENTS, make_event
from kron.rules.lifecycle import scheduler_table
from tests.rules.lifecycles import POLLING_LOOP_STATES, TASK_STATES

LEVELS = {
    "DEBUG": [
        "SchedulerInitializationStarted", "SchedulerInitializationCompleted", "SchedulerReinitializationStarted",
        "PollStarted", "PollCompleted", "PollingStarted", "PollingStopped", "PollingStopRequested", "TaskPreserved",
        "TaskScheduled", "TaskSkipped",
    ],
    "INFO": [
        "SchedulerStopRequested", "SchedulerStopped", "TaskRunStarted", "TaskRunCompleted", "TaskRetryStarted",
        "TaskRetryPreempted", "TaskAdded", "TaskOverridden",
    ],
    "WARNING": ["TaskRunFailed", "TaskOrphaned"],
}  # fmt: skip
REQUIRED = {
    "SchedulerInitializationStarted": {"totalRegistrations"},
    "SchedulerInitializationCompleted": {"totalRegistrations", "scheduledCount", "skippedCount"},
    "TaskRunStarted": {"taskName", "scheduledTime", "actualTime"},
    "TaskRunCompleted": {"taskName", "duration", "success"},
    "TaskRunFailed": {"taskName", "duration", "success", "error"},
    "TaskRetryStarted": {"taskName", "retryCount"},
    "TaskRetryPreempted": {"taskName", "reason"},
    "PollStarted": {"pollTime", "scheduledTaskCount"},
    "PollCompleted": {"pollTime", "tasksEvaluated", "tasksExecuted", "duration"},
    "TaskAdded": {"taskName", "cronExpression", "retryDelayMs"},
    "TaskPreserved": {"taskName"},
    "TaskOverridden": {"taskName", "changeType", "oldState", "newState"},
    "TaskOrphaned": {"taskName", "lastExecutionTime", "schedulerIdentifier"},
    "TaskScheduled": {"taskName", "cronExpression", "retryDelayMs"},
    "TaskSkipped": {"taskName", "reason"},
}


@pytest.mark.parametrize(("level", "name"), [(level, name) for level, names in LEVELS.items() for name in names])
def test_an_event_has_its_level(level: str, name: str) -> None:
    assert EVENTS[name].level == level


@pytest.mark.parametrize("name", REQUIRED)
def test_an_event_has_its_required_fields(name: str) -> None:
    assert set(EVENTS[name].required) == REQUIRED[name]


def test_every_event_of_a_transition_is_in_the_table() -> None:
    event_names = {
        name
        for table in (TASK_STATES, POLLING_LOOP_STATES, scheduler_table(POLLING))
        for row in table
        for name in row.events
    }

    assert event_names <= set(EVENTS)


def test_an_event_carries_its_level_and_fields() -> None:
    made = make_event("TaskRetryStarted", taskName="a", retryCount=1)

    assert (made.name, made.level, dict(made.fields)) == (
        "TaskRetryStarted",
        "INFO",
        {"taskName": "a", "retryCount": 1},
    )


def test_optional_fields_may_be_there() -> None:
    made = make_event("TaskRunStarted", taskName="a", scheduledTime="", actualTime="", isRetry=True)

    assert made.fields["isRetry"] is True


@pytest.mark.parametrize("fields", [{}, {"taskName": "a"}, {"taskName": "a", "reason": "b", "colour": "red"}])
def test_an_event_that_does_not_fit_its_kind_is_a_bug(fields: dict[str, object]) -> None:
    with pytest.raises(AssertionError):
        make_event("TaskSkipped", **fields)
