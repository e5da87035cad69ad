"""What a task owes now and why; the record of its start, and of its end."""

from enum import Enum
from functools import lru_cache
from typing import NamedTuple, TypeAlias

from kron.instant import MICROSECOND, Instant, shift
from kron.rules.contract import Contract, FirstMinute, IdentifierScope
from kron.rules.due import Due
from kron.rules.task_record import TaskRecord

_make = tuple.__new__  # what calling a named tuple does, in half the time


class ObligationReason(Enum):
    """Why a run is owed; where several reasons hold, one start serves them all and the first of these names it."""

    ORPHANED = "orphaned"  # a crash cut a run off
    DUE = "due"  # an occurrence has come, now or while nothing could run, or it is that of the first minute
    RETRY = "retry"  # a failure's delay has passed


class Obligation(NamedTuple):
    """A run is owed: why, for which instant, and whether that pre-empts a retry that still waits."""

    reason: ObligationReason
    scheduled: Instant
    preempts_retry: bool


def obligation(
    record: TaskRecord, due: Due, now: Instant, scheduler_id: str, *, first_minute: FirstMinute = FirstMinute.RUN
) -> Obligation | None:
    """Return what the task owes now, None if nothing: the whole decision rule of the library."""
    if record.running_since is not None:
        if record.scheduler == scheduler_id:
            return None  # it is running; what comes meanwhile is owed when it ends
        latest = due.latest(now, record.first_seen)
        return Obligation(ObligationReason.ORPHANED, now if latest is None else latest, record.retry_until is not None)
    first, attempt, retry = owned_after(record.first_seen, first_minute), record.last_attempt, record.retry_until
    since = first if attempt is None or attempt < first else attempt
    latest = due.latest(now, since)
    if latest is not None and latest > since:
        return _make(Obligation, (ObligationReason.DUE, latest, retry is not None))
    if retry is not None and retry <= now:
        return Obligation(ObligationReason.RETRY, retry, preempts_retry=False)
    return None


def owned_after(declared_at: Instant, first_minute: FirstMinute) -> Instant:
    """Return the instant after which due times are the responsibility of what was declared at an instant."""
    return _before_first_minute(declared_at) if first_minute is FirstMinute.RUN else declared_at


@lru_cache(maxsize=1024)  # most tasks of a list are first seen together
def _before_first_minute(first_seen: Instant) -> Instant:
    """Return the last instant before the minute in which a task was declared."""
    try:
        return first_seen.replace(second=0, microsecond=0) - MICROSECOND
    except OverflowError:
        return first_seen  # the calendar begins


def next_evaluation(record: TaskRecord, due: Due, now: Instant) -> Instant | None:
    """Return when something could be owed next, given that nothing is owed now; None: never."""
    coming = due.next(now)
    if record.retry_until is None or record.running_since is not None:
        return coming
    return record.retry_until if coming is None else min(coming, record.retry_until)


class StartTask(NamedTuple):
    """A run begins: what is owed, and what is remembered before it starts."""

    owed: Obligation
    after: TaskRecord


class Later(NamedTuple):
    """Nothing is owed; look again then. None: when something other than time changes."""

    at: Instant | None


TaskPlan: TypeAlias = StartTask | Later


def plan_task(
    record: TaskRecord, due: Due, now: Instant, scheduler_id: str, *, first_minute: FirstMinute = FirstMinute.RUN
) -> TaskPlan:
    """Return what becomes of a task now."""
    owed = obligation(record, due, now, scheduler_id, first_minute=first_minute)
    if owed is None:
        return Later(next_evaluation(record, due, now))
    name, cron, delay, first, last, success, failure, _, count, _, _ = record
    retries = count + 1 if owed.reason is ObligationReason.RETRY else 0
    attempt = now if last is None or now > last else last  # by a clock that was set back, what was served stays served
    # One start serves every pending demand: it clears the retry and the marks of a cut-off run.
    after = _make(TaskRecord, (name, cron, delay, first, attempt, success, failure, None, retries, now, scheduler_id))
    return _make(StartTask, (owed, after))


def record_end(record: TaskRecord, ended: Instant, *, succeeded: bool, contract: Contract) -> TaskRecord:
    """Return what is remembered after a run of this scheduler ended. The end is never written as an attempt."""
    name, cron, delay, first, attempt, success, failure, _, count, _, owner = record
    if contract.identifier_in_record is not IdentifierScope.ALWAYS:
        owner = ""
    if succeeded:
        return _make(TaskRecord, (name, cron, delay, first, attempt, ended, failure, None, 0, None, owner))
    retry = shift(ended, delay)
    return TaskRecord(name, cron, delay, first, attempt, success, ended, retry, count, None, owner)
