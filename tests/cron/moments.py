"""Parse instants as these tests write them, in UTC."""

from datetime import UTC, datetime, timedelta

SECOND = timedelta(seconds=1)
MINUTE = timedelta(minutes=1)
TICK = timedelta(microseconds=1)
FIRST_MOMENT = datetime.min.replace(tzinfo=UTC)
LAST_MOMENT = datetime.max.replace(tzinfo=UTC)


def at(text: str) -> datetime:
    """Return the moment that an ISO text with an offset names, in UTC."""
    moment = datetime.fromisoformat(text)
    assert moment.tzinfo is not None, f"{text} names no moment"
    return moment.astimezone(UTC)


def wall(text: str) -> datetime:
    """Return the naive wall time that an ISO text without an offset names."""
    time = datetime.fromisoformat(text)
    assert time.tzinfo is None, f"{text} is no wall time"
    return time
