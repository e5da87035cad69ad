"""HeatMap: starts by rows and columns of time: minutes of the day, hours of days, or days of weeks."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

from kron.forecast.forecast import Forecast
from kron.forecast.load import UNITS, StartCounts, from_epoch_second

_MOST_DAYS = 400
_WEEKDAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
_DAY = UNITS["day"]
_Counts: TypeAlias = tuple[tuple[int, ...], ...]


class HeatCell(NamedTuple):
    """A cell in which something starts."""

    row: int
    column: int
    name: str
    chosen: int


@dataclass(frozen=True, slots=True)
class HeatMap:
    """Nominal and chosen starts in each cell, with the names of rows, columns and cells."""

    title: str
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    names: tuple[tuple[str, ...], ...]
    nominal: _Counts
    chosen: _Counts
    is_by_column: bool = False  # time passes down a column first

    def cells(self) -> Iterator[HeatCell]:
        """Yield the cells with a chosen start, in the order of time."""
        places = [(row, column) for row in range(len(self.rows)) for column in range(len(self.columns))]
        for row, column in sorted(places, key=lambda place: place[::-1]) if self.is_by_column else places:
            if count := self.chosen[row][column]:
                yield HeatCell(row, column, self.names[row][column], count)


def hours_by_minutes(found: Forecast) -> HeatMap:
    """Return the starts at each minute of the day, all days of the span together."""
    numbers = [f"{number:02}" for number in range(60)]

    def counts(of: StartCounts) -> _Counts:
        return tuple(tuple(of.minutes[hour * 60 : hour * 60 + 60]) for hour in range(24))

    return HeatMap(
        "Minutes of the day, all days together, UTC",
        tuple(f"{hour}:" for hour in numbers[:24]),
        tuple(numbers),
        tuple(tuple(f"{hour}:{minute}" for minute in numbers) for hour in numbers[:24]),
        counts(found.load.nominal),
        counts(found.load.chosen),
    )


def days_by_hours(found: Forecast, most: int = _MOST_DAYS) -> HeatMap | None:
    """Return the starts in each hour of each day, or of each day of the week where there are more days than wanted.

    None where the series is too coarse to tell hours.
    """
    if found.unit == "day":
        return None
    factor, days = UNITS["hour"] // UNITS[found.unit], _days(found)
    by_week = len(days) > most
    rows = _WEEKDAYS if by_week else _names(days)

    def counts(of: StartCounts) -> _Counts:
        table = [[0] * 24 for _ in rows]
        for bucket, count in of.series.items():
            day, hour = divmod(bucket // factor, 24)
            table[_weekday(day) if by_week else day - days.start][hour] += count
        return tuple(map(tuple, table))

    return HeatMap(
        "Hours of the days of the week, UTC" if by_week else "Hours of each day, UTC",
        tuple(rows),
        tuple(f"{hour:02}:" for hour in range(24)),
        tuple(tuple(f"{row} {hour:02}:00" for hour in range(24)) for row in rows),
        counts(found.load.nominal),
        counts(found.load.chosen),
    )


def weekdays_by_weeks(found: Forecast) -> HeatMap:
    """Return the starts of each day, with a column for each week, as calendars are drawn."""
    factor, days = _DAY // UNITS[found.unit], _days(found)
    monday = days.start - _weekday(days.start)
    weeks = range(monday, days.stop, 7)

    def counts(of: StartCounts) -> _Counts:
        table = [[0] * len(weeks) for _ in _WEEKDAYS]
        for bucket, count in of.series.items():
            day = bucket // factor
            table[_weekday(day)][(day - monday) // 7] += count
        return tuple(map(tuple, table))

    return HeatMap(
        "Days of each week, UTC",
        _WEEKDAYS,
        tuple(f"{from_epoch_second(week * _DAY):%d %b}" for week in weeks),
        tuple(tuple(_names([week + number for week in weeks])) for number in range(7)),
        counts(found.load.nominal),
        counts(found.load.chosen),
        is_by_column=True,
    )


def _days(found: Forecast) -> range:
    """Return the days of the series, since 1970."""
    factor = _DAY // UNITS[found.unit]
    return range(found.buckets.start // factor, (found.buckets.stop - 1) // factor + 1)


def _weekday(day: int) -> int:
    return (day + 3) % 7  # 1970 began on a Thursday


def _names(days: Sequence[int]) -> list[str]:
    return [f"{from_epoch_second(day * _DAY):%a %Y-%m-%d}" for day in days]
