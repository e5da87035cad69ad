"""Nominal times around an instant and inside of a record: what people mean by a time, what a range stands for."""

from collections.abc import Iterator

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
