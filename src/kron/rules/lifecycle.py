"""The states of scheduler, task, polling, period and execution, as tables of transitions.

The scheduler's table drives the library: `StateMachine` follows it. The other four are documentation, and drive no
code: `docs/lifecycle.md` is written from them, and tests compare the events of real runs with them.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum

from kron.errors import IllegalTransitionError
from kron.rules.contract import Contract, FailedReinitialize, InitializeWhileActive


class SchedulerState(Enum):
    """Where a scheduler stands between its two methods."""

    UNINITIALIZED = "Uninitialized"
    INITIALIZING = "Initializing"
    RUNNING = "Running"
    REINITIALIZING = "Reinitializing"
    STOPPING = "Stopping"
    STOPPED = "Stopped"


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


@dataclass(frozen=True, slots=True)
class Transition:
    """From a state, by what happened, to a state; the events that tell of it, in causal order."""

    source: Enum
    trigger: str
    target: Enum
    events: tuple[str, ...] = ()


TransitionTable = tuple[Transition, ...]

_S, _T, _P = SchedulerState, TaskState, PollingState

_SCHEDULER: TransitionTable = (
    Transition(_S.UNINITIALIZED, "initialize() called", _S.INITIALIZING, ("SchedulerInitializationStarted",)),
    Transition(_S.INITIALIZING, "all tasks scheduled", _S.RUNNING, ("SchedulerInitializationCompleted",)),
    Transition(_S.INITIALIZING, "initialization fails", _S.UNINITIALIZED, ("SchedulerInitializationFailed",)),
    Transition(_S.RUNNING, "stop() called", _S.STOPPING, ("SchedulerStopRequested",)),
    Transition(_S.STOPPING, "nothing runs any more", _S.STOPPED, ("SchedulerStopped",)),
    Transition(_S.STOPPED, "initialize() is possible again", _S.UNINITIALIZED),
)
_REINITIALIZATION: TransitionTable = (
    Transition(_S.RUNNING, "initialize() called", _S.REINITIALIZING, ("SchedulerReinitializationStarted",)),
    Transition(_S.REINITIALIZING, "all tasks scheduled", _S.RUNNING, ("SchedulerInitializationCompleted",)),
)
_AFTER_A_FAILED_REINITIALIZATION = {
    FailedReinitialize.KEEP: _S.RUNNING,
    FailedReinitialize.RESET: _S.UNINITIALIZED,
    FailedReinitialize.STOP: _S.STOPPING,
}

# --- documentation ----------------------------------------------------------------------------------------------------

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
    Transition(_P.STOPPING, "nothing runs any more", _P.INACTIVE, ("PollingStopped",)),
)

PERIOD_STATES: TransitionTable = (
    Transition(PeriodState.PLANNED, "now ≥ chosen time", PeriodState.ELIGIBLE),
    Transition(PeriodState.ELIGIBLE, "executed, skipped or missed", PeriodState.TERMINAL),
    Transition(PeriodState.PLANNED, "unschedulable or skipped", PeriodState.TERMINAL),
)

EXECUTION_STATES: TransitionTable = (
    Transition(ExecutionState.RUNNING, "the execution ended", ExecutionState.COMPLETED),
)


# --- what drives the library ------------------------------------------------------------------------------------------


def scheduler_table(contract: Contract) -> TransitionTable:
    """Return the scheduler's transitions under a contract."""
    if contract.initialize_while_active is InitializeWhileActive.REJECT:
        return _SCHEDULER
    target = _AFTER_A_FAILED_REINITIALIZATION[contract.failed_reinitialize]
    failed = Transition(_S.REINITIALIZING, "initialization fails", target, ("SchedulerInitializationFailed",))
    return (*_SCHEDULER, *_REINITIALIZATION, failed)


class StateMachine:
    """A state that changes only along its table."""

    __slots__ = ("_table", "state")

    def __init__(self, table: TransitionTable, state: Enum) -> None:
        self._table = {(row.source, row.trigger): row for row in table}
        self.state = state

    def fire(self, trigger: str) -> Transition:
        """Follow the transition, or raise IllegalTransitionError and stay."""
        row = self._table.get((self.state, trigger))
        if row is None:
            raise IllegalTransitionError(state=str(self.state.value), trigger=trigger)
        self.state = row.target
        return row


def diagram(table: Iterable[Transition], start: Enum) -> str:
    """Return the table as a Mermaid state diagram."""
    rows = [f"    {row.source.value} --> {row.target.value} : {row.trigger}" for row in table]
    return "\n".join(["stateDiagram-v2", f"    [*] --> {start.value}", *rows])
