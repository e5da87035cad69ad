"""The events: stable names, levels and fields, as one table; an event that does not fit it is a bug."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from kron.instant import Instant

DEBUG, INFO, WARNING = "DEBUG", "INFO", "WARNING"


@dataclass(frozen=True, slots=True)
class EventSpec:
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
    happened_at: Instant | None = None  # when it happened, if earlier than the instant at which it is emitted

    @property
    def level(self) -> str:
        """How noteworthy it is: DEBUG, INFO or WARNING."""
        return EVENTS[self.name].level


def make_event(
    name: str,
    exception: BaseException | None = None,
    at: Instant | None = None,
    /,
    **fields: object,
) -> Event:
    """Return the event; a field that its kind lacks, or a required one that is missing, is a bug."""
    kind = EVENTS[name]
    assert set(kind.required) <= set(fields) <= {*kind.required, *kind.optional}, f"{name} with {sorted(fields)}"
    return Event(name, MappingProxyType(fields), exception, at)


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

LIBRARY: Mapping[str, EventSpec] = MappingProxyType(
    {
        # the scheduler's life
        "SchedulerInitializationStarted": EventSpec(DEBUG, ("totalRegistrations",)),
        "SchedulerInitializationCompleted": EventSpec(DEBUG, ("totalRegistrations", "scheduledCount", "skippedCount")),
        "SchedulerInitializationFailed": EventSpec(WARNING, ("error",)),
        "SchedulerReinitializationStarted": EventSpec(DEBUG),
        "SchedulerStopRequested": EventSpec(INFO),
        "SchedulerStopped": EventSpec(INFO),
        # runs
        "TaskRunStarted": EventSpec(INFO, ("taskName", "scheduledTime", "actualTime"), ("isRetry",)),
        "TaskRunCompleted": EventSpec(INFO, ("taskName", "duration", "success")),
        "TaskRunFailed": EventSpec(WARNING, ("taskName", "duration", "success", "error"), ("nextRetryAt",)),
        "TaskRetryStarted": EventSpec(INFO, ("taskName", "retryCount")),
        "TaskRetryPreempted": EventSpec(INFO, ("taskName", "reason")),
        # polling
        "PollStarted": EventSpec(DEBUG, ("pollTime", "scheduledTaskCount")),
        "PollCompleted": EventSpec(DEBUG, ("pollTime", "tasksEvaluated", "tasksExecuted", "duration")),
        "PollingStarted": EventSpec(DEBUG),
        "PollingStopped": EventSpec(DEBUG),
        "PollingStopRequested": EventSpec(DEBUG),
        # what initialisation found
        "TaskAdded": EventSpec(INFO, ("taskName", "cronExpression", "retryDelayMs")),
        "TaskPreserved": EventSpec(DEBUG, ("taskName",)),
        "TaskOverridden": EventSpec(INFO, ("taskName", "changeType", "oldState", "newState"), ("runFollows",)),
        "TaskOrphaned": EventSpec(WARNING, ("taskName", "lastExecutionTime", "schedulerIdentifier")),
        "TaskScheduled": EventSpec(DEBUG, ("taskName", "cronExpression", "retryDelayMs")),
        "TaskSkipped": EventSpec(DEBUG, ("taskName", "reason")),
        # what operators should know
        "StartDelayed": EventSpec(WARNING, ("taskName", "scheduledTime", "lateness")),
        "LoopFrozen": EventSpec(WARNING, ("seconds",)),
        "ClockJumped": EventSpec(WARNING, ("seconds",)),
        "BaselineClamped": EventSpec(WARNING, ("taskName", "baseline", "clampedTo")),
        "TaskSetAside": EventSpec(WARNING, ("taskName", "error")),
        "LedgerAppendFailed": EventSpec(WARNING, ("error", "retryInSeconds")),
        "EndsLost": EventSpec(
            WARNING, ("tasks",)
        ),  # a stop could not record them: after a restart these runs are cut off
        "LedgerRecovered": EventSpec(INFO, ("records",)),
        "PropertyViolated": EventSpec(WARNING, ("property", "blame", "explanation")),
    }
)
HOSTS: Mapping[str, EventSpec] = MappingProxyType(
    {
        # jobs with periods
        "DecisionMade": EventSpec(DEBUG, _DECISION),
        "PeriodExecuted": EventSpec(INFO, _ROW),
        "PeriodSkipped": EventSpec(WARNING, _ROW, _RANGE),
        "PeriodMissed": EventSpec(WARNING, _ROW, _RANGE),
        "PeriodUnschedulable": EventSpec(WARNING, _ROW, _RANGE),
        "RunStarted": EventSpec(INFO, _ROW),  # a trigger, a boot, or a further attempt
        "RunEnded": EventSpec(INFO, _ROW),
        "JobSetAside": EventSpec(WARNING, ("identity", "name", "error", "trace")),  # its data cannot be judged
        "ClaimRefused": EventSpec(WARNING, ("identity", "name", "period_id", "reason")),  # the ledger has another
        "RunKilled": EventSpec(WARNING, ("run_id", "reason")),  # by the host, and not for a policy
        "OutputLost": EventSpec(WARNING, ("run_id", "lines")),  # the host's log did not take them
        # the daemon
        "WarningFound": EventSpec(WARNING, _FINDING),  # in a job file that is valid
        "NoticeFound": EventSpec(INFO, _FINDING),
        "FileFailed": EventSpec(WARNING, ("file", "findings")),  # the jobs of the other files run
        "KrondReady": EventSpec(INFO, ("pid", "jobs", "state")),
        "KrondDraining": EventSpec(INFO, ("active",)),
        "KrondStopped": EventSpec(INFO),  # the last event of a krond that has drained
        "StateTaken": EventSpec(WARNING, ("error",)),  # by another krond: this one ends
        "Reloaded": EventSpec(INFO, ("added", "changed", "removed", "unchanged")),
        "ReloadFailed": EventSpec(WARNING, ("errors",)),
        "PeerRefused": EventSpec(WARNING, ("uid",)),
        "Listening": EventSpec(INFO, ("address",)),
        "ListenFailed": EventSpec(WARNING, ("address", "error")),  # jobs run; it is tried again
        "ListenerExposed": EventSpec(WARNING, ("address", "advice")),
        "VisitorRefused": EventSpec(WARNING, ("client", "times")),
        "PageFailed": EventSpec(WARNING, ("path", "error")),
        "EventsDropped": EventSpec(WARNING, ("count",)),
        "ErrorCaught": EventSpec(WARNING, ("error", "times", "trace")),
        "HookFailed": EventSpec(WARNING, ("identity", "name", "hook", "target", "error", "tries")),
    }
)

EVENTS: Mapping[str, EventSpec] = MappingProxyType({**LIBRARY, **HOSTS})
