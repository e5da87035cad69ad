"""JobHistory: the ledger of jobs as people read it, also while no daemon runs and while one does."""

import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import NamedTuple

from kron.adapters.sqlite_ledger.job_cells import (
    ATTEMPT,
    CLOSED,
    END,
    ENTRY,
    JOB,
    Row,
    attempt_of,
    closed_of,
    end_of,
    job_of,
    reading,
)
from kron.adapters.sqlite_ledger.job_schema import JOBS
from kron.adapters.sqlite_ledger.schema import check_version, connect_to_read, look
from kron.adapters.sqlite_ledger.stamp import moment, stamp
from kron.errors import InvalidDefinitionError, LedgerUnusableError
from kron.instant import MICROSECOND, Instant
from kron.rules.history_row import HistoryRow, closed_row, run_row
from kron.rules.inside import reach, timing_of, touches
from kron.rules.job_record import JobRecord
from kron.rules.verdict import Outcome

_ATTEMPTS = """CASE WHEN nominal IS NULL THEN attempt ELSE (
    SELECT max(other.attempt) FROM entry AS other WHERE other.nominal = entry.nominal AND other.job = entry.job
) END"""
_SELECT = f"SELECT effective, entry.id, name, {_ATTEMPTS}, {ATTEMPT}, {END}, {CLOSED} FROM {ENTRY}"
_RANGES = _SELECT.replace("FROM entry JOIN", "FROM entry INDEXED BY entry_range JOIN")
_NEWEST = "ORDER BY effective DESC, entry.id DESC LIMIT :limit"
_JOB = "(SELECT id FROM job WHERE identity = :identity)"
_VERSIONS = f"SELECT id, text FROM definition WHERE id IN (SELECT definition FROM version WHERE job = {_JOB})"
# Those that end in the span, and ranges that reach into it from beyond.
_SPAN = f"""{_SELECT} WHERE entry.id IN (
    SELECT id FROM entry WHERE nominal BETWEEN :first AND :last AND job = {_JOB}
    UNION ALL
    SELECT id FROM entry WHERE job = {_JOB} AND nominal > :last AND number > 1 AND first <= :last
) AND entry.definition = :definition ORDER BY nominal, attempt"""


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which rows: those that were due from `since` on and before `until`, and of these the newest ones."""

    identity: str | None = None
    since: Instant | None = None
    until: Instant | None = None
    outcome: Outcome | None = None
    limit: int | None = 100
    executions: bool = False  # of several attempts of a period only the last

    def conditions(self) -> list[str]:
        """Return what holds of the rows, but for the end of the time."""
        asked = {
            f"entry.job = {_JOB}": self.identity is not None,
            "effective >= :since": self.since is not None,
            "outcome = :outcome": self.outcome is not None,
            f"attempt = {_ATTEMPTS}": self.executions,
        }
        return ["1", *(condition for condition, is_asked in asked.items() if is_asked)]

    def parameters(self) -> Mapping[str, object]:
        """Return the values that conditions speak of."""
        return {
            "identity": self.identity,
            "since": None if self.since is None else stamp(self.since),
            "until": None if self.until is None else stamp(self.until),
            "outcome": None if self.outcome is None else self.outcome.value,
            "limit": -1 if self.limit is None else self.limit,
        }


class Touched(NamedTuple):
    """A period that has an instant in its minute or its window, the row that tells of it, and its definition."""

    nominal: Instant
    row: HistoryRow
    definition: str


class JobHistory:
    """Reads without a lock and without writing; each question is answered from one moment of the ledger."""

    def __init__(self, path: str | PathLike[str]) -> None:
        self.path = Path(path)

    def jobs(self) -> list[JobRecord]:
        """Return all jobs, also those that are not defined any more, by identity."""
        with self._connected() as connection:
            return [job_of(row) for row in connection.execute(f"{JOB} ORDER BY identity")]

    def rows(self, wanted: Wanted) -> list[HistoryRow]:
        """Return rows in the order of the times at which they were due, the oldest first."""
        conditions, parameters = " AND ".join(wanted.conditions()), wanted.parameters()
        before = "1" if wanted.until is None else "effective < :until"
        with self._connected() as connection:
            found = connection.execute(f"{_SELECT} WHERE {conditions} AND {before} {_NEWEST}", parameters).fetchall()
            if wanted.until is not None:  # ranges that had begun
                across = "number > 1 AND effective >= :until AND first < :until"
                found += connection.execute(f"{_RANGES} WHERE {conditions} AND {across} {_NEWEST}", parameters)
            found.sort(key=lambda row: row[:2])
            return [_history_row(row) for row in (found if wanted.limit is None else found[-wanted.limit :])]

    def run(self, run_id: str) -> HistoryRow | None:
        """Return the row of a run."""
        with self._connected() as connection:
            row = connection.execute(f"{_SELECT} WHERE run_id = ?", (run_id,)).fetchone()
            return None if row is None else _history_row(row)

    def newest_run(self, identity: str) -> HistoryRow | None:
        """Return the row of the run of a job that was due last."""
        rows = self.rows(Wanted(identity=identity, outcome=Outcome.EXECUTED, limit=1))
        return rows[0] if rows else None

    def touching(self, identity: str, at: Instant) -> list[Touched]:
        """Return the periods with an outcome that have an instant in their nominal minute or in their window."""
        found: list[Touched] = []
        with self._connected() as connection:
            for number, definition in connection.execute(_VERSIONS, {"identity": identity}).fetchall():
                try:
                    timing = timing_of(identity, definition)
                except InvalidDefinitionError:  # it has no periods, or none that this version can read
                    continue
                first, last = reach(timing, at)
                span = {"identity": identity, "definition": number, "first": stamp(first), "last": stamp(last)}
                for row in connection.execute(_SPAN, span):
                    begin, end = _nominals(row)
                    inside = (
                        [end]
                        if begin == end
                        else timing.schedule.between(max(begin, first) - MICROSECOND, min(end, last))
                    )
                    answer = _history_row(row)
                    found += [Touched(each, answer, definition) for each in inside if touches(timing, each, at)]
        return sorted(found, key=lambda each: each.nominal)

    def definition(self, key: str) -> str | None:
        """Return the text of a definition."""
        with self._connected() as connection:
            row = connection.execute("SELECT text FROM definition WHERE key = ?", (key,)).fetchone()
            return None if row is None else str(row[0])

    @contextmanager
    def _connected(self) -> Iterator[sqlite3.Connection]:
        with open_to_read(self.path) as connection:
            connection.execute("BEGIN")
            yield connection


@contextmanager
def open_to_read(path: Path) -> Iterator[sqlite3.Connection]:
    """Give a connection that cannot write to whoever reads, and let what cannot be read be one clear error."""
    if not path.exists():
        raise LedgerUnusableError(path=str(path), reason="there is none")
    look(path, JOBS)
    with reading(path), closing(connect_to_read(path)) as connection:
        check_version(path, JOBS, connection)
        yield connection


def _history_row(row: Row) -> HistoryRow:
    name, attempts, run, end, closed = row[2], row[3], row[4:13], row[13:20], row[20:]
    if run[0] is None:
        return closed_row(name, closed_of(closed))
    return run_row(name, attempt_of(run), end_of(end), attempts=attempts)


def _nominals(row: Row) -> tuple[Instant, Instant]:
    _, first, last, *_ = row[20:]
    return moment(first or last), moment(last)
