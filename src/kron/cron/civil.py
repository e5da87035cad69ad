"""resolve(zone, wall) -> Exact | Gap | Fold: what a wall time means in a zone."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TypeAlias

from kron.cron.zone import Zone
from kron.errors import OutOfRangeError
from kron.instant import Instant

_DAY = timedelta(days=1)
_LAST_DAY = datetime.max.replace(tzinfo=UTC) - _DAY


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


Civil: TypeAlias = Exact | Gap | Fold


def resolve(zone: Zone, wall: datetime) -> Civil:
    """Return what a naive wall time means in the zone."""
    label = wall.replace(tzinfo=UTC)
    try:
        table = zone.table_at(min(label, _LAST_DAY) + _DAY)  # west of Greenwich the instant is later than the label
        near = table.segment(label)
        around = range(max(0, near - 1), min(len(table.starts), near + 2))
        found = [at for i in around if table.starts[i] <= (at := label - table.offsets[i]) <= table.last(i)]
    except OverflowError as error:
        raise OutOfRangeError(what=f"{wall.isoformat()} in {zone.name}") from error
    match found:
        case [at]:
            return Exact(at)
        case [first, second]:
            return Fold(first, second)
    return Gap(next(table.starts[i] for i in around if i and label < table.starts[i] + table.offsets[i]))
