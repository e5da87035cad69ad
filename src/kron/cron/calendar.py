"""Months of the proleptic Gregorian calendar as bit masks: which days of a month two day fields select."""

from datetime import date
from functools import cache, lru_cache

# The calendar repeats every 400 years, weekdays included (146,097 days are 20,871 weeks), and a month is known by its
# length and the weekday of its first day: 28 kinds. So one byte a month of one cycle answers every question about days.
CYCLE = 400
_ALL_DAYS = tuple((2 << length) - 2 for length in (28, 29, 30, 31))  # bit d is day d
_EVERY_WEEKDAY = 0b1111111
_CACHED_PAIRS = 4096


def _month_kinds() -> bytes:
    kinds = bytearray(1)  # months count from 1
    for year in range(2000, 2000 + CYCLE):
        weekday = date(year, 1, 1).isoweekday() % 7
        february = 29 if year % 4 == 0 and (year % 100 != 0 or year % 400 == 0) else 28
        for length in (31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31):
            kinds.append(weekday * 4 + length - 28)
            weekday = (weekday + length) % 7
    return bytes(kinds)


MONTH_KINDS = _month_kinds()
"""The kind of month m of year y (weekday of its first, Sunday 0, × 4 + length − 28) stands at y % 400 * 12 + m."""


@lru_cache(_CACHED_PAIRS)
def select_days(days: int, weekdays: int, either: bool) -> tuple[int, ...]:  # noqa: FBT001 # a keyword is slow to cache
    """Return, for each kind of month, the days that both fields select, or that either does."""
    if weekdays == _EVERY_WEEKDAY and not either:
        return tuple([days & all_days for all_days in _ALL_DAYS]) * 7
    weeks = _weeks(weekdays)
    chosen = [days | week for week in weeks] if either else [days & week for week in weeks]
    return tuple([mask & all_days for mask in chosen for all_days in _ALL_DAYS])


@cache  # of 127 sets of weekdays
def _weeks(weekdays: int) -> tuple[int, ...]:
    """Return, for each weekday that the first of a month can be, the days that fall on the given weekdays."""
    return tuple(sum(1 << day for day in range(1, 32) if weekdays >> (first + day - 1) % 7 & 1) for first in range(7))


def longest(month: int) -> int:
    """Return how many days the month has in a leap year."""
    return (31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)[month - 1]
