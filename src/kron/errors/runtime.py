"""What a running process meets: registrations, scheduler states, stored records, ledgers, jobs, control, Kubernetes."""

from kron.errors.base import KronError, cause_text, display_text, escape_unprintable

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
        super().__init__(f'Task with name "{display_text(task_name)}" is already scheduled', taskName=task_name)


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
        which = "tasks" if name is None else f"task '{display_text(name)}'"
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
    """A transition that the table of states does not have: a bug in Kron, never a user's mistake."""

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
    """An operation of a ledger failed; nothing was changed."""

    task: str | None = None  # the task to blame; None: the ledger as a whole failed


def _with_cause(cause: Exception | None) -> dict[str, object]:
    return {} if cause is None else {"cause": cause}


class LedgerUnusableError(LedgerError):
    """The file of a ledger is missing, or this version of Kron cannot use it; it was not changed."""

    def __init__(self, *, path: str, reason: str, fix: str = "", cause: Exception | None = None) -> None:
        """`cause` is the original error, which the message does not repeat."""
        tail = f"; {fix}" if fix else ""
        message = f"Ledger {display_text(path)} cannot be used: {reason}{tail}"
        super().__init__(message, path=path, reason=reason, **_with_cause(cause))


class LedgerInUseError(LedgerError):
    """Another scheduler has the ledger open."""

    def __init__(self, *, path: str, owner: str) -> None:
        super().__init__(
            f"Ledger {display_text(path)} is in use by {owner}; "
            "give each scheduler a ledger of its own, or stop the other",
            path=path,
            owner=owner,
        )


class LedgerWriteError(LedgerError):
    """An append failed as a whole; none of its records was kept."""

    def __init__(self, *, path: str, reason: str, cause: Exception | None = None, retry_soon: bool = False) -> None:
        """`cause` is the original error, which the message does not repeat; `retry_soon`: a retry costs little."""
        message = f"Ledger {display_text(path)} cannot be written: {reason}"
        super().__init__(message, path=path, reason=reason, **_with_cause(cause))
        self.retry_soon = retry_soon


class LedgerConflictError(LedgerError):
    """A period was to get a second outcome, or an attempt a second start or end; no record of its job was kept."""

    def __init__(self, *, path: str, identity: str, period: str, reason: str) -> None:
        super().__init__(
            f"Ledger {display_text(path)} refuses {display_text(identity)}, period {period}: {reason}",
            path=path,
            identity=identity,
            period=period,
            reason=reason,
        )


class JobActiveError(KronError):
    """A run was triggered while one is active, and the job forbids a second one."""

    def __init__(self, *, identity: str) -> None:
        super().__init__(f"{display_text(identity)} is active, and its concurrency is forbid", identity=identity)


class SchedulerNotRunningError(KronError):
    """A run was triggered while the scheduler starts nothing."""

    def __init__(self) -> None:
        super().__init__("The scheduler drains, and starts nothing")


class StateDirectoryError(KronError):
    """A state directory cannot be used."""

    def __init__(self, *, path: str, reason: str, fix: str = "") -> None:
        tail = f"; {fix}" if fix else ""
        super().__init__(f"State directory {display_text(path)} {reason}{tail}", path=path, reason=reason, fix=fix)


class UnknownJobError(KronError):
    """No job has that name, or several have it."""

    def __init__(
        self, *, job: str, identities: tuple[str, ...] = (), errors: tuple[str, ...] = (), near: str = ""
    ) -> None:
        tail = f"; did you mean {display_text(near)}?" if near else ""
        if identities:
            tail = f"; name it by its identity: {', '.join(map(display_text, identities))}"
        if errors:
            tail = f" that krond runs{tail}; it may be in a file with errors: {'; '.join(errors)}"
        reason = "is the name of several jobs" if identities else "is not a job"
        self.near = near
        super().__init__(
            f"{display_text(job)} {reason}{tail}", job=job, identities=list(identities), errors=list(errors)
        )


class UnknownRunError(KronError):
    """No run and no job has that name."""

    def __init__(self, *, run: str, near: str = "") -> None:
        fix = f"did you mean {display_text(near)}?" if near else "krond jobs and krond history list them"
        super().__init__(f"{display_text(run)} is neither a job nor a run; {fix}", run=run)


class NoRunError(KronError):
    """The job has no recorded run."""

    def __init__(self, *, job: str) -> None:
        super().__init__(
            f"{display_text(job)} has no recorded run; krond next {display_text(job)} shows when one is due", job=job
        )


class ControlError(KronError):
    """The daemon does not answer, or refuses."""

    def __init__(self, *, reason: str, exit_code: int = 1) -> None:
        super().__init__(reason, reason=reason)
        self.exit_code = exit_code


class ListenError(KronError):
    """A daemon cannot listen at its address."""

    def __init__(self, *, address: str, reason: str, fix: str = "") -> None:
        tail = f"; {fix}" if fix else ""
        super().__init__(f"Listener {display_text(address)}: {reason}{tail}", address=address, reason=reason, fix=fix)


class AddressInUseError(ListenError):
    """Another program has the address of a daemon's listener; it may release it later."""


_HINTS = {401: ": the token or certificate has expired, or is of another cluster"}
_LONGEST = 2_000  # characters of the server's words: a refusal that lists many fields still fits


class ApiError(KronError):
    """A request to the API server failed."""


class ApiRefusedError(ApiError):
    """The API server answered, and said no."""

    def __init__(
        self, *, code: int, reason: str, message: str, retry_after: float | None = None, causes: tuple[str, ...] = ()
    ) -> None:
        text = escape_unprintable(message[:_LONGEST]) or f"HTTP {code} {display_text(reason)}".rstrip()
        text += _HINTS.get(code, "")
        super().__init__(text, code=code, reason=reason, retryAfter=retry_after, causes=list(causes))
        self.code = code
        self.reason = reason
        self.retry_after = retry_after
        self.causes = causes


class ApiUnreachableError(ApiError):
    """The API server gave no answer that could be understood, or could not be asked."""

    def __init__(self, *, server: str, reason: str) -> None:
        super().__init__(f"API server {display_text(server)}: {display_text(reason)}", server=server, reason=reason)


class AnswerTooLongError(ApiUnreachableError):
    """The API server's answer is longer than the caller wants to keep in memory; the rest was not read."""

    def __init__(self, *, server: str, longest: int) -> None:
        super().__init__(server=server, reason=f"its answer has more than {longest:,} bytes")


class ApiMalformedError(ApiUnreachableError):
    """The API server's answer has not the shape that answers have."""


class KubeconfigError(KronError):
    """The kubeconfig is missing, or does not name a cluster and a user."""

    def __init__(self, *, path: str, field: str, reason: str, fix: str) -> None:
        place = ": ".join(display_text(part) for part in (path, field) if part)
        super().__init__(f"{place}: {display_text(reason)}; {fix}", path=path, field=field, reason=reason, fix=fix)
