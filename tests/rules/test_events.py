"""The table of events: stable names, levels and fields."""

from pathlib import Path

import pytest

from kron.rules.contract import POLLING
from kron.rules.events import EVENTS, LIBRARY, make_event
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


BEGIN, END = "<!-- events: written by `python -m tests.rules.test_events` -->\n", "<!-- end of events -->"
PAGE = Path(__file__).parents[2] / "docs" / "library.md"


def page() -> str:
    """Return the page with the table of events as it should be."""
    text = PAGE.read_text("utf-8")
    before, after = text[: text.index(BEGIN) + len(BEGIN)], text[text.index(END) :]
    rows = ["| event | level | fields |\n", "|---|---|---|\n"]
    for name, kind in LIBRARY.items():
        fields = ", ".join([*(f"`{field}`" for field in kind.required), *(f"`{field}`?" for field in kind.optional)])
        rows.append(f"| `{name}` | {kind.level} | {fields} |\n")
    return before + "\n" + "".join(rows) + "\n" + after


def test_the_documentation_lists_every_event() -> None:
    assert PAGE.read_text("utf-8") == page()


if __name__ == "__main__":
    PAGE.write_text(page(), "utf-8")
