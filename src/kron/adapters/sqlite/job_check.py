"""check_ledger(path) -> findings: whether a ledger of jobs is sound, including whether its rows agree."""

import sqlite3
from collections.abc import Iterator
from dataclasses import replace
from os import PathLike
from pathlib import Path

from kron.adapters.sqlite.job_history import open_to_read
from kron.adapters.sqlite.job_tables import ENTRY_SQL, JOBS, load_jobs
from kron.adapters.sqlite.schema import from_timestamp, missing_parts
from kron.errors import InvalidDefinitionError, LedgerUnusableError
from kron.errors.diagnostics import Diagnostic
from kron.instant import Instant, format_instant
from kron.rules.job_record import ResultCode, RunKind
from kron.rules.job_spec import definition_key
from kron.rules.periods import PeriodRange, count_nominal_times_between
from kron.rules.verdict import Outcome

_MOST = 20  # findings of one kind: enough to see what it is
_STAMP = "[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]T[0-9][0-9]:[0-9][0-9]:[0-9][0-9].[0-9][0-9][0-9][0-9][0-9][0-9]Z"


def _words(*words: str) -> str:
    return ", ".join(f"'{word}'" for word in words)


def _no_stamp(*columns: str) -> str:
    return " OR ".join(f"{column} NOT GLOB '{_STAMP}'" for column in columns)


_KINDS = _words("range", *(kind.value for kind in RunKind))
_OUTCOMES, _RESULTS = (_words(*(each.value for each in kind)) for kind in (Outcome, ResultCode))
_ENTRIES = "SELECT identity, coalesce(nominal, at) FROM entry JOIN job ON job.id = entry.job WHERE"
# What must not be there: a question that has no answer in a sound ledger, and what an answer means.
_INVARIANTS = {
    f"{_ENTRIES} (outcome = 'executed') <> (run_id IS NOT NULL)": "executed and a run are not there together",
    f"""{_ENTRIES} attempt > 1 AND nominal IS NOT NULL AND NOT EXISTS (
        SELECT 1 FROM entry AS start WHERE start.nominal = entry.nominal AND start.job = entry.job
        AND start.attempt = 1 AND start.run_id IS NOT NULL
    )""": "a further attempt has no first one",
    f"{_ENTRIES} (number > 1) <> (first IS NOT NULL) OR first >= nominal OR number < 1": "the range is none",
    f"{_ENTRIES} (number > 1) <> (kind = 'range')": "the kind is not that of its periods",
    f"{_ENTRIES} (nominal IS NULL) <> (kind IN ('trigger', 'boot'))": "the kind does not fit the period",
    f"{_ENTRIES} (ended IS NULL) <> (result IS NULL)": "an end and a result are not there together",
    f"{_ENTRIES} nominal > newest": "the period would be taken for one that is to come",
    f"{_ENTRIES} kind NOT IN ({_KINDS}) OR outcome NOT IN ({_OUTCOMES}) OR result NOT IN ({_RESULTS})": (
        "it holds a word that no Kron writes"
    ),
    f"{_ENTRIES} {_no_stamp('nominal', 'first', 'chosen', 'effective', 'at', 'ended', 'retry_at')}": (
        "an instant cannot be read"
    ),
}
_RANGES = f"SELECT identity, first, nominal, number, text FROM {ENTRY_SQL} WHERE number > 1"
# Pairs of which the first is a range; two that are not are kept apart by their index.
_PAIRS = f"""SELECT identity, entry.first, entry.nominal, definition.text, other.first, other.nominal, theirs.text
    FROM {ENTRY_SQL} CROSS JOIN entry AS other JOIN definition AS theirs ON theirs.id = other.definition
    WHERE entry.number > 1 AND other.job = entry.job AND other.attempt = 1 AND other.id <> entry.id
    AND other.nominal BETWEEN entry.first AND entry.nominal"""


def check_ledger(path: str | PathLike[str]) -> list[Diagnostic]:
    """Return what is wrong with a ledger, nothing if it is sound; also while a daemon has it."""
    found: list[Diagnostic] = []
    try:
        with open_to_read(Path(path)) as connection:
            connection.execute("BEGIN")  # of one moment
            found += _file_findings(connection)
            if not found:
                found += _row_findings(connection)
    except LedgerUnusableError as error:  # found out last, and not instead of the rest
        found.append(_wrong("file", str(error.details["reason"])))
    return [replace(finding, file=str(path)) for finding in found]


def _wrong(field: str, message: str) -> Diagnostic:
    return Diagnostic("error", field, message, "restore it from a backup")


def _file_findings(connection: sqlite3.Connection) -> Iterator[Diagnostic]:
    for (verdict,) in connection.execute(f"PRAGMA integrity_check({_MOST})"):
        if verdict != "ok":
            yield _wrong("file", verdict)
    for missing in missing_parts(JOBS, connection):
        yield _wrong("file", missing)


def _row_findings(connection: sqlite3.Connection) -> Iterator[Diagnostic]:
    for table, row, parent, _ in connection.execute("PRAGMA foreign_key_check"):
        yield _wrong(table, f"row {row} names a {parent} that is not there")
    for question, meaning in _INVARIANTS.items():
        for identity, nominal in connection.execute(f"{question} LIMIT {_MOST}"):
            yield _wrong("entry", f"{identity}, {nominal}: {meaning}")
    for key, text in connection.execute("SELECT key, text FROM definition"):
        if definition_key(text) != key:
            yield _wrong("definition", f"{key} is not the key of its text")
    load_jobs(connection)
    for identity, first, last, text, *other in connection.execute(_PAIRS):
        one, another = _span(first, last, text), _span(*other)
        if one.overlaps(identity, another):
            yield _wrong("entry", f"{identity}, {format_instant(another.last)}: the period has two outcomes")
    for identity, first, last, number, text in connection.execute(_RANGES):
        yield from _range_findings(identity, from_timestamp(first), from_timestamp(last), number, text)


def _span(first: str | None, last: str, text: str) -> PeriodRange:
    return PeriodRange(from_timestamp(first or last), from_timestamp(last), text)


def _range_findings(identity: str, first: Instant, last: Instant, number: int, text: str) -> Iterator[Diagnostic]:
    try:
        count = count_nominal_times_between(identity, text, first, last)
    except InvalidDefinitionError as error:
        yield _wrong("definition", f"{identity}: {error.message}")
        return
    if count != number:  # the rules of a zone may have changed since
        between = f"{format_instant(first)} to {format_instant(last)}"
        yield Diagnostic("warning", "entry", f"{identity}, {between}: {number} periods were closed, there are {count}")
