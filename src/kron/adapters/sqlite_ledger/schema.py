"""prepare(path) -> connection: to a sound ledger, old or new; or an error, and the file is left untouched."""

import os
import sqlite3
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path

from kron.errors import LedgerUnusableError
from kron.rules.record import FIELDS

APPLICATION_ID = 0x4B726F6E  # "Kron", in the header of every file of ours
VERSION = 1
_MAGIC = b"SQLite format 3\x00"
_BUSY = 5.0  # seconds to wait for a reader's lock, for instance that of a backup

_TYPES = {"retryDelayMs": "NUMERIC", "retryCount": "INTEGER"}
_COLUMNS = ", ".join(f"{field} {_TYPES.get(field, 'TEXT')}" for field in FIELDS[1:])
# No index on the name: all rows are loaded and then found by number; `load` refuses a name that is there twice.
_TASK = f"CREATE TABLE task (id INTEGER PRIMARY KEY, name TEXT NOT NULL, {_COLUMNS})"
_RUN = """CREATE TABLE run (
    id INTEGER PRIMARY KEY, task TEXT NOT NULL, scheduledAt TEXT, startedAt TEXT NOT NULL, endedAt TEXT,
    result TEXT NOT NULL, error TEXT
)"""
_MIGRATIONS: Mapping[int, tuple[str, ...]] = {}  # from a version to the next: the statements that lead there


def prepare(path: Path) -> sqlite3.Connection:
    """Return an open connection, or raise LedgerUnusableError."""
    try:
        if not path.exists() or path.stat().st_size == 0:
            _create(path)
        _check(path)
        return _open(path)
    except OSError as error:
        raise LedgerUnusableError(path=str(path), reason=error.strerror or str(error)) from error
    except sqlite3.Error as error:
        is_damaged = getattr(error, "sqlite_errorname", "").startswith(("SQLITE_CORRUPT", "SQLITE_NOTADB"))
        reason = f"it is damaged ({error})" if is_damaged else f"it cannot be opened ({error})"
        raise LedgerUnusableError(path=str(path), reason=reason) from error


def look(path: Path) -> None:
    """Refuse what is no ledger by its first bytes alone: opening another program's database could already change it."""
    if path.is_dir():
        raise LedgerUnusableError(path=str(path), reason="it is a directory", fix="name a file in it")
    if not path.parent.is_dir():
        reason = f"there is no directory {path.parent}"
        raise LedgerUnusableError(path=str(path), reason=reason, fix="make it first")
    if not path.exists():
        return
    try:
        with path.open("rb") as file:
            header = file.read(100)
    except OSError as error:
        raise LedgerUnusableError(path=str(path), reason=f"it cannot be read ({error.strerror})") from error
    if header and not header.startswith(_MAGIC):
        raise LedgerUnusableError(path=str(path), reason="it is not a SQLite database", fix="name another file")
    if header and int.from_bytes(header[68:72], "big") != APPLICATION_ID:
        reason = "it is a database of another program"
        raise LedgerUnusableError(path=str(path), reason=reason, fix="name another file")


def _create(path: Path) -> None:
    """Make the file elsewhere and move it to its place whole: a crash leaves no half of a ledger."""
    draft = path.with_name(f"{path.name}.new")
    for tail in ("", "-journal", "-wal", "-shm"):
        path.with_name(f"{draft.name}{tail}").unlink(missing_ok=True)
    with closing(sqlite3.connect(draft, isolation_level=None)) as connection:
        connection.execute("PRAGMA synchronous=FULL")
        connection.execute("BEGIN")
        connection.execute(_TASK)
        connection.execute(_RUN)
        connection.execute(f"PRAGMA application_id={APPLICATION_ID}")
        connection.execute(f"PRAGMA user_version={VERSION}")
        connection.execute("COMMIT")
        connection.execute("PRAGMA journal_mode=WAL")
    draft.replace(path)
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def _check(path: Path) -> None:
    """Refuse a damaged file and one of a later version, through a connection that cannot write."""
    with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True, timeout=_BUSY)) as connection:
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        if version < 1:
            raise LedgerUnusableError(path=str(path), reason=f"it is damaged (its schema has version {version})")
        if version > VERSION:
            reason = f"it was written by a later version of Kron (schema {version}; this one knows {VERSION})"
            raise LedgerUnusableError(path=str(path), reason=reason, fix="use that version")
        (verdict,) = connection.execute("PRAGMA quick_check(1)").fetchone()
        if verdict != "ok":
            reason = f"it is damaged ({verdict})"
            raise LedgerUnusableError(path=str(path), reason=reason, fix="restore it from a backup")
        tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")}
        if not {"task", "run"} <= tables:
            raise LedgerUnusableError(path=str(path), reason="it is damaged (a table is missing)")


def _open(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(path, isolation_level=None, timeout=_BUSY, check_same_thread=False)
    try:
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("PRAGMA synchronous=FULL")
        _migrate(connection)
    except BaseException:
        connection.close()
        raise
    return connection


def _migrate(connection: sqlite3.Connection) -> None:
    """Bring the schema up to the present version, in one transaction: a crash leaves the old one."""
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if version == VERSION:
        return
    connection.execute("BEGIN IMMEDIATE")
    for step in range(version, VERSION):
        for statement in _MIGRATIONS[step]:
            connection.execute(statement)
    connection.execute(f"PRAGMA user_version={VERSION}")
    connection.execute("COMMIT")
