"""The tables of jobs with periods, and the functions that read their rows as records, history rows and job states.

`entry` has a row for each outcome and each further attempt, and for runs without a period: one table, so that a start
and the outcome that it is cannot contradict each other. Neighbouring periods that were closed together are one row
under the last of them. Instants are texts of one width, which compare as they follow each other. Attempts of one
execution have their period in common; those of a run without a period are a chain, in which each names the run that it
tries again.

No index that every start has to enter begins with the job: a thousand jobs would be a thousand pages to write, and with
a history of a few weeks a start would cost ten times as much. By time they are a handful.
"""

import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from os import PathLike
from typing import Any

from kron.adapters.sqlite.schema import LedgerSchema, from_timestamp, from_timestamp_optional, reason_of, to_timestamp
from kron.engine.ledger import JobSnapshot, PendingRetry
from kron.errors import InvalidDefinitionError, LedgerUnusableError
from kron.instant import Instant
from kron.rules.history import RunRow, merge_attempts
from kron.rules.job_record import (
    JobRecord,
    PeriodRecord,
    ResultCode,
    RunEnd,
    RunHandle,
    RunKind,
    RunStart,
    UnfinishedRun,
)
from kron.rules.job_spec import definition_key, parse_timing
from kron.rules.periods import HandledPeriods, LongRange, nominal_times_between
from kron.rules.verdict import Outcome

_DEFINITION = "CREATE TABLE definition (id INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, text TEXT NOT NULL)"
# Which definitions a job has had; so that it is known how far around an instant its windows may reach.
_VERSION = """CREATE TABLE version (
    job INTEGER NOT NULL REFERENCES job, definition INTEGER NOT NULL REFERENCES definition,
    PRIMARY KEY (job, definition)
) WITHOUT ROWID"""
# `newest`: the last nominal time with an outcome; periods after it have none.
_JOB = """CREATE TABLE job (
    id INTEGER PRIMARY KEY, identity TEXT NOT NULL UNIQUE, name TEXT NOT NULL,
    definition INTEGER NOT NULL REFERENCES definition, declared_at TEXT NOT NULL, served TEXT NOT NULL,
    suspended INTEGER NOT NULL, suspended_until TEXT, boot TEXT NOT NULL, declared INTEGER NOT NULL,
    newest TEXT NOT NULL
)"""
# `first` only of several periods; `at`: when a run began or a period was closed; from `run_id` on only of runs.
# `again`: the run that failed, and that a further attempt tries again.
_ENTRY = """CREATE TABLE entry (
    id INTEGER PRIMARY KEY, job INTEGER NOT NULL REFERENCES job, kind TEXT NOT NULL,
    nominal TEXT, first TEXT, number INTEGER NOT NULL, attempt INTEGER NOT NULL,
    chosen TEXT, effective TEXT NOT NULL,
    outcome TEXT NOT NULL, reason TEXT NOT NULL, detail TEXT NOT NULL,
    definition INTEGER NOT NULL REFERENCES definition, at TEXT NOT NULL,
    run_id TEXT, boot TEXT, pid INTEGER, ticks INTEGER,
    ended TEXT, result TEXT, exit_code INTEGER, signal TEXT, retry_at TEXT,
    again TEXT
)"""
_INDICES = {
    "entry_period": "UNIQUE INDEX entry_period ON entry (nominal, job, attempt)",  # a closed period is its attempt 1
    "entry_run": "UNIQUE INDEX entry_run ON entry (run_id) WHERE run_id IS NOT NULL",
    "entry_time": "INDEX entry_time ON entry (effective, job)",
    "entry_range": "INDEX entry_range ON entry (job, nominal) WHERE number > 1",
    "entry_unfinished": "INDEX entry_unfinished ON entry (id) WHERE run_id IS NOT NULL AND ended IS NULL",
    "entry_retry": "INDEX entry_retry ON entry (id) WHERE retry_at IS NOT NULL",
    "entry_again": "INDEX entry_again ON entry (again) WHERE again IS NOT NULL",
}

JOBS = LedgerSchema(
    application_id=0x4B726E64,  # "Krnd"
    version=3,
    statements=(_DEFINITION, _JOB, _VERSION, _ENTRY, *(f"CREATE {index}" for index in _INDICES.values())),
    required={
        **dict.fromkeys(("definition", "job", "version", "entry"), "a table"),
        **dict.fromkeys(_INDICES, "an index"),
    },
    migrations={1: ("ALTER TABLE entry ADD COLUMN again TEXT",), 2: (f"CREATE {_INDICES['entry_again']}",)},
    private=True,
)


Row = tuple[Any, ...]

JOB_SQL = """SELECT identity, name, key, declared_at, served, suspended, suspended_until, boot, declared
    FROM job JOIN definition ON definition.id = job.definition"""
PERIOD_SQL = "identity, coalesce(first, nominal), nominal, number, chosen, effective, outcome, reason, detail, key, at"
START_SQL = "run_id, identity, entry.kind, nominal, chosen, attempt, at, key, entry.boot, coalesce(again, '')"
END_SQL = "run_id, ended, result, exit_code, signal, detail, retry_at"
HANDLE_SQL = "run_id, pid, ticks"
ENTRY_SQL = "entry JOIN job ON job.id = entry.job JOIN definition ON definition.id = entry.definition"


@contextmanager
def translate_errors(path: str | PathLike[str]) -> Iterator[None]:
    """Let what cannot be read be one clear error."""
    try:
        yield
    except (sqlite3.Error, ValueError, KeyError) as error:
        reason = (
            reason_of(error) if isinstance(error, sqlite3.Error) else str(error)
        )  # else in the words of this module
        raise LedgerUnusableError(path=str(path), reason=f"it cannot be read ({reason})", cause=error) from error


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise ValueError(f"{value!r} is no text")
    return value


def _whole(value: object) -> int:
    if not isinstance(value, int):
        raise ValueError(f"{value!r} is no whole number")
    return value


def _flag(value: object) -> bool:
    if value not in (0, 1):
        raise ValueError(f"{value!r} is neither 0 nor 1")
    return value == 1


def _optional(read: Callable[[object], Any]) -> Callable[[object], Any]:
    return lambda value: None if value is None else read(value)


_AT, _MAYBE_AT = from_timestamp, from_timestamp_optional
_JOB_READERS = (_text, _text, _text, _AT, _AT, _flag, _MAYBE_AT, _text, _flag)
_PERIOD_READERS = (_text, _AT, _AT, _whole, _MAYBE_AT, _AT, Outcome, _text, _text, _text, _AT)
_START_READERS = (_text, _text, RunKind, _MAYBE_AT, _MAYBE_AT, _whole, _AT, _text, _text, _text)
_END_READERS = (_text, _AT, ResultCode, _optional(_whole), _optional(_text), _text, _MAYBE_AT)


def _values(readers: Sequence[Callable[[object], Any]], row: Row) -> list[Any]:
    return [read(value) for read, value in zip(readers, row, strict=True)]


def read_job(row: Row) -> JobRecord:
    """Return the job of a row of `JOB_SQL`."""
    return JobRecord(*_values(_JOB_READERS, row))


def read_period(row: Row) -> PeriodRecord:
    """Return the record of columns `PERIOD_SQL`."""
    return PeriodRecord(*_values(_PERIOD_READERS, row))


def read_start(row: Row) -> RunStart:
    """Return the attempt of columns `START_SQL`."""
    return RunStart(*_values(_START_READERS, row))


def read_handle(row: Row) -> RunHandle | None:
    """Return the process of columns `HANDLE_SQL`, if it was noted."""
    return None if row[1] is None else RunHandle(*_values((_text, _whole, _whole), row))


def read_end(row: Row) -> RunEnd | None:
    """Return the end of columns `END_SQL`, if there was one."""
    return None if row[1] is None else RunEnd(*_values(_END_READERS, row))


JOB_ID = "(SELECT id FROM job WHERE identity = :identity)"
ATTEMPTS = """CASE WHEN nominal IS NULL THEN (
    WITH RECURSIVE later (run_id, attempt) AS (
        SELECT entry.run_id, entry.attempt
        UNION SELECT next.run_id, next.attempt FROM later JOIN entry AS next ON next.again = later.run_id
    ) SELECT max(attempt) FROM later
) ELSE (
    SELECT max(other.attempt) FROM entry AS other WHERE other.nominal = entry.nominal AND other.job = entry.job
) END"""
SELECT = f"SELECT effective, entry.id, name, {ATTEMPTS}, {START_SQL}, {END_SQL}, {PERIOD_SQL} FROM {ENTRY_SQL}"
_OF_PERIOD = f"{SELECT} WHERE nominal = ? AND entry.job = (SELECT id FROM job WHERE identity = ?) ORDER BY attempt"
_OF_CHAIN = f"""{SELECT} WHERE run_id IN (
    WITH RECURSIVE chain (run_id, again) AS (
        SELECT run_id, again FROM entry WHERE run_id = ?
        UNION SELECT near.run_id, near.again FROM chain JOIN entry AS near
        ON near.run_id = chain.again OR near.again = chain.run_id
    ) SELECT run_id FROM chain
) ORDER BY attempt"""


def read_history_row(row: Row) -> RunRow:
    """Return the history row that a row of `SELECT` holds."""
    name, attempts, run, end, closed = row[2], row[3], row[4:14], row[14:21], row[21:]
    if run[0] is None:
        return RunRow.of_closed(name, read_period(closed))
    return RunRow.of_run(name, read_start(run), read_end(end), attempts=attempts)


def fold_attempts(connection: sqlite3.Connection, row: RunRow) -> RunRow:
    """Return one row for the whole execution to which an attempt's row belongs."""
    if row.attempts in (0, 1):
        return row
    if row.nominal_time is None:
        found = connection.execute(_OF_CHAIN, (row.run_id,))
    else:
        found = connection.execute(_OF_PERIOD, (to_timestamp(row.nominal_time), row.identity))
    return merge_attempts([read_history_row(each) for each in found])


def identity_of(row: Row) -> str:
    """Return the job of a row of `SELECT`."""
    return str(row[5])


def definition_of(row: Row) -> str:
    """Return the key of the definition that a row of `SELECT` refers to."""
    return str(row[30])


def nominals_of(row: Row) -> tuple[Instant, Instant] | None:
    """Return the first and the last nominal time of a row of `SELECT`, None: it belongs to no period."""
    _, first, last, *_ = row[21:]
    return None if last is None else (from_timestamp(first), from_timestamp(last))


_IN_FORCE = "SELECT key, text FROM definition WHERE id IN (SELECT definition FROM job)"
_PERIODS = "identity, first, nominal, number, text"
_MANY = 10_000  # periods of a range that are not listed one by one: a clock that is ahead by a year leaves 525,600
_SINCE = f"SELECT {_PERIODS} FROM {ENTRY_SQL} WHERE nominal >= ? AND attempt = 1"
_UNFINISHED = (
    f"SELECT {START_SQL}, {HANDLE_SQL} FROM {ENTRY_SQL} WHERE run_id IS NOT NULL AND ended IS NULL ORDER BY entry.id"
)
WAITING = """retry_at IS NOT NULL AND NOT EXISTS (
    SELECT 1 FROM entry AS later
    WHERE later.nominal = entry.nominal AND later.job = entry.job AND later.attempt = entry.attempt + 1
)"""
_RETRIES = f"SELECT {START_SQL}, retry_at FROM {ENTRY_SQL} WHERE {WAITING} ORDER BY entry.id"


def load_jobs(connection: sqlite3.Connection) -> JobSnapshot:
    """Return the records of all jobs, the definitions, the unfinished runs and the pending retries."""
    jobs = [read_job(row) for row in connection.execute(JOB_SQL)]
    retries = [PendingRetry(read_start(row[:10]), from_timestamp(row[10])) for row in connection.execute(_RETRIES)]
    return JobSnapshot(
        jobs={job.identity: job for job in jobs},
        definitions=_definitions(connection),
        unfinished=load_unfinished(connection),
        retries=retries,
    )


def load_unfinished(connection: sqlite3.Connection) -> list[UnfinishedRun]:
    """Return the runs of which no end is recorded."""
    return [UnfinishedRun(read_start(row[:10]), read_handle(row[10:])) for row in connection.execute(_UNFINISHED)]


def _definitions(connection: sqlite3.Connection) -> Mapping[str, str]:
    """Return the definitions in force. A damaged one is an error: it would be read as another job."""
    found: dict[str, str] = dict(connection.execute(_IN_FORCE).fetchall())
    for key, text in found.items():
        if definition_key(str(text)) != key:
            raise ValueError(f"definition {key} is damaged")
    return found


def load_handled(
    connection: sqlite3.Connection, since: Mapping[str, Instant]
) -> Mapping[str, frozenset[Instant] | HandledPeriods]:
    """Return the nominal times with an outcome, of some jobs."""
    if not since:
        return {}
    rows = connection.execute(_SINCE, (to_timestamp(min(since.values())),))
    return _nominals((row for row in rows if row[0] in since), since)


def _nominals(rows: Iterable[Row], since: Mapping[str, Instant]) -> Mapping[str, frozenset[Instant] | HandledPeriods]:
    """Return all nominal times of rows, also those inside of ranges."""
    found: dict[str, set[Instant]] = {}
    long: dict[str, list[LongRange]] = {}
    for identity, first, last, number, definition in rows:
        begin, end = from_timestamp(last) if first is None else from_timestamp(first), from_timestamp(last)
        begin = max(begin, since.get(identity, begin))
        nominals: Iterable[Instant] = [end] if first is None and begin <= end else []
        if first is not None and begin <= end:
            try:
                if number > _MANY:
                    schedule = parse_timing(identity, definition).schedule
                    long.setdefault(identity, []).append(LongRange(begin, end, schedule))
                else:
                    nominals = nominal_times_between(identity, definition, begin, end)
            except InvalidDefinitionError as error:
                raise ValueError(f"definition of {identity}: {error}") from error
        found.setdefault(identity, set()).update(nominals)
    listed = {identity: frozenset(nominals) for identity, nominals in found.items() if nominals}
    return {**listed, **{identity: _handled(found[identity], each) for identity, each in long.items()}}


def _handled(nominals: Iterable[Instant], long: Iterable[LongRange]) -> HandledPeriods:
    return HandledPeriods(tuple((nominal, nominal) for nominal in nominals), tuple(long))
