"""read_moment(text, zone, now) -> Instant: a moment as people write it: RFC 3339, or wall time of a zone."""

import re
from datetime import datetime

from kron.cron.civil import Exact, Fold, Gap, resolve
from kron.cron.zone import Zone
from kron.errors import InvalidInstantError
from kron.instant import Instant, parse_instant

_LOCAL = re.compile(r"(?:(\d{4}-\d\d-\d\d)[ T])?(\d\d:\d\d(?::\d\d)?)", re.ASCII)

_DURATION = re.compile(r"(?:[\d.]+[a-zµ]+)+")


def is_duration(text: str) -> bool:
    """Whether a text has the form of a duration, and not that of a moment."""
    return _DURATION.fullmatch(text) is not None


def read_moment(text: str, zone: Zone, now: Instant) -> Instant:
    """Return the instant that a text names: RFC 3339, `YYYY-MM-DD HH:MM[:SS]` or `HH:MM[:SS]` today in the zone."""
    try:
        if not (match := _LOCAL.fullmatch(text)):
            return parse_instant(text)
        day, clock = match.groups()
        wall = datetime.fromisoformat(f"{day or zone.local(now).date().isoformat()}T{clock}")
    except (InvalidInstantError, ValueError) as error:
        raise InvalidInstantError(text=text, has_zone=True) from error
    match resolve(zone, wall):
        case Exact(at) | Fold(at, _) | Gap(at):
            return at
    raise AssertionError("a wall time is exact, in a gap or in a fold")
