"""execute_rows(connection, statement, values): one statement over many rows, given as all their values in a row.

Python's global lock is given up once for a statement: the event loop goes on while SQLite works through a thousand
rows. Handed over one by one, each row would have to win the lock back.
"""

import sqlite3
from collections.abc import Iterator, Sequence
from functools import cache
from typing import TypeVar

_Item = TypeVar("_Item")
MOST = 1_024  # rows of a statement
ROWS = "{rows}"  # where they stand in a statement, as `(?, ?), (?, ?)`


def blocks(items: Sequence[_Item]) -> Iterator[Sequence[_Item]]:
    """Cut a list into pieces that one statement can hold."""
    return (items[start : start + MOST] for start in range(0, len(items), MOST))


def execute_rows(connection: sqlite3.Connection, statement: str, width: int, values: Sequence[object]) -> int:
    """Execute with all rows, a few times with few lengths; return how many rows of the database it has changed."""
    done = changed = 0
    most = min(MOST, connection.getlimit(sqlite3.SQLITE_LIMIT_VARIABLE_NUMBER) // width)
    while left := (len(values) - done) // width:
        rows = 1 << (min(left, most).bit_length() - 1)  # a power of two, so that statements are found prepared
        changed += connection.execute(_filled(statement, width, rows), values[done : done + rows * width]).rowcount
        done += rows * width
    return changed


@cache
def _filled(statement: str, width: int, rows: int) -> str:
    row = f"({', '.join('?' * width)})"
    return statement.replace(ROWS, ", ".join([row] * rows))
