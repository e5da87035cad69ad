"""Pruning: what is old leaves the ledger, a bounded number of entries at a time; then definitions that nobody names.

What correctness needs stays, however old: runs without an end, executions that are to be tried again, periods that were
handled ahead of what is served, and ranges of which a part is not old yet.
"""

import json
import sqlite3
from datetime import timedelta

from kron.adapters.sqlite_ledger.stamp import stamp
from kron.engine.jobs.store import JobBatch
from kron.instant import Instant

_ROUND = 500  # entries written between two rounds
_MOST = 2 * _ROUND  # entries or definitions that a round removes: they go faster than they come, and nobody waits long
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


class Pruning:
    """Decides by the batches that come whether it is time for a round: what time it is, they tell."""

    def __init__(self, retention: timedelta | None) -> None:
        self.retention = retention
        self._written = 0  # entries since the last round
        self._last_round: Instant | None = None
        self._last_collect: Instant | None = None

    def due(self, batch: JobBatch) -> Instant | None:
        """Return the present by the batch, if it is time for a round."""
        times = [record.at for record in batch.closed]
        times += [attempt.started for attempt in batch.begun]
        self._written += len(times)
        times += [end.ended for end in batch.ended]
        if self.retention is None or not times:
            return None
        now = max(times)
        if self._written < _ROUND and not _has_passed(_ROUND_TIME, self._last_round, now):
            return None
        self._written, self._last_round = 0, now
        return now

    def round(self, connection: sqlite3.Connection, now: Instant) -> set[str]:
        """Remove what is old; return the keys of definitions that are gone."""
        assert self.retention is not None
        connection.execute(_PRUNE, {"before": stamp(now - self.retention), "most": _MOST})
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
