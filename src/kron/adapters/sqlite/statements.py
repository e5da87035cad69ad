"""What all statements share: timestamps that compare as text, many rows at once, and errors in plain words.

A timestamp is RFC 3339 in UTC, always with microseconds. Python's global lock is given up once for a statement: the
event loop goes on while SQLite works through a thousand rows. Handed over one by one, each row would have to win the
lock back.
"""

import sqlite3
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from functools import cache, lru_cache
from typing import TypeVar

from kron.instant import Instant

_WIDTH = len("2026-03-01T12:00:00.000000Z")


@lru_cache(maxsize=4096)  # many records carry the same instant: that of the step that wrote them
def to_timestamp(instant: Instant) -> str:
    """Return the text of an instant."""
    return f"{instant.isoformat(timespec='microseconds')[:26]}Z"


@lru_cache(maxsize=4096)
def from_timestamp(text: object) -> Instant:
    """Return the instant of a text, or raise ValueError."""
    if not isinstance(text, str) or len(text) != _WIDTH or text[10] != "T" or text[-1] != "Z":
        raise ValueError(f"{text!r} is no instant")
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def to_timestamp_optional(instant: Instant | None) -> str | None:
    """Return the text of an instant, if there is one."""
    return None if instant is None else to_timestamp(instant)


def from_timestamp_optional(text: object) -> Instant | None:
    """Return the instant of a text, if there is one."""
    return None if text is None else from_timestamp(text)


_Item = TypeVar("_Item")
MAX_ROWS = 1_024  # rows of a statement
ROWS = "{rows}"  # where they stand in a statement, as `(?, ?), (?, ?)`


def chunks(items: Sequence[_Item]) -> Iterator[Sequence[_Item]]:
    """Cut a list into pieces that one statement can hold."""
    return (items[start : start + MAX_ROWS] for start in range(0, len(items), MAX_ROWS))


def execute_rows(connection: sqlite3.Connection, statement: str, width: int, values: Sequence[object]) -> int:
    """Execute with all rows, a few times with few lengths; return how many rows of the database it has changed."""
    done = changed = 0
    most = min(MAX_ROWS, connection.getlimit(sqlite3.SQLITE_LIMIT_VARIABLE_NUMBER) // width)
    while left := (len(values) - done) // width:
        rows = 1 << (min(left, most).bit_length() - 1)  # a power of two, so that statements are found prepared
        changed += connection.execute(_filled(statement, width, rows), values[done : done + rows * width]).rowcount
        done += rows * width
    return changed


@cache
def _filled(statement: str, width: int, rows: int) -> str:
    row = f"({', '.join('?' * width)})"
    return statement.replace(ROWS, ", ".join([row] * rows))


_UNEXPECTED = "an unexpected error"
_REASONS = {  # by the first word of SQLite's name of an error
    "FULL": "the disk is full",
    "IOERR": "the disk failed",
    "READONLY": "it is read-only",
    "CANTOPEN": "it cannot be opened",
    "PERM": "permission denied",
    "BUSY": "another program holds it",
    "LOCKED": "another program holds it",
    "CORRUPT": "it is damaged",
    "NOTADB": "it is damaged",
    "NOMEM": "out of memory",
    "TOOBIG": "a value is too large",
    "CONSTRAINT": "it refuses a record",
}
_MISSING = {"no such table": "a table is missing", "no such column": "a column is missing"}


def reason_of(error: BaseException) -> str:
    """Return the reason."""
    if isinstance(error, OSError):
        return error.strerror or _UNEXPECTED
    if not isinstance(error, sqlite3.Error):
        return _UNEXPECTED
    words = getattr(error, "sqlite_errorname", "").split("_")  # SQLITE_IOERR_WRITE
    if (known := _REASONS.get(words[1] if len(words) > 1 else "")) is not None:
        return known
    return next((reason for begin, reason in _MISSING.items() if str(error).startswith(begin)), _UNEXPECTED)
