"""clamp(record, now) -> Clamped: a baseline that a clock far ahead has recorded is brought back to the present.

Without it a task would owe nothing until the clock has reached the old future again.
"""

from datetime import timedelta
from typing import NamedTuple

from kron.instant import Instant
from kron.rules.task_record import TaskRecord

AHEAD = timedelta(hours=1)  # a smaller lead is left alone: the task waits until the clock has passed it


class Clamped(NamedTuple):
    """A record of which no instant is far ahead, and which instant of it was replaced by which."""

    after: TaskRecord
    baseline: Instant
    clamped_to: Instant


def clamp(record: TaskRecord, now: Instant) -> Clamped | None:
    """Return the record with what is far ahead counted from now; None if neither its baseline nor its retry is.

    The baseline is the last start, or the first registration of a task that has not run yet. Each of the two is judged
    on its own: a start that is not far ahead has served its time, however far ahead its failure is.
    """
    first, attempt, failure, retry = record.first_seen, record.last_attempt, record.last_failure, _retry(record, now)
    baseline = first if attempt is None or attempt < first else attempt
    is_ahead = baseline - now > AHEAD
    is_retry_ahead = retry != record.retry_until
    if not is_ahead and not is_retry_ahead:
        return None
    # The wrong clock has recorded both ends, too; a retry that keeps its instant keeps the failure it counts from.
    keeps_failure = retry is not None and not is_retry_ahead
    after = record._replace(
        first_seen=min(first, now) if is_ahead else first,
        last_attempt=_not_after(attempt, now) if is_ahead else attempt,
        last_success=_not_after(record.last_success, now),
        last_failure=failure if keeps_failure else _not_after(failure, now),
        retry_until=retry,
    )
    if is_ahead or retry is None or record.retry_until is None:
        return Clamped(after, baseline, now)
    return Clamped(after, record.retry_until, retry)


def _retry(record: TaskRecord, now: Instant) -> Instant | None:
    """Return when the retry is owed: its delay is that of the time of the failure, which may have changed since."""
    retry, failure = record.retry_until, record.last_failure
    if retry is None:
        return None
    delay = record.retry_delay if failure is None else retry - failure
    return now + delay if retry - now - AHEAD > delay else retry


def _not_after(at: Instant | None, now: Instant) -> Instant | None:
    return None if at is None else min(at, now)
