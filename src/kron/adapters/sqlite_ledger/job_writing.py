"""JobWriting: a batch at once, or one by one: what is there already as it is stays, what contradicts it is refused.

The first way writes thousands of rows with a few statements and only notices that something is in the way. The second
finds out what it is; it is taken after the first was rolled back.
"""

import sqlite3
from collections.abc import Iterable, Mapping

from kron.adapters.sqlite_ledger.job_cells import ATTEMPT, CLOSED, END, ENTRY, attempt_of, closed_of, end_of
from kron.adapters.sqlite_ledger.job_numbers import NEVER, Numbers
from kron.adapters.sqlite_ledger.job_rows import (
    put_begun,
    put_closed,
    put_definitions,
    put_ends,
    put_jobs,
    put_processes,
)
from kron.adapters.sqlite_ledger.stamp import moment, stamp, stamp_or_none
from kron.engine.jobs.store import JobBatch
from kron.errors import LedgerConflictError, LedgerWriteError
from kron.instant import Instant, format_instant
from kron.rules.handled import Handled
from kron.rules.inside import Span
from kron.rules.job_record import Attempt, End, PeriodRecord, Process
from kron.rules.verdict import Outcome

_SPAN = "SELECT entry.id, first, nominal, text FROM entry JOIN definition ON definition.id = entry.definition"
_INSIDE = f"{_SPAN} WHERE nominal BETWEEN ? AND ? AND job = ? AND attempt = 1"
_ACROSS = f"{_SPAN} WHERE job = ? AND nominal > ? AND number > 1 AND first <= ?"
_TEXT = "SELECT text FROM definition WHERE key = ?"
_FIRST_ATTEMPT = "SELECT outcome FROM entry WHERE nominal = ? AND job = ? AND attempt = 1"
_SAME_ATTEMPT = "SELECT id FROM entry WHERE nominal = ? AND job = ? AND attempt = ?"
_RETRY = "UPDATE entry SET retry_at = ? WHERE run_id = ?"


def _together(ranges: Iterable[PeriodRecord]) -> Mapping[str, Handled]:
    """Return by identity what ranges of one batch reach over; of a long outage there are thousands."""
    found: dict[str, list[tuple[Instant, Instant]]] = {}
    for record in ranges:
        found.setdefault(record.identity, []).append((record.first, record.last))
    return {identity: Handled(tuple(spans)) for identity, spans in found.items()}


class JobWriting:
    """Writes into one ledger, inside of a transaction."""

    def __init__(self, path: str, connection: sqlite3.Connection, numbers: Numbers) -> None:
        self._path = path
        self._connection = connection
        self._numbers = numbers

    # --- at once ------------------------------------------------------------------------------------------------------

    def put(self, batch: JobBatch) -> None:
        """Write the batch, or raise IntegrityError with a part of it written."""
        connection, numbers = self._connection, self._numbers
        self._put_jobs(batch)
        ranges = [record for record in batch.closed if record.number > 1]
        together = _together(ranges)
        self._expect(sum(len(each.spans) for each in together.values()) == len(ranges))  # else some overlap
        for record in ranges:
            if not self._is_new(record.identity, record.first):
                self._expect(self._occupant(record.identity, self._span(record)) is None)
        outcomes = [(record.identity, record.last) for record in batch.closed if record.number == 1]
        outcomes += [(each.identity, each.nominal) for each in batch.begun if each.nominal and each.attempt == 1]
        for identity, nominal in outcomes:  # of each other the index lets only one in
            self._expect(identity not in together or not together[identity].has(nominal))
            if not self._is_new(identity, nominal):
                self._expect(self._range_with(identity, Span(nominal, nominal, "")) is None)
        self._expect(all(self._has_begun(each) for each in batch.begun))
        put_closed(connection, batch.closed, numbers)
        put_begun(connection, batch.begun, numbers)
        self._expect(put_processes(connection, batch.processes) == len(batch.processes))
        self._expect(put_ends(connection, batch.ended) == len(batch.ended))
        self._give_up(batch)

    def _put_jobs(self, batch: JobBatch) -> None:
        self._numbers.take(batch)
        put_definitions(self._connection, batch.definitions, self._numbers.new_definitions)
        put_jobs(self._connection, batch.jobs, self._numbers)

    def _is_new(self, identity: str, nominal: Instant) -> bool:
        """Whether it lies after everything that had an outcome before the batch: nothing can be in the way."""
        before = self._numbers.before(identity)
        return stamp(nominal) > (NEVER if before is None else before.newest)

    @staticmethod
    def _expect(it_is_so: bool) -> None:  # noqa: FBT001  # a claim, read as one
        if not it_is_so:
            raise sqlite3.IntegrityError("something is there already, or not there yet")

    # --- one by one ---------------------------------------------------------------------------------------------------

    def put_again(self, batch: JobBatch) -> None:
        """Write what is not there yet, or raise the error that says what is in the way."""
        self._put_jobs(batch)
        for record in batch.closed:
            self._close(record)
        for attempt in batch.begun:
            self._begin(attempt)
        for process in batch.processes:
            self._recognise(process)
        for end in batch.ended:
            self._end(end)
        self._give_up(batch)

    def _give_up(self, batch: JobBatch) -> None:
        self._connection.executemany(_RETRY, [(None, run_id) for run_id in batch.given_up])

    def _close(self, record: PeriodRecord) -> None:
        occupant = self._occupant(record.identity, self._span(record))
        if occupant is None:
            put_closed(self._connection, [record], self._numbers)
            return
        row = self._row(CLOSED, "entry.id = ? AND run_id IS NULL", occupant)
        if row is None or closed_of(row) != record:
            raise self._conflict(record.identity, record.last, "it has an outcome already")

    def _begin(self, attempt: Attempt) -> None:
        row = self._row(ATTEMPT, "run_id = ?", attempt.run_id)
        if row is not None:
            if attempt_of(row) != attempt:
                raise self._conflict(attempt.identity, attempt.nominal, f"run {attempt.run_id} is another one already")
            return
        if not self._has_begun(attempt):
            raise self._conflict(attempt.identity, attempt.nominal, "it is tried again without a first attempt")
        if attempt.nominal is not None and self._is_taken(attempt, attempt.nominal):
            reason = (
                f"attempt {attempt.attempt} has begun already" if attempt.attempt > 1 else "it has an outcome already"
            )
            raise self._conflict(attempt.identity, attempt.nominal, reason)
        put_begun(self._connection, [attempt], self._numbers)

    def _is_taken(self, attempt: Attempt, nominal: Instant) -> bool:
        if attempt.attempt == 1:
            return self._occupant(attempt.identity, Span(nominal, nominal, "")) is not None
        key = (stamp(nominal), self._numbers.job(attempt.identity).number, attempt.attempt)
        return self._connection.execute(_SAME_ATTEMPT, key).fetchone() is not None

    def _recognise(self, process: Process) -> None:
        if put_processes(self._connection, [process]) != 1:
            raise self._no_run(process.run_id)

    def _end(self, end: End) -> None:
        if put_ends(self._connection, [end]) == 1:
            return
        row = self._row(f"{ATTEMPT}, {END}", "run_id = ?", end.run_id)
        if row is None:
            raise self._no_run(end.run_id)
        attempt, before = attempt_of(row[:10]), end_of(row[10:])
        if before is None or before._replace(retry_at=None) != end._replace(retry_at=None):
            raise self._conflict(attempt.identity, attempt.nominal, f"run {end.run_id} has ended already")
        self._connection.execute(_RETRY, (stamp_or_none(end.retry_at), end.run_id))

    # --- what is there ------------------------------------------------------------------------------------------------

    def _span(self, record: PeriodRecord) -> Span:
        row = self._connection.execute(_TEXT, (record.definition,)).fetchone()
        return Span(record.first, record.last, "" if row is None else str(row[0]))

    def _occupant(self, identity: str, span: Span) -> int | None:
        """Return an entry that has one of the periods already."""
        key = (stamp(span.first), stamp(span.last), self._numbers.job(identity).number)
        found = self._meeting(identity, span, self._connection.execute(_INSIDE, key))
        return self._range_with(identity, span) if found is None else found

    def _range_with(self, identity: str, span: Span) -> int | None:
        """Return a range that has one of the periods and ends later than all of them."""
        last = stamp(span.last)
        key = (self._numbers.job(identity).number, last, last)
        return self._meeting(identity, span, self._connection.execute(_ACROSS, key))

    @staticmethod
    def _meeting(identity: str, span: Span, rows: Iterable[tuple[int, str | None, str, str]]) -> int | None:
        for number, first, last, text in rows:
            if span.meets(identity, Span(moment(first or last), moment(last), text)):
                return number
        return None

    def _has_begun(self, attempt: Attempt) -> bool:
        """Whether there is a first attempt, of a further one of a period."""
        if attempt.nominal is None or attempt.attempt == 1:
            return True
        key = (stamp(attempt.nominal), self._numbers.job(attempt.identity).number)
        row = self._connection.execute(_FIRST_ATTEMPT, key).fetchone()
        return row is not None and row[0] == Outcome.EXECUTED.value

    def _row(self, columns: str, which: str, value: object) -> tuple[object, ...] | None:
        row: tuple[object, ...] | None
        row = self._connection.execute(f"SELECT {columns} FROM {ENTRY} WHERE {which}", (value,)).fetchone()
        return row

    def _conflict(self, identity: str, nominal: Instant | None, reason: str) -> LedgerConflictError:
        period = "none" if nominal is None else format_instant(nominal)
        return LedgerConflictError(path=self._path, identity=identity, period=period, reason=reason)

    def _no_run(self, run_id: str) -> LedgerWriteError:
        return LedgerWriteError(path=self._path, reason=f"there is no run {run_id!r}")
