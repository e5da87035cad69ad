"""obligation(record, due, moment, me) -> why a run is owed now, and look_again(…) -> when one could be."""

from datetime import timedelta
from enum import Enum
from typing import NamedTuple

from kron.instant import Instant
from kron.rules.due import Due, Moment
from kron.rules.record import TaskRecord

_MINUTE = timedelta(minutes=1)


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


def obligation(record: TaskRecord, due: Due, moment: Moment, me: str) -> Obligation | None:
    """Return what the task owes now, None if nothing: the whole decision rule of the library."""
    if record.running_since is not None:
        if record.scheduler == me:
            return None  # it is running; what comes meanwhile is owed when it ends
        latest = moment.latest(due, record.first_seen)
        return Obligation(Why.ORPHANED, moment.now if latest is None else latest, record.retry_until is not None)
    latest = moment.latest(due, record.last_attempt or record.first_seen - _MINUTE)
    if latest is not None and _is_unserved(latest, record):
        return Obligation(Why.DUE, latest, record.retry_until is not None)
    if record.retry_until is not None and record.retry_until <= moment.now:
        return Obligation(Why.RETRY, record.retry_until, preempts_retry=False)
    return None


def _is_unserved(occurrence: Instant, record: TaskRecord) -> bool:
    """Whether an occurrence lies after the last start and is the task's responsibility at all."""
    if record.last_attempt is not None and occurrence <= record.last_attempt:
        return False
    # Occurrences before the minute of the first registration are not.
    first = record.first_seen
    return occurrence >= first or occurrence >= first.replace(second=0, microsecond=0)


def look_again(record: TaskRecord, due: Due, moment: Moment) -> Instant | None:
    """Return when something could be owed next, given that nothing is owed now; None: never."""
    coming = moment.coming(due)
    if record.retry_until is None or record.running_since is not None:
        return coming
    return record.retry_until if coming is None else min(coming, record.retry_until)
