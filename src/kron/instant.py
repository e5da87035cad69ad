"""Instants and durations: aware UTC datetimes and timedeltas, and their texts (RFC 3339, Go's `1h30m`)."""

import re
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import TypeAlias

from kron.errors import InvalidDurationError, InvalidInstantError, NaiveDatetimeError, OutOfRangeError

# An instant is a datetime whose tzinfo is UTC. A NewType would cost a call on every arithmetic result; `instant()` is
# the border where the promise is made, and inside it is trusted.
Instant: TypeAlias = datetime

ZERO = timedelta()
SECOND = timedelta(seconds=1)
MILLISECOND = timedelta(milliseconds=1)
MICROSECOND = timedelta(microseconds=1)
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
FIRST_INSTANT = datetime.min.replace(tzinfo=UTC)  # the calendar has no earlier one
LAST_INSTANT = datetime.max.replace(tzinfo=UTC)

_TWO_DIGITS = tuple(f"{number:02}" for number in range(60))
_RFC3339 = re.compile(r"\d{4}-\d\d-\d\d[Tt ](?:[01]\d|2[0-3]):\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:[0-5]\d)", re.ASCII)


def instant(value: datetime) -> Instant:
    """Return the same moment in UTC; a naive datetime names no moment and is refused."""
    if not isinstance(value, datetime) or value.utcoffset() is None:
        raise NaiveDatetimeError(value=value)
    try:
        at = value.astimezone(UTC)
        if at.__class__ is datetime:
            return at
        return datetime(at.year, at.month, at.day, at.hour, at.minute, at.second, at.microsecond, UTC)
    except OverflowError as error:
        raise OutOfRangeError(what=f"{value.isoformat()} in UTC") from error


def format_instant(value: Instant) -> str:
    """Return RFC 3339 in UTC with `Z`: whole seconds, or microseconds where there are any."""
    two, year = _TWO_DIGITS, value.year
    text = f"{year}-{two[value.month]}-{two[value.day]}T{two[value.hour]}:{two[value.minute]}:{two[value.second]}Z"
    if value.microsecond:
        text = f"{text[:-1]}.{value.microsecond:06}Z"
    return text if year > 999 else text.zfill(len(text) + 4 - len(str(year)))


def parse_instant(text: str) -> Instant:
    """Return the instant that an RFC 3339 text names; digits beyond the microsecond are dropped."""
    if not isinstance(text, str) or not _RFC3339.fullmatch(text):
        raise InvalidInstantError(text=str(text))
    try:
        return instant(datetime.fromisoformat(text.upper()))
    except (ValueError, OutOfRangeError) as error:
        raise InvalidInstantError(text=text) from error


def shift(at: Instant, by: timedelta) -> Instant:
    """Return an instant so much later, or earlier; beyond the calendar, its end."""
    try:
        return at + by
    except OverflowError:
        return LAST_INSTANT if by > ZERO else FIRST_INSTANT


def epoch_milliseconds(at: Instant) -> int:
    """Return how many whole milliseconds after 1970 an instant is, as traces count."""
    return (at - EPOCH) // MILLISECOND


def from_epoch_milliseconds(milliseconds: int) -> Instant:
    """Return the instant that is so many milliseconds after 1970."""
    return EPOCH + timedelta(milliseconds=milliseconds)


# --- durations --------------------------------------------------------------------------------------------------------

_UNITS = {  # nanoseconds; the order is Go's, longest first
    "h": 3_600_000_000_000,
    "m": 60_000_000_000,
    "s": 1_000_000_000,
    "ms": 1_000_000,
    "us": 1_000,
    "µs": 1_000,  # micro sign
    "μs": 1_000,  # Greek mu
    "ns": 1,
}
_PART = re.compile(r"(?=\.?[0-9])([0-9]*)(?:\.([0-9]*))?(h|ms|m|s|us|µs|μs|ns)")
_LONGEST = 2**63 - 1  # nanoseconds: what Go's int64 holds, so that every duration we accept is one there too
MAX_DURATION = timedelta(microseconds=_LONGEST // 1000)
_LONGEST_TEXT = 100


def parse_duration(text: str) -> timedelta:
    """Return the non-negative duration that a text in Go's form names (`1h30m`, `90s`, `250ms`, `0`)."""
    if not isinstance(text, str):
        raise InvalidDurationError(text=str(text), reason="a duration is a text with units, not a bare number")
    if len(text) > _LONGEST_TEXT:
        raise InvalidDurationError(text=text, reason=f"longer than {_LONGEST_TEXT} characters")
    if text == "0":
        return ZERO
    if text.startswith("-"):
        raise InvalidDurationError(text=text, reason="must not be negative")
    position = nanoseconds = finer = 0
    while position < len(text):
        part = _PART.match(text, position)
        if part is None:
            raise InvalidDurationError(text=text, reason=f"no number with a unit at {text[position:]!r}")
        whole, fraction, unit = part.groups()
        nanoseconds += int(whole or "0") * _UNITS[unit]
        if fraction:
            whole_part, rest = divmod(int(fraction) * _UNITS[unit], 10 ** len(fraction))
            nanoseconds += whole_part
            finer += rest
        position = part.end()
    if not text:
        raise InvalidDurationError(text=text, reason="must not be empty")
    if nanoseconds > _LONGEST:
        raise InvalidDurationError(text=text, reason="longer than 2562047h47m16.854775s")
    if nanoseconds % 1000 or finer:
        raise InvalidDurationError(text=text, reason="finer than a microsecond")
    return timedelta(microseconds=nanoseconds // 1000)


@lru_cache(1000)  # thousands of jobs say a handful of them
def format_duration(value: timedelta) -> str:
    """Return a text in Go's form that `parse_duration` reads back as `value`, which is not negative."""
    seconds, microseconds = divmod(value // MICROSECOND, 1_000_000)
    minutes, seconds = divmod(seconds, 60)
    hours, minutes = divmod(minutes, 60)
    text = (f"{hours}h" if hours else "") + (f"{minutes}m" if minutes else "")
    if microseconds and not (text or seconds):
        return f"{microseconds // 1000}ms" if microseconds % 1000 == 0 else f"{microseconds}us"
    if microseconds:
        return text + f"{seconds}.{microseconds:06}".rstrip("0") + "s"
    return text + (f"{seconds}s" if seconds or not text else "")
