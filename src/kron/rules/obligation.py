"""obligation(record, due, now, me) -> why a run is owed now, and look_again(…) -> when one could be."""

from enum import Enum
from functools import lru_cache
from typing import NamedTuple

from kron.instant import MICROSECOND, Instant
from kron.rules.due import Due
from kron.rules.record import TaskRecord

_make = tuple.__new__  # what calling a named tuple does, in half the time


class Why(Enum):
    """Why a run is owed; where several reasons hold, one start serves them all and the first of these names it."""

    ORPHANED = "orphaned"  # a crash cut a run off
    DUE = "due"  # an occurrence has come, now or while nothing could run, or it is that of the first minute
    RETRY = "retry"  # a failure's delay has passed


class Obligation(NamedTuple):
    """A run is owed: why, for which instant, and whether that pre-empts a retry that still waits."""

    why: Why
    scheduled: Instant
    preempts_retry: bool


def obligation(record: TaskRecord, due: Due, now: Instant, me: str) -> Obligation | None:
    """Return what the task owes now, None if nothing: the whole decision rule of the library."""
    if record.running_since is not None:
        if record.scheduler == me:
            return None  # it is running; what comes meanwhile is owed when it ends
        latest = due.latest(now, record.first_seen)
        return Obligation(Why.ORPHANED, now if latest is None else latest, record.retry_until is not None)
    first, attempt, retry = _before_first_minute(record.first_seen), record.last_attempt, record.retry_until
    since = first if attempt is None or attempt < first else attempt
    latest = due.latest(now, since)
    if latest is not None and latest > since:
        return _make(Obligation, (Why.DUE, latest, retry is not None))
    if retry is not None and retry <= now:
        return Obligation(Why.RETRY, retry, preempts_retry=False)
    return None


@lru_cache(maxsize=1024)  # most tasks of a list are first seen together
def _before_first_minute(first_seen: Instant) -> Instant:
    """Return the instant after which occurrences are the task's responsibility: the minute it came in is the first."""
    try:
        return first_seen.replace(second=0, microsecond=0) - MICROSECOND
    except OverflowError:
        return first_seen  # the calendar begins


def look_again(record: TaskRecord, due: Due, now: Instant) -> Instant | None:
    """Return when something could be owed next, given that nothing is owed now; None: never."""
    coming = due.next(now)
    if record.retry_until is None or record.running_since is not None:
        return coming
    return record.retry_until if coming is None else min(coming, record.retry_until)
