"""Handled: the periods of a job that have their outcome, as far as anybody may still ask."""

from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from operator import itemgetter
from typing import NamedTuple

from kron.cron.schedule import Schedule
from kron.instant import MICROSECOND, Instant

_FIRST = itemgetter(0)


class LongRange(NamedTuple):
    """All nominal times of a schedule between two of them, both ends included: too many to list."""

    first: Instant
    last: Instant
    schedule: Schedule


@dataclass(frozen=True, slots=True)
class Handled:
    """Spans of nominal times, both ends included: what was closed together is one span.

    They are kept in order, and spans that overlap as one, so that a question about a period takes no search of all.
    """

    spans: tuple[tuple[Instant, Instant], ...] = ()
    long: tuple[LongRange, ...] = ()  # to be read by way of `under`

    def __post_init__(self) -> None:
        if len(self.spans) > 1:
            object.__setattr__(self, "spans", _in_order(self.spans))

    @classmethod
    def of(cls, nominals: Iterable[Instant]) -> "Handled":
        """Return the periods of these nominal times, each on its own."""
        return cls(tuple((nominal, nominal) for nominal in nominals))

    def under(self, schedule: Schedule) -> "Handled":
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
        return Handled(tuple(found))

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


NONE = Handled()
