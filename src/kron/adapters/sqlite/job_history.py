"""SqliteJobHistory: the ledger of jobs as people read it, with or without a running krond; also its copy."""

import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from datetime import timedelta
from operator import attrgetter
from os import PathLike
from pathlib import Path
from statistics import median
from typing import NamedTuple

from kron.adapters.sqlite.job_tables import (
    ATTEMPTS,
    JOB_ID,
    JOB_SQL,
    JOBS,
    SELECT,
    WAITING,
    Row,
    definition_of,
    fold_attempts,
    identity_of,
    load_unfinished,
    nominals_of,
    read_history_row,
    read_job,
    translate_errors,
)
from kron.adapters.sqlite.schema import (
    check_header,
    check_version,
    connect_read_only,
    create_empty,
    from_timestamp,
    from_timestamp_optional,
    publish,
    reason_of,
    to_timestamp,
    to_timestamp_optional,
)
from kron.decision.decide import decide
from kron.decision.timing import Timing
from kron.engine.ledger import HistoryQuery, JobDefinition
from kron.errors import InvalidDefinitionError, LedgerUnusableError, LedgerWriteError, OutOfRangeError
from kron.instant import MICROSECOND, ZERO, Instant, format_instant, shift
from kron.rules.evidence import Evidence, RecordedPeriod, evidence_of_job
from kron.rules.history import RunRow
from kron.rules.job_record import PROBLEM, RETRYABLE, JobRecord, LastResult, ResultCode, UnfinishedRun
from kron.rules.job_spec import parse_definition, parse_timing
from kron.rules.periods import nominal_range_around, touches_instant
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
_DECLARED = """SELECT identity, name, text FROM job JOIN definition ON definition.id = job.definition
    WHERE declared = 1 ORDER BY identity"""
_SERVED = "SELECT identity FROM job WHERE boot = ? OR suspended = 1"
LOOKED_AT = 50_000  # records: older ones are read only on request, so that a long history delays no overview
_PROBLEMS = ", ".join(sorted(f"'{each.value}'" for each in PROBLEM))
_TROUBLES = f"""{SELECT} WHERE entry.id IN (
    SELECT id FROM entry WHERE id > (SELECT max(id) FROM entry) - {LOOKED_AT}
        AND (outcome <> '{Outcome.EXECUTED.value}' OR result IN ({_PROBLEMS}))
    ORDER BY id DESC LIMIT ?
) ORDER BY entry.id DESC"""
# An attempt that was tried again says nothing: the last one of its execution does.
_JUDGED = ", ".join(f"'{result.value}'" for result in (*RETRYABLE, ResultCode.SUCCEEDED))
_FAILING = f"""SELECT identity FROM job JOIN (
    SELECT job, max(id) AS id FROM entry WHERE retry_at IS NULL AND result IN ({_JUDGED}) GROUP BY job
) AS last ON last.job = job.id JOIN entry ON entry.id = last.id
WHERE entry.result <> '{ResultCode.SUCCEEDED.value}'"""
_ROWS = 200_000  # runs that are looked at, the newest first
_RUNS = 50  # of each job
# What was not started, or ended unseen, took no time that is known.
_NEWEST_RUNS = """SELECT identity, at, ended FROM (
    SELECT job, at, ended, result FROM entry WHERE run_id IS NOT NULL ORDER BY effective DESC LIMIT ?
) JOIN job ON job.id = job WHERE ended IS NOT NULL AND result IN ('succeeded', 'failed', 'timeout')"""
_MINUTE = timedelta(minutes=1)
_LONGEST = timedelta(days=7)  # from the deadline of a period until the last of its attempts begins
_VERSIONS = """SELECT identity, key, text FROM version
    JOIN job ON job.id = version.job JOIN definition ON definition.id = version.definition"""
_SPAN = f"""{SELECT} WHERE entry.id IN (
    SELECT id FROM entry WHERE nominal BETWEEN :first AND :last AND {{which}}
    UNION ALL
    SELECT id FROM entry WHERE nominal > :last AND number > 1 AND first <= :last AND {{which}}
) ORDER BY identity, nominal, attempt"""
_BEGUN = f"""{SELECT} WHERE entry.id IN (
    SELECT id FROM entry WHERE effective >= :since AND effective < :end AND {{which}}
) AND run_id IS NOT NULL AND at >= :begin AND at < :end ORDER BY identity, at, entry.id"""
_ONE, _ALL = f"job = {JOB_ID}", "1"
_PERIODS = f"SELECT id FROM entry WHERE job = {JOB_ID} AND nominal IS NOT NULL AND"
_NEAR = f"""{SELECT} WHERE entry.id IN (
    SELECT * FROM ({_PERIODS} effective <= :at ORDER BY effective DESC LIMIT 1)
    UNION SELECT * FROM ({_PERIODS} effective > :at ORDER BY effective LIMIT 1)
)"""
_AHEAD = f"""SELECT max(effective) FROM entry
    WHERE effective > :now AND at > :now AND nominal IS NOT NULL AND job = {JOB_ID}"""


class SqliteJobHistory:
    """A HistoryReader. It reads without a lock, also while another has the ledger."""

    def __init__(self, path: str | PathLike[str]) -> None:
        self.path = Path(path)

    def jobs(self) -> list[JobRecord]:
        """Return all jobs, also those that are no longer declared, by identity."""
        with self._connected() as connection:
            return [read_job(row) for row in connection.execute(f"{JOB_SQL} ORDER BY identity")]

    def job(self, identity: str) -> JobRecord | None:
        """Return a job, also one that is no longer declared; None if it is not known."""
        with self._connected() as connection:
            row = connection.execute(f"{JOB_SQL} WHERE identity = ?", (identity,)).fetchone()
            return None if row is None else read_job(row)

    def definition(self, key: str) -> str | None:
        """Return the text of a definition by its key, None if no record refers to it."""
        with self._connected() as connection:
            row = connection.execute("SELECT text FROM definition WHERE key = ?", (key,)).fetchone()
            return None if row is None else str(row[0])

    def definitions(self) -> list[JobDefinition]:
        """Return the declared jobs with their definitions, by identity."""
        with self._connected() as connection:
            return [JobDefinition(*map(str, row)) for row in connection.execute(_DECLARED)]

    # --- runs and periods ---------------------------------------------------------------------------------------------

    def rows(self, query: HistoryQuery, /) -> list[RunRow]:
        """Return rows in the order of the times at which they were due, the oldest first."""
        if query.at is not None:
            return self._rows_at(query.at, query)
        conditions, parameters = " AND ".join(_conditions(query)), _parameters(query)
        before = "1" if query.until is None else "effective < :until"
        with self._connected() as connection:
            found = connection.execute(f"{SELECT} WHERE {conditions} AND {before} {_NEWEST}", parameters).fetchall()
            if query.until is not None:  # ranges that had begun
                across = "number > 1 AND effective >= :until AND first < :until"
                found += connection.execute(f"{_RANGES} WHERE {conditions} AND {across} {_NEWEST}", parameters)
            found.sort(key=lambda row: row[:2])
            rows = [read_history_row(row) for row in (found if query.limit is None else found[-query.limit :])]
            return [fold_attempts(connection, row) for row in rows] if query.executions else rows

    def _rows_at(self, at: Instant, query: HistoryQuery) -> list[RunRow]:
        with self._connected() as connection, _inside(at):
            found = EvidenceReader(connection, at, query.identity).rows(executions=query.executions)
        rows = sorted((row for row in found if query.outcome in (None, row.outcome)), key=attrgetter("due"))
        return rows if query.limit is None else rows[-query.limit :]

    def run(self, run_id: str) -> RunRow | None:
        """Return the row of a run, None if it is not known."""
        with self._connected() as connection:
            row = connection.execute(f"{SELECT} WHERE run_id = ?", (run_id,)).fetchone()
            return None if row is None else read_history_row(row)

    def unfinished(self) -> list[UnfinishedRun]:
        """Return the runs without an end, in the order in which they began."""
        with self._connected() as connection:
            return load_unfinished(connection)

    def problems(self, limit: int) -> list[RunRow]:
        """Return recent runs that ended badly and periods without a run, the last recorded one first."""
        with self._connected() as connection:
            return [read_history_row(row) for row in connection.execute(_TROUBLES, (limit,))]

    def pending_retries(self) -> list[RunRow]:
        """Return the rows of failed runs that are to be retried."""
        with self._connected() as connection:
            return [read_history_row(row) for row in connection.execute(f"{SELECT} WHERE {WAITING} ORDER BY entry.id")]

    def evidence(self, identity: str, at: Instant, now: Instant) -> Evidence:
        """Return what is recorded of a job, which must be known, around an instant."""
        with self._connected() as connection, _inside(at):
            return EvidenceReader(connection, at, identity).evidence(now)

    # --- by job -------------------------------------------------------------------------------------------------------

    def last_results(self) -> dict[str, LastResult]:
        """Return by identity what was due last of each job."""
        with self._connected() as connection:
            return {
                identity: LastResult(Outcome(outcome), None if result is None else ResultCode(result))
                for identity, _, outcome, result in connection.execute(_LAST)
            }

    def failing_jobs(self) -> set[str]:
        """Return the jobs whose last execution that succeeded or failed has failed."""
        with self._connected() as connection:
            return {str(identity) for (identity,) in connection.execute(_FAILING)}

    def served_at_boot(self, boot_id: str) -> set[str]:
        """Return the jobs that a host does not start because of this boot: they have run since, or are suspended."""
        with self._connected() as connection:
            return {str(identity) for (identity,) in connection.execute(_SERVED, (boot_id,))}

    def median_durations(self) -> dict[str, timedelta]:
        """Return by identity the median duration of the newest runs of each job that has any."""
        found: dict[str, list[float]] = {}
        with self._connected() as connection:
            for identity, started, ended in connection.execute(_NEWEST_RUNS, (_ROWS,)):
                durations = found.setdefault(identity, [])
                if len(durations) < _RUNS:
                    durations.append(max(0.0, (from_timestamp(ended) - from_timestamp(started)).total_seconds()))
        return {identity: timedelta(seconds=median(durations)) for identity, durations in found.items()}

    @contextmanager
    def _connected(self) -> Iterator[sqlite3.Connection]:
        with open_to_read(self.path) as connection:
            connection.execute("BEGIN")
            yield connection


def _conditions(query: HistoryQuery) -> list[str]:
    """Return what holds of the rows, but for the end of the time."""
    asked = {
        f"entry.job = {JOB_ID}": query.identity is not None,
        "effective >= :since": query.since is not None,
        "outcome = :outcome": query.outcome is not None,
        f"attempt = {ATTEMPTS}": query.executions,
    }
    return ["1", *(condition for condition, is_asked in asked.items() if is_asked)]


def _parameters(query: HistoryQuery) -> Mapping[str, object]:
    return {
        "identity": query.identity,
        "since": to_timestamp_optional(query.since),
        "until": to_timestamp_optional(query.until),
        "outcome": None if query.outcome is None else query.outcome.value,
        "limit": -1 if query.limit is None else query.limit,
    }


@contextmanager
def open_to_read(path: Path) -> Iterator[sqlite3.Connection]:
    """Yield a read-only connection; a ledger that cannot be read is one clear error."""
    if not path.exists():
        fix = "start krond, or name its state directory with --state"
        raise LedgerUnusableError(path=str(path), reason="it does not exist", fix=fix)
    check_header(path, JOBS)
    with translate_errors(path), closing(connect_read_only(path)) as connection:
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


def copy_ledger(ledger: str | PathLike[str], copy: str | PathLike[str]) -> None:
    """Write a copy that is whole and durable when it appears under its name, for its owner alone (0600).

    An existing file is not overwritten: it may be the only other copy.
    """
    target = Path(copy).absolute()
    draft = target.with_name(f"{target.name}.new")
    if target.exists() or target.is_symlink():
        raise LedgerWriteError(path=str(copy), reason="the file exists; choose another name")
    try:
        with open_to_read(Path(ledger)) as source:
            create_empty(draft, JOBS.mode)
            try:
                _copy(source, draft)
                publish(draft, target)
            finally:
                for tail in ("", "-journal", "-wal", "-shm"):
                    draft.with_name(f"{draft.name}{tail}").unlink(missing_ok=True)
    except OSError as error:
        raise LedgerWriteError(path=str(copy), reason=reason_of(error), cause=error) from error


def _copy(source: sqlite3.Connection, draft: Path) -> None:
    try:
        with closing(sqlite3.connect(draft, isolation_level=None)) as connection:
            connection.execute("PRAGMA synchronous=FULL")
            source.backup(connection)  # all pages in one go, of one moment; writers do not wait
    except sqlite3.Error as error:
        raise LedgerWriteError(path=str(draft), reason=reason_of(error), cause=error) from error


# Those that end in the span, and ranges that reach into it from beyond.


class _Version(NamedTuple):
    """A definition that a job has had."""

    text: str
    timing: Timing | None  # None: it has no periods, or none that this version of Kron can read


_Versions = Mapping[tuple[str, str], _Version]  # by the identity and the key


class EvidenceReader:
    """Questions about one job, or about all, to a ledger at one moment."""

    def __init__(self, connection: sqlite3.Connection, at: Instant, identity: str | None = None) -> None:
        self._connection, self._at, self._identity = connection, at, identity
        self._which = _ALL if identity is None else _ONE
        where = "" if identity is None else " WHERE identity = :identity"
        rows = connection.execute(f"{_VERSIONS}{where}", {"identity": identity})
        self._versions: _Versions = {(name, key): _Version(text, _timing(name, text)) for name, key, text in rows}

    def evidence(self, now: Instant) -> Evidence:
        """Return what is recorded of the one job, which must be known."""
        identity = self._identity
        assert identity is not None
        record = read_job(self._connection.execute(f"{JOB_SQL} WHERE identity = ?", (identity,)).fetchone())
        near = self._connection.execute(_NEAR, {"identity": identity, "at": to_timestamp(self._at)})
        definition = self._versions[identity, record.definition_key].text
        found = evidence_of_job(record, definition, self._at, now, self._ahead(now))
        touching, started = list(self._periods_at()), list(self._started_at())
        return found._replace(touching=touching, started=started, nearest=[self._told(row) for row in near])

    def _ahead(self, now: Instant) -> Instant | None:
        """Return the latest second of a period that was recorded at an instant that has not come yet."""
        (latest,) = self._connection.execute(_AHEAD, {"identity": self._identity, "now": to_timestamp(now)}).fetchone()
        return from_timestamp_optional(latest)

    def rows(self, *, executions: bool) -> list[RunRow]:
        """Return the rows of what touches the instant; `executions`: one for all attempts of an execution."""
        found = list(self._periods_at())
        names = {each.row.run_id for each in found} - {None}
        found += [each for each in self._started_at() if each.row.run_id not in names]
        rows: dict[object, RunRow] = {}
        for number, (nominal, row, definition) in enumerate(found):
            if nominal is not None and definition is not None and row.is_range:
                row = row.narrow_to_period(decide(parse_timing(row.identity, definition), nominal))
            row = fold_attempts(self._connection, row) if executions else row
            rows[(executions and row.run_id) or number] = row
        return list(rows.values())

    def _periods_at(self) -> Iterator[RecordedPeriod]:
        """Yield the periods with an outcome that have the instant in their nominal minute or in their window."""
        at = self._at
        reaches = [nominal_range_around(each.timing, at) for each in self._versions.values() if each.timing is not None]
        if not reaches:
            return
        first, last = min(first for first, _ in reaches), max(last for _, last in reaches)
        span = {"identity": self._identity, "first": to_timestamp(first), "last": to_timestamp(last)}
        for row in self._connection.execute(_SPAN.format(which=self._which), span):
            nominals, version = nominals_of(row), self._versions[identity_of(row), definition_of(row)]
            if nominals is None or version.timing is None:
                continue
            begin, end = nominals
            inside = [end]
            if begin < end:
                around = nominal_range_around(version.timing, at)
                between = max(begin, around[0]) - MICROSECOND, min(end, around[1])
                inside = list(version.timing.schedule.between(*between))
            touching = [nominal for nominal in inside if touches_instant(version.timing, nominal, at)]
            if touching:
                answer = read_history_row(row)
                yield from (RecordedPeriod(nominal, answer, version.text) for nominal in touching)

    def _started_at(self) -> Iterator[RecordedPeriod]:
        """Yield the attempts that began within the minute of the instant, also those without a period."""
        begin = self._at.replace(second=0, microsecond=0)
        times = {
            "begin": to_timestamp(begin),
            "end": to_timestamp(begin + _MINUTE),
            "since": to_timestamp(self._earliest(begin)),
        }
        rows = self._connection.execute(_BEGUN.format(which=self._which), {"identity": self._identity, **times})
        return (self._told(row) for row in rows)

    def _earliest(self, at: Instant) -> Instant:
        """Return since when a period may have been due of which an attempt begins at an instant."""
        texts = {each.text for each in self._versions.values() if each.timing is not None}
        deadlines = (parse_definition("job", text)[1].deadline for text in texts)
        return shift(at, -_LONGEST - max(deadlines, default=ZERO))

    def _told(self, row: Row) -> RecordedPeriod:
        nominals, version = nominals_of(row), self._versions[identity_of(row), definition_of(row)]
        return RecordedPeriod(None if nominals is None else nominals[1], read_history_row(row), version.text)


def _timing(identity: str, definition: str) -> Timing | None:
    try:
        return parse_timing(identity, definition)
    except InvalidDefinitionError:
        return None
