"""plan(record, due, now, me) -> the run that begins now, or when to look again; settle(…) -> what an end leaves.

The centre of the library: the engine asks here, remembers the answer durably, and only then acts.
"""

from datetime import UTC, datetime
from typing import NamedTuple, TypeAlias

from kron.instant import Instant
from kron.rules.contract import Contract, Identifier
from kron.rules.due import Due
from kron.rules.obligation import Obligation, Why, look_again, obligation
from kron.rules.record import TaskRecord

_make = tuple.__new__  # what calling a named tuple does, in half the time
_NEVER = datetime.max.replace(tzinfo=UTC)  # a retry after a delay that leaves the calendar


class Begin(NamedTuple):
    """A run begins: what is owed, and what is remembered before it starts."""

    owed: Obligation
    after: TaskRecord


class Later(NamedTuple):
    """Nothing is owed; look again then. None: when something other than time changes."""

    at: Instant | None


Plan: TypeAlias = Begin | Later


def plan(record: TaskRecord, due: Due, now: Instant, me: str) -> Plan:
    """Return what becomes of a task now."""
    owed = obligation(record, due, now, me)
    if owed is None:
        return Later(look_again(record, due, now))
    name, cron, delay, first, last, success, failure, _, count, _, _ = record
    retries = count + 1 if owed.why is Why.RETRY else 0
    attempt = now if last is None or now > last else last  # by a clock that was set back, what was served stays served
    # One start serves every pending demand: it clears the retry and the marks of a cut-off run.
    after = _make(TaskRecord, (name, cron, delay, first, attempt, success, failure, None, retries, now, me))
    return _make(Begin, (owed, after))


def settle(record: TaskRecord, ended: Instant, *, succeeded: bool, contract: Contract) -> TaskRecord:
    """Return what is remembered after a run of this scheduler ended. The end is never written as an attempt."""
    name, cron, delay, first, attempt, success, failure, _, count, _, owner = record
    if contract.identifier_in_record is not Identifier.ALWAYS:
        owner = ""
    if succeeded:
        return _make(TaskRecord, (name, cron, delay, first, attempt, ended, failure, None, 0, None, owner))
    try:
        retry = ended + delay
    except OverflowError:
        retry = _NEVER
    return TaskRecord(name, cron, delay, first, attempt, success, ended, retry, count, None, owner)
