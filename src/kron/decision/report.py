"""report(timing, nominal) -> Report: how much of a window its constraints allow, and how likely a period is to fail."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta

from kron.cron.zone import Zone
from kron.decision.constraint import EVERY_MINUTE, Constraints
from kron.decision.decision import MAX_ATTEMPTS, Decision
from kron.decision.distribution import Frame
from kron.decision.timing import Timing
from kron.errors import OutOfRangeError
from kron.instant import SECOND, Instant, format_instant, instant

_DAY = timedelta(days=1)
_LONGEST_EXAMINED = timedelta(days=400)  # a year and a month show every pattern that a constraint can have


@dataclass(frozen=True, slots=True)
class Report:
    """The allowed seconds of one window as spans (first and last, both allowed), and what follows from them.

    Of a very long window only a part is examined, until `end`; it then speaks for the whole.
    """

    start: Instant
    end: Instant
    spans: tuple[tuple[Instant, Instant], ...]
    acceptance: float  # the probability that one candidate is accepted
    partial: bool = False

    @property
    def share(self) -> float:
        """The allowed share of the window's seconds."""
        allowed = sum((last - first) // SECOND + 1 for first, last in self.spans)
        return allowed / ((self.end - self.start) // SECOND + 1)

    @property
    def risk(self) -> float:
        """The probability, over all seeds, that the period becomes unschedulable."""
        if self.start == self.end:
            return 0.0 if self.spans else 1.0
        return (1 - self.acceptance) ** MAX_ATTEMPTS


def report(timing: Timing | Decision, nominal: datetime) -> Report:
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
        return Report(start, end, spans, 1.0 if spans else 0.0)
    below = terms.distribution.cdf(Frame(terms.mode, terms.width, -terms.first))
    seats = terms.width + 1

    def mass(first: Instant, last: Instant) -> float:
        low, high = (first - start) // SECOND, (last - start) // SECOND + 1
        return below(min(high / seats, 1.0)) - below(low / seats)

    examined = mass(start, end) if partial else 1.0
    acceptance = sum(mass(first, last) for first, last in spans) / examined if examined else 0.0
    return Report(start, end, spans, min(max(acceptance, 0.0), 1.0), partial)


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


def _join(spans: Iterator[tuple[Instant, Instant]]) -> Iterator[tuple[Instant, Instant]]:
    """Yield the spans with neighbours made one."""
    current: tuple[Instant, Instant] | None = None
    for first, last in spans:
        if current is not None and current[1] + SECOND == first:
            current = (current[0], last)
        else:
            if current is not None:
                yield current
            current = (first, last)
    if current is not None:
        yield current
