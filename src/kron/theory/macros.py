"""The macros of the theory, by their names, repaired where the document's own forms say something else.

They are about one task, or one period of a job; where the document indexes by list and task, the task's name and the
current list are meant.
"""

from kron.theory.alphabet import (
    ACTION,
    BOOT,
    CHANGED,
    CHOSEN,
    CRASH,
    DECISION,
    DROPPED,
    DUE,
    FREEZE,
    INIT_FAILURE,
    INIT_SUCCESS,
    LISTED,
    MISSED,
    OVERTAKEN,
    RECOUNTED,
    REDUE,
    RENEWED,
    RESUMED,
    RETRY_DUE,
    RUN_FAILURE,
    RUN_START,
    RUN_SUCCESS,
    SKIPPED,
    STOP_END,
    STOP_START,
    SUSPENDED,
    THAW,
    UNSCHEDULABLE,
)
from kron.theory.formula import Always, Eventually, Formula, Named, Next, Previous, Since, Until, WeakUntil


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

UNFROZEN = Named("Unfrozen", ~FROZEN)
UNINSTALLED = Named("Uninstalled", Always(FROZEN))  # never any compute again: a trace that ends closed says so
INIT_END = Named("IE", INIT_SUCCESS | INIT_FAILURE)
STOP_START_OF_LIST = Named("SS_R", STOP_START & REGISTERED)
STOP_END_OF_LIST = Named("SE_R", STOP_END & REGISTERED)
ALL_TERM = Named("AllTerm", RUNNING >> Eventually(RUN_END))

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
