"""The events: stable names, levels and fields, as one table; an event that does not fit it is a bug."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from kron.instant import Instant

DEBUG, INFO, WARNING = "DEBUG", "INFO", "WARNING"


@dataclass(frozen=True, slots=True)
class EventKind:
    """A level, the fields that are always there, and those that may be."""

    level: str
    required: tuple[str, ...] = ()
    optional: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happened. Times in its fields are ISO 8601 texts, durations are seconds."""

    name: str
    fields: Mapping[str, object]
    exception: BaseException | None = None  # what a failed run raised, for a log's traceback
    at: Instant | None = None  # when it happened, where that is not the instant at which it is told
    # of an initialisation: the list as it was given, the error it fails by, what was stored; of a leap of the clock:
    # for how many seconds in all nothing could be done
    subject: object = None

    @property
    def level(self) -> str:
        """How noteworthy it is: DEBUG, INFO or WARNING."""
        return EVENTS[self.name].level


def event(
    name: str,
    exception: BaseException | None = None,
    at: Instant | None = None,
    subject: object = None,
    /,
    **fields: object,
) -> Event:
    """Return the event; a field that its kind lacks, or a required one that is missing, is a bug."""
    kind = EVENTS[name]
    assert set(kind.required) <= set(fields) <= {*kind.required, *kind.optional}, f"{name} with {sorted(fields)}"
    return Event(name, MappingProxyType(fields), exception, at, subject)


_ROW = (
    "kind", "run_id", "identity", "name", "period_id", "nominal_time", "chosen_time", "outcome", "reason", "detail",
    "started_at", "ended_at", "state", "result", "exit_code", "signal", "attempt", "attempts", "again", "duration",
    "lateness",
)  # fmt: skip
_FINDING = ("file", "line", "field", "message", "fix")
_RANGE = ("first_period_id", "last_period_id", "count", "decisions")
_DECISION = (
    "identity", "period_id", "period_key", "nominal_time", "window_start", "window_end", "window_mode", "chosen_time",
    "timezone", "distribution", "seed_strategy", "salt", "seed_hash", "constraints_applied", "attempts", "reason",
    "algorithm_version", "tzdata_version",
)  # fmt: skip

LIBRARY: Mapping[str, EventKind] = MappingProxyType(
    {
        # the scheduler's life
        "SchedulerInitializationStarted": EventKind(DEBUG, ("totalRegistrations",)),
        "SchedulerInitializationCompleted": EventKind(DEBUG, ("totalRegistrations", "scheduledCount", "skippedCount")),
        "SchedulerInitializationFailed": EventKind(WARNING, ("error",)),
        "SchedulerReinitializationStarted": EventKind(DEBUG),
        "SchedulerStopRequested": EventKind(INFO),
        "SchedulerStopped": EventKind(INFO),
        # runs
        "TaskRunStarted": EventKind(INFO, ("taskName", "scheduledTime", "actualTime"), ("isRetry",)),
        "TaskRunCompleted": EventKind(INFO, ("taskName", "duration", "success")),
        "TaskRunFailed": EventKind(WARNING, ("taskName", "duration", "success", "error"), ("nextRetryAt",)),
        "TaskRetryStarted": EventKind(INFO, ("taskName", "retryCount")),
        "TaskRetryPreempted": EventKind(INFO, ("taskName", "reason")),
        # polling
        "PollStarted": EventKind(DEBUG, ("pollTime", "scheduledTaskCount")),
        "PollCompleted": EventKind(DEBUG, ("pollTime", "tasksEvaluated", "tasksExecuted", "duration")),
        "PollingStarted": EventKind(DEBUG),
        "PollingStopped": EventKind(DEBUG),
        "PollingStopRequested": EventKind(DEBUG),
        # what initialisation found
        "TaskAdded": EventKind(INFO, ("taskName", "cronExpression", "retryDelayMs")),
        "TaskPreserved": EventKind(DEBUG, ("taskName",)),
        "TaskOverridden": EventKind(INFO, ("taskName", "changeType", "oldState", "newState"), ("runFollows",)),
        "TaskOrphaned": EventKind(WARNING, ("taskName", "lastExecutionTime", "schedulerIdentifier")),
        "TaskScheduled": EventKind(DEBUG, ("taskName", "cronExpression", "retryDelayMs")),
        "TaskSkipped": EventKind(DEBUG, ("taskName", "reason")),
        # what operators should know
        "StartDelayed": EventKind(WARNING, ("taskName", "scheduledTime", "lateness")),
        "LoopFrozen": EventKind(WARNING, ("seconds",)),
        "ClockJumped": EventKind(WARNING, ("seconds",)),
        "BaselineClamped": EventKind(WARNING, ("taskName", "baseline", "clampedTo")),
        "TaskSetAside": EventKind(WARNING, ("taskName", "error")),
        "LedgerAppendFailed": EventKind(WARNING, ("error", "retryInSeconds")),
        "EndsLost": EventKind(
            WARNING, ("tasks",)
        ),  # a stop could not record them: after a restart these runs are cut off
        "LedgerRecovered": EventKind(INFO, ("records",)),
        "PropertyViolated": EventKind(WARNING, ("property", "blame", "explanation")),
    }
)
HOSTS: Mapping[str, EventKind] = MappingProxyType(
    {
        # jobs with periods
        "DecisionMade": EventKind(DEBUG, _DECISION),
        "PeriodExecuted": EventKind(INFO, _ROW),
        "PeriodSkipped": EventKind(WARNING, _ROW, _RANGE),
        "PeriodMissed": EventKind(WARNING, _ROW, _RANGE),
        "PeriodUnschedulable": EventKind(WARNING, _ROW, _RANGE),
        "RunStarted": EventKind(INFO, _ROW),  # a trigger, a boot, or a further attempt
        "RunEnded": EventKind(INFO, _ROW),
        "JobSetAside": EventKind(WARNING, ("identity", "name", "error", "trace")),  # its data cannot be judged
        "OutputLost": EventKind(WARNING, ("run_id", "lines")),  # the host's log did not take them
        # the daemon
        "WarningFound": EventKind(WARNING, _FINDING),  # in a job file that is valid
        "NoticeFound": EventKind(INFO, _FINDING),
        "FileFailed": EventKind(WARNING, ("file", "findings")),  # the jobs of the other files run
        "KrondReady": EventKind(INFO, ("pid", "jobs", "state")),
        "KrondDraining": EventKind(INFO, ("active",)),
        "KrondStopped": EventKind(INFO),  # the last event of a krond that ends as it was asked to
        "StateTaken": EventKind(WARNING, ("error",)),  # by another krond: this one ends
        "Reloaded": EventKind(INFO, ("added", "changed", "removed", "unchanged")),
        "ReloadFailed": EventKind(WARNING, ("errors",)),
        "PeerRefused": EventKind(WARNING, ("uid",)),
        "Listening": EventKind(INFO, ("address",)),
        "ListenFailed": EventKind(WARNING, ("address", "error")),  # jobs run; it is tried again
        "ListenerExposed": EventKind(WARNING, ("address", "advice")),
        "VisitorRefused": EventKind(WARNING, ("client", "times")),
        "PageFailed": EventKind(WARNING, ("path", "error")),
        "EventsDropped": EventKind(WARNING, ("count",)),
        "ErrorCaught": EventKind(WARNING, ("error", "times", "trace")),
        "HookFailed": EventKind(WARNING, ("identity", "name", "hook", "target", "error", "tries")),
    }
)

EVENTS: Mapping[str, EventKind] = MappingProxyType({**LIBRARY, **HOSTS})
