"""back_up(ledger, copy): a copy of a ledger of jobs as it is at one moment, also while a daemon writes."""

import sqlite3
from contextlib import closing
from os import PathLike
from pathlib import Path

from kron.adapters.sqlite_ledger.job_history import open_to_read
from kron.adapters.sqlite_ledger.job_schema import JOBS
from kron.adapters.sqlite_ledger.reason import reason_of
from kron.adapters.sqlite_ledger.schema import make_empty, move
from kron.errors import LedgerWriteError


def back_up(ledger: str | PathLike[str], copy: str | PathLike[str]) -> None:
    """Write a copy that is whole and durable when it appears under its name, for its owner alone (0600).

    What lies there already is not overwritten: it may be the only other copy.
    """
    target = Path(copy).absolute()
    draft = target.with_name(f"{target.name}.new")
    if target.exists() or target.is_symlink():
        raise LedgerWriteError(path=str(copy), reason="there is something of that name already")
    try:
        with open_to_read(Path(ledger)) as source:
            make_empty(draft, JOBS.mode)
            try:
                _copy(source, draft)
                move(draft, target)
            finally:
                for tail in ("", "-journal", "-wal", "-shm"):
                    draft.with_name(f"{draft.name}{tail}").unlink(missing_ok=True)
    except OSError as error:
        raise LedgerWriteError(path=str(copy), reason=reason_of(error), cause=error) from error


def _copy(source: sqlite3.Connection, draft: Path) -> None:
    try:
        with closing(sqlite3.connect(draft, isolation_level=None)) as connection:
            connection.execute("PRAGMA synchronous=FULL")
            source.backup(connection)  # all pages in one go, of one moment; whoever writes does not wait
    except sqlite3.Error as error:
        raise LedgerWriteError(path=str(draft), reason=reason_of(error), cause=error) from error
