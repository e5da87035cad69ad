"""Wall times of a zone: what one means as an instant, how an instant is written, and how people write one."""

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TypeAlias

from kron.cron.zone import Zone
from kron.errors import InvalidInstantError, OutOfRangeError
from kron.instant import LAST_INSTANT, Instant, format_instant, parse_instant

_DAY = timedelta(days=1)
_LAST_DAY = LAST_INSTANT - _DAY


@dataclass(frozen=True, slots=True)
class Exact:
    """The wall time occurs once."""

    at: Instant


@dataclass(frozen=True, slots=True)
class Gap:
    """The wall time does not occur: the clocks jumped over it at `end`, the first instant after the gap."""

    end: Instant


@dataclass(frozen=True, slots=True)
class Fold:
    """The wall time occurs twice, because the clocks were set back in between."""

    first: Instant
    second: Instant


WallTime: TypeAlias = Exact | Gap | Fold


def resolve_wall_time(zone: Zone, wall: datetime) -> WallTime:
    """Return what a naive wall time means in the zone."""
    label = wall.replace(tzinfo=UTC)
    try:
        table = zone.table_at(min(label, _LAST_DAY) + _DAY)  # west of Greenwich the instant is later than the label
        near = table.segment(label)
        around = range(max(0, near - 1), min(len(table.starts), near + 2))
        found = [at for i in around if table.starts[i] <= (at := label - table.offsets[i]) <= table.last_instant(i)]
    except OverflowError as error:
        raise OutOfRangeError(what=f"{wall.isoformat()} in {zone.name}") from error
    match found:
        case [at]:
            return Exact(at)
        case [first, second]:
            return Fold(first, second)
    return Gap(next(table.starts[i] for i in around if i and label < table.starts[i] + table.offsets[i]))


def format_local(zone: Zone, at: Instant) -> str:
    """Return an instant on the zone's wall clock, with its weekday and offset."""
    local = zone.local(at)
    return f"{local:%a} {local.date().isoformat()} {local:%H:%M:%S} {_offset_text(local.strftime('%z'))}"


def format_utc_and_local(zone: Zone, at: Instant) -> str:
    """Return an instant in UTC and, in any other zone, on its wall clock too."""
    text = format_instant(at)
    return text if zone.name == "UTC" else f"{text}  ({format_local(zone, at)})"


def format_short(zone: Zone, at: Instant) -> str:
    """Return an instant for a sentence: in UTC and, in any other zone, with its weekday and time of day there."""
    text = format_instant(at)
    if zone.name == "UTC":
        return text
    local = zone.local(at)
    return f"{text} ({local:%a %H:%M:%S} {_offset_text(local.strftime('%z'))})"


def _offset_text(offset: str) -> str:
    parts = [offset[:3], offset[3:5], offset[5:7]]
    return ":".join(part for part in parts if part)


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
    match resolve_wall_time(zone, wall):
        case Exact(at) | Fold(at, _) | Gap(at):
            return at
    raise AssertionError("a wall time is exact, in a gap or in a fold")
