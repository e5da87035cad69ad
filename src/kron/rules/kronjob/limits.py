"""What a KronJob's parts may not say together: constraints that allow nothing, windows over too many periods."""

from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from itertools import islice

from kron.cron.schedule import Schedule
from kron.decision.constraint import Constraints

MOST_PERIODS = 1000  # that one status may have to remember: an entry each, in an object of at most a megabyte or so

_MINUTE, _DAY = timedelta(minutes=1), timedelta(days=1)
_START = datetime(2024, 1, 1, tzinfo=UTC)  # any instant would do; a fixed one gives every reader the same answer
_CALENDAR = timedelta(days=28 * 366)  # after which weekdays and leap days repeat
_PERIODS_LOOKED_AT = 5 * MOST_PERIODS


def spans_too_many(schedule: Schedule, span: timedelta) -> bool:
    """Whether more than a thousand periods begin within some span of this length."""
    expression = schedule.expression
    daily = len(list(expression.minute)) * len(list(expression.hour))
    if min(span // _MINUTE + 1, (span // _DAY + 2) * daily) <= MOST_PERIODS:
        return False
    nominals = list(islice(schedule.between(_START, _START + _CALENDAR), _PERIODS_LOOKED_AT))
    return any(last - first <= span for first, last in zip(nominals, nominals[MOST_PERIODS:], strict=False))


def allows_nothing(constraints: Constraints) -> bool:
    """Whether no second of any day can be chosen, whatever the schedule and the window are."""
    return bool(constraints) and (
        constraints.minutes == 0 or not any(constraints.allows_day(day) for day in _days(constraints))
    )


def _days(constraints: Constraints) -> Iterator[date]:
    """Yield the days that could be allowed: those that are named, or a whole round of the calendar."""
    named = constraints.only.values
    if not named.keys() & {"date", "dates"}:
        yield from (_START.date() + timedelta(days=number) for number in range(_CALENDAR.days))
    for text in named.get("date", ()):
        yield date.fromisoformat(text)
    for text in named.get("dates", ()):
        first, last = (date.fromisoformat(part) for part in text.split(".."))
        yield from (first + timedelta(days=number) for number in range(min((last - first).days + 1, _CALENDAR.days)))
