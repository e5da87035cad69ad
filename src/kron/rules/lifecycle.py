"""The states of a scheduler of the library, as a table of transitions that `StateMachine` follows."""

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


@dataclass(frozen=True, slots=True)
class Transition:
    """From a state, by what happened, to a state; its events, in causal order."""

    source: Enum
    trigger: str
    target: Enum
    events: tuple[str, ...] = ()


TransitionTable = tuple[Transition, ...]

_S = SchedulerState

_SCHEDULER: TransitionTable = (
    Transition(_S.UNINITIALIZED, "initialize() called", _S.INITIALIZING, ("SchedulerInitializationStarted",)),
    Transition(_S.INITIALIZING, "all tasks scheduled", _S.RUNNING, ("SchedulerInitializationCompleted",)),
    Transition(_S.INITIALIZING, "initialization fails", _S.UNINITIALIZED, ("SchedulerInitializationFailed",)),
    Transition(_S.RUNNING, "stop() called", _S.STOPPING, ("SchedulerStopRequested",)),
    Transition(_S.STOPPING, "all runs have ended", _S.STOPPED, ("SchedulerStopped",)),
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
