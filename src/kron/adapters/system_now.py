"""system_now(): the only place in Kron that asks what time it is."""

from datetime import UTC, datetime

from kron.instant import Instant


def system_now() -> Instant:
    """Return the present, in UTC."""
    return datetime.now(UTC)
