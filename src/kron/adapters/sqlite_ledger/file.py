"""LedgerFile: a ledger's file in the hands of one owner: possession, the connection, and the thread that uses it."""

import asyncio
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Generic

from kron.adapters.sqlite_ledger.place import Place
from kron.adapters.sqlite_ledger.possession import Possession
from kron.adapters.sqlite_ledger.reason import reason_of
from kron.adapters.sqlite_ledger.schema import Schema, look, prepare
from kron.adapters.sqlite_ledger.worker import Item, Result, Worker
from kron.errors import LedgerError, LedgerInUseError, LedgerUnusableError, LedgerWriteError

# Whether a lock is held as before; False: it was lost and taken again. LedgerWriteError: nothing may be written.
Guard = Callable[[], bool]


def _no_items(items: list[Any]) -> None:
    """Do nothing: of ledgers that write by calls alone."""
    assert not items


class LedgerFile(Generic[Item]):
    """Functions that are called, and items that are written, are in the thread, one after the other."""

    def __init__(
        self,
        path: Path,
        schema: Schema,
        write: Callable[[list[Item]], object] = _no_items,
        *,
        guard: Guard | None = None,
    ) -> None:
        """`write` gets all items that have arrived; `guard`: another lock keeps others away, and no file is locked."""
        self.path = path
        self._schema = schema
        self._write = write
        self._guard = guard
        self._worker: Worker[Item] | None = None
        self._possession: Possession | None = None
        self._place: Place | None = None
        self._connection: sqlite3.Connection | None = None

    async def open(self, then: Callable[[], object]) -> None:
        """Take possession of the file, make it if there is none, and do what is to be done first."""
        if self._worker is None:
            self._worker = Worker(f"kron ledger {self.path.name}", self._write)
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

    def _worker_now(self) -> Worker[Item]:
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
        if place.is_left(connection):
            self._connection = place.bring_back(connection)
            raise self._repaired("its file was removed; it was written again")
        if not is_held:
            raise self._repaired("its lock was removed; it was made again")
        try:
            connection.execute("BEGIN IMMEDIATE")
            yield connection
            connection.execute("COMMIT")
            place.note()
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
        look(path, self._schema)
        if self._guard is None:
            self._possession = Possession(path, mode=self._schema.mode)
        self._connection = prepare(path, self._schema)
        self._place = Place(path, self._schema)
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
