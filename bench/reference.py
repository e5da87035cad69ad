"""The first match of a cron text after a start: slow, obvious, and written independently of every peer.

A day is named if its month is, and its day or its weekday is: either of them if both are restricted, both otherwise
(POSIX). An instant matches if the wall clock of the zone shows a named minute then, so that a minute which the clocks
skip never matches and one that they repeat matches twice.
"""

from collections.abc import Iterator
from datetime import UTC, date, datetime, time, timedelta, tzinfo

from bench.corpus import values

_DAYS_AHEAD = 9 * 366  # the longest gap in the corpus is the leap day's: eight years around 2100


def next_instant(text: str, start: datetime, zone: tzinfo) -> datetime | None:
    """Return the first instant after `start` that matches, None if there is none within nine years."""
    minutes, hours, days, months, weekdays = text.split()
    either = days != "*" and weekdays != "*"
    day_set, month_set, weekday_set = values(days, 1, 31), values(months, 1, 12), values(weekdays, 0, 6)
    wall_times = [
        time(hour, minute) for hour in sorted(values(hours, 0, 23)) for minute in sorted(values(minutes, 0, 59))
    ]
    day = start.astimezone(zone).date()
    for _ in range(_DAYS_AHEAD):
        in_days, in_weekdays = day.day in day_set, day.isoweekday() % 7 in weekday_set
        if day.month in month_set and (in_days or in_weekdays if either else in_days and in_weekdays):
            instants = (at for at in _instants(day, wall_times, zone) if at > start)
            # On a day without a change of the clocks the instants come in order.
            found = min(instants, default=None) if _changes(day, zone) else next(instants, None)
            if found is not None:
                return found
        day += timedelta(days=1)
    return None


def _instants(day: date, wall_times: list[time], zone: tzinfo) -> Iterator[datetime]:
    for wall_time in wall_times:
        wall = datetime.combine(day, wall_time)
        both = {wall.replace(tzinfo=zone, fold=fold).astimezone(UTC) for fold in (0, 1)}
        yield from (at for at in both if at.astimezone(zone).replace(tzinfo=None, fold=0) == wall)


def _changes(day: date, zone: tzinfo) -> bool:
    noon = datetime.combine(day, time(12), zone)
    return any((noon + timedelta(days=shift)).utcoffset() != noon.utcoffset() for shift in (-1, 1))
