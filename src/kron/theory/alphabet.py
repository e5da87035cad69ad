"""The alphabet: the events of a trace and who owns them, and the atoms that formulas are made of.

Atoms are seen from one task: `RS` means that this task starts. What a list, a call or the calendar says about the task
at a position (that the list names it, that a stop has overtaken the call) is an atom, too.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from types import MappingProxyType

from kron.theory.formula import Atom


class Owner(Enum):
    """Whose doing an event is, and whose fault."""

    SCHEDULER = "scheduler"
    ENVIRONMENT = "environment"


@dataclass(frozen=True, slots=True)
class TraceEventKind:
    """An event of the trace: its atom, its owner, and whether it is an action, which costs work."""

    atom: str
    owner: Owner
    is_action: bool = True
    required: tuple[str, ...] = ()
    optional: tuple[str, ...] = ()


_S, _E = Owner.SCHEDULER, Owner.ENVIRONMENT
_RUN = ("period", "attempt")
CONCURRENCY = ("allow", "forbid", "replace")  # of a Decision: whether runs of its job may overlap

EVENTS: Mapping[str, TraceEventKind] = MappingProxyType(
    {
        "InitStart": TraceEventKind("IS", _E, required=("call", "registrations"), optional=("valid",)),
        "InitSuccess": TraceEventKind("IEs", _S, required=("call",), optional=("remembered", "lastDue")),
        "InitFailure": TraceEventKind("IEf", _S, required=("call",), optional=("error", "cause")),
        "StopStart": TraceEventKind("SS", _E, required=("call",)),
        "StopEnd": TraceEventKind("SE", _S, required=("call",)),
        "RunStart": TraceEventKind("RS", _S, required=("task",), optional=(*_RUN, "retries")),
        "RunSuccess": TraceEventKind("REs", _E, required=("task",), optional=_RUN),
        "RunFailure": TraceEventKind("REf", _E, required=("task",), optional=(*_RUN, "error", "ended")),
        "UnexpectedShutdown": TraceEventKind("Crash", _E, is_action=False),
        "Due": TraceEventKind("Due", _E, is_action=False, required=("task",)),
        "RetryDue": TraceEventKind("RetryDue", _E, is_action=False, required=("task",)),
        "Freeze": TraceEventKind("Freeze", _E, is_action=False),
        "Thaw": TraceEventKind("Thaw", _E, is_action=False),
        "ClockSet": TraceEventKind("ClockSet", _E, is_action=False, optional=("lastDue",)),
        "End": TraceEventKind("End", _E, is_action=False, required=("closed",)),
        # of hosts that choose a second for each period; what is said of a period costs no work beside what is done
        "Decision": TraceEventKind(
            "Decision",
            _S,
            is_action=False,
            required=("identity", "period", "windowStart", "windowEnd", "chosen", "seedHash", "definition"),
            optional=("deadlineMs", "concurrency", "retries"),
        ),
        "Outcome": TraceEventKind(
            "Outcome",
            _S,
            is_action=False,
            required=("identity", "period", "outcome"),
            optional=("reason", "acceptedMs", "slackMs"),
        ),
        "Suspended": TraceEventKind("Suspended", _E, required=("identity",)),
        "Resumed": TraceEventKind("Resumed", _E, required=("identity",)),
    }
)

LETTERS = {name: frozenset({kind.atom}) for name, kind in EVENTS.items()}  # what is seen of an event and no more

# --- atoms of one position, seen from one task ------------------------------------------------------------------------

INIT_START, INIT_SUCCESS, INIT_FAILURE = Atom("IS"), Atom("IEs"), Atom("IEf")
STOP_START, STOP_END = Atom("SS"), Atom("SE")
RUN_START, RUN_SUCCESS, RUN_FAILURE = Atom("RS"), Atom("REs"), Atom("REf")
DUE, RETRY_DUE, CRASH = Atom("Due"), Atom("RetryDue"), Atom("Crash")
FREEZE, THAW = Atom("Freeze"), Atom("Thaw")

LISTED = Atom("Listed")  # beside IEs: the list names this task
CHANGED = Atom("Changed")  # beside IEs: it did before, with another cron expression or delay
RENEWED = Atom("Renewed")  # beside IEs: and the contract takes that for a first coming
REDUE = Atom("Redue")  # beside IEs: by its new schedule it owes a run since its last start
BOOT = Atom("Boot")  # beside IEs: the task comes for the first time, inside a minute that its schedule matches
RECOUNTED = Atom("Recounted")  # beside IEs and ClockSet: what is owed is counted again, by a clock that was set back
OVERTAKEN = Atom("Overtaken")  # beside IEs: a stop began after the call
VALID = Atom("Valid")  # beside IEs and IEf: the list is valid
EXCUSED = Atom("Excused")  # beside IEf: another call or an active list was in the way, or the world failed
DROPPED = Atom("Dropped")  # beside IEf: the contract gives up the list that was active
QUIET = Atom("Quiet")  # nothing runs and no initialisation is in progress
ACTION = Atom("Action")  # an action happens
TWO_ACTIONS = Atom("TwoActions")  # beside Action: and another one

# --- the same, seen from one period of a job --------------------------------------------------------------------------

DECISION, OUTCOME = Atom("Decision"), Atom("Outcome")
SUSPENDED, RESUMED = Atom("Suspended"), Atom("Resumed")
CHOSEN = Atom("Chosen")  # beside Decision: it names a time
IN_WINDOW = Atom("InWindow")  # beside Chosen: the time lies within the window
DIFFERS = Atom("Differs")  # beside Decision: an earlier one of the same definition says something else
EXECUTION = Atom("Execution")  # beside RS: the first attempt
REPLAYED = Atom("Replayed")  # beside Execution: since an arming later than its time another such period was executed
FORGOTTEN = Atom("Forgotten")  # beside Execution and Outcome: nobody remembers anything so old
EARLY = Atom("Early")  # beside RS: before the chosen time
OVERLAP = Atom("Overlap")  # beside RS: another period of the job runs, and the one judged later forbids that
EXCESS = Atom("Excess")  # beside RS: the attempt is one more than the retries allow
SUCCESS = Atom("Success")  # beside REs: an attempt of the period, not a run without one
LATE = Atom("Late")  # beside Executed: accepted later than deadline and slack allow
EXECUTED, SKIPPED, MISSED = Atom("Executed"), Atom("Skipped"), Atom("Missed")  # beside Outcome
UNSCHEDULABLE = Atom("Unschedulable")  # beside Outcome

# --- the same, seen from one call of initialize or stop ---------------------------------------------------------------

CALL_BEGINS, CALL_ENDS = Atom("Begin"), Atom("Return")


def world_letter(events: Sequence[str]) -> frozenset[str]:
    """Return what the world sees of a set, whatever its events are: actions, and that something falls due."""
    actions = sum(EVENTS[event].is_action for event in events)
    seen = {EVENTS[event].atom for event in events if event in ("Due", "RetryDue")}
    return frozenset([*seen, *["Action"] * (actions > 0), *["TwoActions"] * (actions > 1)])
