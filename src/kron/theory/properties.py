"""Property: a name, a formula, a sentence, and who is to blame for a violation; all properties and their atoms."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import Enum
from types import MappingProxyType

from kron.theory.alphabet import Owner
from kron.theory.formula import (
    Always,
    Atom,
    Eventually,
    EventuallyWithin,
    Formula,
    Named,
    Next,
    Once,
    Previous,
    Since,
    Until,
    WeakUntil,
)

# --- atoms of one position, seen from one task ------------------------------------------------------------------------

# `RS` means that this task starts. What a list, a call or the calendar says about the task at a position (that the list
# names it, that a stop has overtaken the call) is an atom, too.

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
FORGOTTEN = Atom("Forgotten")  # beside Execution and Outcome: the period is too old to be remembered
EARLY = Atom("Early")  # beside RS: before the chosen time
OVERLAP = Atom("Overlap")  # beside RS: another period of the job runs, and the one judged later forbids that
EXCESS = Atom("Excess")  # beside RS: the attempt is one more than the retries allow
SUCCESS = Atom("Success")  # beside REs: an attempt of the period, not a run without one
LATE = Atom("Late")  # beside Executed: accepted later than deadline and slack allow
EXECUTED, SKIPPED, MISSED = Atom("Executed"), Atom("Skipped"), Atom("Missed")  # beside Outcome
UNSCHEDULABLE = Atom("Unschedulable")  # beside Outcome

# --- the same, seen from one call of initialize or stop ---------------------------------------------------------------

CALL_BEGINS, CALL_ENDS = Atom("Begin"), Atom("Return")

# --- macros -----------------------------------------------------------------------------------------------------------

# Repaired where the document's own forms say something else. They are about one task, or one period of a job; where the
# document indexes by list and task, the task's name and the current list are meant.


def hold(begin: Formula, clear: Formula) -> Formula:
    """`begin` happened, now or earlier, and no `clear` since; if both come together, `clear` wins."""
    return Since(~clear, begin & ~clear)


def hold_inclusive(begin: Formula, clear: Formula) -> Formula:
    """The same, but if both come together, `begin` wins."""
    return Since(~clear, begin)


def at_most_one(window: Formula, event: Formula) -> Formula:
    """Between two openings of a window, and before the first, there is at most one event."""
    return Always(event >> Next(WeakUntil(~event, window)))


RUN_END = Named("RE", RUN_SUCCESS | RUN_FAILURE)
REGISTERED = Named("Registered", hold(INIT_SUCCESS & LISTED, INIT_SUCCESS & ~LISTED))
FIRST_COMING = Named("FirstComing", (REGISTERED & ~Previous(REGISTERED)) | RENEWED)
ACTIVE = Named("Active", hold(INIT_SUCCESS, STOP_START | STOP_END | CRASH | OVERTAKEN | DROPPED))
RUNNING = Named("Running", hold(RUN_START, RUN_END | CRASH))
ORPHANED = Named("Orphaned", CRASH & Previous(RUNNING))
RUN_SUCCEEDS = Named("RSucc", RUN_START & Until(~(RUN_FAILURE | CRASH), RUN_SUCCESS))
FROZEN = Named(
    "Frozen", Since(~(THAW | Previous(CRASH)), FREEZE & ~THAW) | (CRASH & ~ACTION)
)  # a crash ends a freeze: the next process is not frozen

_SERVED = Named("Served", RUN_START | FIRST_COMING)
DUE_PENDING = Named("DuePending", hold_inclusive(DUE | REDUE, _SERVED | RECOUNTED | (CHANGED & ~REDUE)) & ~RUNNING)
RETRY_PENDING = Named("RetryPending", hold_inclusive(RETRY_DUE, _SERVED | RECOUNTED) & ~RUNNING)
ORPHANED_PENDING = Named("OrphanedPending", hold(ORPHANED, _SERVED) & ~RUNNING)
BOOT_PENDING = Named("BootPending", hold_inclusive(BOOT, _SERVED | RECOUNTED) & ~RUNNING)
PENDING = Named("Pending", DUE_PENDING | RETRY_PENDING | ORPHANED_PENDING | BOOT_PENDING)
OBLIGATION = Named("Obligation", PENDING & REGISTERED & ACTIVE)
ORPHAN_OBLIGATION = Named("OrphanObligation", ORPHANED_PENDING & REGISTERED & ACTIVE)

WINDOW = Named("Window", DUE | BOOT | REDUE)
DEMAND = Named("Demand", WINDOW | RETRY_DUE | ORPHANED)

CLOSED = Named("Closed", SKIPPED | MISSED | UNSCHEDULABLE)
PAUSED = Named("Paused", hold(SUSPENDED, RESUMED))
IMPOSSIBLE = Named("Impossible", hold(DECISION & ~CHOSEN, DECISION & CHOSEN))


# --- properties -------------------------------------------------------------------------------------------------------


class Scope(Enum):
    """What a property is about: it is judged for each of them on its own."""

    TASK = "each task"
    WORLD = "the scheduler as a whole"
    INITIALIZE = "each call of initialize"
    STOP = "each call of stop"
    HEADER = "the bounds that the trace names"
    PERIOD = "each period of a job"


@dataclass(frozen=True, slots=True)
class Property:
    """One property. Those that no finite trace can decide are always open, and do not count in the overall verdict."""

    name: str
    sentence: str
    formula: Formula
    scope: Scope = Scope.TASK
    blame: Owner | None = Owner.SCHEDULER  # None: that of the event at which it is violated
    is_always_open: bool = False


_ENVIRONMENT = Owner.ENVIRONMENT
_LOW_LAG = Atom("LagBelowOneMinute")
_STOPPING = Named("Stopping", hold(CALL_BEGINS, CALL_ENDS | CRASH))
_STARTED = Named("Started", hold(RUN_START, RUN_END))  # crashes aside

# --- the environment's side of the bargain ----------------------------------------------------------------------------

E1 = Property("E1", "Nothing progresses at a crash.", Always(CRASH >> FROZEN), scope=Scope.WORLD, blame=_ENVIRONMENT)
E2 = Property(
    "E2", "While everything is frozen nothing acts.", Always(ACTION >> ~FROZEN), scope=Scope.WORLD, blame=_ENVIRONMENT
)
E3 = Property(
    "E3",
    "No two actions share a position, and neither do an action and a Due.",
    Always(~TWO_ACTIONS) & Always(ACTION >> ~(DUE | RETRY_DUE)),
    scope=Scope.WORLD,
    blame=_ENVIRONMENT,
)
E4 = Property(
    "E4",
    "Freezes recur for ever.",
    Always(Eventually(FROZEN)),
    scope=Scope.WORLD,
    blame=_ENVIRONMENT,
    is_always_open=True,
)
E5 = Property(
    "E5",
    "A schedule matches for ever or never.",
    Always(Eventually(DUE)) | Always(~DUE),
    blame=_ENVIRONMENT,
    is_always_open=True,
)
E6 = Property(
    "E6", "After a crash no run ends before a new start.", Always(CRASH >> WeakUntil(~RUN_END, RUN_START)),
    blame=_ENVIRONMENT,
)  # fmt: skip
A1 = Property(
    "A1",
    "Every freeze ends.",
    Always(Eventually(~FROZEN)),
    scope=Scope.WORLD,
    blame=_ENVIRONMENT,
    is_always_open=True,
)
A2 = Property(
    "A2", "Every run ends or is cut off by a crash.", Always(RUN_START >> Eventually(RUN_END | CRASH)),
    blame=_ENVIRONMENT,
)  # fmt: skip
A3 = Property("A3", "The lag is below one minute.", _LOW_LAG, scope=Scope.HEADER, blame=_ENVIRONMENT)

# --- the scheduler's side ---------------------------------------------------------------------------------------------

S1 = Property("S1", "A run starts only after an obligation to run.", Always(RUN_START >> Previous(OBLIGATION)))
S2 = Property("S2", "Each due window has at most one successful start.", at_most_one(WINDOW, RUN_SUCCEEDS))
S3 = Property("S3", "A stop returns only when nothing runs.", Always(STOP_END >> ~RUNNING))
S4 = Property("S4", "An end belongs to a run in flight.", Always(RUN_END >> Previous(RUNNING)), blame=_ENVIRONMENT)
S6 = Property(
    "S6",
    "Valid lists are accepted unless something is in the way, invalid ones never, and none while one is active.",
    Always(INIT_SUCCESS >> (VALID & ~Previous(ACTIVE))) & Always(INIT_FAILURE >> (~VALID | EXCUSED)),
    scope=Scope.WORLD,
)
L1 = Property(
    "L1",
    "An obligation is followed by the start, or by its end, within the bound.",
    Always(OBLIGATION >> EventuallyWithin(RUN_START | ~OBLIGATION)),
)
L2 = Property(
    "L2",
    "An initialisation returns or fails within the bound, unless a crash comes first.",
    Always(CALL_BEGINS >> EventuallyWithin(CALL_ENDS | CRASH)),
    scope=Scope.INITIALIZE,
)
L3 = Property(
    "L3",
    "Once nothing runs, a stop returns within the bound, unless a crash comes first.",
    Always((_STOPPING & QUIET) >> EventuallyWithin(CALL_ENDS | CRASH | ~QUIET)),
    scope=Scope.STOP,
)
T1 = Property(
    "T1", "After a crash nothing starts before a successful initialisation.",
    Always(CRASH >> WeakUntil(~RUN_START, INIT_SUCCESS)),
)  # fmt: skip
T2 = Property("T2", "A task never runs beside itself.", Always(RUN_START >> ~Previous(RUNNING)))
T3 = Property(
    "T3", "After a stop has returned nothing starts before a successful initialisation.",
    Always(STOP_END >> WeakUntil(~RUN_START, INIT_SUCCESS)),
)  # fmt: skip
T4 = Property("T4", "A crash coincides with no action.", Always(CRASH >> ~ACTION), scope=Scope.WORLD)

# --- the older model, in its corrected forms --------------------------------------------------------------------------

P1 = Property("P1", "Each end has its own earlier start.", Always(RUN_END >> Previous(_STARTED)), blame=_ENVIRONMENT)
P2 = Property("P2", "Runs of one task do not overlap.", T2.formula)
P3 = Property("P3", "A run starts only when registered, active and demanded.", S1.formula)
P5 = Property("P5", "After a stop nothing starts before the next initialisation.", T3.formula)
P6 = Property("P6", "After a crash: no end without a new start, no start without a new initialisation.",
    E6.formula & T1.formula, blame=None,
)  # fmt: skip
P9 = Property("P9", "Runs in flight at a stop end before it does.", S3.formula)
P10 = Property(
    "P10",
    "A run cut off by a crash is restarted within the bound after the next initialisation.",
    Always(ORPHAN_OBLIGATION >> EventuallyWithin(RUN_START | ~ORPHAN_OBLIGATION)),
)
P11 = Property("P11", "One start serves all demands together.", at_most_one(DEMAND, RUN_START))
P4 = Property(
    "P4",
    "Each due window has at most one successful start, and each demand one start.",
    S2.formula & P11.formula,
)
P12 = Property(
    "P12",
    "Between two due instants there is one start, unless a failure, a crash or a first coming calls for another.",
    at_most_one(DUE | REDUE | RUN_FAILURE | CRASH | FIRST_COMING, RUN_START),
)
P13 = Property("P13", "A start comes within one minute of its due instant.", L1.formula)
P14 = Property("P14", "No end is invented after a crash.", E6.formula, blame=_ENVIRONMENT)
P15 = Property(
    "P15", "What is due for ever, and active for ever, starts for ever.",
    Always((Always(ACTIVE) & Always(Eventually(DUE))) >> Always(Eventually(RUN_START))), is_always_open=True,
)  # fmt: skip
P16 = Property("P16", "A stop that has returned is quiet until the next initialisation.", T3.formula)
P17 = Property(
    "P17", "After a crash and an initialisation, what is due for ever starts for ever, as long as it is active.",
    Always(
        (INIT_SUCCESS & Once(CRASH) & Always(ACTIVE) & Always(Eventually(DUE))) >> Always(Eventually(RUN_START))
    ),
    is_always_open=True,
)  # fmt: skip

# --- hosts that choose a second for each period: the invariants -------------------------------------------------------

_PERIOD = Scope.PERIOD
I1 = Property("I1", "A chosen time lies within its window.", Always(CHOSEN >> IN_WINDOW), scope=_PERIOD)
I2 = Property(
    "I2", "A period is executed at most once.", Always(EXECUTION >> ~Previous(Once(EXECUTION))), scope=_PERIOD
)
I3 = Property("I3", "One definition decides a period in one way.", Always(DECISION >> ~DIFFERS), scope=_PERIOD)
I4 = Property(
    "I4",
    "After an arming or a resumption at most one period chosen before it is executed, and none from long ago.",
    Always(EXECUTION >> ~(REPLAYED | FORGOTTEN)),
    scope=_PERIOD,
)
I5 = Property(
    "I5",
    "A period has at most one outcome, none from long ago, and is never both run and skipped, missed or unschedulable.",
    Always(OUTCOME >> ~(Previous(Once(OUTCOME)) | FORGOTTEN))
    & Always(RUN_START >> ~Once(CLOSED))
    & Always(CLOSED >> ~Once(EXECUTION)),
    scope=_PERIOD,
)
I6 = Property(
    "I6",
    "While a job is suspended no period of it is executed or has an outcome.",
    Always((EXECUTION | OUTCOME) >> ~PAUSED),
    scope=_PERIOD,
)
I7 = Property(
    "I7",
    "A period without a possible time is neither executed nor missed, and no other is unschedulable.",
    Always((EXECUTION | EXECUTED | MISSED) >> ~IMPOSSIBLE) & Always((UNSCHEDULABLE & Once(DECISION)) >> IMPOSSIBLE),
    scope=_PERIOD,
)
I8 = Property("I8", "No attempt starts before the chosen time.", Always(RUN_START >> ~EARLY), scope=_PERIOD)
I9 = Property("I9", "What is executed was accepted by deadline and slack.", Always(EXECUTED >> ~LATE), scope=_PERIOD)
I10 = Property("I10", "A job that forbids it never overlaps.", Always(RUN_START >> ~OVERLAP), scope=_PERIOD)
I11 = Property("I11", "A period succeeds at most once.", Always(SUCCESS >> ~Previous(Once(SUCCESS))), scope=_PERIOD)
I12 = Property("I12", "A period is retried only as often as allowed.", Always(RUN_START >> ~EXCESS), scope=_PERIOD)

DECLARATIVE = (E1, E2, E3, E4, E5, E6, A1, A2, A3, S1, S2, S3, S4, S6, L1, L2, L3, T1, T2, T3, T4)
POLLING = (P1, P2, P3, P4, P5, P6, P9, P10, P11, P12, P13, P14, P15, P16, P17)
# Runs of one job may overlap, so that what is asked of a task is asked of each period here.
KRON = (I1, I2, I3, I4, I5, I6, I7, I8, I9, I10, I11, I12, *(replace(each, scope=_PERIOD) for each in (S3, S4, T1, T3)))


class ChangedTask(Enum):
    """What a changed configuration does to what is remembered of a task."""

    KEEP = "keep"
    RESET = "reset"


@dataclass(frozen=True, slots=True)
class PropertySuite:
    """What a contract asks of a trace, and how its lists are read."""

    properties: tuple[Property, ...]
    changed_task: ChangedTask = ChangedTask.KEEP
    repeated: str = "both"
    blanks: str = " \t"
    failed_reinitialize_ends: bool = False  # whether the active list is given up when another one fails
    bounds_grow: bool = True  # with the list, where the trace names none; otherwise a minute is a minute

    def of(self, scope: Scope) -> list[Property]:
        """Return those of one scope."""
        return [each for each in self.properties if each.scope is scope]


SUITES: Mapping[str, PropertySuite] = MappingProxyType(
    {
        "declarative": PropertySuite(DECLARATIVE),
        "polling": PropertySuite(
            POLLING, changed_task=ChangedTask.RESET, repeated="first", failed_reinitialize_ends=True, bounds_grow=False
        ),
        "polling-draft": PropertySuite(
            (), changed_task=ChangedTask.RESET, repeated="first", blanks=" \t\n\r", failed_reinitialize_ends=True
        ),
        "kron": PropertySuite(KRON),
    }
)
