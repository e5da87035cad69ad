"""reason_of(error) -> why SQLite or the disk fails, in plain words; its own words stay in `details.cause`."""

import sqlite3

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
