"""How much of a window its constraints allow, and how often a period fails: for one, and over the coming year."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from itertools import islice

from kron.cron.expression import CYCLE, MONTH_KINDS, Expression
from kron.cron.zone import Zone
from kron.decision.constraint import EVERY_MINUTE, Constraints
from kron.decision.decision import MAX_ATTEMPTS, Decision
from kron.decision.timing import Timing
from kron.decision.window import WindowFrame
from kron.errors import OutOfRangeError
from kron.instant import SECOND, Instant, format_instant, instant

_DAY = timedelta(days=1)
_LONGEST_EXAMINED = timedelta(days=400)  # a year and a month show every pattern that a constraint can have


@dataclass(frozen=True, slots=True)
class Feasibility:
    """The allowed seconds of one window as spans (first and last, both allowed), and what follows from them.

    Of a very long window only a part is examined, until `end`; it then speaks for the whole.
    """

    start: Instant
    end: Instant
    spans: tuple[tuple[Instant, Instant], ...]
    acceptance: float  # the probability that one candidate is accepted
    is_partial: bool = False

    @property
    def allowed_share(self) -> float:
        """The allowed share of the window's seconds."""
        allowed = sum((last - first) // SECOND + 1 for first, last in self.spans)
        return allowed / ((self.end - self.start) // SECOND + 1)

    @property
    def failure_probability(self) -> float:
        """The probability, over all seeds, that the period becomes unschedulable."""
        if self.start == self.end:
            return 0.0 if self.spans else 1.0
        return (1 - self.acceptance) ** MAX_ATTEMPTS


def feasibility(timing: Timing | Decision, nominal: datetime) -> Feasibility:
    """Return what the constraints leave of the window of the period at a nominal time."""
    terms, at = timing.terms, instant(nominal)
    try:
        start, whole_end = at + terms.start, at + SECOND * terms.last
        partial = bool(terms.constraints) and whole_end - start > _LONGEST_EXAMINED
        end = start + _LONGEST_EXAMINED if partial else whole_end
        spans = tuple(_join(_allowed_spans(terms.constraints, terms.zone, start, end)))
    except OverflowError as error:
        raise OutOfRangeError(what=f"the window of {format_instant(at)}") from error
    if not terms.width:
        return Feasibility(start, end, spans, 1.0 if spans else 0.0)
    below = terms.distribution.cdf(WindowFrame(terms.mode, terms.width, -terms.first))
    seats = terms.width + 1

    def mass(first: Instant, last: Instant) -> float:
        low, high = (first - start) // SECOND, (last - start) // SECOND + 1
        return below(min(high / seats, 1.0)) - below(low / seats)

    examined = mass(start, end) if partial else 1.0
    acceptance = sum(mass(first, last) for first, last in spans) / examined if examined else 0.0
    return Feasibility(start, end, spans, min(max(acceptance, 0.0), 1.0), partial)


def _allowed_spans(
    constraints: Constraints, zone: Zone, start: Instant, end: Instant
) -> Iterator[tuple[Instant, Instant]]:
    """Yield the allowed spans in order: segment by segment of the zone, day by day, run by run of allowed minutes."""
    if not constraints:
        yield start, end
        return
    runs = _runs(constraints.minutes)
    table = zone.table_at(end)
    for i in range(table.segment(start), table.segment(end) + 1):
        offset = table.offsets[i]
        low, high = max(start, table.starts[i]), min(end, table.ends[i] - SECOND)
        day = (low + offset).date()
        while day <= (high + offset).date():
            if constraints.allows_day(day):
                midnight = datetime(day.year, day.month, day.day, tzinfo=UTC) - offset
                for first, last in runs:
                    a, b = max(low, midnight + first * SECOND), min(high, midnight + last * SECOND)
                    if a <= b:
                        yield a, b
            if day == date.max:
                return
            day += _DAY


def _runs(minutes: int) -> list[tuple[int, int]]:
    """Return the runs of set bits as first and last second of the day."""
    if minutes == EVERY_MINUTE:
        return [(0, 86_399)]
    runs: list[tuple[int, int]] = []
    position = 0
    while minutes:
        skip = (minutes & -minutes).bit_length() - 1
        minutes >>= skip
        length = (~minutes & (minutes + 1)).bit_length() - 1
        runs.append(((position + skip) * 60, (position + skip + length) * 60 - 1))
        minutes >>= length
        position += skip + length
    return runs


def _join(spans: Iterator[tuple[Instant, Instant]]) -> list[tuple[Instant, Instant]]:
    """Return the spans with neighbours made one."""
    joined: list[tuple[Instant, Instant]] = []
    for first, last in spans:
        if joined and joined[-1][1] + SECOND == first:
            joined[-1] = (joined[-1][0], last)
        else:
            joined.append((first, last))
    return joined


_DAYS = 400  # more than a year, so that every season and every holiday is in it
_PERIODS = 400
_SPANS = 10_000  # of long windows fewer periods are enough
_TIMES = 24  # of a day that are looked at
_LONGEST = 3  # days that a window may touch to be classified by which of them are allowed
_FAR_AHEAD = timedelta(days=41 * 366)  # the rarest expression, a leap day on one weekday, comes within forty years
_DAY_MINUTES = 1440  # minutes
_BEFORE = 2 * _LONGEST  # days before the first one, for windows that begin earlier than their nominal times


@dataclass(frozen=True, slots=True)
class YearFeasibility:
    """The share of periods that are expected to fail; the worst of them, by its window's start and allowed share."""

    failing_share: float
    worst: Instant
    allowed: float


class FeasibilityForecast:
    """Looks at a year from now. Days that are named and days that are allowed are bits, shared by all jobs."""

    def __init__(self, now: Instant) -> None:
        self._now = now
        self._first = now.date() - timedelta(days=_BEFORE)
        self._named: dict[object, int] = {}
        self._allowed: dict[Constraints, int] = {}

    def forecast(self, timing: Timing) -> YearFeasibility | None:
        """Return what to expect of a timing with constraints; None if the calendar ends first."""
        try:
            return self._by_days(timing) or self._by_periods(timing)
        except (OutOfRangeError, OverflowError):
            return None

    def _by_days(self, timing: Timing) -> YearFeasibility | None:
        """Group the periods by time of day and by which of the days that a window touches are allowed."""
        expression, terms = timing.schedule.expression, timing.terms
        if terms.width > _LONGEST * _DAY_MINUTES * 60 or -terms.first > _LONGEST * _DAY_MINUTES * 60:
            return None
        named, allowed = self._named_days(expression), self._allowed_days(timing.constraints)
        times = [hour * 60 + minute for hour in expression.hour for minute in expression.minute]
        total, failing, worst = 0, 0.0, (2.0, self._now)
        for minute in times[:: -(-len(times) // _TIMES)]:
            first, last = minute + terms.first // 60, minute + terms.last // 60
            days = range(first // _DAY_MINUTES, last // _DAY_MINUTES + 1)
            for group in _groups(named, allowed, days):
                count = group.bit_count()
                index = (group & -group).bit_length() - 1
                risk, share = self._risk(timing, index, minute, (first, last), allowed)
                total, failing = total + count, failing + count * risk
                worst = min(worst, (share, self._instant(timing, index, minute) + terms.start))
        return YearFeasibility(failing / total, worst[1], worst[0]) if total else None

    def _risk(
        self, timing: Timing, index: int, minute: int, span: tuple[int, int], allowed: int
    ) -> tuple[float, float]:
        """Return the risk and the allowed share of a window; where all or nothing is allowed, at a glance."""
        first, last = span
        days = [allowed >> index + day & 1 for day in range(first // _DAY_MINUTES, last // _DAY_MINUTES + 1)]
        if not any(days):
            return 1.0, 0.0
        minutes = timing.constraints.minutes
        twice = minutes | minutes << _DAY_MINUTES
        within = (2 << last - first) - 1
        if all(days) and last - first < _DAY_MINUTES and twice >> first % _DAY_MINUTES & within == within:
            return 0.0, 1.0
        found = feasibility(timing, self._instant(timing, index, minute))
        return found.failure_probability, found.allowed_share

    def _by_periods(self, timing: Timing) -> YearFeasibility | None:
        reports, spans = [], 0
        for nominal in islice(timing.schedule.between(self._now, self._now + _FAR_AHEAD), _PERIODS):
            reports.append(feasibility(timing, nominal))
            spans += len(reports[-1].spans)
            if spans > _SPANS:
                break
        if not reports:
            return None
        least = min(reports, key=lambda found: found.allowed_share)
        return YearFeasibility(
            sum(found.failure_probability for found in reports) / len(reports), least.start, least.allowed_share
        )

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
