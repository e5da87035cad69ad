"""ReferenceSchedule: the minutes of a valid cron text, with plain sets and without code of Kron.

It is the yardstick of these tests: short enough to be checked by eye against the language, never fast, and it does not
validate. Only texts that Kron accepts are given to it.
"""

import calendar
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from functools import cache

MACROS = {
    "@hourly": "0 * * * *",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@weekly": "0 0 * * 0",
    "@monthly": "0 0 1 * *",
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
}
MONTHS = ["", "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
WEEKDAYS = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"]
LEAP_YEARS = range(2000, 2028, 4)  # seven of them, one for each weekday that 1 January can be
ONE_CYCLE = 400  # years, after which dates and weekdays repeat


@dataclass(frozen=True)
class ReferenceSchedule:
    """The five sets, and whether one of the two day sets is enough."""

    minutes: frozenset[int]
    hours: frozenset[int]
    days: frozenset[int]
    months: frozenset[int]
    weekdays: frozenset[int]
    either: bool

    def names_day(self, day: date) -> bool:
        """Whether some minute of the day may be named."""
        if day.month not in self.months:
            return False
        by_day, by_weekday = day.day in self.days, day.isoweekday() % 7 in self.weekdays
        return by_day or by_weekday if self.either else by_day and by_weekday

    def names(self, wall: datetime) -> bool:
        """Whether the minute that begins at a wall time is named."""
        return (
            wall.second == wall.microsecond == 0
            and wall.minute in self.minutes
            and wall.hour in self.hours
            and self.names_day(wall.date())
        )

    @property
    def names_some_day(self) -> bool:
        """Whether a day of the leap years that begin on each weekday is named: they contain every kind of month."""
        return any(self.names_day(day) for year in LEAP_YEARS for day in _days_of(year))

    def days_of_a_cycle(self) -> Iterator[date]:
        """Yield every named day of four hundred years."""
        return (day for year in range(2000, 2000 + ONE_CYCLE) for day in _days_of(year) if self.names_day(day))


def read(text: str) -> ReferenceSchedule:
    """Return what a valid text of either dialect names."""
    text = text.strip().lower()
    minute, hour, day, month, weekday = MACROS.get(text, text).split()
    return ReferenceSchedule(
        _values(minute, 0, 59, []),
        _values(hour, 0, 23, []),
        _values(day, 1, 31, []),
        _values(month, 1, 12, MONTHS),
        frozenset(value % 7 for value in _values(weekday, 0, 6, WEEKDAYS)),
        either=not day.startswith("*") and not weekday.startswith("*"),
    )


@cache
def _days_of(year: int) -> tuple[date, ...]:
    return tuple(date(year, 1, 1) + timedelta(days=number) for number in range(365 + calendar.isleap(year)))


def _values(text: str, low: int, high: int, names: list[str]) -> frozenset[int]:
    values: set[int] = set()
    for element in text.split(","):
        body, _, step = element.partition("/")
        first, _, last = body.partition("-")
        start = low if first == "*" else _number(first, names)
        end = high if first == "*" else _number(last or first, names)
        if end < start:  # SAT-SUN: the only range that may end before it starts
            end += 7
        values |= set(range(start, end + 1, int(step or 1)))
    return frozenset(values)


def _number(text: str, names: list[str]) -> int:
    return names.index(text) if text in names else int(text)
