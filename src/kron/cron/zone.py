"""load_zone(name) -> Zone: a time zone as a line of segments, each with one offset, from the tzdata package."""

from bisect import bisect_right
from datetime import MAXYEAR, UTC, datetime, timedelta, timezone
from functools import cache, lru_cache
from importlib import import_module

from kron.cron.frozen import Frozen
from kron.cron.tzif import EARLIEST, MAGIC, TzifData, read_tzif
from kron.errors import InvalidDefinitionError, OutOfRangeError, TimezoneDataError, UnknownTimezoneError, truncate
from kron.instant import EPOCH, FIRST_INSTANT, LAST_INSTANT, MICROSECOND, Instant, format_instant

_FIRST_HORIZON = 2101  # the years promised to be right are known at once; later ones are computed when asked for
_GROWTH = 100
LONGEST_NAME = 64  # characters; the longest name of the database has 32
_IN_NAMES = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_+-/")


class OffsetTable(Frozen):
    """The segments known so far: segment i has `offsets[i]` from instant `starts[i]` until before `ends[i]`.

    Inside a segment wall time and UTC run in parallel. Between two of them the wall either leaves a gap or goes back;
    every segment of the database is days long, so a wall time that repeats does so in the two neighbours only.
    """

    __match_args__ = ("starts", "ends", "offsets", "year", "complete")
    __slots__ = __match_args__
    starts: list[Instant]
    ends: list[Instant]
    offsets: list[timedelta]
    year: int  # the first year that is not known yet
    complete: bool  # whether it reaches to the end of the calendar

    def __init__(
        self, starts: list[Instant], ends: list[Instant], offsets: list[timedelta], year: int, *, complete: bool
    ) -> None:
        super().__init__(starts, ends, offsets, year, complete)

    def segment(self, at: Instant) -> int:
        """Return the segment that contains `at`, or the last one known."""
        return bisect_right(self.starts, at) - 1

    def last_instant(self, i: int) -> Instant:
        """Return the last moment of segment i."""
        return self.ends[i] - MICROSECOND if self.ends[i] < LAST_INSTANT else LAST_INSTANT


class Zone:
    """A named time zone. Its table grows towards later years on demand; what it has once said, it never changes."""

    __slots__ = ("_transitions", "name", "table")

    def __init__(self, name: str, transitions: TzifData) -> None:
        transitions.check()
        self.name = name
        self._transitions = transitions
        known = [pair for pair in transitions.known if pair[0] >= EARLIEST]
        before = [offset for second, offset in transitions.known if second < EARLIEST]
        first = timedelta(seconds=before[-1] if before else transitions.first_offset)
        last = known[-1][0] if known else EARLIEST
        year = (EPOCH + timedelta(seconds=last)).year if known else 1970
        beginning = OffsetTable([FIRST_INSTANT], [], [first], year, complete=False)
        self.table = self._extended(beginning, known, _FIRST_HORIZON, after=last)

    def extend(self, table: OffsetTable) -> OffsetTable:
        """Return a table that knows a century more than the given one.

        It is made of its argument alone and published by one assignment: threads that grow at the same time make equal
        tables, and one that reads keeps the table it has.
        """
        self.table = self._extended(table, [], min(table.year + _GROWTH, MAXYEAR + 1), after=EARLIEST)
        return self.table

    def table_at(self, at: Instant) -> OffsetTable:
        """Return a table that knows the segment of `at`."""
        table = self.table
        while at >= table.ends[-1] and not table.complete:
            table = self.extend(table)
        return table

    def offset(self, at: Instant) -> timedelta:
        """Return what the zone's clocks are ahead of UTC at an instant."""
        table = self.table_at(at)
        return table.offsets[table.segment(at)]

    def local(self, at: Instant) -> datetime:
        """Return the wall time of an instant, with its offset, for showing."""
        try:
            return at.astimezone(timezone(self.offset(at)))
        except OverflowError as error:
            raise OutOfRangeError(what=f"{format_instant(at)} in {self.name}") from error

    def _extended(self, table: OffsetTable, known: list[tuple[int, int]], year: int, *, after: int) -> OffsetTable:
        """Return the table with the known transitions, and with those of the rule until before `year`."""
        by_rule = [pair for each in range(table.year, year) for pair in self._transitions.in_year(each)]
        starts, offsets = list(table.starts), list(table.offsets)
        for second, offset_seconds in known + [pair for pair in by_rule if pair[0] > after]:
            offset = timedelta(seconds=offset_seconds)
            if offset != offsets[-1]:  # a change of name or of "summer" alone is no change of the clock
                starts.append(EPOCH + timedelta(seconds=second))
                offsets.append(offset)
        complete = self._transitions.yearly is None or year > MAXYEAR
        ends = [*starts[1:], LAST_INSTANT if complete else datetime(year, 1, 1, tzinfo=UTC)]
        return OffsetTable(starts, ends, offsets, year, complete=complete)

    def __reduce__(self) -> tuple[object, ...]:
        return load_zone, (self.name,)

    def __repr__(self) -> str:
        return f"Zone({self.name!r})"


UTC_ZONE = Zone("UTC", TzifData(0, (), None))


def load_zone(name: str) -> Zone:
    """Return the zone of that IANA name, or raise UnknownTimezoneError with the nearest names."""
    if isinstance(name, str) and len(name) > LONGEST_NAME:
        reason = f"must have at most {LONGEST_NAME} characters, found {len(name)}"
        raise InvalidDefinitionError(
            field="timezone", found=truncate(name), reason=reason, fix="write an IANA time zone"
        )
    if not isinstance(name, str) or not _IN_NAMES.issuperset(name) or not all(name.split("/")):
        raise UnknownTimezoneError(timezone=name, suggestions=_suggestions(name))
    return _load(name)


@cache  # bounded by the database: some 600 names; a wrong name raises and is not kept
def _load(name: str) -> Zone:
    if name == "UTC":
        return UTC_ZONE
    try:
        data = _read(f"zoneinfo/{name}")
    except OSError as error:
        raise UnknownTimezoneError(timezone=name, suggestions=_suggestions(name)) from error
    if not data.startswith(MAGIC):  # the database has other files beside its zones
        raise UnknownTimezoneError(timezone=name, suggestions=_suggestions(name))
    try:
        return Zone(name, read_tzif(data))
    except ValueError as error:
        raise TimezoneDataError(timezone=name, reason=str(error)) from error


def zone_names() -> tuple[str, ...]:
    """Return every name of the database in use."""
    return tuple(sorted(_read("zones").decode("ascii").split()))


@lru_cache(maxsize=1)
def tzdata_release() -> str:
    """Return the version of the IANA database in use, such as `2025b`."""
    try:
        return str(import_module("tzdata").IANA_VERSION)
    except ModuleNotFoundError as error:
        raise TimezoneDataError(timezone="*", reason="the tzdata package is not installed") from error


def _read(path: str) -> bytes:
    """Return a file of the tzdata package: zone data is an input, so it comes from a package with a version."""
    from pkgutil import get_data  # on first use: most schedules are in UTC and need no database

    try:
        data = get_data("tzdata", path)
    except ModuleNotFoundError as error:
        raise TimezoneDataError(timezone=path, reason="the tzdata package is not installed") from error
    if data is None:
        raise TimezoneDataError(timezone=path, reason="the tzdata package cannot be read from where it is installed")
    return data


def _suggestions(name: object) -> tuple[str, ...]:
    """Return at most three names that look like the wrong one, whatever its case and its region."""
    from difflib import get_close_matches  # only a wrong name needs it

    if name is None:
        return ()
    wanted = str(getattr(name, "key", name))[:100].casefold().replace(" ", "_")
    known = {zone.rpartition("/")[2].casefold(): zone for zone in zone_names() if "Etc" not in zone}
    known |= {zone.casefold(): zone for zone in zone_names()}
    if wanted in known:
        return (known[wanted],)
    return tuple(dict.fromkeys(known[near] for near in get_close_matches(wanted, known, n=3, cutoff=0.75)))
