"""load_jobs(connection) -> JobStored, load_handled(connection, since): what was written, as it was."""

import sqlite3
from collections.abc import Iterable, Mapping

from kron.adapters.sqlite_ledger.job_cells import ATTEMPT, ENTRY, JOB, PROCESS, Row, attempt_of, job_of, process_of
from kron.adapters.sqlite_ledger.stamp import moment, stamp
from kron.engine.jobs.store import JobStored, Retry, Unfinished
from kron.errors import InvalidDefinitionError
from kron.instant import Instant
from kron.rules.handled import Handled, LongRange
from kron.rules.inside import nominals_inside, timing_of
from kron.rules.work import definition_key

_IN_FORCE = "SELECT key, text FROM definition WHERE id IN (SELECT definition FROM job)"
_PERIODS = "identity, first, nominal, number, text"
_MANY = 10_000  # periods of a range that are not listed one by one: a clock that is ahead by a year leaves 525,600
_SINCE = f"SELECT {_PERIODS} FROM {ENTRY} WHERE nominal >= ? AND attempt = 1"
_UNFINISHED = f"SELECT {ATTEMPT}, {PROCESS} FROM {ENTRY} WHERE run_id IS NOT NULL AND ended IS NULL ORDER BY entry.id"
WAITING = """retry_at IS NOT NULL AND NOT EXISTS (
    SELECT 1 FROM entry AS later
    WHERE later.nominal = entry.nominal AND later.job = entry.job AND later.attempt = entry.attempt + 1
)"""
_RETRIES = f"SELECT {ATTEMPT}, retry_at FROM {ENTRY} WHERE {WAITING} ORDER BY entry.id"


def load_jobs(connection: sqlite3.Connection) -> JobStored:
    """Return what is remembered."""
    jobs = [job_of(row) for row in connection.execute(JOB)]
    retries = [Retry(attempt_of(row[:10]), moment(row[10])) for row in connection.execute(_RETRIES)]
    return JobStored(
        jobs={job.identity: job for job in jobs},
        definitions=_definitions(connection),
        unfinished=load_unfinished(connection),
        retries=retries,
    )


def load_unfinished(connection: sqlite3.Connection) -> list[Unfinished]:
    """Return the runs of which no end is recorded."""
    return [Unfinished(attempt_of(row[:10]), process_of(row[10:])) for row in connection.execute(_UNFINISHED)]


def _definitions(connection: sqlite3.Connection) -> Mapping[str, str]:
    """Return the definitions in force; one that nobody has written would be read as another job."""
    found: dict[str, str] = dict(connection.execute(_IN_FORCE).fetchall())
    for key, text in found.items():
        if definition_key(str(text)) != key:
            raise ValueError(f"definition {key} is damaged")
    return found


def load_handled(
    connection: sqlite3.Connection, since: Mapping[str, Instant]
) -> Mapping[str, frozenset[Instant] | Handled]:
    """Return the nominal times with an outcome, of some jobs."""
    if not since:
        return {}
    rows = connection.execute(_SINCE, (stamp(min(since.values())),))
    return _nominals((row for row in rows if row[0] in since), since)


def _nominals(rows: Iterable[Row], since: Mapping[str, Instant]) -> Mapping[str, frozenset[Instant] | Handled]:
    """Return all nominal times of rows, also those inside of ranges."""
    found: dict[str, set[Instant]] = {}
    long: dict[str, list[LongRange]] = {}
    for identity, first, last, number, definition in rows:
        begin, end = moment(last) if first is None else moment(first), moment(last)
        begin = max(begin, since.get(identity, begin))
        nominals: Iterable[Instant] = [end] if first is None and begin <= end else []
        if first is not None and begin <= end:
            try:
                if number > _MANY:
                    schedule = timing_of(identity, definition).schedule
                    long.setdefault(identity, []).append(LongRange(begin, end, schedule))
                else:
                    nominals = nominals_inside(identity, definition, begin, end)
            except InvalidDefinitionError as error:
                raise ValueError(f"definition of {identity}: {error}") from error
        found.setdefault(identity, set()).update(nominals)
    listed = {identity: frozenset(nominals) for identity, nominals in found.items() if nominals}
    return {**listed, **{identity: _handled(found[identity], each) for identity, each in long.items()}}


def _handled(nominals: Iterable[Instant], long: Iterable[LongRange]) -> Handled:
    return Handled(tuple((nominal, nominal) for nominal in nominals), tuple(long))
