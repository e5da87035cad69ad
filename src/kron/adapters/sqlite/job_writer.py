"""BatchWriter: writes a batch at once or record by record; keeps stored records and refuses those that contradict them.

The first pass writes thousands of rows with a few statements and only notices that something is in the way. The second
finds out what it is, after the first was rolled back. If that concerns some jobs, the first is made again without them.
"""

import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from kron.adapters.sqlite.job_tables import END_SQL, ENTRY_SQL, PERIOD_SQL, START_SQL, read_end, read_period, read_start
from kron.adapters.sqlite.schema import ROWS, execute_rows, from_timestamp, to_timestamp, to_timestamp_optional
from kron.engine.ledger import JobBatch, first_of_each
from kron.engine.ports import Refusal
from kron.errors import LedgerConflictError, LedgerWriteError
from kron.instant import Instant, format_instant
from kron.rules.job_record import JobRecord, PeriodRecord, RunEnd, RunHandle, RunKind, RunStart
from kron.rules.periods import HandledPeriods, PeriodRange
from kron.rules.verdict import Outcome

_VERSIONS = """SELECT identity, key FROM version
    JOIN job ON job.id = version.job JOIN definition ON definition.id = version.definition"""
_NEVER = ""  # before every stamp


class JobRow(NamedTuple):
    """The row of a job."""

    number: int
    newest: str  # a stamp


class JobIds:
    """The row numbers of jobs and definitions in the file, and until it is committed those of one batch."""

    def __init__(self, path: str, connection: sqlite3.Connection) -> None:
        self._path = path
        rows = connection.execute("SELECT identity, id, newest FROM job")
        self._jobs = {identity: JobRow(*known) for identity, *known in rows}
        self._definitions: dict[str, int] = dict(connection.execute("SELECT key, id FROM definition").fetchall())
        self._versions: set[tuple[str, str]] = set(connection.execute(_VERSIONS).fetchall())
        self._last_job = max((known.number for known in self._jobs.values()), default=0)
        self._last_definition = max(self._definitions.values(), default=0)
        self.changed_jobs: dict[str, JobRow] = {}
        self.new_definitions: dict[str, int] = {}
        self.new_versions: set[tuple[str, str]] = set()  # identities and keys

    def take(self, batch: JobBatch) -> None:
        """Give numbers to new definitions and jobs, and note the latest outcome of each job."""
        self.changed_jobs, self.new_definitions = {}, {}
        for key in batch.definitions:
            if key not in self._definitions:
                self.new_definitions[key] = self._last_definition + len(self.new_definitions) + 1
        following = self._last_job + 1
        for record in batch.jobs:
            known = self.changed_jobs.get(record.identity) or self._jobs.get(record.identity)
            if known is None:
                known = JobRow(following, _NEVER)
                following += 1
            self.changed_jobs[record.identity] = known
        outcomes = [(each.identity, each.last) for each in batch.closed]
        outcomes += [(each.identity, each.nominal) for each in batch.begun if each.nominal is not None]
        for identity, nominal in outcomes:
            known, text = self.job(identity), to_timestamp(nominal)
            if text > known.newest:
                self.changed_jobs[identity] = JobRow(known.number, text)
        named = {(each.identity, each.definition_key) for each in batch.jobs}
        named |= {(each.identity, each.definition_key) for each in batch.closed}
        named |= {(each.identity, each.definition_key) for each in batch.begun}
        self.new_versions = named - self._versions

    def commit(self) -> None:
        """Keep the numbers that the batch has added."""
        self._jobs.update(self.changed_jobs)
        self._definitions.update(self.new_definitions)
        self._versions |= self.new_versions
        self._last_job = max(self._last_job, max((known.number for known in self.changed_jobs.values()), default=0))
        self._last_definition += len(self.new_definitions)

    def forget(self, keys: set[str]) -> None:
        """Forget definitions that were removed from the ledger."""
        for key in keys:
            del self._definitions[key]
        if keys:
            self._versions = {version for version in self._versions if version[1] not in keys}

    def job(self, identity: str) -> JobRow:
        """Return what is known of a job; one that was never declared cannot have records."""
        known = self.changed_jobs.get(identity) or self._jobs.get(identity)
        if known is None:
            raise LedgerWriteError(path=self._path, reason=f"there is no job {identity!r}")
        return known

    def before(self, identity: str) -> JobRow | None:
        """Return what was known of a job before the batch."""
        return self._jobs.get(identity)

    def definition(self, key: str) -> int:
        """Return the number of a definition."""
        number = self._definitions.get(key) or self.new_definitions.get(key)
        if number is None:
            raise LedgerWriteError(path=self._path, reason=f"there is no definition {key!r}")
        return number


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


def insert_definitions(connection: sqlite3.Connection, texts: Mapping[str, str], new: Mapping[str, int]) -> None:
    """Add definitions that are not there yet."""
    values = [value for key, number in new.items() for value in (number, key, texts[key])]
    execute_rows(connection, _PUT_DEFINITIONS, 3, values)


def insert_jobs(connection: sqlite3.Connection, records: Iterable[JobRecord], numbers: JobIds) -> None:
    """Write jobs as they are now; the last record of a job counts."""
    values: list[object] = []
    last = {record.identity: record for record in records}
    for identity, name, key, declared_at, served, suspended, until, boot, declared in last.values():
        known, number = numbers.job(identity), numbers.definition(key)
        values += (known.number, identity, name, number, to_timestamp(declared_at), to_timestamp(served))
        values += (int(suspended), to_timestamp_optional(until), boot, int(declared), known.newest)
    execute_rows(connection, _PUT_JOBS, len(_JOB), values)
    versions = [(numbers.job(identity).number, numbers.definition(key)) for identity, key in numbers.new_versions]
    execute_rows(connection, _PUT_VERSIONS, 2, [number for version in versions for number in version])
    moved = [known for identity, known in numbers.changed_jobs.items() if identity not in last]
    _put_reaches(connection, moved)


def _put_reaches(connection: sqlite3.Connection, moved: Iterable[JobRow]) -> None:
    values = [value for known in moved for value in (known.number, known.newest)]
    execute_rows(connection, _REACH, 2, values)


def insert_periods(connection: sqlite3.Connection, records: Iterable[PeriodRecord], numbers: JobIds) -> None:
    """Add what was closed."""
    values: list[object] = []
    for identity, first, last, number, chosen, effective, outcome, reason, detail, key, at in records:
        kind, begin = (RunKind.PERIOD.value, None) if number == 1 else (_RANGE, to_timestamp(first))
        values += (numbers.job(identity).number, kind, to_timestamp(last), begin, number, 1)
        values += (to_timestamp_optional(chosen), to_timestamp(effective), outcome.value, reason, detail)
        values += (numbers.definition(key), to_timestamp(at))
    execute_rows(connection, _PUT_CLOSED, len(_CLOSED), values)


def insert_starts(connection: sqlite3.Connection, attempts: Iterable[RunStart], numbers: JobIds) -> None:
    """Add runs that begin."""
    values: list[object] = []
    for run_id, identity, kind, nominal, chosen, attempt, started, key, boot, before in attempts:
        known = numbers.job(identity)
        if nominal is None and before:
            connection.execute(_REPEAT, (before,))
        effective = to_timestamp(chosen or nominal or started)
        values += (known.number, kind.value, to_timestamp_optional(nominal), 1, attempt)
        values += (to_timestamp_optional(chosen), effective)
        values += (_EXECUTED, "", "", numbers.definition(key), to_timestamp(started), run_id, boot, before or None)
    execute_rows(connection, _PUT_RUNS, len(_RUN), values)


def update_handles(connection: sqlite3.Connection, processes: Sequence[RunHandle]) -> int:
    """Note what runs are recognised by; return how many of them are there."""
    return execute_rows(connection, _PUT_PROCESSES, 3, [value for process in processes for value in process])


def update_ends(connection: sqlite3.Connection, ends: Sequence[RunEnd]) -> int:
    """Note how runs have ended; return how many of them were there and had no end."""
    values: list[object] = []
    for run_id, ended, result, exit_code, signal, detail, retry_at in ends:
        retry = to_timestamp_optional(retry_at)
        values += (run_id, to_timestamp(ended), result.value, exit_code, signal, detail, retry)
    return execute_rows(connection, _PUT_ENDS, len(_END), values)


_SPAN = "SELECT entry.id, first, nominal, text FROM entry JOIN definition ON definition.id = entry.definition"
_INSIDE = f"{_SPAN} WHERE nominal BETWEEN ? AND ? AND job = ? AND attempt = 1"
_ACROSS = f"{_SPAN} WHERE job = ? AND nominal > ? AND number > 1 AND first <= ?"
_TEXT = "SELECT text FROM definition WHERE key = ?"
_FIRST_ATTEMPT = "SELECT outcome FROM entry WHERE nominal = ? AND job = ? AND attempt = 1"
_SAME_ATTEMPT = "SELECT id FROM entry WHERE nominal = ? AND job = ? AND attempt = ?"
_OUTCOME = "SELECT outcome FROM entry WHERE id = ?"
_RETRY = "UPDATE entry SET retry_at = ? WHERE run_id = ?"


def _together(ranges: Iterable[PeriodRecord]) -> Mapping[str, HandledPeriods]:
    """Return by identity what ranges of one batch reach over; of a long outage there are thousands."""
    found: dict[str, list[tuple[Instant, Instant]]] = {}
    for record in ranges:
        found.setdefault(record.identity, []).append((record.first, record.last))
    return {identity: HandledPeriods(tuple(spans)) for identity, spans in found.items()}


class BatchWriter:
    """Writes into one ledger, inside of a transaction."""

    def __init__(self, path: str, connection: sqlite3.Connection, numbers: JobIds) -> None:
        self._path = path
        self._connection = connection
        self._numbers = numbers

    # --- at once ------------------------------------------------------------------------------------------------------

    def write(self, batch: JobBatch) -> None:
        """Write the batch, or raise IntegrityError with a part of it written."""
        connection, numbers = self._connection, self._numbers
        self._put_jobs(batch)
        ranges = [record for record in batch.closed if record.period_count > 1]
        together = _together(ranges)
        self._require(sum(len(each.spans) for each in together.values()) == len(ranges))  # else some overlap
        for record in ranges:
            if not self._is_new(record.identity, record.first):
                self._require(self._find_conflict(record.identity, self._span(record)) is None)
        outcomes = [(record.identity, record.last) for record in batch.closed if record.period_count == 1]
        outcomes += [(each.identity, each.nominal) for each in batch.begun if each.nominal and each.attempt == 1]
        for identity, nominal in outcomes:  # of each other the index lets only one in
            self._require(identity not in together or not together[identity].has(nominal))
            if not self._is_new(identity, nominal):
                self._require(self._range_with(identity, PeriodRange(nominal, nominal, "")) is None)
        self._require(all(self._has_begun(each) for each in batch.begun))
        insert_periods(connection, batch.closed, numbers)
        insert_starts(connection, batch.begun, numbers)
        self._require(update_handles(connection, batch.processes) == len(batch.processes))
        self._require(update_ends(connection, batch.ended) == len(batch.ended))
        self._give_up(batch)

    def _put_jobs(self, batch: JobBatch) -> None:
        self._numbers.take(batch)
        insert_definitions(self._connection, batch.definitions, self._numbers.new_definitions)
        insert_jobs(self._connection, batch.jobs, self._numbers)

    def _is_new(self, identity: str, nominal: Instant) -> bool:
        """Whether it lies after everything that had an outcome before the batch: nothing can be in the way."""
        before = self._numbers.before(identity)
        return to_timestamp(nominal) > (_NEVER if before is None else before.newest)

    @staticmethod
    def _require(it_is_so: bool) -> None:  # noqa: FBT001  # a claim, read as one
        if not it_is_so:
            raise sqlite3.IntegrityError("something is there already, or not there yet")

    # --- one by one ---------------------------------------------------------------------------------------------------

    def write_checked(self, batch: JobBatch) -> Sequence[Refusal]:
        """Write the records that are not stored yet; if some contradict stored ones, return one refusal a job."""
        self._put_jobs(batch)
        if refused := first_of_each((*map(self._close, batch.closed), *map(self._begin, batch.begun))):
            return refused  # what else is said of their runs cannot be judged
        for process in batch.processes:
            self._set_handle(process)
        if refused := first_of_each(map(self._end, batch.ended)):
            return refused
        self._give_up(batch)
        return ()

    def _give_up(self, batch: JobBatch) -> None:
        self._connection.executemany(_RETRY, [(None, run_id) for run_id in batch.given_up])

    def _close(self, record: PeriodRecord) -> Refusal | None:
        occupant = self._find_conflict(record.identity, self._span(record))
        if occupant is None:
            insert_periods(self._connection, [record], self._numbers)
            return None
        row = self._row(PERIOD_SQL, "entry.id = ? AND run_id IS NULL", occupant)
        if row is not None and read_period(row) == record:
            return None
        return self._refusal(record.identity, record.last, self._outcome_of(occupant))

    def _begin(self, attempt: RunStart) -> Refusal | None:
        row = self._row(START_SQL, "run_id = ?", attempt.run_id)
        if row is not None and read_start(row) == attempt:
            return None
        reason = self._why_not(attempt) if row is None else f"run {attempt.run_id} is another one already"
        if reason:
            return self._refusal(attempt.identity, attempt.nominal, reason, attempt.run_id)
        insert_starts(self._connection, [attempt], self._numbers)
        return None

    def _why_not(self, attempt: RunStart) -> str:
        """Return why a run cannot begin, "" if it can."""
        nominal = attempt.nominal
        if nominal is None:
            return ""
        if attempt.attempt == 1:
            occupant = self._find_conflict(attempt.identity, PeriodRange(nominal, nominal, ""))
            return "" if occupant is None else self._outcome_of(occupant)
        if not self._has_begun(attempt):
            return "it is tried again without a first attempt"
        key = (to_timestamp(nominal), self._numbers.job(attempt.identity).number, attempt.attempt)
        is_taken = self._connection.execute(_SAME_ATTEMPT, key).fetchone() is not None
        return f"attempt {attempt.attempt} has begun already" if is_taken else ""

    def _set_handle(self, process: RunHandle) -> None:
        if update_handles(self._connection, [process]) != 1:
            raise self._no_run(process.run_id)

    def _end(self, end: RunEnd) -> Refusal | None:
        if update_ends(self._connection, [end]) == 1:
            return None
        row = self._row(f"{START_SQL}, {END_SQL}", "run_id = ?", end.run_id)
        if row is None:
            raise self._no_run(end.run_id)
        attempt, before = read_start(row[:10]), read_end(row[10:])
        assert before is not None, "else its end was written"
        if before._replace(retry_at=None) != end._replace(retry_at=None):
            reason = f"run {end.run_id} has ended already: {before.result.value}"
            return self._refusal(attempt.identity, attempt.nominal, reason, end.run_id)
        self._connection.execute(_RETRY, (to_timestamp_optional(end.retry_at), end.run_id))
        return None

    # --- what is there ------------------------------------------------------------------------------------------------

    def _span(self, record: PeriodRecord) -> PeriodRange:
        row = self._connection.execute(_TEXT, (record.definition_key,)).fetchone()
        return PeriodRange(record.first, record.last, "" if row is None else str(row[0]))

    def _find_conflict(self, identity: str, span: PeriodRange) -> int | None:
        """Return an entry that has one of the periods already."""
        key = (to_timestamp(span.first), to_timestamp(span.last), self._numbers.job(identity).number)
        found = self._meeting(identity, span, self._connection.execute(_INSIDE, key))
        return self._range_with(identity, span) if found is None else found

    def _range_with(self, identity: str, span: PeriodRange) -> int | None:
        """Return a range that has one of the periods and ends later than all of them."""
        last = to_timestamp(span.last)
        key = (self._numbers.job(identity).number, last, last)
        return self._meeting(identity, span, self._connection.execute(_ACROSS, key))

    @staticmethod
    def _meeting(identity: str, span: PeriodRange, rows: Iterable[tuple[int, str | None, str, str]]) -> int | None:
        for number, first, last, text in rows:
            if span.overlaps(identity, PeriodRange(from_timestamp(first or last), from_timestamp(last), text)):
                return number
        return None

    def _has_begun(self, attempt: RunStart) -> bool:
        """Whether there is a first attempt, of a further one of a period."""
        if attempt.nominal is None or attempt.attempt == 1:
            return True
        key = (to_timestamp(attempt.nominal), self._numbers.job(attempt.identity).number)
        row = self._connection.execute(_FIRST_ATTEMPT, key).fetchone()
        return row is not None and row[0] == Outcome.EXECUTED.value

    def _row(self, columns: str, which: str, value: object) -> tuple[object, ...] | None:
        row: tuple[object, ...] | None
        row = self._connection.execute(f"SELECT {columns} FROM {ENTRY_SQL} WHERE {which}", (value,)).fetchone()
        return row

    def _outcome_of(self, occupant: int) -> str:
        (outcome,) = self._connection.execute(_OUTCOME, (occupant,)).fetchone()
        return f"it has an outcome already: {outcome}"

    def _refusal(self, identity: str, nominal: Instant | None, reason: str, run_id: str = "") -> Refusal:
        period = "none" if nominal is None else format_instant(nominal)
        error = LedgerConflictError(path=self._path, identity=identity, period=period, reason=reason)
        return Refusal(identity, nominal, error, run_id)

    def _no_run(self, run_id: str) -> LedgerWriteError:
        return LedgerWriteError(path=self._path, reason=f"there is no run {run_id!r}")
