"""Contract: one field for each point on which the documents of the scheduler differ, and the four presets as values.

No other module branches on the name of a revision: it asks the contract.
"""

from dataclasses import dataclass
from datetime import timedelta
from enum import Enum, auto

from kron.cron.schedule import Repeated


class WhileActive(Enum):
    """What `initialize` does while the scheduler is active."""

    REJECT = auto()
    RECONCILE = auto()


class Overlapping(Enum):
    """What a second `initialize` does while the first has not returned."""

    REJECT = auto()
    QUEUE = auto()  # one after the other
    JOIN = auto()  # equal lists share one result, unequal ones queue


class FailedReinitialize(Enum):
    """Where a failed re-initialisation leaves the scheduler."""

    KEEP = auto()  # as it was
    RESET = auto()  # uninitialized
    STOP = auto()  # stopping


class History(Enum):
    """What becomes of the history of a task whose configuration changed."""

    KEEP = auto()
    RESET = auto()


class Orphan(Enum):
    """What the word and the event `TaskOrphaned` mean; unregistered records are removed in any case."""

    INTERRUPTED = auto()
    UNREGISTERED = auto()


class Interrupted(Enum):
    """What is owed for a run that a crash cut off."""

    RESTART = auto()
    WAIT_FOR_DUE = auto()
    LOST = auto()


class Identifier(Enum):
    """When a record carries the identifier of the scheduler that wrote it."""

    WHILE_RUNNING = auto()
    ALWAYS = auto()


class EventLog(Enum):
    """What an event carries."""

    NAMES = auto()  # its name; the fields are a courtesy
    FULL = auto()  # its level and all required fields


class MissedDue(Enum):
    """What is owed for occurrences that passed without a start."""

    RUN_ONCE = auto()
    BY_DEADLINE = auto()


class Overlap(Enum):
    """What becomes of an occurrence that comes while the task runs."""

    DEFER = auto()  # one pending demand survives the run
    BY_POLICY = auto()


class FirstMinute(Enum):
    """What a job declared inside a matching minute does."""

    RUN = auto()
    NOT_OWNED = auto()


class ChangedDefinition(Enum):
    """What a changed definition owes."""

    RECOMPUTE = auto()  # a missed occurrence of the new schedule since the baseline is owed
    RESET = auto()  # the change counts as the first coming of the task
    BY_CHOSEN_TIME = auto()  # only what is chosen after the change


@dataclass(frozen=True, slots=True)
class Contract:
    """How a scheduler behaves on every point that its documents leave to their revision."""

    name: str
    repeated_minute: Repeated | None  # None: each job chooses
    cron_blanks: str
    initialize_while_active: WhileActive
    overlapping_initialize: Overlapping
    failed_reinitialize: FailedReinitialize
    changed_task_history: History
    orphan_means: Orphan
    interrupted_run: Interrupted
    identifier_in_record: Identifier
    wraps_step_errors: bool  # ScheduleTaskError and StopSchedulerError exist, and TaskListMismatchError is defined
    already_active_error: bool
    event_log: EventLog
    poll_interval: timedelta | None  # greatest time between two evaluations while there are tasks; None: no duty
    start_lag: timedelta | None  # None: no bound is promised
    start_lag_is_hard: bool
    properties: tuple[str, ...]  # which suite of the theory a trace is checked against
    missed_due: MissedDue
    overlap: Overlap
    first_minute: FirstMinute
    changed_definition: ChangedDefinition


_MINUTE = timedelta(minutes=1)

POLLING_DRAFT = Contract(
    name="polling-draft",
    repeated_minute=Repeated.FIRST,
    cron_blanks=" \t\n\r",
    initialize_while_active=WhileActive.RECONCILE,
    overlapping_initialize=Overlapping.QUEUE,
    failed_reinitialize=FailedReinitialize.STOP,
    changed_task_history=History.RESET,
    orphan_means=Orphan.UNREGISTERED,
    interrupted_run=Interrupted.WAIT_FOR_DUE,
    identifier_in_record=Identifier.ALWAYS,
    wraps_step_errors=True,
    already_active_error=False,
    event_log=EventLog.FULL,
    poll_interval=_MINUTE,
    start_lag=None,
    start_lag_is_hard=False,
    properties=(),
    missed_due=MissedDue.RUN_ONCE,
    overlap=Overlap.DEFER,
    first_minute=FirstMinute.RUN,
    changed_definition=ChangedDefinition.RESET,
)

POLLING = Contract(
    name="polling",
    repeated_minute=Repeated.FIRST,
    cron_blanks=" \t",
    initialize_while_active=WhileActive.RECONCILE,
    overlapping_initialize=Overlapping.JOIN,
    failed_reinitialize=FailedReinitialize.RESET,
    changed_task_history=History.RESET,
    orphan_means=Orphan.UNREGISTERED,
    interrupted_run=Interrupted.RESTART,
    identifier_in_record=Identifier.ALWAYS,
    wraps_step_errors=True,
    already_active_error=False,
    event_log=EventLog.NAMES,
    poll_interval=_MINUTE,
    start_lag=_MINUTE,
    start_lag_is_hard=True,
    properties=("P1", "P2", "P3", "P4", "P5", "P6", *(f"P{number}" for number in range(9, 18))),
    missed_due=MissedDue.RUN_ONCE,
    overlap=Overlap.DEFER,
    first_minute=FirstMinute.RUN,
    changed_definition=ChangedDefinition.RESET,
)

DECLARATIVE = Contract(
    name="declarative",
    repeated_minute=Repeated.BOTH,
    cron_blanks=" \t",
    initialize_while_active=WhileActive.REJECT,
    overlapping_initialize=Overlapping.REJECT,
    failed_reinitialize=FailedReinitialize.KEEP,
    changed_task_history=History.KEEP,
    orphan_means=Orphan.INTERRUPTED,
    interrupted_run=Interrupted.RESTART,
    identifier_in_record=Identifier.WHILE_RUNNING,
    wraps_step_errors=False,
    already_active_error=True,
    event_log=EventLog.NAMES,
    poll_interval=None,
    start_lag=_MINUTE,
    start_lag_is_hard=False,
    properties=("E", "A", "S", "L", "T"),
    missed_due=MissedDue.RUN_ONCE,
    overlap=Overlap.DEFER,
    first_minute=FirstMinute.RUN,
    changed_definition=ChangedDefinition.RECOMPUTE,
)

KRON = Contract(
    name="kron",
    repeated_minute=None,
    cron_blanks=" \t",
    initialize_while_active=WhileActive.RECONCILE,
    overlapping_initialize=Overlapping.QUEUE,
    failed_reinitialize=FailedReinitialize.KEEP,
    changed_task_history=History.KEEP,
    orphan_means=Orphan.INTERRUPTED,
    interrupted_run=Interrupted.LOST,
    identifier_in_record=Identifier.ALWAYS,
    wraps_step_errors=False,
    already_active_error=False,
    event_log=EventLog.FULL,
    poll_interval=None,
    start_lag=None,  # the host's slack
    start_lag_is_hard=False,
    properties=("I1", "I2", "I3", "I4", "I5", "I6", "I7", "I8", "I9", "I10", "I11", "I12", "S3", "S4", "T1", "T3"),
    missed_due=MissedDue.BY_DEADLINE,
    overlap=Overlap.BY_POLICY,
    first_minute=FirstMinute.NOT_OWNED,
    changed_definition=ChangedDefinition.BY_CHOSEN_TIME,
)

PRESETS = {preset.name: preset for preset in (POLLING_DRAFT, POLLING, DECLARATIVE, KRON)}
DEFAULT = DECLARATIVE  # the library's, unless its user says otherwise
