"""What is too much for one KronJob: windows over too many periods, too many values, too many levels; and what allows
nothing. Each question has an answer within a moment, whatever is asked: the operator reads everybody's KronJobs.
"""

import json
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from itertools import islice
from typing import Any

from kron.cron.schedule import Schedule
from kron.decision.constraint import Constraints

MOST_PERIODS = 1000  # that one status may have to remember: an entry each, in an object of at most a megabyte or so
MOST_LEVELS = 100  # of a field of the spec; a Job has twenty or so
LARGEST_SPEC = 256_000  # bytes of JSON: a template is kept as it is, for every KronJob; scripts belong into a ConfigMap
LARGEST_STATUS = 512_000  # bytes of JSON: a thousand periods and as many active Jobs have half of that
LONGEST_ERRORS = 8_000  # characters of all that is wrong with one KronJob: a status and a log line have room for it

_encode = json.JSONEncoder(separators=(",", ":"), ensure_ascii=False, default=str).encode  # made once
_CONTAINERS = frozenset({dict, list})
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
    """Whether it is certain that no second of any day can be chosen, whatever the schedule and the window are."""
    if not constraints:
        return False
    days = _days(constraints)
    return constraints.minutes == 0 or (
        not any(constraints.allows_day(day) for day in islice(days, _CALENDAR.days)) and next(days, None) is None
    )


def is_too_deep(value: Any) -> bool:
    """Whether objects and lists lie in each other on more levels than anybody means."""
    level: list[Any] = [value] if value and value.__class__ in _CONTAINERS else []
    for _ in range(MOST_LEVELS):
        if not level:
            return False
        level = [  # an empty one has nothing on the next level, and there may be hundreds of thousands
            item
            for each in level
            for item in (each.values() if each.__class__ is dict else each)
            if item and item.__class__ in _CONTAINERS
        ]
    return bool(level)


def json_bytes(value: Any) -> bytes:
    """Return a value as compact JSON."""
    return _encode(value).encode(errors="surrogatepass")


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
