"""Forecast: the load of a span as numbers and series."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import NamedTuple, TypeAlias

from kron.forecast.load import UNITS, Load, StartCounts, epoch_second, from_epoch_second, identities_at, series_unit
from kron.forecast.runs import ForecastJob, TimeSpan
from kron.instant import SECOND, Instant, format_instant

_MOST_DAYS = 400
_WEEKDAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
_DAY = UNITS["day"]
_Counts: TypeAlias = tuple[tuple[int, ...], ...]


class Collision(NamedTuple):
    """Jobs that start in the same second."""

    at: Instant
    entries: tuple[ForecastJob, ...]

    def to_dict(self) -> dict[str, object]:
        """Return the collision as JSON holds it; `hosts` are those of the identities, where an inventory names them."""
        identities, hosts = [entry.identity for entry in self.entries], [entry.host for entry in self.entries]
        found = {"at": format_instant(self.at), "count": len(identities), "identities": identities}
        return {**found, "hosts": hosts} if any(hosts) else found


@dataclass(frozen=True, slots=True)
class Forecast:
    """The load of so many jobs in a span; how long runs take is known of some of the entries."""

    span: TimeSpan
    jobs: int
    load: Load
    collisions: tuple[Collision, ...]
    known: int = 0

    @property
    def unit(self) -> str:
        """The unit of the series."""
        return series_unit(self.span)

    @property
    def buckets(self) -> range:
        """The numbers of the units of the series, since 1970."""
        unit = UNITS[self.unit]
        return range((epoch_second(self.span.since) + 1) // unit, epoch_second(self.span.until) // unit + 1)

    def series(self, tally: StartCounts) -> list[int]:
        """Return the counts of all units in turn."""
        return [tally.series.get(bucket, 0) for bucket in self.buckets]

    @property
    def mean_active(self) -> float:
        """How many run at a time, on average."""
        return self.load.busy / max(1, (self.span.until - self.span.since) // SECOND)

    def to_dict(self) -> dict[str, object]:
        """Return the forecast as JSON holds it."""
        load, unit = self.load, self.unit
        active = {**load.active.to_dict(1), "mean": round(self.mean_active, 3), "jobs": self.known}
        return {
            "from": format_instant(self.span.since),
            "to": format_instant(self.span.until),
            "jobs": self.jobs,
            "runs": load.chosen.total,
            "unschedulable": load.unschedulable,
            "nominal": load.nominal.peaks_to_dict(),
            "chosen": load.chosen.peaks_to_dict(),
            "concurrency": active if self.known else None,
            "collisions": [collision.to_dict() for collision in self.collisions],
            "series": {
                "unit": unit,
                "start": format_instant(from_epoch_second(self.buckets.start * UNITS[unit])),
                "nominal": self.series(load.nominal),
                "chosen": self.series(load.chosen),
            },
        }


def build_forecast(
    entries: Sequence[ForecastJob], span: TimeSpan, load: Load, *, jobs: int, durations: Mapping[str, timedelta]
) -> Forecast:
    """Return the forecast of a span whose slices were counted, with those who are in the worst collisions."""
    collisions = []
    for _, second in load.worst:
        at = from_epoch_second(second)
        collisions.append(Collision(at, tuple(identities_at(entries, at))))
    known = sum(entry.identity in durations for entry in entries)
    return Forecast(span, jobs, load, tuple(collisions), known)


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

    None where the series is too coarse to show hours.
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
