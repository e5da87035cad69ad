"""TaskRecord: what a ledger stores of a task, with its fields; and one finished run of it."""

from collections.abc import Callable, Collection, Mapping
from datetime import timedelta
from enum import Enum
from functools import lru_cache
from typing import NamedTuple

from kron.errors import (
    InvalidInstantError,
    TaskInvalidStructureError,
    TaskInvalidTypeError,
    TaskInvalidValueError,
    TaskMissingFieldError,
)
from kron.instant import MILLISECOND, Instant, format_instant, parse_instant

_MOST = 2**53  # what every reader of JSON holds exactly

# Many records carry the same instant (the step that wrote them), so its text is made and read once.
cached_instant_text = lru_cache(maxsize=4096)(format_instant)
_text_instant = lru_cache(maxsize=4096)(parse_instant)


class TaskRecord(NamedTuple):
    """A task's configuration and the instants that decide what it owes.

    A run is in flight from its start (`running_since`) until its end is recorded; if the recorded scheduler is another
    one, that run was interrupted. A named tuple, because a million of them are kept.
    """

    name: str
    cron: str
    retry_delay: timedelta
    first_seen: Instant
    last_attempt: Instant | None = None
    last_success: Instant | None = None
    last_failure: Instant | None = None
    retry_until: Instant | None = None
    retry_count: int = 0
    running_since: Instant | None = None
    scheduler: str = ""

    def is_interrupted(self, scheduler_id: str) -> bool:
        """Whether another scheduler began a run and did not record its end."""
        return self.running_since is not None and self.scheduler != scheduler_id

    def to_fields(self) -> dict[str, object]:
        """Return the persisted fields: RFC 3339 texts, milliseconds, None."""
        return dict(zip(FIELDS, self.to_row(), strict=True))

    def to_row(self) -> tuple[object, ...]:
        """Return the persisted values in the order of `FIELDS`."""
        name, cron, delay, first, attempt, success, failure, retry, count, running, scheduler = self
        return (
            name,
            cron,
            milliseconds(delay),
            cached_instant_text(first),
            attempt and cached_instant_text(attempt),
            success and cached_instant_text(success),
            failure and cached_instant_text(failure),
            retry and cached_instant_text(retry),
            count,
            running and cached_instant_text(running),
            scheduler,
        )

    @classmethod
    def from_fields(cls, fields: object) -> "TaskRecord":
        """Return the record, or raise the TaskTryDeserializeError of its first error."""
        if not isinstance(fields, Mapping):
            raise TaskInvalidStructureError(value=fields)
        for name in FIELDS:
            if name not in fields:
                raise TaskMissingFieldError(field=name)
        return cls.from_row(tuple(fields[name] for name in FIELDS))

    @classmethod
    def from_row(cls, row: tuple[object, ...]) -> "TaskRecord":
        """Return the record whose persisted values are given in the order of `FIELDS`."""
        name, cron, delay, first, attempt, success, failure, retry, count, running, scheduler = row
        if (  # the common case, a million times at a start: nothing is wrong
            type(name) is type(cron) is type(scheduler) is str
            and type(delay) is type(count) is int
            and name
            and cron
            and delay >= 0
            and 0 <= count <= _MOST
        ):
            read = _text_instant
            try:
                return cls(
                    name,
                    cron,
                    _duration(delay),
                    read(first),  # what is no text is refused by it
                    None if attempt is None else read(attempt),
                    None if success is None else read(success),
                    None if failure is None else read(failure),
                    None if retry is None else read(retry),
                    count,
                    None if running is None else read(running),
                    scheduler,
                )
            except (InvalidInstantError, OverflowError, TypeError):
                pass  # below, it is said which field it is
        values = [
            None if value is None and read is _instant_or_none else read(name, value)
            for (name, read), value in zip(_READERS, row, strict=True)
        ]
        return cls._make(values)


def check_columns(found: Collection[str]) -> None:
    """Raise what is wrong with stored tasks that have these fields and no others."""
    if not any(name in found for name in FIELDS):
        raise TaskInvalidStructureError(value=sorted(found))
    for name in FIELDS:
        if name not in found:
            raise TaskMissingFieldError(field=name)


@lru_cache(maxsize=1024)
def milliseconds(duration: timedelta) -> int | float:
    """Return a duration as a number of milliseconds, whole where it is."""
    whole, rest = divmod(duration, MILLISECOND)
    return whole + rest / MILLISECOND if rest else whole


def _string(field: str, value: object) -> str:
    if not isinstance(value, str):
        raise TaskInvalidTypeError(field=field, value=value, expected_type="string")
    return value


def _nonempty(field: str, value: object) -> str:
    if not (text := _string(field, value)):
        raise TaskInvalidValueError(field=field, value=value, reason="must not be empty")
    return text


def _number(field: str, value: object) -> int | float:
    if not isinstance(value, int | float) or isinstance(value, bool):
        raise TaskInvalidTypeError(field=field, value=value, expected_type="number")
    if not value >= 0:  # not a number is no count either
        raise TaskInvalidValueError(field=field, value=value, reason="must not be negative")
    return value


def _count(field: str, value: object) -> int:
    number = _number(field, value)
    if not isinstance(number, int):
        raise TaskInvalidValueError(field=field, value=value, reason="must be a whole number")
    if number > _MOST:
        raise TaskInvalidValueError(field=field, value=value, reason="is larger than any count")
    return number


@lru_cache(maxsize=1024)
def _duration(number: float) -> timedelta:
    return timedelta(milliseconds=number)


def _delay(field: str, value: object) -> timedelta:
    number = _number(field, value)
    try:
        return _duration(number)
    except OverflowError as error:
        raise TaskInvalidValueError(field=field, value=value, reason="is longer than any duration") from error


def _instant(field: str, value: object) -> Instant:
    try:
        return _text_instant(_string(field, value))
    except InvalidInstantError as error:
        raise TaskInvalidValueError(field=field, value=value, reason="must be an RFC 3339 instant") from error


def _instant_or_none(field: str, value: object) -> Instant | None:
    return None if value is None else _instant(field, value)


_READERS: tuple[tuple[str, Callable[[str, object], object]], ...] = (
    ("name", _nonempty),
    ("cronExpression", _nonempty),
    ("retryDelayMs", _delay),
    ("firstSeenAt", _instant),
    ("lastAttemptAt", _instant_or_none),
    ("lastSuccessAt", _instant_or_none),
    ("lastFailureAt", _instant_or_none),
    ("pendingRetryUntil", _instant_or_none),
    ("retryCount", _count),
    ("runningSince", _instant_or_none),
    ("schedulerIdentifier", _string),
)
FIELDS = tuple(name for name, _ in _READERS)


class TaskRunOutcome(Enum):
    """How a run ended."""

    SUCCESS = "success"
    FAILURE = "failure"
    INTERRUPTED = "interrupted"  # its scheduler died before it could record the end


class TaskRunRecord(NamedTuple):
    """Of which task, for which instant, from when until when, and how it ended."""

    task: str
    scheduled: Instant | None  # None: an interrupted run, of which only the start is known
    started: Instant
    ended: Instant | None
    result: TaskRunOutcome
    error: str | None = None


# --- a clock that was far ahead ---------------------------------------------------------------------------------------

# Without it a task would owe nothing until the clock has reached the old future again.

AHEAD = timedelta(hours=1)  # a smaller lead is left alone: the task waits until the clock has passed it


class Clamped(NamedTuple):
    """A record of which no instant is far ahead, and which instant of it was replaced by which."""

    after: TaskRecord
    baseline: Instant
    clamped_to: Instant


def clamp(record: TaskRecord, now: Instant) -> Clamped | None:
    """Return the record with what is far ahead counted from now; None if neither its baseline nor its retry is.

    The baseline is the last start, or the first registration of a task that has not run yet. Each of the two is judged
    on its own: a start that is not far ahead has served its time, however far ahead its failure is.
    """
    first, attempt, failure, retry = record.first_seen, record.last_attempt, record.last_failure, _retry(record, now)
    baseline = first if attempt is None or attempt < first else attempt
    is_ahead = baseline - now > AHEAD
    is_retry_ahead = retry != record.retry_until
    if not is_ahead and not is_retry_ahead:
        return None
    # The wrong clock has recorded both ends, too; a retry that keeps its instant keeps the failure it counts from.
    keeps_failure = retry is not None and not is_retry_ahead
    after = record._replace(
        first_seen=min(first, now) if is_ahead else first,
        last_attempt=_not_after(attempt, now) if is_ahead else attempt,
        last_success=_not_after(record.last_success, now),
        last_failure=failure if keeps_failure else _not_after(failure, now),
        retry_until=retry,
    )
    if is_ahead or retry is None or record.retry_until is None:
        return Clamped(after, baseline, now)
    return Clamped(after, record.retry_until, retry)


def _retry(record: TaskRecord, now: Instant) -> Instant | None:
    """Return when the retry is owed: its delay is that of the time of the failure, which may have changed since."""
    retry, failure = record.retry_until, record.last_failure
    if retry is None:
        return None
    delay = record.retry_delay if failure is None else retry - failure
    return now + delay if retry - now - AHEAD > delay else retry


def _not_after(at: Instant | None, now: Instant) -> Instant | None:
    return None if at is None else min(at, now)
