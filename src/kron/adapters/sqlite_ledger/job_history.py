"""JobHistory: the ledger of jobs as people read it, also while no daemon runs and while one does."""

import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from os import PathLike
from pathlib import Path

from kron.adapters.sqlite_ledger.job_cells import JOB, job_of, reading
from kron.adapters.sqlite_ledger.job_entries import ATTEMPTS, JOB_ID, SELECT, execution_row, history_row
from kron.adapters.sqlite_ledger.job_inquiry import Inquest
from kron.adapters.sqlite_ledger.job_load import load_unfinished
from kron.adapters.sqlite_ledger.job_schema import JOBS
from kron.adapters.sqlite_ledger.schema import check_version, connect_to_read, look
from kron.adapters.sqlite_ledger.stamp import stamp
from kron.engine.jobs.store import Unfinished
from kron.errors import LedgerUnusableError, OutOfRangeError
from kron.instant import Instant, format_instant
from kron.rules.history_row import HistoryRow
from kron.rules.inquiry import Inquiry
from kron.rules.job_record import JobRecord
from kron.rules.verdict import Outcome

_RANGES = SELECT.replace("FROM entry JOIN", "FROM entry INDEXED BY entry_range JOIN")
_NEWEST = "ORDER BY effective DESC, entry.id DESC LIMIT :limit"
# The last that is known of each job: what was served last, else its newest period; or a later run without a period.
_LAST = """SELECT identity, effective, outcome, result FROM job JOIN entry ON entry.id = coalesce(
    (SELECT max(id) FROM entry WHERE effective = served AND entry.job = job.id),
    (SELECT max(id) FROM entry WHERE nominal = newest AND entry.job = job.id)
) UNION ALL
SELECT identity, max(at), outcome, result FROM entry JOIN job ON job.id = entry.job WHERE nominal IS NULL
GROUP BY job.id ORDER BY 2"""


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which rows: those that were due from `since` on and before `until`, and of these the newest ones."""

    identity: str | None = None
    since: Instant | None = None
    until: Instant | None = None
    outcome: Outcome | None = None
    limit: int | None = 100
    executions: bool = False  # one row for all attempts of an execution

    def conditions(self) -> list[str]:
        """Return what holds of the rows, but for the end of the time."""
        asked = {
            f"entry.job = {JOB_ID}": self.identity is not None,
            "effective >= :since": self.since is not None,
            "outcome = :outcome": self.outcome is not None,
            f"attempt = {ATTEMPTS}": self.executions,
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
            found = connection.execute(f"{SELECT} WHERE {conditions} AND {before} {_NEWEST}", parameters).fetchall()
            if wanted.until is not None:  # ranges that had begun
                across = "number > 1 AND effective >= :until AND first < :until"
                found += connection.execute(f"{_RANGES} WHERE {conditions} AND {across} {_NEWEST}", parameters)
            found.sort(key=lambda row: row[:2])
            rows = [history_row(row) for row in (found if wanted.limit is None else found[-wanted.limit :])]
            return [execution_row(connection, row) for row in rows] if wanted.executions else rows

    def run(self, run_id: str) -> HistoryRow | None:
        """Return the row of a run."""
        with self._connected() as connection:
            row = connection.execute(f"{SELECT} WHERE run_id = ?", (run_id,)).fetchone()
            return None if row is None else history_row(row)

    def newest_run(self, identity: str) -> HistoryRow | None:
        """Return the row of the run of a job that was due last."""
        rows = self.rows(Wanted(identity=identity, outcome=Outcome.EXECUTED, limit=1))
        return rows[0] if rows else None

    def unfinished(self) -> list[Unfinished]:
        """Return the runs of which no end is recorded."""
        with self._connected() as connection:
            return load_unfinished(connection)

    def last(self) -> dict[str, tuple[str, str | None]]:
        """Return by identity the outcome and, of an execution, the result of what was due last."""
        with self._connected() as connection:
            return {identity: (outcome, result) for identity, _, outcome, result in connection.execute(_LAST)}

    def inquire(self, identity: str, at: Instant, now: Instant) -> Inquiry:
        """Return what there is to tell about a job around an instant."""
        with self._connected() as connection, _inside(at):
            return Inquest(connection, at, identity).inquiry(now)

    def rows_at(self, at: Instant, identity: str | None, *, executions: bool = False) -> list[HistoryRow]:
        """Return what touches an instant, of one job or of all: periods, also those inside ranges, and runs."""
        with self._connected() as connection, _inside(at):
            rows = Inquest(connection, at, identity).rows(executions=executions)
            return sorted(rows, key=lambda row: str(row["chosen_time"] or row["started_at"] or row["nominal_time"]))

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
        if check_version(path, JOBS, connection) < JOBS.version:
            reason = "it is of an earlier version of Kron"
            raise LedgerUnusableError(path=str(path), reason=reason, fix="start krond once, which brings it up to date")
        yield connection


@contextmanager
def _inside(at: Instant) -> Iterator[None]:
    """Let a question at the end of the calendar be one clear error."""
    try:
        yield
    except OverflowError as error:
        raise OutOfRangeError(what=f"what lies around {format_instant(at)}") from error
