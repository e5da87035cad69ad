"""SqliteJobLedger: the ledger of jobs with periods in a file that survives crashes, and the removal of old records.

What correctness needs stays, however old: runs without an end, executions that are to be tried again, periods that were
handled ahead of what is served, and ranges of which a part is not old yet.
"""

import json
import sqlite3
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from datetime import timedelta
from functools import partial
from os import PathLike
from pathlib import Path

from kron.adapters.sqlite.database import Guard, LedgerDatabase
from kron.adapters.sqlite.job_tables import JOBS, load_handled, load_jobs, translate_errors
from kron.adapters.sqlite.job_writer import BatchWriter, JobIds
from kron.adapters.sqlite.schema import to_timestamp
from kron.engine.gc_pause import gc_paused
from kron.engine.ledger import JobBatch, JobSnapshot, append_unless_refused
from kron.engine.ports import Refusal
from kron.errors import LedgerError
from kron.instant import Instant
from kron.rules.periods import HandledPeriods


class SqliteJobLedger:
    """Jobs, the versions of their definitions, the outcome of each period, and the runs.

    Durable (WAL, synchronous=FULL) before an append returns. Entries that were over longer than `retention` ago are
    removed a few at a time, by the instants in the batches themselves. The file is for its owner alone (0600).
    """

    def __init__(
        self, path: str | PathLike[str], *, retention: timedelta | None = None, guard: Guard | None = None
    ) -> None:
        """`guard` is asked before each transaction whether the host's own lock is held; no `<path>.lock` is made."""
        self.path = Path(path)
        self._pruning = Pruner(retention)
        self._file: LedgerDatabase[None] = LedgerDatabase(self.path, JOBS, guard=guard)
        self._numbers: JobIds | None = None

    def set_retention(self, retention: timedelta | None) -> None:
        """From now on keep entries for so long; None: for ever."""
        self._pruning.retention = retention

    # --- the port -----------------------------------------------------------------------------------------------------

    async def open(self) -> None:
        """Take possession of the file; make it if there is none."""
        await self._file.open(self._begin)

    async def load(self) -> JobSnapshot:
        """Return what is remembered."""
        with gc_paused():
            return await self._file.call(self._load)

    async def handled(self, since: Mapping[str, Instant]) -> Mapping[str, frozenset[Instant] | HandledPeriods]:
        """Return by identity the nominal times, from an instant on, of periods that have an outcome."""
        return await self._file.call(partial(self._handled, since))

    async def append(self, batch: JobBatch) -> Sequence[Refusal]:
        """Append the batch without the jobs of which a record is refused."""
        refused = await self._file.call(partial(self._write, batch))
        if (now := self._pruning.due(batch)) is not None:
            self._file.call(partial(self._prune, now))  # not awaited: only the next call of the ledger waits for it
        return refused

    async def close(self) -> None:
        """Give up the file."""
        await self._file.close()

    # --- in the thread ------------------------------------------------------------------------------------------------

    def _begin(self) -> None:
        with translate_errors(self.path):
            self._numbers = JobIds(str(self.path), self._file.connection)

    def _load(self) -> JobSnapshot:
        with translate_errors(self.path):
            return load_jobs(self._file.connection)

    def _handled(self, since: Mapping[str, Instant]) -> Mapping[str, frozenset[Instant] | HandledPeriods]:
        with translate_errors(self.path):
            return load_handled(self._file.connection, since)

    def _write(self, batch: JobBatch) -> Sequence[Refusal]:
        return append_unless_refused(batch, self._put, self._runs_of, self._handled)

    def _put(self, batch: JobBatch) -> Sequence[Refusal]:
        """Commit the batch, or nothing of it and return what is refused."""
        assert self._numbers is not None
        refused: Sequence[Refusal] = ()
        try:
            with self._file.transaction() as connection:
                BatchWriter(str(self.path), connection, self._numbers).write(batch)
        except LedgerError as error:
            if not isinstance(error.__cause__, sqlite3.IntegrityError):
                raise
            with self._file.transaction() as connection:
                connection.execute("SAVEPOINT whole")
                if refused := BatchWriter(str(self.path), connection, self._numbers).write_checked(batch):
                    connection.execute("ROLLBACK TO whole")
        if not refused:
            self._numbers.commit()
        return refused

    def _runs_of(self, run_ids: Sequence[str], identities: Collection[str]) -> Collection[str]:
        """Return which of these runs belong to some jobs."""
        key = (json.dumps(list(run_ids)), json.dumps(list(identities)))
        return [run_id for (run_id,) in self._file.connection.execute(_RUNS_OF, key)]

    def _prune(self, now: Instant) -> None:
        assert self._numbers is not None
        with suppress(LedgerError):  # it is tried again in the next round
            with self._file.transaction() as connection:
                gone = self._pruning.prune(connection, now)
            self._numbers.forget(gone)


_RUNS_OF = """SELECT run_id FROM entry JOIN job ON job.id = entry.job
WHERE run_id IN (SELECT value FROM json_each(?)) AND identity IN (SELECT value FROM json_each(?))"""

_ROUND = 500  # entries written between two rounds
_MOST = 2 * _ROUND  # entries or definitions that a round removes: more than are written meanwhile, and yet quick
_ROUND_TIME = timedelta(hours=1)  # between two rounds in a ledger in which little happens
_COLLECT_TIME = timedelta(days=1)  # between two looks at all entries, for definitions that none of them names

# The last attempt of a period decides about all of them; a closed period and a run without one stand for themselves.
_OLD = """SELECT entry.id FROM entry JOIN job ON job.id = entry.job
WHERE effective < :before AND at < :before AND (nominal IS NULL OR effective <= served) AND CASE
    WHEN run_id IS NULL THEN 1
    WHEN nominal IS NULL THEN ended < :before AND retry_at IS NULL
    ELSE (
        SELECT last.ended < :before AND last.retry_at IS NULL FROM entry AS last
        WHERE last.nominal = entry.nominal AND last.job = entry.job ORDER BY last.attempt DESC LIMIT 1
    ) END
ORDER BY effective LIMIT :most"""
_PRUNE = f"DELETE FROM entry WHERE id IN ({_OLD})"
_OUT_OF_FORCE = "SELECT 1 FROM definition WHERE id NOT IN (SELECT definition FROM job) LIMIT 1"
_UNUSED = """SELECT id, key FROM definition
WHERE id NOT IN (SELECT definition FROM job) AND id NOT IN (SELECT definition FROM entry) LIMIT :most"""
# In one statement: a version is not found by its definition but by its job, so that each statement reads all of them.
_FORGET_VERSIONS = "DELETE FROM version WHERE definition IN (SELECT value FROM json_each(?))"
_FORGET = "DELETE FROM definition WHERE id IN (SELECT value FROM json_each(?))"


class Pruner:
    """Decides from the number of entries and the instants in the batches whether a round is due."""

    def __init__(self, retention: timedelta | None) -> None:
        self.retention = retention
        self._written = 0  # entries since the last round
        self._last_round: Instant | None = None
        self._last_collect: Instant | None = None

    def due(self, batch: JobBatch) -> Instant | None:
        """Return the present by the batch, if it is time for a round."""
        times = [record.closed_at for record in batch.closed]
        times += [attempt.started for attempt in batch.begun]
        self._written += len(times)
        times += [end.ended_at for end in batch.ended]
        if self.retention is None or not times:
            return None
        now = max(times)
        if self._written < _ROUND and not _has_passed(_ROUND_TIME, self._last_round, now):
            return None
        self._written, self._last_round = 0, now
        return now

    def prune(self, connection: sqlite3.Connection, now: Instant) -> set[str]:
        """Remove what is old; return the keys of definitions that are gone."""
        assert self.retention is not None
        connection.execute(_PRUNE, {"before": to_timestamp(now - self.retention), "most": _MOST})
        if not _has_passed(_COLLECT_TIME, self._last_collect, now):
            return set()
        gone = _collect(connection)
        if len(gone) < _MOST:  # else there may be more, for the next round
            self._last_collect = now
        return gone


def _has_passed(time: timedelta, since: Instant | None, now: Instant) -> bool:
    return since is None or abs(now - since) >= time  # also when the clock was set back


def _collect(connection: sqlite3.Connection) -> set[str]:
    if connection.execute(_OUT_OF_FORCE).fetchone() is None:
        return set()
    unused = connection.execute(_UNUSED, {"most": _MOST}).fetchall()
    numbers = json.dumps([number for number, _ in unused])
    for forget in (_FORGET_VERSIONS, _FORGET):
        connection.execute(forget, (numbers,))
    return {key for _, key in unused}
