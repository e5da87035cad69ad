"""Walk(name, start, end): every tick of a zone's clock in a span, and which of them a cron text names.

A brute force: the clock is read at every minute of UTC, or at every second where an offset has odd seconds, and nothing
is skipped. It shares neither tables nor search with Kron.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import lru_cache
from typing import NamedTuple

from tests.cron.iana import offset, zone
from tests.cron.moments import MINUTE, SECOND
from tests.cron.reference import ReferenceSchedule

RUN_UP = timedelta(hours=25)  # walked before the span: a minute inside it may repeat one of the day before


class Tick(NamedTuple):
    """A moment at which a new minute begins on the wall clock, and what the clock then shows."""

    moment: datetime
    wall: datetime


@dataclass(frozen=True)
class Gap:
    """The first moment after the clocks went forward, and the beginnings of minutes that were left out."""

    end: datetime
    missing: tuple[datetime, ...]


class Walk:
    """The ticks and gaps of a zone in a span."""

    def __init__(self, name: str, start: datetime, end: datetime) -> None:
        self.start, self.end = start, end
        self.ticks: list[Tick] = []
        self.repeats: set[datetime] = set()
        self.gaps: list[Gap] = []
        seen: set[datetime] = set()
        place, last = zone(name), None
        for moment in _moments(name, start - RUN_UP, end):
            shown = moment.astimezone(place)
            wall, ahead = shown.replace(tzinfo=None, fold=0), shown.utcoffset()
            assert ahead is not None
            if last is not None and ahead > last[1]:
                self.gaps.append(_gap(name, last[0], moment))
            last = moment, ahead
            if wall.second:
                continue
            if wall in seen:
                self.repeats.add(moment)
            seen.add(wall)
            self.ticks.append(Tick(moment, wall))

    def occurrences(self, reference: ReferenceSchedule) -> dict[tuple[str, str], list[datetime]]:
        """Return for each policy what a text names after the start, up to and including the end."""
        both = {tick.moment for tick in self.ticks if reference.names(tick.wall)}
        shifted = {gap.end for gap in self.gaps if any(reference.names(wall) for wall in gap.missing)}
        found = {
            ("both", "skip"): both,
            ("both", "shift"): both | shifted,
            ("first", "skip"): both - self.repeats,
            ("first", "shift"): both - self.repeats | shifted,
        }
        return {policy: sorted(filter(self._contains, moments)) for policy, moments in found.items()}

    def _contains(self, moment: datetime) -> bool:
        return self.start < moment <= self.end


@lru_cache(maxsize=4)
def walk(name: str, start: datetime, end: datetime) -> Walk:
    """Return the walk; a few are kept, because many texts are tried on each."""
    return Walk(name, start, end)


def _moments(name: str, start: datetime, end: datetime) -> Iterator[datetime]:
    whole_minutes = all(offset(name, moment) % MINUTE == timedelta() for moment in (start, end))
    step = MINUTE if whole_minutes else SECOND
    moment = start.replace(second=0, microsecond=0)
    while moment <= end:
        yield moment
        moment += step


def _gap(name: str, old: datetime, new: datetime) -> Gap:
    before, after = offset(name, old), offset(name, new)
    moment = old
    while offset(name, moment) == before:
        moment += SECOND
    wall, resumed = ((moment + ahead).replace(tzinfo=None) for ahead in (before, after))
    missing = [wall + second * SECOND for second in range((resumed - wall) // SECOND)]
    return Gap(moment, tuple(minute for minute in missing if minute.second == 0))
