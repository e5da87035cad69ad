"""Outlook: how many of a timing's coming periods will find no allowed second, without going through them one by one."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from itertools import islice

from kron.cron.calendar import CYCLE, MONTH_KINDS
from kron.cron.expression import Expression
from kron.decision.constraint import Constraints
from kron.decision.report import report
from kron.decision.timing import Timing
from kron.errors import OutOfRangeError
from kron.instant import Instant

_DAYS = 400  # more than a year, so that every season and every holiday is in it
_PERIODS = 400
_SPANS = 10_000  # of long windows fewer periods are enough
_TIMES = 24  # of a day that are looked at
_LONGEST = 3  # days that a window may touch to be told apart by which of them are allowed
_FAR_AHEAD = timedelta(days=41 * 366)  # the rarest expression, a leap day on one weekday, comes within forty years
_DAY = 1440  # minutes
_BEFORE = 2 * _LONGEST  # days before the first one, for windows that begin earlier than their nominal times


@dataclass(frozen=True, slots=True)
class Prospect:
    """The share of periods that are expected to fail; the worst of them, by its window's start and allowed share."""

    failing: float
    worst: Instant
    allowed: float


class Outlook:
    """Looks at a year from now. Days that are named and days that are allowed are bits, shared by all jobs."""

    def __init__(self, now: Instant) -> None:
        self._now = now
        self._first = now.date() - timedelta(days=_BEFORE)
        self._named: dict[object, int] = {}
        self._allowed: dict[Constraints, int] = {}

    def of(self, timing: Timing) -> Prospect | None:
        """Return what to expect of a timing with constraints; None if the calendar ends first."""
        try:
            return self._by_days(timing) or self._by_periods(timing)
        except (OutOfRangeError, OverflowError):
            return None

    def _by_days(self, timing: Timing) -> Prospect | None:
        """Group the periods by time of day and by which of the days that a window touches are allowed."""
        expression, terms = timing.schedule.expression, timing.terms
        if terms.width > _LONGEST * _DAY * 60 or -terms.first > _LONGEST * _DAY * 60:
            return None
        named, allowed = self._named_days(expression), self._allowed_days(timing.constraints)
        times = [hour * 60 + minute for hour in expression.hour for minute in expression.minute]
        total, failing, worst = 0, 0.0, (2.0, self._now)
        for minute in times[:: -(-len(times) // _TIMES)]:
            first, last = minute + terms.first // 60, minute + terms.last // 60
            days = range(first // _DAY, last // _DAY + 1)
            for group in _groups(named, allowed, days):
                count = group.bit_count()
                index = (group & -group).bit_length() - 1
                risk, share = self._risk(timing, index, minute, (first, last), allowed)
                total, failing = total + count, failing + count * risk
                worst = min(worst, (share, self._instant(timing, index, minute) + terms.start))
        return Prospect(failing / total, worst[1], worst[0]) if total else None

    def _risk(
        self, timing: Timing, index: int, minute: int, span: tuple[int, int], allowed: int
    ) -> tuple[float, float]:
        """Return the risk and the allowed share of a window; where all or nothing is allowed, at a glance."""
        first, last = span
        days = [allowed >> index + day & 1 for day in range(first // _DAY, last // _DAY + 1)]
        if not any(days):
            return 1.0, 0.0
        minutes = timing.constraints.minutes
        twice = minutes | minutes << _DAY
        within = (2 << last - first) - 1
        if all(days) and last - first < _DAY and twice >> first % _DAY & within == within:
            return 0.0, 1.0
        found = report(timing, self._instant(timing, index, minute))
        return found.risk, found.share

    def _by_periods(self, timing: Timing) -> Prospect | None:
        reports, spans = [], 0
        for nominal in islice(timing.schedule.between(self._now, self._now + _FAR_AHEAD), _PERIODS):
            reports.append(report(timing, nominal))
            spans += len(reports[-1].spans)
            if spans > _SPANS:
                break
        if not reports:
            return None
        least = min(reports, key=lambda found: found.share)
        return Prospect(sum(found.risk for found in reports) / len(reports), least.start, least.share)

    # --- days as bits -------------------------------------------------------------------------------------------------

    def _named_days(self, expression: Expression) -> int:
        """Return the days that an expression names; those before today are left out."""
        key = (expression.days, expression.month.values)
        if key not in self._named:
            days = enumerate(self._days(), 0)
            self._named[key] = sum(1 << i for i, day in days if i >= _BEFORE and _is_named(expression, day))
        return self._named[key]

    def _allowed_days(self, constraints: Constraints) -> int:
        if constraints not in self._allowed:
            self._allowed[constraints] = sum(
                1 << i for i, day in enumerate(self._days()) if constraints.allows_day(day)
            )
        return self._allowed[constraints]

    def _days(self) -> Iterator[date]:
        return (self._first + timedelta(days=number) for number in range(_BEFORE + _DAYS + _BEFORE))

    def _instant(self, timing: Timing, index: int, minute: int) -> Instant:
        day = self._first + timedelta(days=index)
        wall = datetime(day.year, day.month, day.day, minute // 60, minute % 60, tzinfo=UTC)
        return wall - timing.schedule.zone.offset(wall)


def _is_named(expression: Expression, day: date) -> bool:
    kind = MONTH_KINDS[day.year % CYCLE * 12 + day.month]
    return day.month in expression.month and expression.days[kind] >> day.day & 1 == 1


def _groups(named: int, allowed: int, days: range) -> list[int]:
    """Return the named days in groups whose windows touch the same pattern of allowed days."""
    groups = [named & ((1 << _BEFORE + _DAYS) - 1)]
    for day in days:
        shifted = allowed >> day if day >= 0 else allowed << -day
        groups = [part for group in groups for part in (group & shifted, group & ~shifted) if part]
    return groups
