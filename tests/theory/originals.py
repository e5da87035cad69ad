"""The formulas of the documents as they are written there, defects included: none of them judges anything.

Where a document speaks of instants, a position is meant; where it speaks of a list, whether that list names the task.
"""

from typing import NamedTuple

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
from kron.theory.properties import (
    CRASH,
    DUE,
    FROZEN,
    INIT_FAILURE,
    INIT_START,
    INIT_SUCCESS,
    LISTED,
    RETRY_DUE,
    RUN_END,
    RUN_FAILURE,
    RUN_START,
    STOP_END,
    STOP_START,
    VALID,
    at_most_one,
)


class Theory(NamedTuple):
    """What the document says about one task, which it takes to be a tuple: a new schedule makes another task of it."""

    s1: Formula
    s2: Formula
    t2: Formula
    l1: Formula


def hold(begin: Formula, clear: Formula) -> Formula:
    """`clear` is asked about now alone."""
    return Since(~clear, begin) & ~clear


def _hold_inclusive(begin: Formula, clear: Formula) -> Formula:
    return hold(begin, clear) | begin


def theory(mark: str = "") -> Theory:
    """Return the document's own formulas for the tuple whose atoms bear a mark; names bear none."""
    start, success, failure, due, retry_due, listed = (
        Atom(f"{name}{mark}") for name in ("RS", "REs", "REf", "Due", "RetryDue", "Listed")
    )
    end = Named("RE", success | failure)
    registered = Named("Registered", hold(INIT_SUCCESS & listed, INIT_SUCCESS & ~listed))
    by_name = Named("Registered≈", hold(INIT_SUCCESS & LISTED, INIT_SUCCESS & ~LISTED))
    first = Named("FirstComing", by_name & ~Previous(by_name))
    ended = (STOP_START & registered) | CRASH | (INIT_SUCCESS & ~listed)
    active = Named("Active", hold(INIT_SUCCESS & listed, ended))
    running = Named("Running", hold(start, end | CRASH))
    orphaned = Named("Orphaned", CRASH & hold(start, end))
    succeeds = Named("RSucc", start & Until(~(failure | CRASH), success))
    due_pending = Named("DuePending", _hold_inclusive(due, start | first) & ~running)
    retry_pending = Named("RetryPending", _hold_inclusive(retry_due, start | first) & ~running)
    orphaned_pending = Named("OrphanedPending", hold(orphaned, start | first))
    pending = Named("Pending", due_pending | retry_pending | orphaned_pending)
    obligation = Named("Obligation", pending & registered & active)
    return Theory(
        s1=Always(start >> Previous(obligation)),
        s2=at_most_one(due, succeeds),
        t2=Always(start >> ~Previous(running)),
        l1=Always(obligation >> EventuallyWithin(start | ~active)),
    )


ACTIONS = RUN_END | INIT_START | INIT_SUCCESS | INIT_FAILURE | STOP_START | STOP_END
E1_E2 = Always(CRASH >> Atom("Frozen")) & Always(RUN_START >> Atom("Unfrozen"))
S6 = Always(~(VALID & INIT_FAILURE)) & Always(~(~VALID & INIT_SUCCESS))
_REGISTERED_R = Named("Registered_R", hold(Atom("IEs_R"), Atom("IEs_Q")))
_ALL_END = Named("AllTerm", hold(RUN_START, RUN_END | CRASH) >> Eventually(RUN_END))
_UNINSTALLED = Named("Uninstalled", ~Eventually(~FROZEN))
L3 = Always((STOP_START & _REGISTERED_R) >> (_ALL_END >> Eventually((STOP_END & _REGISTERED_R) | CRASH | _UNINSTALLED)))

# --- the older model, its instants being positions --------------------------------------------------------------------

_LISTED_SINCE = Named("Initialised", Since(~STOP_START, INIT_SUCCESS & LISTED))
P2 = Always(RUN_START >> Next(WeakUntil(~RUN_START, RUN_END)))
_GATE = Named("RetryGate", ~Previous(Once(RUN_FAILURE)) | Once(RETRY_DUE))
P3 = Always(RUN_START >> (_LISTED_SINCE & DUE & _GATE))
_FIRST = RUN_START & ~DUE & Previous(Since(~DUE, INIT_SUCCESS & LISTED))
P4 = Always(~(RUN_START & Previous(Since(~DUE, _FIRST))))
P5 = Always(~(INIT_SUCCESS & Once(RUN_START & Once(STOP_END & Once(STOP_START)))))
P9 = Always(STOP_START >> WeakUntil(RUN_START >> Eventually(RUN_END | CRASH), STOP_END)) & P5
P10 = Always(
    (RUN_START & Until(~RUN_END, CRASH)) >> Eventually(CRASH & Eventually(INIT_SUCCESS & EventuallyWithin(RUN_START)))
)
_CALM = Named("Calm", ~DUE & ~RUN_FAILURE)
_ONE = RUN_START & _CALM & Previous(Since(_CALM, DUE))
_TWO = RUN_START & _CALM & Previous(Since(_CALM, _ONE))
P12 = Always(~(DUE & Previous(Since(_CALM, _TWO))))
P13 = Always((DUE & _LISTED_SINCE) >> (EventuallyWithin(RUN_START) | Since(~RETRY_DUE, RUN_FAILURE)))
P14 = Always(CRASH >> WeakUntil(~RUN_END, RUN_START))
P16 = Always(STOP_START >> (Eventually(STOP_END) & Always(STOP_END >> Until(~RUN_START, INIT_SUCCESS))))
