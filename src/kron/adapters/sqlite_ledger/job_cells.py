"""Rows of the tables -> the records that were written; what nobody has written is a damaged ledger."""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from os import PathLike
from typing import Any

from kron.adapters.sqlite_ledger.reason import reason_of
from kron.adapters.sqlite_ledger.stamp import moment, moment_or_none
from kron.errors import LedgerUnusableError
from kron.rules.job_record import Attempt, End, JobRecord, Kind, PeriodRecord, Process, Result
from kron.rules.verdict import Outcome

Row = tuple[Any, ...]

JOB = """SELECT identity, name, key, declared_at, served, suspended, suspended_until, boot, declared
    FROM job JOIN definition ON definition.id = job.definition"""
CLOSED = "identity, first, nominal, number, chosen, effective, outcome, reason, detail, key, at"
ATTEMPT = "run_id, identity, entry.kind, nominal, chosen, attempt, at, key, entry.boot, again"
END = "run_id, ended, result, exit_code, signal, detail, retry_at"
PROCESS = "run_id, pid, ticks"
ENTRY = "entry JOIN job ON job.id = entry.job JOIN definition ON definition.id = entry.definition"


@contextmanager
def reading(path: str | PathLike[str]) -> Iterator[None]:
    """Let what cannot be read be one clear error."""
    try:
        yield
    except (sqlite3.Error, ValueError, KeyError) as error:
        reason = (
            reason_of(error) if isinstance(error, sqlite3.Error) else str(error)
        )  # else in the words of this module
        raise LedgerUnusableError(path=str(path), reason=f"it cannot be read ({reason})", cause=error) from error


def job_of(row: Row) -> JobRecord:
    """Return the job of a row of `JOB`."""
    identity, name, key, declared_at, served, suspended, until, boot, declared = row
    return JobRecord(
        _text(identity),
        _text(name),
        _text(key),
        moment(declared_at),
        moment(served),
        _flag(suspended),
        moment_or_none(until),
        _text(boot),
        _flag(declared),
    )


def closed_of(row: Row) -> PeriodRecord:
    """Return the record of columns `CLOSED`."""
    identity, first, last, number, chosen, effective, outcome, reason, detail, key, at = row
    return PeriodRecord(
        _text(identity),
        moment(last) if first is None else moment(first),
        moment(last),
        _whole(number),
        moment_or_none(chosen),
        moment(effective),
        Outcome(outcome),
        _text(reason),
        _text(detail),
        _text(key),
        moment(at),
    )


def attempt_of(row: Row) -> Attempt:
    """Return the attempt of columns `ATTEMPT`."""
    run_id, identity, kind, nominal, chosen, attempt, started, key, boot, again = row
    return Attempt(
        _text(run_id),
        _text(identity),
        Kind(kind),
        moment_or_none(nominal),
        moment_or_none(chosen),
        _whole(attempt),
        moment(started),
        _text(key),
        _text(boot),
        "" if again is None else _text(again),
    )


def process_of(row: Row) -> Process | None:
    """Return the process of columns `PROCESS`, if it was noted."""
    run_id, pid, ticks = row
    return None if pid is None else Process(_text(run_id), _whole(pid), _whole(ticks))


def end_of(row: Row) -> End | None:
    """Return the end of columns `END`, if there was one."""
    run_id, ended, result, exit_code, signal, detail, retry_at = row
    if ended is None:
        return None
    return End(
        _text(run_id),
        moment(ended),
        Result(result),
        None if exit_code is None else _whole(exit_code),
        None if signal is None else _text(signal),
        _text(detail),
        moment_or_none(retry_at),
    )


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
