"""open_database(path, schema) -> connection to a checked ledger, old or new; on an error the file stays untouched."""

import os
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cache, lru_cache
from pathlib import Path
from typing import TypeVar

from kron.errors import LedgerUnusableError
from kron.instant import Instant

_WIDTH = len("2026-03-01T12:00:00.000000Z")
_Item = TypeVar("_Item")
MAX_ROWS = 1_024  # rows of a statement
ROWS = "{rows}"  # where they stand in a statement, as `(?, ?), (?, ?)`
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
_MAGIC = b"SQLite format 3\x00"
_TAILS = ("-journal", "-wal", "-shm")  # of the files that SQLite keeps beside a database
_BUSY = 5.0  # seconds to wait for a reader's lock, for instance that of a backup
_OURS = {0x4B726F6E: "a ledger of the library", 0x4B726E64: "the ledger of a daemon"}  # by their application id


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


@dataclass(frozen=True, slots=True)
class LedgerSchema:
    """What a kind of ledger has in its file."""

    application_id: int  # in the header of every file of this kind
    version: int
    statements: Sequence[str]  # that make it
    required: Mapping[str, str]  # names of what must be there, and what they are: `a table`, `an index`
    migrations: Mapping[int, Sequence[str]] = field(default_factory=dict)  # statements from a version to the next
    private: bool = False  # only the owner may read the file, and a link in its place is refused

    @property
    def mode(self) -> int:
        """The permissions of a new file."""
        return 0o600 if self.private else 0o644

    @property
    def fix(self) -> str:
        """What to do about another file in its place: that of a host is always called the same."""
        return "restore it from a backup" if self.private else "name another file"


def open_database(path: Path, schema: LedgerSchema) -> sqlite3.Connection:
    """Return an open connection, or raise LedgerUnusableError."""
    try:
        if not path.exists() or path.stat().st_size == 0:
            _create(path, schema)
        with closing(connect_read_only(path)) as connection:
            _check(path, schema, connection)
        return _open(path, schema)
    except OSError as error:
        raise LedgerUnusableError(path=str(path), reason=reason_of(error), cause=error) from error
    except sqlite3.Error as error:
        raise unusable_error(path, error) from error


def unusable_error(path: Path, error: sqlite3.Error) -> LedgerUnusableError:
    """Return the error that says why SQLite cannot use a file."""
    is_damaged = getattr(error, "sqlite_errorname", "").startswith(("SQLITE_CORRUPT", "SQLITE_NOTADB"))
    reason = "it is damaged" if is_damaged else f"it cannot be opened ({reason_of(error)})"
    return LedgerUnusableError(path=str(path), reason=reason, cause=error)


def connect_read_only(path: Path) -> sqlite3.Connection:
    """Return a read-only connection, also while a scheduler has the ledger."""
    return sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True, timeout=_BUSY, isolation_level=None)


def check_header(path: Path, schema: LedgerSchema) -> None:
    """Refuse what is no ledger by its first bytes alone: opening another program's database could already change it."""
    if schema.private and path.is_symlink():
        raise LedgerUnusableError(path=str(path), reason="it is a link", fix="name the file itself")
    if path.is_dir():
        raise LedgerUnusableError(path=str(path), reason="it is a directory", fix="name a file in it")
    if not path.parent.is_dir():
        reason = f"there is no directory {path.parent}"
        raise LedgerUnusableError(path=str(path), reason=reason, fix="make it first")
    for tail in ("", *_TAILS):  # SQLite would wait for the other end of a pipe
        if (beside := path.with_name(f"{path.name}{tail}")).exists() and not beside.is_file():
            reason = f"{beside.name} is not a regular file"
            raise LedgerUnusableError(path=str(path), reason=reason, fix="remove it")
    if not path.exists():
        return
    try:
        with path.open("rb") as file:
            header = file.read(100)
    except OSError as error:
        raise LedgerUnusableError(path=str(path), reason=f"it cannot be read ({error.strerror})") from error
    if header and not header.startswith(_MAGIC):
        raise LedgerUnusableError(path=str(path), reason="it is not a Kron ledger", fix=schema.fix)
    if header and (found := int.from_bytes(header[68:72], "big")) != schema.application_id:
        reason = f"it is {_OURS.get(found, 'a database of another program')}"
        raise LedgerUnusableError(path=str(path), reason=reason, fix=schema.fix)


def _create(path: Path, schema: LedgerSchema) -> None:
    """Make the file elsewhere and move it to its place whole: a crash leaves no half of a ledger."""
    draft = path.with_name(f"{path.name}.new")
    for tail in ("", *_TAILS):
        path.with_name(f"{draft.name}{tail}").unlink(missing_ok=True)
    create_empty(draft, schema.mode)
    with closing(sqlite3.connect(draft, isolation_level=None)) as connection:
        connection.execute("PRAGMA synchronous=FULL")
        connection.execute("BEGIN")
        for statement in schema.statements:
            connection.execute(statement)
        connection.execute(f"PRAGMA application_id={schema.application_id}")
        connection.execute(f"PRAGMA user_version={schema.version}")
        connection.execute("COMMIT")
        connection.execute("PRAGMA journal_mode=WAL")
    publish(draft, path)


def create_empty(path: Path, mode: int) -> None:
    """Make a file that was not there; SQLite gives its own files beside it the same permissions."""
    os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, mode))


def publish(draft: Path, path: Path) -> None:
    """Give a whole file its name, durably."""
    draft.replace(path)
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def check_version(path: Path, schema: LedgerSchema, connection: sqlite3.Connection) -> int:
    """Return the version of a file; one that this Kron does not know is refused."""
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if version < 1:
        raise LedgerUnusableError(path=str(path), reason=f"it is damaged (its schema has version {version})")
    if version > schema.version:
        reason = f"it was written by a later version of Kron (schema {version}; this one knows {schema.version})"
        raise LedgerUnusableError(path=str(path), reason=reason, fix="use that version")
    return int(version)


def _check(path: Path, schema: LedgerSchema, connection: sqlite3.Connection) -> None:
    """Refuse a damaged file and one of a later version, through a connection that cannot write."""
    check_version(path, schema, connection)
    (verdict,) = connection.execute("PRAGMA quick_check(1)").fetchone()
    if verdict != "ok":
        found = sqlite3.DatabaseError(verdict)
        raise LedgerUnusableError(path=str(path), reason="it is damaged", fix="restore it from a backup", cause=found)
    for missing in missing_parts(schema, connection):
        raise LedgerUnusableError(path=str(path), reason=f"it is damaged ({missing})")


def missing_parts(schema: LedgerSchema, connection: sqlite3.Connection) -> list[str]:
    """Return what should be there and is not; of an earlier version, what a migration brings is not missed."""
    found = {name for (name,) in connection.execute("SELECT name FROM sqlite_schema")}
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    steps = [statement for step, statements in schema.migrations.items() if step >= version for statement in statements]
    found |= {word for statement in steps for word in statement.split()}
    return [f"{kind} is missing: {name}" for name, kind in schema.required.items() if name not in found]


def _open(path: Path, schema: LedgerSchema) -> sqlite3.Connection:
    connection = sqlite3.connect(path, isolation_level=None, timeout=_BUSY, check_same_thread=False)
    try:
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("PRAGMA synchronous=FULL")
        _migrate(connection, schema)
    except BaseException:
        connection.close()
        raise
    return connection


def _migrate(connection: sqlite3.Connection, schema: LedgerSchema) -> None:
    """Bring the schema up to the present version, in one transaction: a crash leaves the old one."""
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if version == schema.version:
        return
    connection.execute("BEGIN IMMEDIATE")
    for step in range(version, schema.version):
        for statement in schema.migrations[step]:
            connection.execute(statement)
    connection.execute(f"PRAGMA user_version={schema.version}")
    connection.execute("COMMIT")
