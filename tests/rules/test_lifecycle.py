"""States change only along their tables, and the diagrams in the documentation are those tables."""

from enum import Enum
from pathlib import Path

import pytest

from kron.errors import IllegalTransitionError
from kron.rules.contract import DECLARATIVE, KRON, POLLING, POLLING_DRAFT, Contract
from kron.rules.lifecycle import SchedulerState, StateMachine, TransitionTable, scheduler_table
from tests.rules.lifecycles import (
    EXECUTION_STATES,
    PERIOD_STATES,
    POLLING_LOOP_STATES,
    TASK_STATES,
    ExecutionState,
    PeriodState,
    PollingState,
    TaskState,
    diagram,
)

PAGE = Path(__file__).parents[2] / "docs" / "lifecycle.md"
PARTS: dict[str, tuple[str, TransitionTable, Enum]] = {
    "Scheduler": (
        "A second `initialize` is refused while it is active.",
        scheduler_table(DECLARATIVE),
        SchedulerState.UNINITIALIZED,
    ),
    "Scheduler that reconciles": (
        "Under a contract that takes a second list while active; where a failure leads depends on the contract.",
        scheduler_table(POLLING),
        SchedulerState.UNINITIALIZED,
    ),
    "Task": ("What a task of the library waits for.", TASK_STATES, TaskState.AWAITING_RUN),
    "Polling": ("Whether the loop evaluates tasks.", POLLING_LOOP_STATES, PollingState.INACTIVE),
    "Period": ("How far a period has come; a terminal outcome is for ever.", PERIOD_STATES, PeriodState.PLANNED),
    "Execution": ("Within an executed period.", EXECUTION_STATES, ExecutionState.RUNNING),
}


def page() -> str:
    lines = [
        "# Lifecycles",
        "",
        "Written from `kron.rules.lifecycle` and `tests.rules.lifecycles` by `tests/rules/test_lifecycle.py`.",
    ]
    for name, (sentence, table, start) in PARTS.items():
        lines += ["", f"## {name}", "", sentence, "", "```mermaid", diagram(table, start), "```"]
        events = [f"* {row.source.value} to {row.target.value}: {', '.join(row.events)}" for row in table if row.events]
        lines += ["", "Events:", "", *events] if events else []
    return "\n".join(lines) + "\n"


def test_the_documentation_shows_the_tables() -> None:
    assert PAGE.read_text("utf-8") == page(), "update it: python -m tests.rules.test_lifecycle"


def test_a_scheduler_goes_from_initialize_to_stop_and_can_begin_again() -> None:
    machine = StateMachine(scheduler_table(DECLARATIVE), SchedulerState.UNINITIALIZED)

    way = ["initialize() called", "all tasks scheduled", "stop() called", "all runs have ended"]
    events = [event for trigger in way for event in machine.fire(trigger).events]
    machine.fire("initialize() is possible again")

    assert machine.state is SchedulerState.UNINITIALIZED
    assert events == [
        "SchedulerInitializationStarted",
        "SchedulerInitializationCompleted",
        "SchedulerStopRequested",
        "SchedulerStopped",
    ]


def test_an_illegal_transition_is_refused_and_changes_nothing() -> None:
    machine = StateMachine(scheduler_table(DECLARATIVE), SchedulerState.UNINITIALIZED)

    with pytest.raises(IllegalTransitionError):
        machine.fire("stop() called")

    assert machine.state is SchedulerState.UNINITIALIZED


def test_a_contract_that_rejects_has_no_way_to_reinitialize() -> None:
    machine = StateMachine(scheduler_table(DECLARATIVE), SchedulerState.RUNNING)

    with pytest.raises(IllegalTransitionError):
        machine.fire("initialize() called")


@pytest.mark.parametrize(
    ("contract", "state"),
    [
        (POLLING_DRAFT, SchedulerState.STOPPING),
        (POLLING, SchedulerState.UNINITIALIZED),
        (KRON, SchedulerState.RUNNING),
    ],
    ids=lambda value: getattr(value, "name", ""),
)
def test_a_failed_reinitialization_leads_where_the_contract_says(contract: Contract, state: SchedulerState) -> None:
    machine = StateMachine(scheduler_table(contract), SchedulerState.RUNNING)
    machine.fire("initialize() called")

    transition = machine.fire("initialization fails")

    assert machine.state is state
    assert transition.events == ("SchedulerInitializationFailed",)


def test_a_retry_that_is_preempted_first_awaits_its_run() -> None:
    machine = StateMachine(TASK_STATES, TaskState.AWAITING_RETRY)

    events = [*machine.fire("preempted by a due occurrence").events, *machine.fire("due").events]

    assert machine.state is TaskState.RUNNING
    assert events == ["TaskRetryPreempted", "TaskRunStarted"]


@pytest.mark.parametrize(
    "table",
    [TASK_STATES, POLLING_LOOP_STATES, PERIOD_STATES, EXECUTION_STATES, *map(scheduler_table, (DECLARATIVE, POLLING))],
)
def test_no_table_has_two_answers_to_one_question(table: TransitionTable) -> None:
    questions = [(row.source, row.trigger) for row in table]

    assert len(set(questions)) == len(questions)


def test_a_terminal_period_changes_no_more() -> None:
    assert all(row.source is not PeriodState.TERMINAL for row in PERIOD_STATES)


if __name__ == "__main__":
    PAGE.write_text(page(), "utf-8")
