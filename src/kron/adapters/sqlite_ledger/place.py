"""Place: whether the files of a ledger still lie where they were opened, and how they come back."""

import sqlite3
from contextlib import closing, suppress
from pathlib import Path

from kron.adapters.sqlite_ledger.reason import reason_of
from kron.adapters.sqlite_ledger.schema import Schema, make_empty, move, prepare
from kron.errors import LedgerUnusableError, LedgerWriteError

_TAILS = ("", "-wal")  # the ledger is what both say together
_HEADER = 100  # bytes of a database that say what it is
_BESIDE = ("-wal", "-shm", "-journal")


class Place:
    """Where the files of an open connection lie. Without their names what SQLite writes is gone with the process."""

    def __init__(self, path: Path, schema: Schema) -> None:
        self._path, self._schema = path, schema
        self._known: dict[str, tuple[int, int]] = {}
        self._sizes: dict[str, int] = {}  # after the last transaction
        self._is_cut = False

    def note(self) -> None:
        """Take note of the files that are there, once the connection has written."""
        if len(self._known) < len(_TAILS):
            self._known = self._found()

    def measure(self) -> None:
        """Take note of how long the files are, after a transaction."""
        self._sizes = self._found_sizes()

    def is_left(self, connection: sqlite3.Connection) -> bool:
        """Whether a file that was there is not there any more, or was cut."""
        self._is_cut = self._is_cut or self._has_been_cut(connection)  # a file that is long again is another one
        found = self._found()
        return any(found.get(tail) != known for tail, known in self._known.items()) or self._is_cut

    def bring_back(self, connection: sqlite3.Connection) -> sqlite3.Connection:
        """Write the ledger to its place again, from what SQLite still has of it; return a connection to that.

        A file of somebody else is not touched. A crash on the way leaves what was left, or the ledger whole.
        """
        database = self._known.get("")
        if self._found().get("", database) != database:
            reason = "another file was put in its place"
            raise LedgerWriteError(path=str(self._path), reason=reason, retry_soon=True)
        if self._is_cut:  # what SQLite has beside it is not the whole
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
            raise LedgerWriteError(path=str(self._path), reason=reason, cause=error, retry_soon=True) from error
        self._known = {}
        self.measure()
        connection.close()  # SQLite sees that it has moved, and leaves the new files alone
        return new

    def _has_been_cut(self, connection: sqlite3.Connection) -> bool:
        """Whether a file is shorter than after the last transaction, and lacks what SQLite has in it.

        Others may shorten both rightly: VACUUM the database, and a checkpoint the log, to nothing.
        """
        sizes, found = self._found_sizes(), self._found()
        same = [tail for tail in sizes if found.get(tail) == self._known.get(tail, found.get(tail))]
        shorter = [tail for tail in same if sizes[tail] < self._sizes.get(tail, 0)]
        if "" in shorter and sizes[""] < _needed(self._path):
            return True
        return "-wal" in shorter and (sizes["-wal"] > 0 or _has_frames(connection))

    def _found_sizes(self) -> dict[str, int]:
        found = {}
        for tail in _TAILS:
            with suppress(OSError):
                found[tail] = self._path.with_name(f"{self._path.name}{tail}").stat().st_size
        return found

    def _found(self) -> dict[str, tuple[int, int]]:
        found = {}
        for tail in _TAILS:
            with suppress(OSError):
                known = self._path.with_name(f"{self._path.name}{tail}").stat()
                found[tail] = (known.st_dev, known.st_ino)
        return found


def _needed(path: Path) -> int:
    """Return how long a database says that it is: its pages, as the header of SQLite's file format counts them."""
    with suppress(OSError), path.open("rb") as file:
        header = file.read(_HEADER)
        if len(header) == _HEADER:
            size = int.from_bytes(header[16:18], "big")
            return (65536 if size == 1 else size) * int.from_bytes(header[28:32], "big")
    return _HEADER


def _has_frames(connection: sqlite3.Connection) -> bool:
    """Whether SQLite takes its log for one that is not empty."""
    try:
        _, frames, _ = connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()
    except sqlite3.Error:  # it cannot be read
        return True
    return bool(frames > 0)


def _remove(path: Path, *tails: str) -> None:
    for tail in tails:
        path.with_name(f"{path.name}{tail}").unlink(missing_ok=True)
