"""parse(text, dialect) -> Expression: the wall-clock minutes that a cron text names, and the search among them."""

from datetime import MAXYEAR, MINYEAR, UTC, date, datetime
from functools import cache, lru_cache
from typing import NoReturn

from kron.cron.dialect import BLANKS, DAY, EXTENDED, HOUR, MINUTE, MONTH, UNITS, WEEKDAY, Dialect
from kron.cron.field import Field, parse_field, print_field
from kron.cron.frozen import Frozen, set_slot
from kron.errors import FieldParseError, InvalidCronExpressionError, OneOf, Remedy

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


def max_days(month: int) -> int:
    """Return how many days the month has in a leap year."""
    return (31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)[month - 1]


REBOOT = "@reboot"  # a macro of jobs, and no schedule
MAX_TEXT_LENGTH = 4096  # characters; every value of every field, spelled out, takes 360

_SHORTEST_MONTH = 28

# A wall time is carried as a datetime labelled UTC, so that arithmetic on it is plain and fast. Wall times stay inside
# this package; what leaves it is an instant.
Wall = datetime


class Expression(Frozen):
    """Five fields and the days they select. Two expressions are equal if their fields name the same values."""

    __match_args__ = ("text", "dialect", "minute", "hour", "day", "month", "weekday", "days")
    __slots__ = __match_args__
    _hidden = ("dialect", "days")
    text: str
    dialect: Dialect
    minute: Field
    hour: Field
    day: Field
    month: Field
    weekday: Field
    days: tuple[int, ...]

    def __init__(
        self,
        text: str,
        dialect: Dialect,
        minute: Field,
        hour: Field,
        day: Field,
        month: Field,
        weekday: Field,
        days: tuple[int, ...],
    ) -> None:
        set_slot(self, "text", text)
        set_slot(self, "dialect", dialect)
        set_slot(self, "minute", minute)
        set_slot(self, "hour", hour)
        set_slot(self, "day", day)
        set_slot(self, "month", month)
        set_slot(self, "weekday", weekday)
        set_slot(self, "days", days)

    def _key(self) -> tuple[object, ...]:
        return self.minute, self.hour, self.day, self.month, self.weekday, self.days

    @property
    def matches_either_day(self) -> bool:
        """Whether day and weekday are ORed: both are restricted, and neither text begins with `*`."""
        return not (self.day.is_starred or self.weekday.is_starred)

    @property
    def canonical(self) -> str:
        """The text that all equal expressions of a dialect share; parsing it gives an equal expression."""
        parts = (self.minute, self.hour, self.day, self.month, self.weekday)
        return " ".join(print_field(part, self.dialect) for part in parts)

    def __str__(self) -> str:
        return self.text

    def matches(self, wall: Wall) -> bool:
        """Whether the minute of `wall` is named."""
        return (
            wall.minute in self.minute
            and wall.hour in self.hour
            and wall.month in self.month
            and self.days[MONTH_KINDS[wall.year % CYCLE * 12 + wall.month]] >> wall.day & 1 == 1
        )

    def after(self, wall: Wall) -> Wall | None:
        """Return the start of the first named minute that begins after `wall`, or None if the calendar ends before.

        The next value of a field is the lowest bit left when the mask is shifted past the present one.
        """
        year, month = wall.year, wall.month
        days, months = self.days, self.month.values
        if months >> month & 1:
            day = wall.day
            left = days[MONTH_KINDS[year % CYCLE * 12 + month]] >> day
            if left & 1:
                hour = wall.hour
                hours = self.hour.values >> hour
                if hours & 1:
                    minute = wall.minute
                    minutes = self.minute.values >> minute + 1
                    if minutes:
                        minute += (minutes & -minutes).bit_length()
                        return datetime(year, month, day, hour, minute, 0, 0, UTC)
                hours >>= 1
                if hours:
                    hour += (hours & -hours).bit_length()
                    return datetime(year, month, day, hour, self.minute.first, 0, 0, UTC)
            left >>= 1
            if left:
                day += (left & -left).bit_length()
                return datetime(year, month, day, self.hour.first, self.minute.first, 0, 0, UTC)
        while True:
            later = months >> month + 1
            if later:
                month += (later & -later).bit_length()
            else:
                month = self.month.first
                year += 1
                if year > MAXYEAR:
                    return None
            left = days[MONTH_KINDS[year % CYCLE * 12 + month]]
            if left:
                day = (left & -left).bit_length() - 1
                return datetime(year, month, day, self.hour.first, self.minute.first, 0, 0, UTC)

    def until(self, wall: Wall) -> Wall | None:
        """Return the start of the last named minute that begins at or before `wall`, or None if there is none."""
        year, month = wall.year, wall.month
        days, months = self.days, self.month.values
        if months >> month & 1:
            day = wall.day
            left = days[MONTH_KINDS[year % CYCLE * 12 + month]] & (2 << day) - 1
            if left >> day:
                hour = wall.hour
                hours = self.hour.values & (2 << hour) - 1
                if hours >> hour:
                    minutes = self.minute.values & (2 << wall.minute) - 1
                    if minutes:
                        return datetime(year, month, day, hour, minutes.bit_length() - 1, 0, 0, UTC)
                    hours ^= 1 << hour
                if hours:
                    return datetime(year, month, day, hours.bit_length() - 1, self.minute.last, 0, 0, UTC)
                left ^= 1 << day
            if left:
                return datetime(year, month, left.bit_length() - 1, self.hour.last, self.minute.last, 0, 0, UTC)
        while True:
            earlier = months & (1 << month) - 1
            if earlier:
                month = earlier.bit_length() - 1
            else:
                month = self.month.last
                year -= 1
                if year < MINYEAR:
                    return None
            left = days[MONTH_KINDS[year % CYCLE * 12 + month]]
            if left:
                return datetime(year, month, left.bit_length() - 1, self.hour.last, self.minute.last, 0, 0, UTC)

    def count(self, after: Wall, until: Wall) -> int:
        """Return how many named minutes begin after `after`, up to and including `until`, without a search for each."""
        if until <= after:
            return 0
        found = self._count_in_month(until) - self._count_in_month(after)
        year, month = after.year, after.month
        whole_day = self.minute.values.bit_count() * self.hour.values.bit_count()
        while (year, month) != (until.year, until.month):
            if self.month.values >> month & 1:
                found += self.days[MONTH_KINDS[year % CYCLE * 12 + month]].bit_count() * whole_day
            year, month = (year, month + 1) if month < 12 else (year + 1, 1)  # December
        return found

    def _count_in_month(self, wall: Wall) -> int:
        """Return how many named minutes of the month of `wall` begin at or before it."""
        if not self.month.values >> wall.month & 1:
            return 0
        days = self.days[MONTH_KINDS[wall.year % CYCLE * 12 + wall.month]]
        hours, minutes = self.hour.values, self.minute.values
        found = (days & (1 << wall.day) - 1).bit_count() * hours.bit_count() * minutes.bit_count()
        if days >> wall.day & 1:
            found += (hours & (1 << wall.hour) - 1).bit_count() * minutes.bit_count()
            if hours >> wall.hour & 1:
                found += (minutes & (2 << wall.minute) - 1).bit_count()
        return found


def parse(text: str, dialect: Dialect = EXTENDED) -> Expression:
    """Return the expression, or raise InvalidCronExpressionError with the field, the reason, the place and the fix."""
    if not isinstance(text, str):
        _refuse(str(text), f"must be a text, found {type(text).__name__}", fix="write it in quotes")
    if len(text) > MAX_TEXT_LENGTH:
        _refuse(text, f"must have at most {MAX_TEXT_LENGTH} characters, found {len(text)}", position=MAX_TEXT_LENGTH)
    parts = _split(text)
    if len(parts) != len(UNITS):
        parts = _split(_expand(text, parts, dialect))
    try:
        minute = parse_field(parts[0], MINUTE, dialect)
        hour = parse_field(parts[1], HOUR, dialect)
        day = parse_field(parts[2], DAY, dialect)
        month = parse_field(parts[3], MONTH, dialect)
        weekday = parse_field(parts[4], WEEKDAY, dialect)
    except FieldParseError as error:
        raise _located_all(text, parts, dialect) from error
    either = not (day.is_starred or weekday.is_starred)
    if day.first > _SHORTEST_MONTH and not either and not any(day.first <= max_days(value) for value in month):
        _refuse_never(text, day, month, _start_of(text, 2))
    days = select_days(day.values, weekday.values, either)
    return Expression(text, dialect, minute, hour, day, month, weekday, days)


def _split(text: str) -> list[str]:
    for blank in BLANKS[1:]:
        text = text.replace(blank, " ")
    parts = text.split(" ")
    return [part for part in parts if part] if "" in parts else parts


def _located_all(text: str, parts: list[str], dialect: Dialect) -> InvalidCronExpressionError:
    """Return the error about the first field that is wrong, with those about the others beside it."""
    found = []
    for part, unit in zip(parts, UNITS, strict=True):
        try:
            parse_field(part, unit, dialect)
        except FieldParseError as error:
            found.append(_located(error, text, parts, dialect))
    found[0].others = tuple(found[1:])
    return found[0]


def _located(error: FieldParseError, text: str, parts: list[str], dialect: Dialect) -> InvalidCronExpressionError:
    """Return the error of the whole expression for the error of one field."""
    index = next(index for index, unit in enumerate(UNITS) if unit.name == error.field)
    # Spelled out, a day field no longer begins with *, and beside the other one AND would become OR.
    spelled = UNITS[index].selects_days and not dialect.steps and parts[index].startswith("*/")
    return InvalidCronExpressionError(
        expression=text,
        field=error.field,
        reason=error.reason,
        position=_start_of(text, index) + error.position,
        fix="" if spelled and parts[6 - index] != "*" else error.fix,
    )


def _start_of(text: str, index: int) -> int:
    """Return where field `index` begins in the text as it was written."""
    inside, seen = False, -1
    for position, character in enumerate(text):
        starts = character not in BLANKS and not inside
        inside = character not in BLANKS
        seen += starts
        if starts and seen == index:
            return position
    return 0


def _expand(text: str, parts: list[str], dialect: Dialect) -> str:
    """Return the five fields of a macro; refuse everything else that does not have five fields."""
    macro = parts[0].lower() if len(parts) == 1 and parts[0].isascii() else ""
    if macro in dialect.macros:
        return dialect.macros[macro]
    start = _start_of(text, 0)
    if not parts:
        _refuse(text, "must not be empty", start, "write five fields such as 0 3 * * *")
    if macro in EXTENDED.macros:
        _refuse(text, f"uses a macro ({macro}), {dialect.refusal}", start, f"write {EXTENDED.macros[macro]}")
    if macro == REBOOT:
        _refuse(text, f"names no time ({REBOOT})", start, "it is a job of krond, not a schedule")
    if macro.startswith("@"):
        _refuse(text, f"uses an unknown macro ({macro[:20]})", start, OneOf(tuple(EXTENDED.macros), macro))
    fix = {
        4: "add the field that is missing: minute hour day month weekday",
        6: "remove the seconds or the year: cron has neither",
    }.get(len(parts), "write minute hour day month weekday")
    extra = _start_of(text, len(UNITS)) if len(parts) > len(UNITS) else len(text.rstrip(BLANKS))
    raise _refusal(text, f"must have exactly 5 fields, found {len(parts)}", extra, fix)


def _refuse_never(text: str, day: Field, month: Field, position: int) -> NoReturn:
    days = ", ".join(str(value) for value in day)
    months = ", ".join(month.unit.name_of(value).capitalize() for value in month)
    fix = f"the longest month named has {max(max_days(value) for value in month)} days"
    _refuse(text, f"can never match: no day {days} in {months}", position, fix)


def _refuse(text: str, reason: str, position: int = 0, fix: Remedy = "") -> NoReturn:
    raise _refusal(text, reason, position, fix)


def _refusal(text: str, reason: str, position: int, fix: Remedy) -> InvalidCronExpressionError:
    return InvalidCronExpressionError(expression=text, field="expression", reason=reason, position=position, fix=fix)
