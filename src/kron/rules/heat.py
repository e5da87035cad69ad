"""Heat: counts in rows and columns: the hours of the day by minute, the days by hour, or the days of the week."""

from dataclasses import dataclass

from kron.rules.forecast import Forecast
from kron.rules.load import Tally, instant_of

_MOST_DAYS = 400
_WEEKDAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")


@dataclass(frozen=True, slots=True)
class Heat:
    """A map of starts: nominal and chosen counts of each cell, with what its row and its column are called."""

    title: str
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    nominal: tuple[tuple[int, ...], ...]
    chosen: tuple[tuple[int, ...], ...]


def hours_by_minutes(found: Forecast) -> Heat:
    """Return the starts at each minute of the day, all days of the span together."""
    numbers = [f"{number:02}" for number in range(60)]

    def cells(tally: Tally) -> tuple[tuple[int, ...], ...]:
        return tuple(tuple(tally.minutes[hour * 60 : hour * 60 + 60]) for hour in range(24))

    return Heat(
        "Minutes of the day, all days together, UTC",
        tuple(f"{hour}:" for hour in numbers[:24]),
        tuple(numbers),
        cells(found.load.nominal),
        cells(found.load.chosen),
    )


def days_by_hours(found: Forecast, most: int = _MOST_DAYS) -> Heat | None:
    """Return the starts in each hour of each day, or of each day of the week where there are more days than wanted.

    None where the series is too coarse to tell hours.
    """
    if found.unit == "day":
        return None
    factor = {"second": 3600, "minute": 60, "hour": 1}[found.unit]
    hours = range(found.buckets.start // factor, (found.buckets.stop - 1) // factor + 1)
    first = hours.start // 24
    days = range(first, (hours.stop - 1) // 24 + 1)
    by_week = len(days) > most
    names = _WEEKDAYS if by_week else tuple(f"{instant_of(day * 86_400):%a %Y-%m-%d}" for day in days)

    def cells(tally: Tally) -> tuple[tuple[int, ...], ...]:
        counts = [[0] * 24 for _ in names]
        for bucket, count in tally.series.items():
            day, hour = divmod(bucket // factor, 24)
            counts[(day + 3) % 7 if by_week else day - first][hour] += count  # 1970 began on a Thursday
        return tuple(map(tuple, counts))

    return Heat(
        "Hours of the days of the week, UTC" if by_week else "Hours of each day, UTC",
        names,
        tuple(f"{hour:02}:" for hour in range(24)),
        cells(found.load.nominal),
        cells(found.load.chosen),
    )
