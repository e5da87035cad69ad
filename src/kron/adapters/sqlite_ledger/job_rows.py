"""A JobBatch -> rows of the tables, many with one statement. Whether they may be there is asked before."""

import sqlite3
from collections.abc import Iterable, Mapping, Sequence

from kron.adapters.sqlite_ledger.blocks import ROWS, execute_rows
from kron.adapters.sqlite_ledger.job_numbers import Known, Numbers
from kron.adapters.sqlite_ledger.stamp import stamp, stamp_or_none
from kron.rules.job_record import Attempt, End, JobRecord, Kind, PeriodRecord, Process
from kron.rules.verdict import Outcome

_JOB = (
    "id", "identity", "name", "definition", "declared_at", "served", "suspended", "suspended_until", "boot", "declared",
    "newest",
)  # fmt: skip
_RUN = (
    "job", "kind", "nominal", "number", "attempt", "chosen", "effective", "outcome", "reason", "detail",
    "definition", "at", "run_id", "boot", "again",
)  # fmt: skip
_CLOSED = (
    "job", "kind", "nominal", "first", "number", "attempt", "chosen", "effective", "outcome", "reason",
    "detail", "definition", "at",
)  # fmt: skip
_END = ("run_id", "ended", "result", "exit_code", "signal", "detail", "retry_at")

_PUT_DEFINITIONS = f"INSERT INTO definition (id, key, text) VALUES {ROWS}"
_PUT_JOBS = f"INSERT INTO job ({', '.join(_JOB)}) VALUES {ROWS} ON CONFLICT (id) DO UPDATE SET " + ", ".join(
    f"{column} = excluded.{column}" for column in _JOB[2:]
)
_PUT_VERSIONS = f"INSERT INTO version (job, definition) VALUES {ROWS}"
_REACH = f"UPDATE job SET newest = new.column2 FROM (VALUES {ROWS}) AS new WHERE id = new.column1"
_PUT_RUNS = f"INSERT INTO entry ({', '.join(_RUN)}) VALUES {ROWS}"
_PUT_CLOSED = f"INSERT INTO entry ({', '.join(_CLOSED)}) VALUES {ROWS}"
_PUT_PROCESSES = (
    f"UPDATE entry SET pid = new.column2, ticks = new.column3 FROM (VALUES {ROWS}) AS new WHERE run_id = new.column1"
)
_PUT_ENDS = (
    "UPDATE entry SET "
    + ", ".join(f"{column} = new.column{number}" for number, column in enumerate(_END[1:], 2))
    + f" FROM (VALUES {ROWS}) AS new WHERE run_id = new.column1 AND ended IS NULL"
)
_REPEAT = "UPDATE entry SET retry_at = NULL WHERE run_id = ?"
_EXECUTED, _RANGE = Outcome.EXECUTED.value, "range"


def put_definitions(connection: sqlite3.Connection, texts: Mapping[str, str], new: Mapping[str, int]) -> None:
    """Add definitions that are not there yet."""
    values = [value for key, number in new.items() for value in (number, key, texts[key])]
    execute_rows(connection, _PUT_DEFINITIONS, 3, values)


def put_jobs(connection: sqlite3.Connection, records: Iterable[JobRecord], numbers: Numbers) -> None:
    """Write jobs as they are now; the last record of a job counts."""
    values: list[object] = []
    last = {record.identity: record for record in records}
    for identity, name, key, declared_at, served, suspended, until, boot, declared in last.values():
        known, number = numbers.job(identity), numbers.definition(key)
        values += (known.number, identity, name, number, stamp(declared_at), stamp(served))
        values += (int(suspended), stamp_or_none(until), boot, int(declared), known.newest)
    execute_rows(connection, _PUT_JOBS, len(_JOB), values)
    versions = [(numbers.job(identity).number, numbers.definition(key)) for identity, key in numbers.new_versions]
    execute_rows(connection, _PUT_VERSIONS, 2, [number for version in versions for number in version])
    moved = [known for identity, known in numbers.changed_jobs.items() if identity not in last]
    _put_reaches(connection, moved)


def _put_reaches(connection: sqlite3.Connection, moved: Iterable[Known]) -> None:
    values = [value for known in moved for value in (known.number, known.newest)]
    execute_rows(connection, _REACH, 2, values)


def put_closed(connection: sqlite3.Connection, records: Iterable[PeriodRecord], numbers: Numbers) -> None:
    """Add what was closed."""
    values: list[object] = []
    for identity, first, last, number, chosen, effective, outcome, reason, detail, key, at in records:
        kind, begin = (Kind.PERIOD.value, None) if number == 1 else (_RANGE, stamp(first))
        values += (numbers.job(identity).number, kind, stamp(last), begin, number, 1, stamp_or_none(chosen))
        values += (stamp(effective), outcome.value, reason, detail, numbers.definition(key), stamp(at))
    execute_rows(connection, _PUT_CLOSED, len(_CLOSED), values)


def put_begun(connection: sqlite3.Connection, attempts: Iterable[Attempt], numbers: Numbers) -> None:
    """Add runs that begin."""
    values: list[object] = []
    for run_id, identity, kind, nominal, chosen, attempt, started, key, boot, before in attempts:
        known = numbers.job(identity)
        if nominal is None and before:
            connection.execute(_REPEAT, (before,))
        effective = stamp(chosen or nominal or started)
        values += (known.number, kind.value, stamp_or_none(nominal), 1, attempt, stamp_or_none(chosen), effective)
        values += (_EXECUTED, "", "", numbers.definition(key), stamp(started), run_id, boot, before or None)
    execute_rows(connection, _PUT_RUNS, len(_RUN), values)


def put_processes(connection: sqlite3.Connection, processes: Sequence[Process]) -> int:
    """Note what runs are recognised by; return how many of them are there."""
    return execute_rows(connection, _PUT_PROCESSES, 3, [value for process in processes for value in process])


def put_ends(connection: sqlite3.Connection, ends: Sequence[End]) -> int:
    """Note how runs have ended; return how many of them were there and had no end."""
    values: list[object] = []
    for run_id, ended, result, exit_code, signal, detail, retry_at in ends:
        values += (run_id, stamp(ended), result.value, exit_code, signal, detail, stamp_or_none(retry_at))
    return execute_rows(connection, _PUT_ENDS, len(_END), values)
