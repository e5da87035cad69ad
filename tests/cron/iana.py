"""Read zones from the tzdata package with the standard library, and list their clock changes.

Nothing here uses Kron's own reading, so that each can be the other's judge.
"""

from datetime import UTC, datetime, timedelta
from functools import cache
from importlib.resources import files
from zoneinfo import ZoneInfo

DAY = timedelta(days=1)
SECOND = timedelta(seconds=1)


def data(name: str) -> bytes:
    """Return the compiled file of a zone."""
    return files("tzdata").joinpath("zoneinfo", *name.split("/")).read_bytes()


@cache
def zone(name: str) -> ZoneInfo:
    """Return the zone as the standard library reads it."""
    with files("tzdata").joinpath("zoneinfo", *name.split("/")).open("rb") as file:
        return ZoneInfo.from_file(file, key=name)


@cache
def names() -> tuple[str, ...]:
    """Return every name of the database."""
    return tuple(sorted(files("tzdata").joinpath("zones").read_text("ascii").split()))


@cache
def distinct_names() -> tuple[str, ...]:
    """Return one name for each different file: most names are links to another."""
    return tuple({data(name): name for name in reversed(names())}.values())


def offset(name: str, moment: datetime) -> timedelta:
    """Return what the clocks of a zone are ahead of UTC."""
    ahead = moment.astimezone(zone(name)).utcoffset()
    assert ahead is not None
    return ahead


@cache
def changes(name: str, first_year: int = 1970, last_year: int = 2100) -> tuple[datetime, ...]:
    """Return the moments from which on the offset is another one, found by looking at it every five days."""
    found = []
    moment, end = datetime(first_year, 1, 1, tzinfo=UTC), datetime(last_year + 1, 1, 1, tzinfo=UTC)
    before = offset(name, moment)
    while moment < end:
        later = moment + 5 * DAY
        after = offset(name, later)
        if after != before:
            found.append(_change_between(name, moment, later))
        moment, before = later, after
    return tuple(change for change in found if change < end)


def _change_between(name: str, old: datetime, new: datetime) -> datetime:
    before = offset(name, old)
    while new - old > SECOND:
        middle = old + (new - old) // SECOND // 2 * SECOND
        old, new = (middle, new) if offset(name, middle) == before else (old, middle)
    return new
