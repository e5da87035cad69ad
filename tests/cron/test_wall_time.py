"""Tests of resolve: a wall time occurs once, never or twice; every edge zone shows all cases."""

from collections import defaultdict
from datetime import datetime, timedelta

import pytest
from hypothesis import example, given, settings, strategies as st

from kron.cron.tzif import read_tzif
from kron.cron.wall_time import Exact, Fold, Gap, WallTime, resolve_wall_time
from kron.cron.zone import UTC_ZONE, Zone, load_zone
from kron.errors import OutOfRangeError
from tests.cron.iana import changes, data, distinct_names, offset
from tests.cron.moments import MINUTE, SECOND, TICK, at, wall
from tests.cron.oracle import Walk

# New York, 12 March 2023: 02:00-05:00 becomes 03:00-04:00; 5 November 2023: 02:00-04:00 becomes 01:00-05:00.
# Lord Howe, 1 October 2023: 02:00+10:30 becomes 02:30+11:00; 2 April 2023: 02:00+11:00 becomes 01:30+10:30.
# Troll, 26 March 2023: 01:00+00:00 becomes 03:00+02:00; 29 October 2023: 03:00+02:00 becomes 01:00+00:00.
# Apia: 29 December 2011 ended at 24:00-10:00, and 31 December began at 00:00+14:00.
# Havana, 12 March 2023: 00:00-05:00 becomes 01:00-04:00; 5 November 2023: 01:00-04:00 becomes 00:00-05:00.
# Santiago, 3 September 2023: 00:00-04:00 becomes 01:00-03:00; 1 April 2023: 24:00-03:00 becomes 23:00-04:00.
# Dublin, 26 March 2023: 01:00+00:00 becomes 02:00+01:00; 29 October 2023: 02:00+01:00 becomes 01:00+00:00.
# Monrovia, 7 January 1972: 00:00:00-00:44:30 becomes 00:44:30+00:00.
# Kathmandu, 1 January 1986: 00:00+05:30 becomes 00:15+05:45.


@pytest.mark.parametrize(
    ("name", "time", "moment"),
    [
        ("UTC", "2023-03-12 02:30:00", "2023-03-12 02:30:00Z"),
        ("America/New_York", "2023-03-12 01:59:59", "2023-03-12 01:59:59-05:00"),
        ("America/New_York", "2023-03-12 03:00:00", "2023-03-12 03:00:00-04:00"),
        ("America/New_York", "2023-11-05 00:59:59", "2023-11-05 00:59:59-04:00"),
        ("America/New_York", "2023-11-05 02:00:00", "2023-11-05 02:00:00-05:00"),
        ("Australia/Lord_Howe", "2023-10-01 02:30:00", "2023-10-01 02:30:00+11:00"),
        ("Australia/Lord_Howe", "2023-04-02 02:00:00", "2023-04-02 02:00:00+10:30"),
        ("Antarctica/Troll", "2023-03-26 03:00:00", "2023-03-26 03:00:00+02:00"),
        ("Pacific/Apia", "2011-12-29 23:59:59", "2011-12-29 23:59:59-10:00"),
        ("Pacific/Apia", "2011-12-31 00:00:00", "2011-12-31 00:00:00+14:00"),
        ("America/Havana", "2023-03-12 01:00:00", "2023-03-12 01:00:00-04:00"),
        ("America/Santiago", "2023-04-02 00:00:00", "2023-04-02 00:00:00-04:00"),
        ("Europe/Dublin", "2023-07-01 12:00:00", "2023-07-01 12:00:00+01:00"),
        ("Africa/Monrovia", "1972-01-06 23:59:00", "1972-01-07 00:43:30Z"),
        ("Africa/Monrovia", "1972-01-07 00:44:30", "1972-01-07 00:44:30Z"),
        ("Asia/Kathmandu", "1986-01-01 00:15:00", "1986-01-01 00:15:00+05:45"),
    ],
)
def test_exact(name: str, time: str, moment: str) -> None:
    assert resolve_wall_time(load_zone(name), wall(time)) == Exact(at(moment))


@pytest.mark.parametrize(
    ("name", "time", "end"),
    [
        ("America/New_York", "2023-03-12 02:00:00", "2023-03-12 03:00:00-04:00"),
        ("America/New_York", "2023-03-12 02:59:59.999999", "2023-03-12 03:00:00-04:00"),
        ("Australia/Lord_Howe", "2023-10-01 02:15:00", "2023-10-01 02:30:00+11:00"),
        ("Antarctica/Troll", "2023-03-26 01:00:00", "2023-03-26 03:00:00+02:00"),
        ("Antarctica/Troll", "2023-03-26 02:59:59", "2023-03-26 03:00:00+02:00"),
        ("Pacific/Apia", "2011-12-30 00:00:00", "2011-12-31 00:00:00+14:00"),
        ("Pacific/Apia", "2011-12-30 23:59:59", "2011-12-31 00:00:00+14:00"),
        ("America/Havana", "2023-03-12 00:00:00", "2023-03-12 01:00:00-04:00"),
        ("America/Santiago", "2023-09-03 00:30:00", "2023-09-03 01:00:00-03:00"),
        ("Europe/Dublin", "2023-03-26 01:30:00", "2023-03-26 02:00:00+01:00"),
        ("Asia/Kathmandu", "1986-01-01 00:14:59", "1986-01-01 00:15:00+05:45"),
    ],
)
def test_gap(name: str, time: str, end: str) -> None:
    assert resolve_wall_time(load_zone(name), wall(time)) == Gap(at(end))


@pytest.mark.parametrize(
    ("name", "time", "end"),
    [
        ("Africa/Monrovia", "1972-01-07 00:00:00", "1972-01-07 00:44:30Z"),
        ("Africa/Monrovia", "1972-01-07 00:44:29", "1972-01-07 00:44:30Z"),
        ("Pacific/Pitcairn", "1998-04-27 00:15:00", "1998-04-27 00:30:00-08:00"),
    ],
)
def test_gap_beside_the_first_segment(name: str, time: str, end: str) -> None:
    # Pitcairn, 27 April 1998: 00:00-08:30 becomes 00:30-08:00; before, there was only its local mean time.
    assert resolve_wall_time(load_zone(name), wall(time)) == Gap(at(end))


@pytest.mark.parametrize(
    ("name", "time", "first", "second"),
    [
        ("America/New_York", "2023-11-05 01:00:00", "-04:00", "-05:00"),
        ("America/New_York", "2023-11-05 01:59:59.999999", "-04:00", "-05:00"),
        ("Australia/Lord_Howe", "2023-04-02 01:30:00", "+11:00", "+10:30"),
        ("Antarctica/Troll", "2023-10-29 02:59:00", "+02:00", "+00:00"),
        ("America/Havana", "2023-11-05 00:00:00", "-04:00", "-05:00"),
        ("America/Santiago", "2023-04-01 23:30:00", "-03:00", "-04:00"),
        ("Europe/Dublin", "2023-10-29 01:30:00", "+01:00", "+00:00"),
        ("Antarctica/Vostok", "1994-01-31 17:30:00", "+07:00", "+00:00"),
        ("America/Sitka", "1867-10-18 20:00:00", "+14:58:47", "-09:01:13"),
    ],
)
def test_fold(name: str, time: str, first: str, second: str) -> None:
    assert resolve_wall_time(load_zone(name), wall(time)) == Fold(at(time + first), at(time + second))


# --- every wall time around any change --------------------------------------------------------------------------------


def expected(span: Walk) -> dict[datetime, WallTime]:
    """What each minute's beginning on the wall means, as far as a walk saw it."""
    moments = defaultdict(list)
    for tick in span.ticks:
        moments[tick.wall].append(tick.moment)
    meanings: dict[datetime, WallTime] = {time: Exact(found[0]) for time, found in moments.items()}
    meanings |= {time: Fold(*found) for time, found in moments.items() if len(found) == 2}
    return meanings | {time: Gap(gap.end) for gap in span.gaps for time in gap.missing}


@st.composite
def zones_with_a_change(draw: st.DrawFn) -> tuple[str, datetime]:
    name = draw(st.sampled_from(distinct_names()))
    return name, draw(st.sampled_from(changes(name) or (at("2023-01-01 00:00:00Z"),)))


@pytest.mark.slow
@settings(max_examples=25)
@given(zones_with_a_change())
@example(("Pacific/Pitcairn", at("1998-04-27 00:30:00-08:00")))
def test_every_minute_around_a_change_means_what_the_clock_showed(zone_and_change: tuple[str, datetime]) -> None:
    name, change = zone_and_change
    meanings = expected(Walk(name, change - timedelta(hours=2), change + timedelta(hours=26)))
    # The walk may have seen only the second half of a fold at its start, and only the first at its end.
    sure = [time for time in meanings if abs(time - local(name, change)) < timedelta(hours=25)]

    assert {time: resolve_wall_time(load_zone(name), time) for time in sure} == {time: meanings[time] for time in sure}


def local(name: str, moment: datetime) -> datetime:
    return (moment + offset(name, moment)).replace(tzinfo=None)


# --- the ends of what is known ----------------------------------------------------------------------------------------


def fresh(name: str) -> Zone:
    """A zone that no other test has made grow."""
    return Zone(name, read_tzif(data(name)))


@pytest.mark.parametrize("year", [2100, 2101, 2200, 2399])
def test_a_wall_time_of_a_far_year_is_resolved(year: int) -> None:
    noon = datetime(year, 7, 1, 12)  # noqa: DTZ001

    assert resolve_wall_time(fresh("Europe/Paris"), noon) == Exact(at(f"{year}-07-01 12:00:00+02:00"))


@pytest.mark.parametrize(
    ("name", "time"), [("America/New_York", "2100-12-31 23:00"), ("Pacific/Easter", "2100-12-31 22:00")]
)
def test_the_last_evening_of_the_years_known_at_first_is_resolved(name: str, time: str) -> None:
    meaning = resolve_wall_time(fresh(name), wall(time))

    assert isinstance(meaning, Exact)
    assert local(name, meaning.at) == wall(time)


def test_the_last_moment_of_the_calendar_is_resolved() -> None:
    assert resolve_wall_time(UTC_ZONE, wall("9999-12-31 23:59:59.999999")) == Exact(at("9999-12-31 23:59:59.999999Z"))


def test_the_last_minute_of_the_calendar_is_resolved() -> None:
    assert resolve_wall_time(UTC_ZONE, wall("9999-12-31 23:59:00")) == Exact(at("9999-12-31 23:59:00Z"))


@pytest.mark.parametrize(
    ("name", "time"), [("Asia/Tokyo", "0001-01-01 00:00"), ("America/New_York", "9999-12-31 23:00")]
)
def test_a_wall_time_whose_moment_is_outside_the_calendar_is_refused(name: str, time: str) -> None:
    with pytest.raises(OutOfRangeError):
        resolve_wall_time(load_zone(name), wall(time))


@pytest.mark.parametrize("step", [-MINUTE, -SECOND, -TICK, timedelta(), TICK, SECOND, MINUTE], ids=str)
def test_an_exact_time_goes_there_and_back(step: timedelta) -> None:
    time = wall("2023-07-01 12:00") + step
    meaning = resolve_wall_time(load_zone("Europe/Paris"), time)

    assert isinstance(meaning, Exact)
    assert load_zone("Europe/Paris").local(meaning.at).replace(tzinfo=None) == time
