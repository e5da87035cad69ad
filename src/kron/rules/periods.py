"""Periods of a job: those to come, those that have an outcome, ranges of them, and the next one that runs."""

from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from heapq import heappop, heappush
from operator import itemgetter
from typing import NamedTuple

from kron.cron.schedule import Schedule
from kron.decision.decide import decide
from kron.decision.decision import Decision
from kron.decision.timing import Timing
from kron.errors import CronCalculationError, OutOfRangeError
from kron.instant import FIRST_INSTANT, MICROSECOND, SECOND, Instant
from kron.rules.effort import PERIOD, Effort, work_of
from kron.rules.job_spec import parse_timing

_FIRST = itemgetter(0)


class LongRange(NamedTuple):
    """All nominal times of a schedule between two of them, both ends included: too many to list."""

    first: Instant
    last: Instant
    schedule: Schedule


@dataclass(frozen=True, slots=True)
class HandledPeriods:
    """Spans of nominal times, both ends included: what was closed together is one span.

    They are kept in order, and spans that overlap as one, so that a question about a period takes no search of all.
    """

    spans: tuple[tuple[Instant, Instant], ...] = ()
    long: tuple[LongRange, ...] = ()  # to be read by way of `under`

    def __post_init__(self) -> None:
        if len(self.spans) > 1:
            object.__setattr__(self, "spans", _in_order(self.spans))

    @classmethod
    def from_nominals(cls, nominals: Iterable[Instant]) -> "HandledPeriods":
        """Return the periods of these nominal times, each on its own."""
        return cls(tuple((nominal, nominal) for nominal in nominals))

    def under(self, schedule: Schedule) -> "HandledPeriods":
        """Return the same as spans of the nominal times of a schedule.

        A long range of another schedule is listed after all: what that does not name between the ends is not handled.
        """
        if not self.long:
            return self
        found = list(self.spans)
        for first, last, theirs in self.long:
            if theirs == schedule:
                found.append((first, last))
            else:
                found += [(nominal, nominal) for nominal in theirs.between(first - MICROSECOND, last)]
        return HandledPeriods(tuple(found))

    def has(self, nominal: Instant) -> bool:
        """Whether the period of a nominal time has its outcome."""
        return self.until(nominal) is not None

    def until(self, nominal: Instant) -> Instant | None:
        """Return the end of the span that a nominal time lies in, None if it lies in none."""
        number = bisect_right(self.spans, nominal, key=_FIRST)
        last = self.spans[number - 1][1] if number else None
        return None if last is None or last < nominal else last

    def latest(self) -> Instant | None:
        """Return the latest nominal time of them."""
        return self.spans[-1][1] if self.spans else None

    def apart(self, after: Instant, until: Instant) -> Iterator[tuple[Instant, Instant]]:
        """Yield what lies between them, in order and in the same form: after the one, up to and including the other."""
        number = max(0, bisect_right(self.spans, after, key=_FIRST) - 1)
        while number < len(self.spans) and self.spans[number][0] <= until:
            first, last = self.spans[number]
            if after < first:
                yield after, first - MICROSECOND
            after, number = max(after, last), number + 1
        if after < until:
            yield after, until


def _in_order(spans: Iterable[tuple[Instant, Instant]]) -> tuple[tuple[Instant, Instant], ...]:
    found: list[tuple[Instant, Instant]] = []
    for first, last in sorted(spans):
        if found and first <= found[-1][1]:
            found[-1] = found[-1][0], max(last, found[-1][1])
        else:
            found.append((first, last))
    return tuple(found)


NO_PERIODS = HandledPeriods()


def effective_time(decision: Decision) -> Instant:
    """Return when a period is handled if nothing comes in the way."""
    return decision.window_start if decision.chosen_time is None else decision.chosen_time


class PeriodQueue:
    """The periods whose effective time lies after an instant, but for those that are handled already.

    Only as many are decided as are needed to know which is the first: no later window may begin before it.
    """

    __slots__ = ("_ahead", "_handled", "_nominal", "_since", "_timing")

    def __init__(self, timing: Timing, since: Instant, handled: HandledPeriods = NO_PERIODS) -> None:
        self._timing, self._since, self._handled = timing, since, handled.under(timing.schedule)
        self._ahead: list[tuple[Instant, Instant, Decision]] = []
        last = SECOND * timing.terms.last
        self._nominal = self._next(since - last if since - FIRST_INSTANT > last else since)

    def first(self) -> Decision | None:
        """Return the first of them, None if the calendar ends before; that may take long where windows overlap."""
        while not self.is_known and self._nominal is not None:
            self._decide(self._nominal)
        return self._ahead[0][2] if self._ahead else None

    def peek(self) -> Decision | None:
        """Return the first of them if it is known already. Nothing is decided or changed: another thread may ask."""
        nominal, ahead = self._nominal, next(iter(self._ahead), None)
        if ahead is None or (nominal is not None and ahead[0] > nominal + self._timing.terms.start):
            return None
        return ahead[2]

    @property
    def is_known(self) -> bool:
        """Whether it is known which is the first, so that `first` does not have to decide anything."""
        if self._nominal is None:
            return True
        return bool(self._ahead) and self._ahead[0][0] <= self._nominal + self._timing.terms.start

    def advance(self, effort: Effort) -> bool:
        """Decide as far ahead as the effort allows; return whether the first is known then."""
        while not (known := self.is_known) and not effort.is_spent and self._nominal is not None:
            effort.left -= self._decide(self._nominal)
        return known

    def next_time(self) -> Instant | None:
        """Return the effective time of the first."""
        return None if self.first() is None else self._ahead[0][0]

    def pop(self, until: Instant) -> Decision | None:
        """Remove and return the first, if its effective time has come by then."""
        if self.first() is None or self._ahead[0][0] > until:
            return None
        return heappop(self._ahead)[2]

    def put_back(self, decision: Decision) -> None:
        """Let a period that was taken be to come again."""
        heappush(self._ahead, (effective_time(decision), decision.nominal_time, decision))

    def _decide(self, nominal: Instant) -> int:
        """Take the decision of one period, and return the work that it took."""
        self._nominal = self._next(nominal)
        try:
            decision = decide(self._timing, nominal)
        except OutOfRangeError:  # the calendar ends
            self._nominal = None
            return PERIOD
        if effective_time(decision) > self._since:
            self.put_back(decision)
        return work_of(decision)

    def _next(self, after: Instant) -> Instant | None:
        """Return the next nominal time that is not handled; a long span of those that are is not walked through."""
        try:
            nominal = self._timing.schedule.next(after)
            while (handled_until := self._handled.until(nominal)) is not None:
                nominal = self._timing.schedule.next(handled_until)
        except CronCalculationError:
            return None
        return nominal


def nominal_times_between(identity: str, definition: str, first: Instant, last: Instant) -> Iterator[Instant]:
    """Return the nominal times of a definition from the first to the last."""
    return parse_timing(identity, definition).schedule.between(first - MICROSECOND, last)


def count_nominal_times_between(identity: str, definition: str, first: Instant, last: Instant) -> int:
    """Return how many nominal times a definition has from the first to the last; many take no longer than few."""
    return parse_timing(identity, definition).schedule.count(first - MICROSECOND, last)


class PeriodRange(NamedTuple):
    """The periods that a record speaks of: one, or all that its definition names from the first to the last."""

    first: Instant  # nominal times
    last: Instant
    definition: str  # its text

    def overlaps(self, identity: str, other: "PeriodRange") -> bool:
        """Whether both speak of some period. What another definition names between the ends is none of a span's."""
        first, last = max(self.first, other.first), min(self.last, other.last)
        if first > last:
            return False
        if self.definition == other.definition and self.first < self.last and other.first < other.last:
            return True  # an end of one lies in the other; no need to count
        return not self._between(identity, first, last).isdisjoint(other._between(identity, first, last))

    def _between(self, identity: str, first: Instant, last: Instant) -> set[Instant]:
        ends = {nominal for nominal in (self.first, self.last) if first <= nominal <= last}
        if self.first == self.last:
            return ends
        return ends.union(nominal_times_between(identity, self.definition, first, last))


def touches_instant(timing: Timing, nominal: Instant, at: Instant) -> bool:
    """Whether the period has the instant in its nominal minute or in its window, where its chosen second is, too."""
    terms, second = timing.terms, at.replace(microsecond=0)
    if nominal.replace(second=0) == second.replace(second=0):
        return True
    return nominal + SECOND * terms.first <= second <= nominal + SECOND * terms.last


def nominal_range_around(timing: Timing, at: Instant) -> tuple[Instant, Instant]:
    """Return between which nominal times all periods lie that touch an instant."""
    terms, second, minute = timing.terms, at.replace(microsecond=0), at.replace(second=0, microsecond=0)
    return min(minute, second - SECOND * terms.last), max(minute + SECOND * 59, second - SECOND * terms.first)


# --- the next run -----------------------------------------------------------------------------------------------------

LOOKED_AHEAD = 1_000  # periods without a chosen second, before nothing is said about the next


class NextRun:
    """Looks through the periods from the first one that comes; what lies behind a thousand is beyond the look-ahead."""

    __slots__ = ("_coming", "_first", "_left", "_timing", "found")

    def __init__(self, timing: Timing, since: Instant, handled: HandledPeriods, first: Decision) -> None:
        """`first` is the first period that comes after `since` and is not handled."""
        self._timing, self._coming, self._first = timing, PeriodQueue(timing, since, handled), first
        self._left = LOOKED_AHEAD
        self.found: Decision | None = None

    @property
    def is_beyond(self) -> bool:
        """Whether all periods were looked at that may be, and none has a chosen second."""
        return self.found is None and self._left <= 0

    def advance(self, first: Decision, effort: Effort) -> bool:
        """Look on, now that `first` is the first that comes; return whether the answer is known.

        Where a period has passed since the last time, one more is looked at, and not all of them again.
        """
        if first.nominal_time > self._first.nominal_time:
            self._left += self._timing.schedule.count(self._first.nominal_time, first.nominal_time)
            self._first = first
        if self.found is not None and effective_time(self.found) < effective_time(first):
            self.found = None
        while self.found is None and self._left > 0:
            if effort.is_spent or not self._coming.advance(effort):
                return False
            at = self._coming.next_time()
            decision = None if at is None else self._coming.pop(at)
            if decision is None:  # the calendar ends
                self._left = 0
                break
            effort.left -= PERIOD
            if effective_time(decision) >= effective_time(first):
                self._left -= 1
                self.found = decision if decision.chosen_time is not None else None
        return True
