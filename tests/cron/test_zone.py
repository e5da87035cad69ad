"""Zones against the standard library's reading of the same database, and the facts that the search relies on."""

from datetime import UTC, datetime, timedelta
from itertools import pairwise
from random import Random

import pytest

from kron.cron.tzif import read_tzif
from kron.cron.zone import UTC_ZONE, OffsetTable, Zone, load_zone, zone_names
from tests.cron.iana import changes, data, distinct_names, names, offset, zone
from tests.cron.moments import SECOND, at

DAY = timedelta(days=1)
SINCE = at("1970-01-01 00:00:00Z")
REGIONS = ["Africa", "America/A-M", "America/N-Z", "Asia", "Europe", "Pacific", "the rest"]


def zones_of(region: str) -> list[str]:
    return [name for name in distinct_names() if region_of(name) == region]


def region_of(name: str) -> str:
    area, _, place = name.partition("/")
    if area == "America":
        return "America/A-M" if place < "N" else "America/N-Z"
    return area if area in REGIONS else "the rest"


def fresh(name: str) -> Zone:
    """A zone that no other test has made grow."""
    return Zone(name, read_tzif(data(name)))


def wrong_offsets(tested: Zone, moments: list[datetime]) -> list[tuple[str, datetime, timedelta, timedelta]]:
    answers = [(moment, tested.offset(moment), offset(tested.name, moment)) for moment in moments]
    return [(tested.name, moment, ours, theirs) for moment, ours, theirs in answers if ours != theirs]


# --- offsets ----------------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("region", REGIONS)
def test_every_change_of_every_zone_since_1970_happens_at_the_right_second(region: str) -> None:
    for name in zones_of(region):
        table = fresh(name).table
        ours = [start for start in table.starts if start >= SINCE]

        assert ours == list(changes(name)), name


def test_the_offset_of_every_zone_is_right_at_every_change_and_a_second_before_and_after() -> None:
    for name in distinct_names():
        tested = fresh(name)
        starts = [start for start in tested.table.starts if start >= SINCE]

        assert (
            wrong_offsets(tested, [start + step for start in starts for step in (-SECOND, timedelta(), SECOND)]) == []
        )


@pytest.mark.parametrize(
    ("first_year", "last_year"), [(1970, 2100), (2095, 2110), (2100, 2400)], ids=["promised", "horizon", "grown"]
)
def test_the_offset_of_every_zone_is_right_at_any_moment(first_year: int, last_year: int) -> None:
    start, end = (datetime(year, 1, 1, tzinfo=UTC) for year in (first_year, last_year + 1))
    chance = Random(1970)
    for name in distinct_names():
        moments = [start + chance.random() * (end - start) for _ in range(60)]

        assert wrong_offsets(fresh(name), moments) == []


def test_a_name_that_is_a_link_has_the_offsets_of_its_target() -> None:
    for name in names():
        assert load_zone(name).offset(SINCE) == offset(name, SINCE), name


def test_every_name_of_the_database_can_be_loaded() -> None:
    assert zone_names() == names()
    assert all(load_zone(name).name == name for name in names())


@pytest.mark.slow
@pytest.mark.parametrize("region", REGIONS)
def test_the_offset_of_every_zone_is_right_twice_a_day_until_2038_and_twice_a_month_until_2400(region: str) -> None:
    for name in zones_of(region):
        moments = [SINCE + half * timedelta(hours=12) for half in range(2 * 366 * 68)]
        moments += [SINCE + half * 15 * DAY for half in range(24 * 430)]

        assert wrong_offsets(fresh(name), moments) == []


def test_before_its_first_change_a_zone_has_its_local_mean_time() -> None:
    # Paris was 9 min 21 s ahead of Greenwich until 1911.
    assert load_zone("Europe/Paris").offset(at("0001-01-01 00:00:00Z")) == timedelta(minutes=9, seconds=21)


def test_the_local_time_of_a_moment_shows_its_offset() -> None:
    local = load_zone("Europe/Paris").local(at("2023-07-01 10:00:00Z"))

    assert local.isoformat() == "2023-07-01T12:00:00+02:00"
    assert local == at("2023-07-01 10:00:00Z").astimezone(zone("Europe/Paris"))


# --- growth -----------------------------------------------------------------------------------------------------------


def test_a_table_that_grew_has_not_changed_what_it_said() -> None:
    paris = fresh("Europe/Paris")
    before = paris.table
    paris.offset(at("2390-07-01 00:00:00Z"))
    after = paris.table

    assert len(after.starts) > len(before.starts)
    assert after.starts[: len(before.starts)] == before.starts
    assert after.offsets[: len(before.starts)] == before.offsets


def test_a_zone_grown_step_by_step_is_one_grown_at_once() -> None:
    slowly, at_once = fresh("America/New_York"), fresh("America/New_York")
    for year in range(2100, 2500, 30):
        slowly.offset(datetime(year, 7, 1, tzinfo=UTC))
    at_once.offset(datetime(2480, 7, 1, tzinfo=UTC))

    assert slowly.table == at_once.table


def test_a_zone_without_a_rule_is_complete_from_the_start() -> None:
    assert UTC_ZONE.table.complete
    assert fresh("Asia/Tokyo").table.complete
    assert not fresh("Europe/Paris").table.complete


def test_a_zone_with_a_rule_is_complete_at_the_end_of_the_calendar() -> None:
    paris = fresh("Europe/Paris")
    paris.offset(at("9999-12-31 23:00:00Z"))

    assert paris.table.complete
    assert paris.offset(at("9999-07-01 00:00:00Z")) == timedelta(hours=2)


# --- facts the search relies on ---------------------------------------------------------------------------------------


def segments(table: OffsetTable) -> list[tuple[datetime, datetime, timedelta]]:
    return list(zip(table.starts, table.ends, table.offsets, strict=True))


def test_segments_follow_each_other_without_a_hole_and_differ_in_offset() -> None:
    for name in distinct_names():
        for one, other in pairwise(segments(load_zone(name).table)):
            assert one[1] == other[0], name
            assert one[2] != other[2], name


def test_every_segment_of_the_database_is_longer_than_two_days() -> None:
    # A wall time is at most a day away from its moment: so it lies in the segment of its label or in a neighbour.
    for name in distinct_names():
        assert all(end - start > 2 * DAY for start, end, _ in segments(load_zone(name).table)), name


def test_no_offset_is_a_day_or_more() -> None:
    for name in distinct_names():
        assert all(abs(ahead) < DAY for ahead in load_zone(name).table.offsets), name


def test_no_wall_time_of_a_gap_occurs_in_another_segment() -> None:
    # Two changes in a row must not leave out a wall time with one and bring it back with the other.
    for name in distinct_names():
        walls = [(start + ahead, end + ahead) for start, end, ahead in segments(load_zone(name).table)[1:-1]]
        for (_, left), (resumed, _), (again, _) in zip(walls, walls[1:], walls[2:], strict=False):
            assert left >= resumed or again >= resumed, name
