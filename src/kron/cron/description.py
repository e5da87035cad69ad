"""describe(expression) -> str: the expression in plain English, such as "At 09:15 on weekdays"."""

from collections.abc import Sequence

from kron.cron.dialect import DAY
from kron.cron.expression import Expression
from kron.cron.field import Field, group_runs

_FEW_TIMES = 6  # so many times of day are listed one by one; more are told as a pattern
_WEEKDAYS = ("Sundays", "Mondays", "Tuesdays", "Wednesdays", "Thursdays", "Fridays", "Saturdays")
_MONTHS = (
    "", "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
    "December",
)  # fmt: skip


def describe(expression: Expression) -> str:
    """Return one sentence, without its full stop, that names the same minutes."""
    times, days = _times(expression), _days(expression)
    if not days:
        return times if times.startswith("Every") or "every hour" in times else f"{times} every day"
    every = "every day " if days.startswith("in ") and times.startswith("At") and "every hour" not in times else ""
    return f"{times} {every}{days}"


# --- times of day -----------------------------------------------------------------------------------------------------


def _times(expression: Expression) -> str:
    minutes, hours = list(expression.minute), list(expression.hour)
    if expression.hour.is_full:
        return _every_hour(expression.minute, minutes)
    if len(minutes) * len(hours) <= _FEW_TIMES:
        return f"At {_and([_clock(hour, minute) for hour in hours for minute in minutes])}"
    first, last = _clock(hours[0], minutes[0]), _clock(hours[-1], minutes[-1])
    span = _is_run(hours)
    if expression.minute.is_full:
        of_hours = f"from {first} to {last}" if span else f"of the hours {_and(hours)}"
        return f"Every minute {of_hours}"
    step = _step(minutes, 60)
    if step and span:
        return f"Every {step} minutes from {first} to {last}"
    if len(minutes) == 1 and span:
        return f"Every hour from {first} to {last}"
    if len(minutes) == 1 and (every := _step(hours, 24)):
        return f"Every {every} hours from {first}"
    return f"At {_minutes(minutes)} of {'the hours' if len(hours) > 1 else 'hour'} {_list(hours)}"


def _every_hour(field: Field, minutes: list[int]) -> str:
    if field.is_full:
        return "Every minute"
    if minutes == [0]:
        return "Every hour on the hour"
    if step := _step(minutes, 60):
        return f"Every {step} minutes"
    return f"At {_minutes(minutes)} of every hour"


def _minutes(minutes: list[int]) -> str:
    return f"minute {minutes[0]}" if len(minutes) == 1 else f"minutes {_list(minutes)}"


def _step(values: list[int], size: int) -> int:
    """Return n if the values are 0, n, 2n … and the pattern goes on unbroken over the end of the cycle."""
    if len(values) < 2 or values[0] != 0:
        return 0
    step = values[1]
    return step if size % step == 0 and values == list(range(0, size, step)) else 0


def _clock(hour: int, minute: int) -> str:
    return f"{hour:02}:{minute:02}"


# --- days -------------------------------------------------------------------------------------------------------------


def _days(expression: Expression) -> str:
    day, weekday = expression.day, expression.weekday
    months = "" if expression.month.is_full else _months(list(expression.month))
    by_day = "" if day.is_full else f"on {_ordinals(list(day))} of {months or 'the month'}"
    by_weekday = "" if weekday.is_full else f"on {_weekdays(list(weekday))}"
    in_months = f"in {months}" if months else ""
    if expression.matches_either_day:
        if day.is_full or weekday.is_full:  # spelled out as 1-31 or 0-6: either is true of every day
            return in_months
        return f"{by_day} or {by_weekday}" + (f" {in_months}" if months else "")
    if by_day and by_weekday:
        return f"{by_weekday} that fall {by_day}"
    if by_day:
        return by_day
    return " ".join(part for part in (by_weekday, in_months) if part)


def _weekdays(values: list[int]) -> str:
    if values == [1, 2, 3, 4, 5]:
        return "weekdays"
    if values == [0, 6]:
        return "weekends"
    return _and([_WEEKDAYS[value] for value in sorted(values, key=lambda value: (value - 1) % 7)])


def _months(values: list[int]) -> str:
    return _and([_MONTHS[value] for value in values])


def _ordinals(values: list[int]) -> str:
    step = values[1] - values[0] if len(values) > _FEW_TIMES else 0
    if step > 1 and values == list(range(values[0], values[-1] + 1, step)):
        until = f" to the {_ordinal(values[-1])}" if values[-1] + step <= DAY.high else ""
        return f"every {_ordinal(step)} day from the {_ordinal(values[0])}{until}"
    parts = []
    for run in group_runs(values):
        many = len(run) > 2
        parts += [f"the {_ordinal(run[0])} to the {_ordinal(run[-1])}"] if many else [f"the {_ordinal(v)}" for v in run]
    return _and(parts)


def _ordinal(value: int) -> str:
    ending = "th" if value in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(value % 10, "th")
    return f"{value}{ending}"


# --- lists ------------------------------------------------------------------------------------------------------------


def _is_run(values: list[int]) -> bool:
    return values[-1] - values[0] == len(values) - 1


def _list(values: list[int]) -> str:
    """Return the values with runs of three and more as `a to b`."""
    parts = []
    for run in group_runs(values):
        parts += [f"{run[0]} to {run[-1]}"] if len(run) > 2 else [str(value) for value in run]
    return _and(parts)


def _and(parts: Sequence[object]) -> str:
    words = [str(part) for part in parts]
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"
