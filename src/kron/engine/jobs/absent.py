"""Absent jobs: recorded, but neither declared nor removed, because their file could not be read at the start."""

from kron.engine.jobs.book import JobBook
from kron.engine.jobs.store import Retry


def is_absent(book: JobBook, identity: str) -> bool:
    """Whether a recorded job is neither declared nor removed."""
    record = book.stored.jobs.get(identity)
    return identity not in book.jobs and record is not None and record.declared


def waiting_retries(book: JobBook, identity: str) -> tuple[Retry, ...]:
    """Return the retries that wait until a job is declared again."""
    return tuple(retry for retry in book.stored.retries if retry.attempt.identity == identity)


def keep_waiting_retries(book: JobBook) -> None:
    """Let the retries of absent jobs wait, and no others."""
    waiting = [retry for retry in book.stored.retries if is_absent(book, retry.attempt.identity)]
    book.stored = book.stored._replace(retries=waiting)
