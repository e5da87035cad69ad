"""ERRORS: clauses on errors, one for each kind, and on how they are raised."""

from tests.conformance.clause import BOTH_POLLING, DECLARATIVE, EVERY, Clause

_ERRORS = "Errors"

ERRORS = (
    Clause(
        "errors.registrations-not-array",
        EVERY,
        _ERRORS,
        "RegistrationsNotArrayError: what initialize is given is no list. It has no details.",
    ),
    Clause(
        "errors.registration-shape",
        EVERY,
        _ERRORS,
        "RegistrationShapeError: a registration has the wrong length or types. Details: registrationIndex, received.",
    ),
    Clause(
        "errors.invalid-registration",
        EVERY,
        _ERRORS,
        "InvalidRegistrationError: a registration of the right shape has wrong data. Details: field, value, reason.",
    ),
    Clause(
        "errors.duplicate-task",
        EVERY,
        _ERRORS,
        "ScheduleDuplicateTaskError: a name is registered twice. The message names it. Details: taskName.",
    ),
    Clause(
        "errors.cron-expression-invalid",
        EVERY,
        _ERRORS,
        "CronExpressionInvalidError: the expression of a registration is invalid. Details: expression, field, reason.",
    ),
    Clause(
        "errors.negative-retry-delay",
        EVERY,
        _ERRORS,
        "NegativeRetryDelayError: a retry delay is below zero. Details: retryDelayMs.",
    ),
    Clause(
        "errors.already-active",
        (DECLARATIVE,),
        _ERRORS,
        "SchedulerAlreadyActiveError: initialize is called while the scheduler is active. Details: currentState.",
    ),
    Clause(
        "errors.schedule-task",
        BOTH_POLLING,
        _ERRORS,
        "ScheduleTaskError: a task cannot be scheduled. The message has its name and the cause. Details: name, "
        "cronExpression, cause.",
    ),
    Clause(
        "errors.stop-scheduler",
        BOTH_POLLING,
        _ERRORS,
        "StopSchedulerError: a stop fails. The message has the cause. Details: cause.",
    ),
    Clause(
        "errors.step",
        (DECLARATIVE,),
        _ERRORS,
        "An initialisation or stop that cannot be recorded raises an error that names the step. Details: step, cause.",
    ),
    Clause(
        "errors.invalid-cron-expression",
        EVERY,
        _ERRORS,
        "InvalidCronExpressionError: a text cannot be parsed as cron. Details: expression, field, reason.",
    ),
    Clause(
        "errors.field-parse",
        EVERY,
        _ERRORS,
        "FieldParseError: one field of an expression cannot be parsed. Details: fieldValue, fieldName.",
    ),
    Clause(
        "errors.cron-calculation",
        BOTH_POLLING,
        _ERRORS,
        "CronCalculationError: the date of a valid expression cannot be calculated. Details: expression, currentTime, "
        "cause.",
    ),
    Clause(
        "errors.no-occurrence",
        (DECLARATIVE,),
        _ERRORS,
        "CronCalculationError: an expression has no occurrence after, or none before, a time. Details: expression, "
        "currentTime, cause.",
    ),
    Clause(
        "errors.task-try-deserialize",
        EVERY,
        _ERRORS,
        "TaskTryDeserializeError: a record cannot be read. All kinds of damage are kinds of this error.",
    ),
    Clause(
        "errors.task-missing-field",
        EVERY,
        _ERRORS,
        "TaskMissingFieldError: a record lacks a field. The message names it. Details: field.",
    ),
    Clause(
        "errors.task-invalid-type",
        EVERY,
        _ERRORS,
        "TaskInvalidTypeError: a field of a record has a wrong type. Details: field, value, expectedType, actualType.",
    ),
    Clause(
        "errors.task-invalid-value",
        EVERY,
        _ERRORS,
        "TaskInvalidValueError: a field of a record has an impossible value. Details: field, value, reason.",
    ),
    Clause(
        "errors.task-invalid-structure",
        EVERY,
        _ERRORS,
        "TaskInvalidStructureError: what is stored is no record at all. Details: value.",
    ),
    Clause(
        "errors.task-list-mismatch",
        BOTH_POLLING,
        _ERRORS,
        "TaskListMismatchError is defined, with details expected and actual; no difference of lists raises it.",
    ),
    # --- how they are raised
    Clause(
        "errors.before-scheduling",
        EVERY,
        _ERRORS,
        "An invalid list is refused by the awaited call before anything is scheduled or stored.",
    ),
    Clause(
        "errors.wrapped", EVERY, _ERRORS, "An unexpected error is raised again inside one that tells where it happened."
    ),
    Clause("errors.cause-kept", EVERY, _ERRORS, "A wrapped error is kept as it was, as detail `cause`."),
    Clause("errors.stable-names", EVERY, _ERRORS, "The names of errors and the form of their messages are stable."),
    Clause(
        "errors.enough-and-no-more",
        EVERY,
        _ERRORS,
        "A message says enough to find the mistake and repeats nothing that may be confidential.",
    ),
)
