"""Nominal times around an instant and inside of a record: what people mean by a time, what a range stands for."""

from collections.abc import Iterator
from typing import NamedTuple

from kron.decision.timing import Timing
from kron.errors import InvalidDefinitionError, KronError
from kron.instant import MICROSECOND, SECOND, Instant
from kron.rules.work import timing_and_policy


def timing_of(identity: str, definition: str) -> Timing:
    """Return the timing of a definition that was recorded; InvalidDefinitionError if it has none."""
    try:
        timing, _ = timing_and_policy(identity, definition)
    except (KronError, ValueError, TypeError, KeyError) as error:
        raise InvalidDefinitionError(field="timing", found=definition, reason="cannot be read") from error
    if timing is None:
        raise InvalidDefinitionError(field="timing", found=definition, reason="has no periods")
    return timing


def nominals_inside(identity: str, definition: str, first: Instant, last: Instant) -> Iterator[Instant]:
    """Return the nominal times of a definition from the first to the last."""
    return timing_of(identity, definition).schedule.between(first - MICROSECOND, last)


def count_inside(identity: str, definition: str, first: Instant, last: Instant) -> int:
    """Return how many nominal times a definition has from the first to the last; many take no longer than few."""
    return timing_of(identity, definition).schedule.count(first - MICROSECOND, last)


class Span(NamedTuple):
    """The periods that a record speaks of: one, or all that its definition names from the first to the last."""

    first: Instant  # nominal times
    last: Instant
    definition: str  # its text

    def meets(self, identity: str, other: "Span") -> bool:
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
        return ends.union(nominals_inside(identity, self.definition, first, last))


def touches(timing: Timing, nominal: Instant, at: Instant) -> bool:
    """Whether the period has the instant in its nominal minute or in its window, where its chosen second is, too."""
    terms, second = timing.terms, at.replace(microsecond=0)
    if nominal.replace(second=0) == second.replace(second=0):
        return True
    return nominal + SECOND * terms.first <= second <= nominal + SECOND * terms.last


def reach(timing: Timing, at: Instant) -> tuple[Instant, Instant]:
    """Return between which nominal times all periods lie that touch an instant."""
    terms, second, minute = timing.terms, at.replace(microsecond=0), at.replace(second=0, microsecond=0)
    return min(minute, second - SECOND * terms.last), max(minute + SECOND * 59, second - SECOND * terms.first)
