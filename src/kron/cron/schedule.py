"""Schedule = expression + zone: next, previous and between, on instants."""

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from enum import Enum
from typing import Literal, NoReturn, TypeVar

from kron.cron.dialect import DIALECTS
from kron.cron.expression import Expression, Wall, parse
from kron.cron.zone import UTC_ZONE, OffsetTable, Zone, load_zone
from kron.errors import CronCalculationError, InvalidDefinitionError, OutOfRangeError
from kron.instant import FIRST_INSTANT, LAST_INSTANT, MICROSECOND, ZERO, Instant, format_instant, instant, shift

Choice = TypeVar("Choice")
_FIRST_WALL, _LAST_WALL = FIRST_INSTANT, LAST_INSTANT


class RepeatedPolicy(Enum):
    """What a wall minute that occurs twice means."""

    BOTH = "both"
    FIRST = "first"


class GapPolicy(Enum):
    """What a wall minute that does not occur means."""

    SKIP = "skip"
    SHIFT = "shift"


class Schedule:
    """The instants that a cron expression names in a time zone.

    A minute that the clocks jump over is skipped, or with `gap="shift"` moved to the first instant after the gap, where
    several become one. A minute that occurs twice is two instants, or with `repeated="first"` only the earlier one.
    """

    __slots__ = ("expression", "gap", "repeated", "timezone", "zone")
    expression: Expression
    repeated: RepeatedPolicy
    gap: GapPolicy
    zone: Zone
    timezone: str

    def __init__(
        self,
        expression: str,
        timezone: str = "UTC",
        dialect: Literal["extended", "posix"] = "extended",
        repeated: Literal["both", "first"] = "both",
        gap: Literal["skip", "shift"] = "skip",
    ) -> None:
        zone = UTC_ZONE if timezone == "UTC" else load_zone(timezone)
        prepare = object.__setattr__
        prepare(self, "expression", parse(expression, _one_of("dialect", dialect, DIALECTS)))
        prepare(self, "repeated", _one_of("repeated", repeated, _REPEATED))
        prepare(self, "gap", _one_of("gap", gap, _GAPS))
        prepare(self, "zone", zone)
        prepare(self, "timezone", zone.name)

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"a schedule is frozen: {name} cannot be set")

    def next(self, after: datetime) -> Instant:
        """Return the first occurrence strictly after an aware datetime."""
        at = after if after.__class__ is datetime and after.tzinfo is UTC else instant(after)
        try:
            found = self.expression.after(at) if self.zone is UTC_ZONE else self._search_forward(at)
        except OverflowError:
            found = None
        if found is None:
            raise self._nothing("after", at)
        return found

    def previous(self, at: datetime) -> Instant:
        """Return the last occurrence at or before an aware datetime."""
        moment = instant(at)
        try:
            found = self.expression.until(moment) if self.zone is UTC_ZONE else self._search_backward(moment)
        except OverflowError:
            found = None
        if found is None:
            raise self._nothing("at or before", moment)
        return found

    def between(self, start: datetime, end: datetime) -> Iterator[Instant]:
        """Yield, lazily and in order, the occurrences after `start` up to and including `end`."""
        at, last = instant(start), instant(end)
        return self._walk(at, last)

    def _walk(self, at: Instant, last: Instant) -> Iterator[Instant]:
        while True:
            try:
                at = self.next(at)
            except CronCalculationError:  # the calendar ended first
                return
            if at > last:
                return
            yield at

    def count(self, start: datetime, end: datetime) -> int:
        """Return how many occurrences `between` would yield; a year of minutes takes no longer than a day."""
        at, last = instant(start), instant(end)
        if last <= at:
            return 0
        if self.zone is UTC_ZONE:
            return self.expression.count(at, last)
        table = self.zone.table_at(last)
        return sum(self._count_in(table, i, at, last) for i in range(table.segment(at), table.segment(last) + 1))

    def _count_in(self, table: OffsetTable, i: int, at: Instant, last: Instant) -> int:
        """Return how many occurrences of segment i lie after `at`, up to and including `last`."""
        start, offset = table.starts[i], table.offsets[i]
        is_begun = at >= start
        # West of Greenwich the first minute of the year 1 is not counted: no wall time lies before it.
        after = shift(at if is_begun else start - MICROSECOND, offset)
        if self.repeated is RepeatedPolicy.FIRST and i > 0:
            after = max(after, shift(start, table.offsets[i - 1]) - MICROSECOND)
        found = self.expression.count(after, shift(min(last, table.last_instant(i)), offset))
        if self.gap is GapPolicy.SHIFT and not is_begun and self._named_in_gap(table, i):
            first = start + offset
            found += self.expression.until(first) != first  # named by itself, it was counted
        return found

    # Within a segment of the zone wall time and UTC run in parallel, so an occurrence is searched on the wall clock of
    # one segment, then of the next. A wall time in a gap lies in no segment and one that repeats lies in two: the
    # default policies (skip, both) need no code at all, and the other two act only where segments meet.

    def _search_forward(self, at: Instant) -> Instant | None:
        zone, expression = self.zone, self.expression
        table = zone.table
        i = table.segment(at)
        while True:
            origin = at if at >= table.starts[i] else table.starts[i] - MICROSECOND
            wall = _after(expression, origin, table.offsets[i])
            if wall is not None and (found := wall - table.offsets[i]) < table.ends[i]:
                if self.repeated is RepeatedPolicy.BOTH or not _is_repeat(table, i, wall):
                    return found
                at = found
            elif i + 1 < len(table.starts):
                i += 1
                if self.gap is GapPolicy.SHIFT and at < table.starts[i] and self._named_in_gap(table, i):
                    return table.starts[i]
            elif table.complete:
                return None
            else:
                table = zone.extend(table)

    def _search_backward(self, at: Instant) -> Instant | None:
        table, expression = self.zone.table_at(at), self.expression
        i = table.segment(at)
        while i >= 0:
            wall = _until(expression, min(at, table.last_instant(i)), table.offsets[i])
            if wall is not None and (found := wall - table.offsets[i]) >= table.starts[i]:
                if self.repeated is RepeatedPolicy.BOTH or not _is_repeat(table, i, wall):
                    return found
                at = found - MICROSECOND
            else:
                if self.gap is GapPolicy.SHIFT and self._named_in_gap(table, i):
                    return table.starts[i]
                i -= 1
        return None

    def _named_in_gap(self, table: OffsetTable, i: int) -> bool:
        """Whether a named minute begins in the wall time that is missing before segment i."""
        if i == 0:
            return False
        wall = self.expression.after(table.starts[i] + table.offsets[i - 1] - MICROSECOND)
        return wall is not None and wall < table.starts[i] + table.offsets[i]

    def _nothing(self, side: str, at: Instant) -> CronCalculationError:
        cause = OutOfRangeError(what=f"the occurrence {side} {format_instant(at)}")
        return CronCalculationError(expression=self.expression.text, current_time=format_instant(at), cause=cause)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Schedule) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def _key(self) -> tuple[object, ...]:
        return (self.expression, self.timezone, self.repeated, self.gap)

    def __reduce__(self) -> tuple[object, ...]:
        words = (self.timezone, self.expression.dialect.name, self.repeated.value, self.gap.value)
        return Schedule, (self.expression.text, *words)

    def __repr__(self) -> str:
        options = [
            f"{self.expression.text!r}",
            f"timezone={self.timezone!r}",
            f"dialect={self.expression.dialect.name!r}",
        ]
        options += ["repeated='first'"] if self.repeated is RepeatedPolicy.FIRST else []
        options += ["gap='shift'"] if self.gap is GapPolicy.SHIFT else []
        return f"Schedule({', '.join(options)})"


def _after(expression: Expression, at: Instant, offset: timedelta) -> Wall | None:
    """Return the first named wall time after an instant's, which may lie before the calendar or behind it."""
    try:
        return expression.after(at + offset)
    except OverflowError:
        if offset > ZERO:
            return None
        return _FIRST_WALL if expression.matches(_FIRST_WALL) else expression.after(_FIRST_WALL)


def _until(expression: Expression, at: Instant, offset: timedelta) -> Wall | None:
    """Return the last named wall time until an instant's, which may lie before the calendar or behind it."""
    try:
        return expression.until(at + offset)
    except OverflowError:
        return None if offset < ZERO else expression.until(_LAST_WALL)


def _is_repeat(table: OffsetTable, i: int, wall: Wall) -> bool:
    """Whether a wall time of segment i already occurred in the segment before."""
    return i > 0 and wall < table.starts[i] + table.offsets[i - 1]


_REPEATED = {member.value: member for member in RepeatedPolicy}
_GAPS = {member.value: member for member in GapPolicy}


def _one_of(field: str, word: str, choices: Mapping[str, Choice]) -> Choice:
    try:
        return choices[word]
    except (KeyError, TypeError) as error:
        reason = f"must be {' or '.join(choices)}"
        raise InvalidDefinitionError(field=field, found=str(word), reason=reason) from error
