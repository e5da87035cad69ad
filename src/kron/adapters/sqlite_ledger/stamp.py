"""stamp(instant) -> text, moment(text) -> instant: RFC 3339 in UTC, always with microseconds, so that texts compare."""

from datetime import UTC, datetime
from functools import lru_cache

from kron.instant import Instant

_WIDTH = len("2026-03-01T12:00:00.000000Z")


@lru_cache(maxsize=4096)  # many records carry the same instant: that of the step that wrote them
def stamp(instant: Instant) -> str:
    """Return the text of an instant."""
    return f"{instant.isoformat(timespec='microseconds')[:26]}Z"


@lru_cache(maxsize=4096)
def moment(text: object) -> Instant:
    """Return the instant of a text, or raise ValueError."""
    if not isinstance(text, str) or len(text) != _WIDTH or text[10] != "T" or text[-1] != "Z":
        raise ValueError(f"{text!r} is no instant")
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def stamp_or_none(instant: Instant | None) -> str | None:
    """Return the text of an instant, if there is one."""
    return None if instant is None else stamp(instant)


def moment_or_none(text: object) -> Instant | None:
    """Return the instant of a text, if there is one."""
    return None if text is None else moment(text)
