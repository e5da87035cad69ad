"""The events: stable names, levels and fields, as one table; and the decisions of a range, which its event names."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from reprlib import repr as short_repr
from types import MappingProxyType

from kron.decision.decide import decide
from kron.decision.decision import Decision
from kron.decision.timing import Timing
from kron.errors import InvalidDecisionError, InvalidInstantError, KronError, display_text
from kron.instant import MICROSECOND, Instant, format_instant, parse_instant
from kron.rules.job_record import PeriodRecord

DEBUG, INFO, WARNING = "DEBUG", "INFO", "WARNING"
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
FIELD = "decisions"  # of the event of a range


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


@dataclass(frozen=True, slots=True)
class DecisionRange:
    """All periods that a schedule line names from the first to the last; each decision can be computed from it."""

    identity: str
    definition: str  # the schedule line: everything that influences a decision but the identity
    first: Instant  # nominal times
    last: Instant
    count: int

    @classmethod
    def of(cls, timing: Timing, record: PeriodRecord) -> "DecisionRange":
        """Return the decisions of a record about several periods."""
        return cls(record.identity, timing.to_line(), record.first, record.last, record.period_count)

    def to_dict(self) -> dict[str, object]:
        """Return the range as the field `decisions` of an event holds it."""
        return {
            "identity": self.identity,
            "definition": self.definition,
            "first_period_id": format_instant(self.first),
            "last_period_id": format_instant(self.last),
            "count": self.count,
        }

    @classmethod
    def from_dict(cls, record: object) -> "DecisionRange":
        """Return the range that `to_dict` gave, or raise InvalidDecisionError."""
        if not isinstance(record, Mapping):
            raise InvalidDecisionError(field=FIELD, reason="is not a JSON object")
        identity, definition = (_text(record, key) for key in ("identity", "definition"))
        first, last = (_nominal(record, key) for key in ("first_period_id", "last_period_id"))
        count = record.get("count")
        if not isinstance(count, int) or isinstance(count, bool) or count < 1:
            raise _wrong(record, "count", "must be a whole number from 1 on")
        if first > last:
            raise _wrong(record, "first_period_id", "must not be later than last_period_id")
        return cls(identity, definition, first, last, count)

    def contradiction(self) -> str | None:
        """Return what the definition says otherwise, None if it names these periods; InvalidDecisionError as below.

        They are counted, not listed: a forged range of a few bytes may name billions.
        """
        schedule, before = self._timing().schedule, self.first - MICROSECOND
        for key, at in (("first_period_id", self.first), ("last_period_id", self.last)):
            if schedule.count(at - MICROSECOND, at) == 0:
                where = f"{FIELD}.{key} of {self.identity} is {format_instant(at)}"
                return f"{where}, which the definition does not name"
        if (number := schedule.count(before, self.last)) != self.count:
            found = display_text(f"{self.count:,}")
            return f"{FIELD}.count of {self.identity} is {found}, and the definition names {number:,}"
        return None

    def decisions(self) -> Iterator[Decision]:
        """Yield the decision of each period in the order of nominal times; InvalidDecisionError if they cannot be."""
        timing = self._timing()
        for nominal in timing.schedule.between(self.first - MICROSECOND, self.last):
            yield decide(timing, nominal)

    def _timing(self) -> Timing:
        try:
            _ = self.first - MICROSECOND
            return Timing.parse(self.definition, identity=self.identity)
        except OverflowError as error:
            raise InvalidDecisionError(field=f"{FIELD}.first_period_id", reason="lies before the calendar") from error
        except KronError as error:
            reason = f"cannot be read: {display_text(error.message)}"
            raise InvalidDecisionError(field=f"{FIELD}.definition", reason=reason) from error


def _text(record: Mapping[str, object], key: str) -> str:
    found = record.get(key)
    if not isinstance(found, str):
        raise _wrong(record, key, "must be a text")
    return found


def _nominal(record: Mapping[str, object], key: str) -> Instant:
    try:
        at = parse_instant(_text(record, key))
    except InvalidInstantError as error:
        raise _wrong(record, key, "must be an RFC 3339 instant") from error
    if at.microsecond:
        raise _wrong(record, key, "must be a whole second")
    return at


def _wrong(record: Mapping[str, object], key: str, reason: str) -> InvalidDecisionError:
    found = f"found {short_repr(record[key])}" if key in record else "and is missing"
    return InvalidDecisionError(field=f"{FIELD}.{key}", reason=f"{reason}, {found}")
