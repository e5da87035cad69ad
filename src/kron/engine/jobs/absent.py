"""Absent jobs: recorded, but neither declared nor removed, because their file could not be read at the start."""

from kron.engine.jobs.planner import PeriodPlanner
from kron.engine.jobs.store import PendingRetry


def is_absent(book: PeriodPlanner, identity: str) -> bool:
    """Whether a recorded job is neither declared nor removed."""
    record = book.snapshot.jobs.get(identity)
    return identity not in book.jobs and record is not None and record.is_declared


def waiting_retries(book: PeriodPlanner, identity: str) -> tuple[PendingRetry, ...]:
    """Return the retries that wait until a job is declared again."""
    return tuple(retry for retry in book.snapshot.retries if retry.attempt.identity == identity)


def keep_waiting_retries(book: PeriodPlanner) -> None:
    """Let the retries of absent jobs wait, and no others."""
    waiting = [retry for retry in book.snapshot.retries if is_absent(book, retry.attempt.identity)]
    book.snapshot = book.snapshot._replace(retries=waiting)
