"""Place: whether the files of a ledger still lie where they were opened, and how they come back."""

import sqlite3
from contextlib import closing, suppress
from pathlib import Path

from kron.adapters.sqlite_ledger.reason import reason_of
from kron.adapters.sqlite_ledger.schema import Schema, make_empty, move, prepare
from kron.errors import LedgerUnusableError, LedgerWriteError

_TAILS = ("", "-wal")  # the ledger is what both say together
_BESIDE = ("-wal", "-shm", "-journal")


class Place:
    """Where the files of an open connection lie. Without their names what SQLite writes is gone with the process."""

    def __init__(self, path: Path, schema: Schema) -> None:
        self._path, self._schema = path, schema
        self._known: dict[str, tuple[int, int]] = {}

    def note(self) -> None:
        """Take note of the files that are there, once the connection has written."""
        if len(self._known) < len(_TAILS):
            self._known = self._found()

    def is_left(self) -> bool:
        """Whether a file that was there is not there any more, or holds nothing any more."""
        found = self._found()
        return any(found.get(tail) != known for tail, known in self._known.items()) or self._is_cut_off()

    def bring_back(self, connection: sqlite3.Connection) -> sqlite3.Connection:
        """Write the ledger to its place again, from what SQLite still has of it; return a connection to that.

        A file of somebody else is not touched. A crash on the way leaves what was left, or the ledger whole.
        """
        database = self._known.get("")
        if self._found().get("", database) != database:
            raise LedgerWriteError(path=str(self._path), reason="another file was put in its place")
        if self._is_cut_off():  # what SQLite has beside it is not the whole
            raise LedgerWriteError(path=str(self._path), reason="its file was cut off; it has to be restored")
        draft = self._path.with_name(f"{self._path.name}.new")
        try:
            _remove(draft, "", *_BESIDE)
            make_empty(draft, self._schema.mode)
            with closing(sqlite3.connect(draft, isolation_level=None)) as copy:
                copy.execute("PRAGMA synchronous=FULL")
                connection.backup(copy)
            _remove(self._path, *_BESIDE)  # the log of one that is gone would be taken for that of the next
            move(draft, self._path)
            new = prepare(self._path, self._schema)
        except (OSError, sqlite3.Error, LedgerUnusableError) as error:
            why = error.details["reason"] if isinstance(error, LedgerUnusableError) else reason_of(error)
            reason = f"its file was removed, and cannot be written again: {why}"
            raise LedgerWriteError(path=str(self._path), reason=reason, cause=error) from error
        self._known = {}
        connection.close()  # SQLite sees that it has moved, and leaves the new files alone
        return new

    def _is_cut_off(self) -> bool:
        """Whether the database holds nothing. SQLite never makes it so: one that was opened has its first page."""
        with suppress(OSError):
            return "" in self._known and not self._path.stat().st_size
        return False

    def _found(self) -> dict[str, tuple[int, int]]:
        found = {}
        for tail in _TAILS:
            with suppress(OSError):
                known = self._path.with_name(f"{self._path.name}{tail}").stat()
                found[tail] = (known.st_dev, known.st_ino)
        return found


def _remove(path: Path, *tails: str) -> None:
    for tail in tails:
        path.with_name(f"{path.name}{tail}").unlink(missing_ok=True)
