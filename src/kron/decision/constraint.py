"""Constraints: which wall times of the job's zone a candidate may have, from `only` and `avoid`."""

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field as attribute
from datetime import date, datetime

from kron.cron.dialect import DAY, HOUR, MONTH, WEEKDAY, Dialect, Unit
from kron.cron.field import parse_field
from kron.decision.bounds import LONGEST_ITEM, MOST_VALUES, check_length, check_number
from kron.errors import FieldParseError, InvalidDefinitionError
from kron.errors.diagnostics import ErrorCollector, unknown_value

EVERY_MINUTE = (1 << 1440) - 1
_LANGUAGE = Dialect("constraint", names=True, sunday_is_seven=True, refusal="which a constraint does not have")
_LONGEST_CLAUSE = 4096
_BETWEEN = re.compile(r"([01]\d|2[0-3]):([0-5]\d)-([01]\d|2[0-3]):([0-5]\d)", re.ASCII)
_DATE = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)
_REMEMBERED_DAYS = 512  # answers for days that one definition keeps: more than a year, 40 kB

Values = tuple[str, ...]
DayTest = Callable[[date], bool]


@dataclass(frozen=True, slots=True)
class Clauses:
    """The clauses of one side. A kind that selects days became a test, the kinds that select minutes became masks."""

    values: Mapping[str, Values] = attribute(default_factory=dict)
    days: Mapping[str, DayTest] = attribute(init=False, compare=False, repr=False)
    minutes: Mapping[str, int] = attribute(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        days: dict[str, DayTest] = {}
        minutes: dict[str, int] = {}
        mistakes = ErrorCollector()
        for kind, texts in self.values.items():
            with mistakes:
                if kind in _DAY_KINDS:
                    test, group = _DAY_KINDS[kind](kind, texts), _group(kind)
                    days[group] = _either(days[group], test) if group in days else test
                elif kind in _MINUTE_KINDS:
                    minutes[kind] = _MINUTE_KINDS[kind](kind, texts)
                else:
                    raise unknown_value("constraint", kind, KINDS)
        mistakes.raise_first()
        object.__setattr__(self, "days", days)
        object.__setattr__(self, "minutes", minutes)

    def __reduce__(self) -> tuple[object, ...]:
        return Clauses, (dict(self.values),)

    def __hash__(self) -> int:
        return hash(frozenset(self.values.items()))

    def __str__(self) -> str:
        return ";".join(self.texts)

    @property
    def texts(self) -> list[str]:
        """Each clause as people write it."""
        return [f"{kind}={','.join(values)}" for kind, values in self.values.items()]

    def holds(self, group: str, wall: datetime) -> bool:
        """Whether a wall time has one of the values of a kind that is present."""
        if group in self.days:
            return self.days[group](wall.date())
        return self.minutes[group] >> (wall.hour * 60 + wall.minute) & 1 == 1

    def group(self, group: str) -> str:
        """Return the clauses of one kind, as people write them."""
        return ";".join(text for kind, text in zip(self.values, self.texts, strict=True) if _group(kind) == group)

    @classmethod
    def parse(cls, clauses: str | Iterable[str]) -> "Clauses":
        """Return the clauses of a text (`dow=MON-FRI;between=08:00-20:00`) or of a list with one clause an item."""
        values: dict[str, Values] = {}
        mistakes = ErrorCollector()
        for clause in clauses.split(";") if isinstance(clauses, str) else clauses:
            with mistakes:
                kind, texts = _read_clause(clause)
                values[kind] = values.get(kind, ()) + texts
        return cls._of(values, mistakes)

    @classmethod
    def from_table(cls, table: Mapping[str, object]) -> "Clauses":
        """Return the clauses of a table from kind to value or list of values."""
        values: dict[str, Values] = {}
        mistakes = ErrorCollector()
        for kind, given in table.items():
            with mistakes:
                values[kind] = _read_values(kind, given)
        return cls._of(values, mistakes)

    @classmethod
    def _of(cls, values: Mapping[str, Values], mistakes: ErrorCollector) -> "Clauses":
        with mistakes:
            number = sum(map(len, values.values()))
            check_number("constraint", number, MOST_VALUES, what="values", fix="join them to ranges")
            clauses = cls(values)
        mistakes.raise_first()
        return clauses


@dataclass(frozen=True, slots=True)
class Constraints:
    """A wall time is allowed if it satisfies every kind of `only` and no clause of `avoid`.

    `minutes` has bit m set if minute m of the day is allowed on days that are: the two questions are independent.
    The answers for days are remembered, because neighbouring periods ask about the same days.
    """

    only: Clauses = attribute(default_factory=Clauses)
    avoid: Clauses = attribute(default_factory=Clauses)
    minutes: int = attribute(init=False, compare=False, repr=False)
    _days: dict[int, bool] = attribute(init=False, compare=False, repr=False, default_factory=dict)

    def __post_init__(self) -> None:
        minutes = EVERY_MINUTE
        for mask in self.only.minutes.values():
            minutes &= mask
        for mask in self.avoid.minutes.values():
            minutes &= ~mask
        object.__setattr__(self, "minutes", minutes)

    def __bool__(self) -> bool:
        return bool(self.only.values or self.avoid.values)

    def allows(self, wall: datetime) -> bool:
        """Whether a candidate with this wall time may be chosen."""
        return self.minutes >> (wall.hour * 60 + wall.minute) & 1 == 1 and self.allows_day(wall.date())

    def __reduce__(self) -> tuple[object, ...]:
        return Constraints, (self.only, self.avoid)

    def allows_day(self, day: date) -> bool:
        """Whether any minute of a day may be chosen, as far as the day itself is concerned."""
        return self.allows_ordinal(day.toordinal())

    def allows_ordinal(self, ordinal: int) -> bool:
        """Whether `allows_day` holds for a day, given as the number that `date.toordinal` returns."""
        known = self._days.get(ordinal)
        if known is None:
            if len(self._days) >= _REMEMBERED_DAYS:
                self._days.clear()
            known = self._days[ordinal] = self._test_day(date.fromordinal(ordinal))
        return known

    def _test_day(self, day: date) -> bool:
        for test in self.only.days.values():
            if not test(day):
                return False
        return not any(test(day) for test in self.avoid.days.values())

    def allows_within(self, first: int, last: int) -> bool:
        """Whether the constraints allow a second between two, both counted from midnight of day 0 and included.

        Day n is the day whose `date.toordinal` is n. Each day is examined once: the caller bounds their number.
        """
        minutes, first_day, last_day = self.minutes, first // 86_400, last // 86_400
        for day in range(first_day, last_day + 1):
            of_day = minutes
            if day == first_day:
                of_day = of_day >> (begin := first % 86_400 // 60) << begin
            if day == last_day:
                of_day &= (2 << last % 86_400 // 60) - 1
            if of_day and self.allows_ordinal(day):
                return True
        return False

    def rejecting_clause(self, wall: datetime) -> str:
        """Return the first clause that rejects a wall time, as `only(…)` or `avoid(…)`; empty if none does."""
        for side, clauses, wanted in (("only", self.only, True), ("avoid", self.avoid, False)):
            for group in (*clauses.days, *clauses.minutes):
                if clauses.holds(group, wall) is not wanted:
                    return f"{side}({clauses.group(group)})"
        return ""

    def to_dict(self) -> dict[str, list[str]]:
        """Return both sides as lists of clauses."""
        return {"only": self.only.texts, "avoid": self.avoid.texts}


def _group(kind: str) -> str:
    """Return the kind that a spelling belongs to: `date` and `dates` say the same thing of one day and of several."""
    return "dates" if kind == "date" else kind


def _either(first: DayTest, second: DayTest) -> DayTest:
    return lambda day: first(day) or second(day)


def _read_clause(clause: object) -> tuple[str, Values]:
    if not isinstance(clause, str):
        raise InvalidDefinitionError(field="constraint", found=str(clause), reason="a clause must be a text")
    kind, equals, text = check_length("constraint", clause, LONGEST_ITEM).strip().partition("=")
    if not equals:
        raise InvalidDefinitionError(
            field="constraint", found=clause, reason="a clause needs KIND=VALUES", fix="write it as dow=MON-FRI"
        )
    return kind.strip(), tuple(value.strip() for value in text.split(","))


def _read_values(kind: str, given: object) -> Values:
    items = given if isinstance(given, list | tuple) else [given]
    if not items or not all(isinstance(item, str | int | date) and not isinstance(item, bool) for item in items):
        raise InvalidDefinitionError(
            field=f"constraint {kind}",
            found=str(given),
            reason="must be a non-empty list of texts, numbers or dates",
            fix="leave it out to say nothing",
        )
    return tuple(part.strip() for item in items for part in str(item).split(","))


# --- the kinds --------------------------------------------------------------------------------------------------------


def _values_of(unit: Unit, kind: str, texts: Values) -> int:
    text = ",".join(texts)
    try:
        if len(text) > _LONGEST_CLAUSE:
            reason = f"must have at most {_LONGEST_CLAUSE} characters"
            raise FieldParseError(reason, field_name=kind, field_value=text)
        if "*" in text:
            fix = "leave the clause out to allow everything"
            raise FieldParseError("must name its values", field_name=kind, field_value=text, fix=fix)
        return parse_field(text, unit, _LANGUAGE).values
    except FieldParseError as error:
        raise InvalidDefinitionError(
            field=f"constraint {kind}", found=text, reason=error.reason, fix=error.fix
        ) from error


def _weekday_test(kind: str, texts: Values) -> DayTest:
    values = _values_of(WEEKDAY, kind, texts)
    return lambda day: values >> day.isoweekday() % 7 & 1 == 1


def _day_test(kind: str, texts: Values) -> DayTest:
    values = _values_of(DAY, kind, texts)
    return lambda day: values >> day.day & 1 == 1


def _month_test(kind: str, texts: Values) -> DayTest:
    values = _values_of(MONTH, kind, texts)
    return lambda day: values >> day.month & 1 == 1


def _date_test(kind: str, texts: Values) -> DayTest:
    dates = frozenset(_date(kind, text) for text in texts)
    return lambda day: day in dates


def _dates_test(kind: str, texts: Values) -> DayTest:
    ranges = []
    for text in texts:
        first, dots, last = text.partition("..")
        if not dots:
            raise _wrong(kind, text, "must be FROM..TO", "write dates=2026-12-24..2027-01-02")
        ranges.append((_date(kind, first), _date(kind, last)))
        if ranges[-1][0] > ranges[-1][1]:
            raise _wrong(kind, text, "ends before it starts", f"write dates={last}..{first}")
    firsts, lasts = _merged(ranges)

    def test(day: date) -> bool:
        number = bisect_right(firsts, day)
        return number > 0 and day <= lasts[number - 1]

    return test


def _merged(ranges: Iterable[tuple[date, date]]) -> tuple[list[date], list[date]]:
    """Return the first and the last days of the ranges in order, with ranges that overlap made one."""
    firsts: list[date] = []
    lasts: list[date] = []
    for first, last in sorted(ranges):
        if lasts and first <= lasts[-1]:
            lasts[-1] = max(lasts[-1], last)
        else:
            firsts.append(first)
            lasts.append(last)
    return firsts, lasts


def _hour_minutes(kind: str, texts: Values) -> int:
    hours = _values_of(HOUR, kind, texts)
    return sum(((1 << 60) - 1) << hour * 60 for hour in range(24) if hours >> hour & 1)


def _between_minutes(kind: str, texts: Values) -> int:
    mask = 0
    for text in texts:
        match = _BETWEEN.fullmatch(text)
        if match is None:
            raise _wrong(kind, text, "must be HH:MM-HH:MM", "write between=08:00-20:00")
        hour, minute, last_hour, last_minute = (int(part) for part in match.groups())
        first, last = hour * 60 + minute, last_hour * 60 + last_minute
        if first > last:
            start, _, end = text.partition("-")
            fix = f"write between={start}-23:59,00:00-{end}"
            raise _wrong(kind, text, "starts after it ends", fix)
        mask |= (2 << last) - (1 << first)  # both ends included
    return mask


def _date(kind: str, text: str) -> date:
    try:
        if not _DATE.fullmatch(text):
            raise ValueError(text)
        return date.fromisoformat(text)
    except ValueError as error:
        raise _wrong(kind, text, "must be a date YYYY-MM-DD", f"write {kind}=2026-12-25") from error


def _wrong(kind: str, found: str, reason: str, fix: str) -> InvalidDefinitionError:
    return InvalidDefinitionError(field=f"constraint {kind}", found=found, reason=reason, fix=fix)


_DAY_KINDS: Mapping[str, Callable[[str, Values], DayTest]] = {
    "dow": _weekday_test,
    "dom": _day_test,
    "months": _month_test,
    "date": _date_test,
    "dates": _dates_test,
}
_MINUTE_KINDS: Mapping[str, Callable[[str, Values], int]] = {"hours": _hour_minutes, "between": _between_minutes}
KINDS = ("hours", "dow", "dom", "months", "between", "date", "dates")
