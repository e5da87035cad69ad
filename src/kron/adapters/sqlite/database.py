"""LedgerDatabase: a ledger's file with one owner: lock, connection and thread; a deleted file is written again."""

import asyncio
import sqlite3
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager, suppress
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import Any, Generic, NamedTuple, TypeVar

from kron.adapters.sqlite.file_lock import FileLock
from kron.adapters.sqlite.schema import LedgerSchema, check_header, create_empty, open_database, publish, reason_of
from kron.errors import LedgerError, LedgerInUseError, LedgerUnusableError, LedgerWriteError

Item = TypeVar("Item")
Result = TypeVar("Result")


class _Work(NamedTuple):
    call: Callable[[], object] | None  # None: write the item
    item: Any
    done: "asyncio.Future[Any]"


class WriterThread(Generic[Item]):
    """A thread that writes items in batches. It ends with the process or on `end`, and keeps no process alive."""

    def __init__(self, name: str, write: Callable[[list[Item]], object]) -> None:
        self._write = write
        self._pending: list[_Work] = []
        self._ending = False
        self._changed = threading.Condition()
        threading.Thread(target=self._serve, name=name, daemon=True).start()

    def call(self, function: Callable[[], Result]) -> "asyncio.Future[Result]":
        """Call a function in the thread."""
        return self._put(function, None)

    def write(self, item: Item) -> "asyncio.Future[None]":
        """Write an item, together with those of others who wait at the same time: all or none."""
        return self._put(None, item)

    def end(self) -> None:
        """End the thread when it has done all that it was asked to."""
        with self._changed:
            self._ending = True
            self._changed.notify()

    def _put(self, call: Callable[[], object] | None, item: Item | None) -> "asyncio.Future[Any]":
        work = _Work(call, item, asyncio.get_running_loop().create_future())
        with self._changed:
            self._pending.append(work)
            self._changed.notify()
        return work.done

    def _serve(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._pending or self._ending)
                pending, self._pending = self._pending, []
            if not pending:
                return
            for call, group in groupby(pending, key=lambda work: work.call):
                works = list(group)
                _answer(works, call or partial(self._write, [work.item for work in works]))


def _answer(works: Iterable[_Work], call: Callable[[], object]) -> None:
    result, error = None, None
    try:
        result = call()
    except BaseException as raised:
        error = raised
    for work in works:
        with suppress(RuntimeError):  # the event loop is closed, and with it the waiting call
            work.done.get_loop().call_soon_threadsafe(_resolve, work.done, result, error)


def _resolve(future: "asyncio.Future[Any]", result: object, error: BaseException | None) -> None:
    if future.done():  # the waiting call was cancelled
        return
    if error is None:
        future.set_result(result)
    else:
        future.set_exception(error)


_TAILS = ("", "-wal")  # the ledger is what both say together
_HEADER = 100  # bytes of a database that say what it is
_BESIDE = ("-wal", "-shm", "-journal")


class FileIdentity:
    """Where the files of an open connection lie. Without their names what SQLite writes is gone with the process."""

    def __init__(self, path: Path, schema: LedgerSchema) -> None:
        self._path, self._schema = path, schema
        self._known: dict[str, tuple[int, int]] = {}  # device and inode
        self._sizes: dict[str, int] = {}  # after the last transaction
        self._is_cut = False

    def record(self) -> None:
        """Take note of the files that are there, once the connection has written."""
        if len(self._known) < len(_TAILS):
            self._known, _ = self._found()

    def measure(self) -> None:
        """Take note of how long the files are, after a transaction."""
        _, self._sizes = self._found()

    def is_missing(self, connection: sqlite3.Connection) -> bool:
        """Whether a file of the ledger has been removed or truncated."""
        self._is_cut = self._is_cut or self._has_been_cut(connection)  # a file that is long again is another one
        found, _ = self._found()
        return any(found.get(tail) != known for tail, known in self._known.items()) or self._is_cut

    def write_again(self, connection: sqlite3.Connection) -> sqlite3.Connection:
        """Write the ledger to its place again, from what SQLite still has of it; return a connection to that.

        A file that is not ours is not touched. A crash on the way leaves what was left, or the whole ledger.
        """
        database = self._known.get("")
        found, _ = self._found()
        if found.get("", database) != database:
            reason = "another file was put in its place"
            raise LedgerWriteError(path=str(self._path), reason=reason, retry_soon=True)
        if self._is_cut:  # what SQLite has beside it is not the whole
            raise LedgerWriteError(path=str(self._path), reason="its file was cut off; it has to be restored")
        draft = self._path.with_name(f"{self._path.name}.new")
        try:
            _remove(draft, "", *_BESIDE)
            create_empty(draft, self._schema.mode)
            with closing(sqlite3.connect(draft, isolation_level=None)) as copy:
                copy.execute("PRAGMA synchronous=FULL")
                connection.backup(copy)
            _remove(self._path, *_BESIDE)  # the log of one that is gone would be taken for that of the next
            publish(draft, self._path)
            new = open_database(self._path, self._schema)
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
        found, sizes = self._found()
        same = [tail for tail in sizes if found.get(tail) == self._known.get(tail, found.get(tail))]
        shorter = [tail for tail in same if sizes[tail] < self._sizes.get(tail, 0)]
        if "" in shorter and sizes[""] < _needed(self._path):
            return True
        return "-wal" in shorter and (sizes["-wal"] > 0 or _has_frames(connection))

    def _found(self) -> tuple[dict[str, tuple[int, int]], dict[str, int]]:
        """Return what tells the files that are there from others, and how long they are."""
        known, sizes = {}, {}
        for tail in _TAILS:
            with suppress(OSError):
                facts = self._path.with_name(f"{self._path.name}{tail}").stat()
                known[tail], sizes[tail] = (facts.st_dev, facts.st_ino), facts.st_size
        return known, sizes


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


# Whether a lock is held as before; False: it was lost and taken again. LedgerWriteError: nothing may be written.
Guard = Callable[[], bool]


def _no_items(items: list[Any]) -> None:
    """Do nothing: of ledgers that write by calls alone."""
    assert not items


class LedgerDatabase(Generic[Item]):
    """Functions that are called, and items that are written, are in the thread, one after the other."""

    def __init__(
        self,
        path: Path,
        schema: LedgerSchema,
        write: Callable[[list[Item]], object] = _no_items,
        *,
        guard: Guard | None = None,
    ) -> None:
        """`write` gets all items that have arrived; `guard`: another lock keeps others away, and no file is locked."""
        self.path = path
        self._schema = schema
        self._write = write
        self._guard = guard
        self._worker: WriterThread[Item] | None = None
        self._possession: FileLock | None = None
        self._place: FileIdentity | None = None
        self._connection: sqlite3.Connection | None = None

    async def open(self, then: Callable[[], object]) -> None:
        """Take possession of the file, make it if there is none, and do what is to be done first."""
        if self._worker is None:
            self._worker = WriterThread(f"kron ledger {self.path.name}", self._write)
        try:
            await self._worker.call(self._open)
            await self._worker.call(then)
        except BaseException:
            await self.close()
            raise

    def call(self, function: Callable[[], Result]) -> "asyncio.Future[Result]":
        """Call a function."""
        return self._worker_now().call(function)

    def write(self, item: Item) -> "asyncio.Future[None]":
        """Write an item."""
        return self._worker_now().write(item)

    async def close(self) -> None:
        """Give up the file, after all that was asked before."""
        worker, self._worker = self._worker, None
        if worker is not None:
            try:
                await asyncio.shield(worker.call(self._close))
            finally:
                worker.end()

    def _worker_now(self) -> WriterThread[Item]:
        if self._worker is None:
            raise LedgerWriteError(path=str(self.path), reason="it is not open")
        return self._worker

    # --- in the thread ------------------------------------------------------------------------------------------------

    @property
    def connection(self) -> sqlite3.Connection:
        """The connection, while the file is open."""
        if self._connection is None:
            raise LedgerWriteError(path=str(self.path), reason="it is not open")
        return self._connection

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """Do the whole block durably or nothing of it; what is no error of a ledger becomes one."""
        connection, place = self.connection, self._place
        assert place is not None
        is_held = self._hold()
        if place.is_missing(connection):
            self._connection = place.write_again(connection)
            raise self._repaired("its file was removed; it was written again")
        if not is_held:
            raise self._repaired("its lock was removed; it was made again")
        try:
            connection.execute("BEGIN IMMEDIATE")
            yield connection
            connection.execute("COMMIT")
            place.record()
            place.measure()
        except BaseException as error:  # whatever it is, nothing of the block may stay
            with suppress(sqlite3.Error):  # SQLite has already rolled back where it had to
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
            if isinstance(error, LedgerError) or not isinstance(error, Exception):
                raise
            raise LedgerWriteError(path=str(self.path), reason=reason_of(error), cause=error) from error

    def _hold(self) -> bool:
        """Return whether the lock is still held; one that was removed is made again, if no other process has one."""
        if self._guard is not None:
            return self._guard()
        assert self._possession is not None
        if self._possession.is_in_place():
            return True
        try:
            self._possession.renew()
        except LedgerInUseError as error:
            reason = f"its lock was removed, and {error.details['owner']} has made another; stop it and restart"
            raise LedgerWriteError(path=str(self.path), reason=reason) from error
        except LedgerUnusableError as error:
            reason = str(error.details["reason"])
            raise LedgerWriteError(path=str(self.path), reason=reason, retry_soon=True) from error
        return False

    def _repaired(self, reason: str) -> LedgerWriteError:
        """Return the error of a transaction that failed so that the repair is reported; the next one may succeed."""
        return LedgerWriteError(path=str(self.path), reason=reason, retry_soon=True)

    def _open(self) -> None:
        path = self.path.absolute() if self._schema.private else self.path.resolve()
        check_header(path, self._schema)
        if self._guard is None:
            self._possession = FileLock(path, mode=self._schema.mode)
        self._connection = open_database(path, self._schema)
        self._place = FileIdentity(path, self._schema)
        self._place.measure()

    def _close(self) -> None:
        try:
            if self._connection is not None:
                self._connection.close()
        except sqlite3.Error as error:
            raise LedgerWriteError(path=str(self.path), reason=reason_of(error), cause=error) from error
        finally:
            self._connection = None
            if self._possession is not None:
                self._possession.release()
                self._possession = None
