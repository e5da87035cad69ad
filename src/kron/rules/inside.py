"""nominals_inside(identity, definition, first, last) -> the nominal times that one record of several periods covers."""

from collections.abc import Iterator

from kron.errors import InvalidDefinitionError, KronError
from kron.instant import MICROSECOND, Instant
from kron.rules.work import timing_and_policy


def nominals_inside(identity: str, definition: str, first: Instant, last: Instant) -> Iterator[Instant]:
    """Return the nominal times of a definition from the first to the last; InvalidDefinitionError if it has none."""
    try:
        timing, _ = timing_and_policy(identity, definition)
    except (KronError, ValueError, TypeError, KeyError) as error:
        raise InvalidDefinitionError(field="timing", found=definition, reason="cannot be read") from error
    if timing is None:
        raise InvalidDefinitionError(field="timing", found=definition, reason="has no periods")
    return timing.schedule.between(first - MICROSECOND, last)
