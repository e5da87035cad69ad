"""The states of task, polling, period and run, as tables of transitions: documentation that drives no code.

`docs/lifecycle.md` is written from them, and tests compare the events of real runs with them.
"""

from collections.abc import Iterable
from enum import Enum

from kron.rules.lifecycle import Transition, TransitionTable


class TaskState(Enum):
    """What a task of the library waits for."""

    AWAITING_RUN = "AwaitingRun"
    RUNNING = "Running"
    AWAITING_RETRY = "AwaitingRetry"


class PollingState(Enum):
    """Whether the loop evaluates tasks."""

    INACTIVE = "Inactive"
    ACTIVE = "Active"
    STOPPING = "Stopping"


class PeriodState(Enum):
    """How far a period has come; Terminal is for ever."""

    PLANNED = "Planned"
    ELIGIBLE = "Eligible"
    TERMINAL = "Terminal"


class ExecutionState(Enum):
    """Within an executed period: whether its execution has ended."""

    RUNNING = "Running"
    COMPLETED = "Completed"


_T, _P = TaskState, PollingState

TASK_STATES: TransitionTable = (
    Transition(_T.AWAITING_RUN, "due", _T.RUNNING, ("TaskRunStarted",)),
    Transition(_T.RUNNING, "succeeded", _T.AWAITING_RUN, ("TaskRunCompleted",)),
    Transition(_T.RUNNING, "failed", _T.AWAITING_RETRY, ("TaskRunFailed",)),
    Transition(_T.AWAITING_RETRY, "retry time reached", _T.RUNNING, ("TaskRetryStarted", "TaskRunStarted")),
    Transition(_T.AWAITING_RETRY, "preempted by a due occurrence", _T.AWAITING_RUN, ("TaskRetryPreempted",)),
)

POLLING_LOOP_STATES: TransitionTable = (
    Transition(_P.INACTIVE, "first task scheduled", _P.ACTIVE, ("PollingStarted",)),
    Transition(_P.ACTIVE, "last task cancelled", _P.INACTIVE, ("PollingStopped",)),
    Transition(_P.ACTIVE, "stop requested", _P.STOPPING, ("PollingStopRequested",)),
    Transition(_P.STOPPING, "all runs have ended", _P.INACTIVE, ("PollingStopped",)),
)

PERIOD_STATES: TransitionTable = (
    Transition(PeriodState.PLANNED, "now ≥ chosen time", PeriodState.ELIGIBLE),
    Transition(PeriodState.ELIGIBLE, "executed, skipped or missed", PeriodState.TERMINAL),
    Transition(PeriodState.PLANNED, "unschedulable or skipped", PeriodState.TERMINAL),
)

EXECUTION_STATES: TransitionTable = (
    Transition(ExecutionState.RUNNING, "the execution ended", ExecutionState.COMPLETED),
)


def diagram(table: Iterable[Transition], start: Enum) -> str:
    """Return the table as a Mermaid state diagram."""
    rows = [f"    {row.source.value} --> {row.target.value} : {row.trigger}" for row in table]
    return "\n".join(["stateDiagram-v2", f"    [*] --> {start.value}", *rows])
