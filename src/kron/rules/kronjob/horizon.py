"""Horizon: between which instants a status or a Job can say the truth about a KronJob's periods."""

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

from kron.instant import LONGEST_DURATION, Instant
from kron.rules.kronjob.entry import Entry

# How far ahead of the clock an entry may be: so much a clock can be set back, or another replica's can be ahead, before
# a period that has its outcome is forgotten and may run a second time.
CORRECTION = timedelta(days=1)
_FIRST, _LAST = datetime.min.replace(tzinfo=UTC), datetime.max.replace(microsecond=0, tzinfo=UTC)


class Horizon(NamedTuple):
    """The bounds for one KronJob: its creation, and the present with its window and a correction of the clock.

    Everyone who may write a status, or a Job in the namespace, may write any instant there.
    """

    created: Instant
    now: Instant
    window: timedelta

    @property
    def end(self) -> Instant:
        """The latest instant that an entry can speak of."""
        return _moved(self.now, self.window + CORRECTION)

    def has(self, at: Instant) -> bool:
        """Whether a period can have been handled for this chosen time; one before the creation is not the KronJob's."""
        return self.created < at <= self.end

    def saw(self, at: Instant) -> bool:
        """Whether a Job of the KronJob can have ended then; the clock that says so is that of another host."""
        return _moved(self.created, -CORRECTION) <= at <= _moved(self.now, CORRECTION)

    def defined_at(self, at: Instant) -> Instant:
        """Return since when a definition can be in force, as near to an instant as possible."""
        return max(self.created, min(at, self.now))

    def clip(self, entry: Entry) -> Entry | None:
        """Return the part of an entry that can be true, None if there is none."""
        if entry.first == entry.last:
            is_near = abs(entry.last - entry.at) <= LONGEST_DURATION  # no window is longer
            return entry if is_near and self.has(entry.at) else None
        first, last = max(entry.first, _moved(self.created, -self.window)), min(entry.last, self.end)
        chosen = None if entry.chosen is None or not self.has(entry.chosen) else entry.chosen
        return None if first > last else entry._replace(first=first, last=last, chosen=chosen)

    def clip_all(self, entries: Iterable[Entry]) -> tuple[Entry, ...]:
        """Return what can be true of all entries, in their order."""
        return tuple(clipped for entry in entries if (clipped := self.clip(entry)) is not None)


def _moved(at: Instant, by: timedelta) -> Instant:
    """Return an instant so much later, or the end of the calendar."""
    try:
        return at + by
    except OverflowError:
        return _LAST if by > timedelta() else _FIRST
