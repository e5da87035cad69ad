"""ForecastJob: a job whose runs are forecast. decisions_in(timing, span) -> its decisions in a span of time.

A span begins after its first instant and ends with its last one. A period lies in it by its effective time: its chosen
time, or the start of its window if it has none.
"""

from collections.abc import Iterable, Iterator
from datetime import datetime
from heapq import merge
from typing import NamedTuple

from kron.decision.decide import decide
from kron.decision.decision import Decision
from kron.decision.timing import Timing
from kron.errors import OutOfRangeError
from kron.instant import SECOND, Instant, shift
from kron.rules.periods import PeriodQueue, effective_time


class ForecastJob(NamedTuple):
    """A job by its name, its timing, a text of what it runs, and its host where an inventory names hosts."""

    name: str
    timing: Timing
    command_text: str = ""
    host: str = ""  # jobs of several hosts may have one identity

    @property
    def label(self) -> str:
        """What people read: the name, and the host if there are several."""
        return f"{self.name} ({self.host})" if self.host else self.name

    @property
    def identity(self) -> str:
        """The stable identifier that enters every seed."""
        return self.timing.identity


class TimeSpan(NamedTuple):
    """The instants after `since` up to and including `until`."""

    since: Instant
    until: Instant

    def __contains__(self, at: object) -> bool:
        return isinstance(at, datetime) and self.since < at <= self.until

    def nominal_range(self, first: int, last: int) -> "TimeSpan":
        """Return where the nominal times lie whose windows, in whole seconds from them, touch this span."""
        return TimeSpan(shift(self.since, -SECOND * last), shift(self.until, -SECOND * first))


def decisions_in(timing: Timing, span: TimeSpan) -> Iterator[Decision]:
    """Yield the decisions of a span, by nominal time."""
    terms = timing.terms
    for nominal in timing.schedule.between(*span.nominal_range(terms.first, terms.last)):
        try:
            decision = decide(timing, nominal)
        except OutOfRangeError:  # the calendar ends
            return
        if effective_time(decision) in span:
            yield decision


def merged_decisions(entries: Iterable[ForecastJob], span: TimeSpan) -> Iterator[tuple[ForecastJob, Decision]]:
    """Yield the decisions of all entries by effective time, and of one second by identity; few are held at a time."""
    for _, _, entry, decision in merge(*(_coming(entry, span) for entry in entries), key=lambda item: item[:2]):
        yield entry, decision


def _coming(entry: ForecastJob, span: TimeSpan) -> Iterator[tuple[Instant, str, ForecastJob, Decision]]:
    coming = PeriodQueue(entry.timing, span.since)
    while (decision := coming.pop(span.until)) is not None:
        yield effective_time(decision), entry.identity, entry, decision
