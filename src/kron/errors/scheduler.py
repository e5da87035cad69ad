"""Errors of the scheduler: registrations, its life, what it persisted, and its ledger."""

from kron.errors.tree import KronError, cause_text, shown

# --- registrations ----------------------------------------------------------------------------------------------------


class RegistrationsNotArrayError(KronError):
    """`initialize` was called with something other than a list or tuple."""

    def __init__(self) -> None:
        super().__init__("Registrations must be an array")


class RegistrationShapeError(KronError):
    """A registration has the wrong length, or a part of the wrong type."""

    def __init__(self, *, registration_index: int, received: object) -> None:
        super().__init__(
            "Invalid registration shape: expected [string, string, function, Duration]",
            registrationIndex=registration_index,
            received=received,
        )


class InvalidRegistrationError(KronError):
    """A registration has the right shape and a value that cannot be used."""

    def __init__(self, *, field: str, value: object, reason: str) -> None:
        super().__init__(f"Invalid registration: {field} {reason}", field=field, value=value, reason=reason)


class ScheduleDuplicateTaskError(KronError):
    """Two registrations have the same task name."""

    def __init__(self, *, task_name: str) -> None:
        super().__init__(f'Task with name "{shown(task_name)}" is already scheduled', taskName=task_name)


class NegativeRetryDelayError(KronError):
    """A retry delay below zero was registered."""

    def __init__(self, *, retry_delay_ms: int) -> None:
        super().__init__("Retry delay must be non-negative", retryDelayMs=retry_delay_ms)


# --- the scheduler's life ---------------------------------------------------------------------------------------------


class SchedulerAlreadyActiveError(KronError):
    """`initialize` was called while the scheduler is initializing, running or stopping."""

    def __init__(self, *, current_state: str) -> None:
        super().__init__(
            f"Cannot initialize scheduler: scheduler is already {current_state}", currentState=current_state
        )


class SchedulerStepError(KronError):
    """A step of `initialize` or `stop` failed; `details.cause` is the original error."""

    def __init__(self, *, step: str, cause: Exception) -> None:
        super().__init__(f"Failed to {step}: {cause_text(cause)}", step=step, cause=cause)


class ScheduleTaskError(KronError):
    """Scheduling failed during `initialize`; `details.cause` is the original error.

    `name` and `cronExpression` are those of the task that failed, and None if the ledger failed as a whole.
    """

    def __init__(self, *, name: str | None, cron_expression: str | None, cause: Exception) -> None:
        which = "tasks" if name is None else f"task '{shown(name)}'"
        message = f"Failed to schedule {which}: {cause_text(cause)}"
        super().__init__(message, name=name, cronExpression=cron_expression, cause=cause)


class StopSchedulerError(KronError):
    """`stop` could not do all it had to; `details.cause` is the original error."""

    def __init__(self, *, cause: Exception) -> None:
        super().__init__(f"Failed to stop scheduler: {cause_text(cause)}", cause=cause)


class TaskListMismatchError(KronError):
    """Persisted tasks do not match what a scheduler expects; part of two contracts, raised by none."""

    def __init__(self, *, expected: object, actual: object) -> None:
        super().__init__("Persisted tasks do not match", expected=expected, actual=actual)


class IllegalTransitionError(KronError):
    """A state was asked to change in a way that its table does not have: a bug in Kron, never a user's mistake."""

    def __init__(self, *, state: str, trigger: str) -> None:
        super().__init__(f"No transition from {state} by {trigger}", state=state, trigger=trigger)


class RunTimeoutError(KronError):
    """A run took longer than the scheduler allows and was cancelled."""

    def __init__(self, *, limit: str) -> None:
        super().__init__(f"The run was cancelled after {limit}", limit=limit)


# --- persisted state --------------------------------------------------------------------------------------------------


class TaskTryDeserializeError(KronError):
    """A persisted task cannot be read."""


class TaskMissingFieldError(TaskTryDeserializeError):
    """A required field of a persisted task is missing."""

    def __init__(self, *, field: str) -> None:
        super().__init__(f"Missing required field: {field}", field=field)


class TaskInvalidTypeError(TaskTryDeserializeError):
    """A field of a persisted task has the wrong type."""

    def __init__(self, *, field: str, value: object, expected_type: str) -> None:
        actual = type(value).__name__
        super().__init__(
            f"Invalid type for field '{field}': expected {expected_type}, got {actual}",
            field=field,
            value=value,
            expectedType=expected_type,
            actualType=actual,
        )


class TaskInvalidValueError(TaskTryDeserializeError):
    """A field of a persisted task has a value that cannot be."""

    def __init__(self, *, field: str, value: object, reason: str) -> None:
        super().__init__(f"Invalid value for field '{field}': {reason}", field=field, value=value, reason=reason)


class TaskInvalidStructureError(TaskTryDeserializeError):
    """A persisted task is no task at all."""

    def __init__(self, *, value: object) -> None:
        super().__init__("Persisted task is not a mapping of fields to values", value=value)


# --- the ledger -------------------------------------------------------------------------------------------------------


class LedgerError(KronError):
    """A ledger cannot do what it was asked to; nothing was changed."""

    task: str | None = None  # the task to blame; None: the ledger as a whole failed


def _with_cause(cause: Exception | None) -> dict[str, object]:
    return {} if cause is None else {"cause": cause}


class LedgerUnusableError(LedgerError):
    """What lies at a ledger's path is no ledger that this version of Kron can use; it was left untouched."""

    def __init__(self, *, path: str, reason: str, fix: str = "", cause: Exception | None = None) -> None:
        """`cause` is the original error, which the message does not repeat."""
        tail = f"; {fix}" if fix else ""
        message = f"Ledger {shown(path)} cannot be used: {reason}{tail}"
        super().__init__(message, path=path, reason=reason, **_with_cause(cause))


class LedgerInUseError(LedgerError):
    """Another scheduler has the ledger open."""

    def __init__(self, *, path: str, owner: str) -> None:
        super().__init__(
            f"Ledger {shown(path)} is in use by {owner}; give each scheduler a ledger of its own, or stop the other",
            path=path,
            owner=owner,
        )


class LedgerWriteError(LedgerError):
    """An append failed as a whole; none of its records was kept."""

    def __init__(self, *, path: str, reason: str, cause: Exception | None = None, retry_soon: bool = False) -> None:
        """`cause` is the original error, which the message does not repeat; `retry_soon`: a retry costs little."""
        message = f"Ledger {shown(path)} cannot be written: {reason}"
        super().__init__(message, path=path, reason=reason, **_with_cause(cause))
        self.retry_soon = retry_soon


class LedgerConflictError(LedgerError):
    """A period was to get a second outcome, or an attempt a second start or end; nothing of the batch was kept."""

    def __init__(self, *, path: str, identity: str, period: str, reason: str) -> None:
        super().__init__(
            f"Ledger {shown(path)} refuses {shown(identity)}, period {period}: {reason}",
            path=path,
            identity=identity,
            period=period,
            reason=reason,
        )
