"""Contract: one field for each point on which the documents of the scheduler differ, and the four presets as values.

No other module branches on the name of a revision: it asks the contract. Every field is read by code.
"""

from dataclasses import dataclass
from datetime import timedelta
from enum import Enum, auto

from kron.cron.schedule import RepeatedPolicy


class InitializeWhileActive(Enum):
    """What `initialize` does while the scheduler is active."""

    REJECT = auto()
    RECONCILE = auto()


class ConcurrentInitialize(Enum):
    """What a second `initialize` does while the first has not returned."""

    REJECT = auto()
    QUEUE = auto()  # one after the other
    JOIN = auto()  # equal lists share one result, unequal ones queue


class FailedReinitialize(Enum):
    """Where a failed re-initialisation leaves the scheduler."""

    KEEP = auto()  # as it was
    RESET = auto()  # uninitialized
    STOP = auto()  # stopping


class ChangedTaskHistory(Enum):
    """What becomes of the history of a task whose configuration changed."""

    KEEP = auto()
    RESET = auto()


class OrphanMeaning(Enum):
    """What the word and the event `TaskOrphaned` mean; unregistered records are removed in any case."""

    INTERRUPTED = auto()
    UNREGISTERED = auto()


class InterruptedRun(Enum):
    """What is owed for a run that a crash cut off."""

    RESTART = auto()
    WAIT_FOR_DUE = auto()
    LOST = auto()


class IdentifierScope(Enum):
    """When a record carries the identifier of the scheduler that wrote it."""

    WHILE_RUNNING = auto()
    ALWAYS = auto()


class CatchUp(Enum):
    """What is owed for occurrences that passed without a start."""

    RUN_ONCE = auto()
    BY_DEADLINE = auto()


class FirstMinute(Enum):
    """What happens in the minute in which a task or job is declared, if its schedule names that minute."""

    RUN = auto()
    NOT_OWNED = auto()


@dataclass(frozen=True, slots=True)
class Contract:
    """How a scheduler behaves on every point that its documents leave to their revision."""

    name: str
    repeated_minute: RepeatedPolicy | None  # None: each job chooses
    cron_blanks: str
    initialize_while_active: InitializeWhileActive
    overlapping_initialize: ConcurrentInitialize
    failed_reinitialize: FailedReinitialize
    changed_task_history: ChangedTaskHistory
    orphan_means: OrphanMeaning
    interrupted_run: InterruptedRun
    identifier_in_record: IdentifierScope
    wraps_step_errors: bool  # ScheduleTaskError and StopSchedulerError exist, and TaskListMismatchError is defined
    poll_interval: timedelta | None  # greatest time between two evaluations while there are tasks; None: no duty
    start_lag: timedelta | None  # None: no bound is promised
    catch_up: CatchUp
    first_minute: FirstMinute


_MINUTE = timedelta(minutes=1)

POLLING_DRAFT = Contract(
    name="polling-draft",
    repeated_minute=RepeatedPolicy.FIRST,
    cron_blanks=" \t\n\r",
    initialize_while_active=InitializeWhileActive.RECONCILE,
    overlapping_initialize=ConcurrentInitialize.QUEUE,
    failed_reinitialize=FailedReinitialize.STOP,
    changed_task_history=ChangedTaskHistory.RESET,
    orphan_means=OrphanMeaning.UNREGISTERED,
    interrupted_run=InterruptedRun.WAIT_FOR_DUE,
    identifier_in_record=IdentifierScope.ALWAYS,
    wraps_step_errors=True,
    poll_interval=_MINUTE,
    start_lag=None,
    catch_up=CatchUp.RUN_ONCE,
    first_minute=FirstMinute.RUN,
)

POLLING = Contract(
    name="polling",
    repeated_minute=RepeatedPolicy.FIRST,
    cron_blanks=" \t",
    initialize_while_active=InitializeWhileActive.RECONCILE,
    overlapping_initialize=ConcurrentInitialize.JOIN,
    failed_reinitialize=FailedReinitialize.RESET,
    changed_task_history=ChangedTaskHistory.RESET,
    orphan_means=OrphanMeaning.UNREGISTERED,
    interrupted_run=InterruptedRun.RESTART,
    identifier_in_record=IdentifierScope.ALWAYS,
    wraps_step_errors=True,
    poll_interval=_MINUTE,
    start_lag=_MINUTE,
    catch_up=CatchUp.RUN_ONCE,
    first_minute=FirstMinute.RUN,
)

DECLARATIVE = Contract(
    name="declarative",
    repeated_minute=RepeatedPolicy.BOTH,
    cron_blanks=" \t",
    initialize_while_active=InitializeWhileActive.REJECT,
    overlapping_initialize=ConcurrentInitialize.REJECT,
    failed_reinitialize=FailedReinitialize.KEEP,
    changed_task_history=ChangedTaskHistory.KEEP,
    orphan_means=OrphanMeaning.INTERRUPTED,
    interrupted_run=InterruptedRun.RESTART,
    identifier_in_record=IdentifierScope.WHILE_RUNNING,
    wraps_step_errors=False,
    poll_interval=None,
    start_lag=_MINUTE,
    catch_up=CatchUp.RUN_ONCE,
    first_minute=FirstMinute.RUN,
)

KRON = Contract(
    name="kron",
    repeated_minute=None,
    cron_blanks=" \t",
    initialize_while_active=InitializeWhileActive.RECONCILE,
    overlapping_initialize=ConcurrentInitialize.QUEUE,
    failed_reinitialize=FailedReinitialize.KEEP,
    changed_task_history=ChangedTaskHistory.KEEP,
    orphan_means=OrphanMeaning.INTERRUPTED,
    interrupted_run=InterruptedRun.LOST,
    identifier_in_record=IdentifierScope.ALWAYS,
    wraps_step_errors=False,
    poll_interval=None,
    start_lag=None,  # the host's slack
    catch_up=CatchUp.BY_DEADLINE,
    first_minute=FirstMinute.NOT_OWNED,
)

PRESETS = {preset.name: preset for preset in (POLLING_DRAFT, POLLING, DECLARATIVE, KRON)}
DEFAULT = DECLARATIVE  # the library's, unless its user says otherwise
JOB_CONTRACT = KRON  # that of jobs with periods: krond's and the operator's
