"""Schedules in zones against brute force, minute by minute, for all four policies."""

from bisect import bisect_right
from datetime import UTC, datetime, timedelta
from typing import Literal, cast

import pytest
from hypothesis import given, settings, strategies as st

from kron.cron.schedule import Schedule
from tests.cron.iana import changes, distinct_names, offset
from tests.cron.moments import MINUTE, SECOND, TICK, at, wall as wall_time
from tests.cron.oracle import Walk, walk
from tests.cron.reference import read

HOUR = timedelta(hours=1)
DAY = timedelta(days=1)

# The zone, the first moment with the new offset, the offsets before and after, and what is special about it.
CHANGES = [
    ("America/New_York", "2023-03-12 07:00:00Z", "-05:00", "-04:00", "02:00 becomes 03:00"),
    ("America/New_York", "2023-11-05 06:00:00Z", "-04:00", "-05:00", "02:00 becomes 01:00"),
    ("Europe/Paris", "2023-03-26 01:00:00Z", "+01:00", "+02:00", "02:00 becomes 03:00"),
    ("Europe/Paris", "2023-10-29 01:00:00Z", "+02:00", "+01:00", "03:00 becomes 02:00"),
    ("Europe/Dublin", "2023-03-26 01:00:00Z", "+00:00", "+01:00", "winter time is the exception in the database"),
    ("Europe/Dublin", "2023-10-29 01:00:00Z", "+01:00", "+00:00", "winter time is the exception in the database"),
    ("Australia/Lord_Howe", "2023-04-01 15:00:00Z", "+11:00", "+10:30", "back by half an hour"),
    ("Australia/Lord_Howe", "2023-09-30 15:30:00Z", "+10:30", "+11:00", "forward by half an hour"),
    ("Antarctica/Troll", "2023-03-26 01:00:00Z", "+00:00", "+02:00", "forward by two hours"),
    ("Antarctica/Troll", "2023-10-29 01:00:00Z", "+02:00", "+00:00", "back by two hours"),
    ("Antarctica/Vostok", "1994-01-31 17:00:00Z", "+07:00", "+00:00", "back by seven hours, the farthest since 1970"),
    ("Pacific/Apia", "2011-12-30 10:00:00Z", "-10:00", "+14:00", "30 December 2011 did not occur"),
    ("Pacific/Kwajalein", "1993-08-21 12:00:00Z", "-12:00", "+12:00", "21 August 1993 did not occur"),
    ("Africa/Casablanca", "2023-03-19 02:00:00Z", "+01:00", "+00:00", "back for Ramadan"),
    ("Africa/Casablanca", "2023-04-23 02:00:00Z", "+00:00", "+01:00", "forward after Ramadan"),
    ("Africa/Cairo", "2023-04-27 22:00:00Z", "+02:00", "+03:00", "midnight does not occur"),
    ("Africa/Cairo", "2023-10-26 21:00:00Z", "+03:00", "+02:00", "back at midnight to the day before"),
    ("America/Havana", "2023-03-12 05:00:00Z", "-05:00", "-04:00", "midnight does not occur"),
    ("America/Havana", "2023-11-05 05:00:00Z", "-04:00", "-05:00", "midnight occurs twice"),
    ("Asia/Beirut", "2022-03-26 22:00:00Z", "+02:00", "+03:00", "midnight does not occur"),
    ("Asia/Beirut", "2022-10-29 21:00:00Z", "+03:00", "+02:00", "back at midnight to the day before"),
    ("America/Santiago", "2023-04-02 03:00:00Z", "-03:00", "-04:00", "back at midnight to the day before"),
    ("America/Santiago", "2023-09-03 04:00:00Z", "-04:00", "-03:00", "midnight does not occur"),
    ("America/Sao_Paulo", "2018-11-04 03:00:00Z", "-03:00", "-02:00", "midnight does not occur"),
    ("America/Sao_Paulo", "2019-02-17 02:00:00Z", "-02:00", "-03:00", "back at midnight, for the last time"),
    ("America/Nuuk", "2022-10-30 01:00:00Z", "-02:00", "-03:00", "back on the evening before"),
    ("Pacific/Chatham", "2023-04-01 14:00:00Z", "+13:45", "+12:45", "03:45 becomes 02:45"),
    ("Pacific/Chatham", "2023-09-23 14:00:00Z", "+12:45", "+13:45", "02:45 becomes 03:45"),
    ("Atlantic/Azores", "2023-03-26 01:00:00Z", "-01:00", "+00:00", "midnight does not occur, across Greenwich"),
    ("Atlantic/Azores", "2023-10-29 01:00:00Z", "+00:00", "-01:00", "midnight occurs twice, across Greenwich"),
    ("Asia/Kathmandu", "1985-12-31 18:30:00Z", "+05:30", "+05:45", "forward by a quarter of an hour at midnight"),
    ("Asia/Pyongyang", "2015-08-14 15:00:00Z", "+09:00", "+08:30", "back by half an hour at midnight"),
    ("Asia/Pyongyang", "2018-05-04 15:00:00Z", "+08:30", "+09:00", "forward by half an hour to midnight"),
    ("Africa/Monrovia", "1972-01-07 00:44:30Z", "-00:44:30", "+00:00", "odd seconds before, a gap of 44.5 minutes"),
    ("Europe/Paris", "1911-03-10 23:50:39Z", "+00:09:21", "+00:00", "odd seconds before, back by 9 min 21 s"),
    ("Europe/Dublin", "1916-05-21 02:25:21Z", "-00:25:21", "+00:34:39", "odd seconds before and after"),
    ("Europe/Dublin", "1916-10-01 02:25:21Z", "+00:34:39", "+00:00", "odd seconds before, back by 34 min 39 s"),
    ("America/Sitka", "1867-10-19 00:31:13Z", "+14:58:47", "-09:01:13", "odd seconds, and a day that occurs twice"),
]
TEXTS = [
    "* * * * *",
    "*/7 * * * *",
    "30 * * * *",
    "0 0 * * *",
    "59 23 * * *",
    "17 */3 * * *",
    "{minute} {hour} * * *",
    "*/10 {hour} * * *",
    "15,45 {hour},3,23 * * *",
    "0 12 {day} * *",
    "*/20 0-2 {day} * {weekday}",
    "5 1-3 */2 * {weekday}",
]


def around(name: str, change: datetime) -> tuple[datetime, datetime]:
    """More than a day on both sides, or a quarter of one where every second has to be looked at."""
    odd = any(offset(name, moment) % MINUTE for moment in (change - SECOND, change))
    reach = timedelta(hours=6 if odd else 30)
    return change - reach, change + reach


def probes(span: Walk, change: datetime, expected: list[datetime]) -> list[datetime]:
    """Moments worth asking about: at and beside the change, the occurrences near it, and some farther away."""
    near = [moment for moment in expected if abs(moment - change) < timedelta(minutes=90)]
    points = [change, *near[:: max(1, len(near) // 8)], *expected[:: max(1, len(expected) // 4)], *expected[-1:]]
    points += [change + hours * HOUR for hours in (-25, -2, -1, 1, 2, 25)]
    beside = [point + step for point in points for step in (timedelta(), SECOND, -SECOND, TICK, -TICK)]
    return [moment for moment in beside if span.start < moment <= span.end]


def schedule(text: str, name: str, policy: tuple[str, str]) -> Schedule:
    repeated = cast(Literal["both", "first"], policy[0])
    gap = cast(Literal["skip", "shift"], policy[1])
    return Schedule(text, name, repeated=repeated, gap=gap)


def compare(text: str, name: str, change: datetime) -> None:
    """Let a schedule of each policy and the brute force answer the same questions."""
    span = walk(name, *around(name, change))
    for policy, expected in span.occurrences(read(text)).items():
        tested = schedule(text, name, policy)
        assert list(tested.between(span.start, span.end)) == expected, f"{text} in {name}, {policy}"
        for moment in probes(span, change, expected):
            known = bisect_right(expected, moment)
            assert_same(tested.next(moment), expected[known : known + 1], moment, span)
            assert_same(tested.previous(moment), expected[:known][-1:], moment, span)


def assert_same(found: datetime, expected: list[datetime], moment: datetime, span: Walk) -> None:
    if expected:
        assert [found] == expected, f"from {moment}"
    else:
        assert not span.start < found <= span.end, f"from {moment}"


def texts_for(name: str, change: datetime) -> list[str]:
    """The texts, with the wall time that the change leaves put in their places."""
    wall = (change + offset(name, change - SECOND)).replace(tzinfo=None)
    places = {"minute": wall.minute, "hour": wall.hour, "day": wall.day, "weekday": wall.isoweekday() % 7}
    return [text.format(**places) for text in TEXTS]


# --- around the changes above -----------------------------------------------------------------------------------------

each_change = pytest.mark.parametrize("row", CHANGES, ids=[f"{row[0]} {row[1][:10]}: {row[4]}" for row in CHANGES])


@each_change
def test_the_table_states_facts(row: tuple[str, ...]) -> None:
    name, change, before, after, _ = row
    ahead = [offset(name, at(change) - SECOND), offset(name, at(change))]

    assert ahead == [at("2000-01-01 00:00:00Z") - at(f"2000-01-01 00:00:00{text}") for text in (before, after)]


@each_change
def test_a_schedule_agrees_with_the_clock_on_the_wall(row: tuple[str, ...]) -> None:
    name, change = row[0], at(row[1])

    for text in texts_for(name, change):
        compare(text, name, change)


# --- around any change of any zone ------------------------------------------------------------------------------------


@st.composite
def questions(draw: st.DrawFn, most: int) -> tuple[list[str], str, datetime]:
    """Texts that name minutes near a change of some zone since 1970, or near any moment if it has no change."""
    name = draw(st.sampled_from(distinct_names()))
    anything = st.datetimes(wall_time("1970-01-04"), wall_time("2099-01-01"))
    change = draw(
        st.sampled_from(changes(name)) if changes(name) else anything.map(lambda wall: wall.replace(tzinfo=UTC))
    )
    return (
        draw(st.lists(texts_near(change + offset(name, change - SECOND)), min_size=most, max_size=most)),
        name,
        change,
    )


def texts_near(wall: datetime) -> st.SearchStrategy[str]:
    """Return texts that often name a minute around a wall time."""
    minute = st.sampled_from(["*", "0", "*/7", "*/30", "59", str(wall.minute)]) | st.integers(0, 59).map(str)
    hours = st.integers(-1, 2).map(lambda more: str((wall + more * HOUR).hour))
    hour = st.just("*") | st.sampled_from(["*/2", "0", "23", "0-3"]) | st.lists(hours, min_size=1).map(",".join)
    days = st.integers(-1, 1).map(lambda more: wall + more * DAY)
    day = st.sampled_from(["*", "*", "*", "*/2"]) | days.map(lambda date: str(date.day))
    weekday = st.sampled_from(["*", "*", "*", "1-5"]) | days.map(lambda date: str(date.isoweekday() % 7))
    return st.tuples(minute, hour, day, st.just("*"), weekday).map(" ".join)


@settings(max_examples=20)
@given(questions(3))
def test_a_schedule_agrees_with_the_clock_of_any_zone(question: tuple[list[str], str, datetime]) -> None:
    texts, name, change = question

    for text in texts:
        compare(text, name, change)


@pytest.mark.slow
@settings(max_examples=1000)  # to walk through a change costs four times as much as to ask about it, so ask five times
@given(questions(5))
def test_a_schedule_agrees_with_the_clock_of_any_zone_at_length(question: tuple[list[str], str, datetime]) -> None:
    texts, name, change = question

    for text in texts:
        compare(text, name, change)
