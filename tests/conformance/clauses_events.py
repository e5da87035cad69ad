"""EVENTS: clauses on each event, and on all of them."""

from tests.conformance.clause import DRAFT, Clause

_EVENTS = "Events"
_ONLY = (DRAFT,)

EVENTS = (
    Clause(
        "events.initialization-started",
        _ONLY,
        _EVENTS,
        "SchedulerInitializationStarted is DEBUG and has totalRegistrations.",
    ),
    Clause(
        "events.initialization-completed",
        _ONLY,
        _EVENTS,
        "SchedulerInitializationCompleted is DEBUG and has totalRegistrations, scheduledCount and skippedCount.",
    ),
    Clause("events.reinitialization-started", _ONLY, _EVENTS, "SchedulerReinitializationStarted is DEBUG."),
    Clause("events.stop-requested", _ONLY, _EVENTS, "SchedulerStopRequested is INFO."),
    Clause("events.stopped", _ONLY, _EVENTS, "SchedulerStopped is INFO."),
    Clause(
        "events.run-started",
        _ONLY,
        _EVENTS,
        "TaskRunStarted is INFO and has taskName, scheduledTime and actualTime; for a retry it may have isRetry.",
    ),
    Clause(
        "events.run-completed", _ONLY, _EVENTS, "TaskRunCompleted is INFO and has taskName, duration and success, true."
    ),
    Clause(
        "events.run-failed",
        _ONLY,
        _EVENTS,
        "TaskRunFailed is WARNING and has taskName, duration, success, false, and error; it may have nextRetryAt.",
    ),
    Clause("events.retry-started", _ONLY, _EVENTS, "TaskRetryStarted is INFO and has taskName and retryCount."),
    Clause("events.retry-preempted", _ONLY, _EVENTS, "TaskRetryPreempted is INFO and has taskName and reason."),
    Clause("events.poll-started", _ONLY, _EVENTS, "PollStarted is DEBUG and has pollTime and scheduledTaskCount."),
    Clause(
        "events.poll-completed",
        _ONLY,
        _EVENTS,
        "PollCompleted is DEBUG and has pollTime, tasksEvaluated, tasksExecuted and duration.",
    ),
    Clause("events.polling-started", _ONLY, _EVENTS, "PollingStarted is DEBUG."),
    Clause("events.polling-stopped", _ONLY, _EVENTS, "PollingStopped is DEBUG."),
    Clause("events.polling-stop-requested", _ONLY, _EVENTS, "PollingStopRequested is DEBUG."),
    Clause("events.task-added", _ONLY, _EVENTS, "TaskAdded is INFO and has taskName, cronExpression and retryDelayMs."),
    Clause("events.task-preserved", _ONLY, _EVENTS, "TaskPreserved is DEBUG and has taskName."),
    Clause(
        "events.task-overridden",
        _ONLY,
        _EVENTS,
        "TaskOverridden is INFO and has taskName, changeType, oldState and newState.",
    ),
    Clause(
        "events.task-orphaned",
        _ONLY,
        _EVENTS,
        "TaskOrphaned is WARNING and has taskName, lastExecutionTime and schedulerIdentifier.",
    ),
    Clause(
        "events.task-scheduled",
        _ONLY,
        _EVENTS,
        "TaskScheduled is DEBUG and has taskName, cronExpression and retryDelayMs.",
    ),
    Clause("events.task-skipped", _ONLY, _EVENTS, "TaskSkipped is DEBUG and has taskName and reason."),
    # --- all together
    Clause("events.stable-names", _ONLY, _EVENTS, "Events keep their names."),
    Clause("events.required-fields", _ONLY, _EVENTS, "Every event has all of its required fields, in their form."),
    Clause(
        "events.levels",
        _ONLY,
        _EVENTS,
        "INFO is for what is normal, WARNING for what deserves attention, DEBUG for detail.",
    ),
    Clause("events.causal-order", _ONLY, _EVENTS, "The events of one task come in the order of cause and effect."),
    Clause(
        "events.machine-readable", _ONLY, _EVENTS, "An event is a name with named values, not a sentence to be parsed."
    ),
    Clause("events.iso-times", _ONLY, _EVENTS, "All times in events are written in ISO 8601."),
)
