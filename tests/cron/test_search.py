"""Tests of next, previous and between: direction, bounds, inputs, and the laws that connect them."""

from datetime import UTC, datetime, timedelta, timezone, tzinfo
from itertools import islice, pairwise
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings, strategies as st

from kron.cron.schedule import Schedule
from kron.errors import InvalidDefinitionError, NaiveDatetimeError, UnknownTimezoneError
from tests.cron.iana import zone
from tests.cron.moments import LAST_MOMENT, MINUTE, SECOND, TICK, at, wall
from tests.cron.texts import matching

THREE = at("2026-03-02 03:00:00Z")
DAY = timedelta(days=1)
ZONES = ["UTC", "Europe/Paris", "America/New_York", "Australia/Lord_Howe", "Asia/Kolkata", "Pacific/Apia"]

moments = st.datetimes(wall("1970-01-01"), wall("2100-12-31")).map(lambda value: value.replace(tzinfo=UTC))
schedules = st.builds(
    Schedule,
    matching(extended=True),
    timezone=st.sampled_from(ZONES),
    repeated=st.sampled_from(["both", "first"]),
    gap=st.sampled_from(["skip", "shift"]),
)


# --- next -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("after", "expected"),
    [
        (THREE - DAY, THREE),
        (THREE - TICK, THREE),
        (THREE, THREE + DAY),
        (THREE + TICK, THREE + DAY),
        (THREE + DAY - TICK, THREE + DAY),
    ],
    ids=["at the one before", "a tick before", "at it", "a tick after", "a tick before the one after"],
)
@pytest.mark.parametrize("name", ["UTC", "Africa/Abidjan"])  # the second has no offset, but takes the way of the zones
def test_next_is_strictly_after(after: datetime, expected: datetime, name: str) -> None:
    assert Schedule("0 3 * * *", name).next(after) == expected


@pytest.mark.parametrize(
    ("text", "after", "expected"),
    [
        ("30 12 * * *", "2026-03-02 12:29:59Z", "2026-03-02 12:30:00Z"),
        ("30 12 * * *", "2026-03-02 13:00:00Z", "2026-03-03 12:30:00Z"),
        ("15 * * * *", "2026-03-02 23:15:00Z", "2026-03-03 00:15:00Z"),
        ("0 0 31 * *", "2026-03-31 00:00:00Z", "2026-05-31 00:00:00Z"),
        ("0 0 1 1 *", "2026-01-01 00:00:00Z", "2027-01-01 00:00:00Z"),
        ("59 23 31 12 *", "2026-12-31 23:59:00Z", "2027-12-31 23:59:00Z"),
        ("0 0 * 2 *", "2026-02-28 00:00:00Z", "2027-02-01 00:00:00Z"),
        ("0 0 * 2 *", "2028-02-28 00:00:00Z", "2028-02-29 00:00:00Z"),
        ("0 0 13 * 5", "2026-03-06 00:00:00Z", "2026-03-13 00:00:00Z"),
        ("0 0 */7 * FRI", "2026-03-06 00:00:00Z", "2026-05-01 00:00:00Z"),
    ],
)
def test_next_carries_into_hours_days_months_and_years(text: str, after: str, expected: str) -> None:
    assert Schedule(text).next(at(after)) == at(expected)


# --- previous ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("moment", "expected"),
    [
        (THREE, THREE),
        (THREE + TICK, THREE),
        (THREE + DAY - TICK, THREE),
        (THREE - TICK, THREE - DAY),
        (THREE - SECOND, THREE - DAY),
    ],
    ids=["at it", "a tick after", "a tick before the next", "a tick before", "a second before"],
)
@pytest.mark.parametrize("name", ["UTC", "Africa/Abidjan"])
def test_previous_is_at_or_before(moment: datetime, expected: datetime, name: str) -> None:
    assert Schedule("0 3 * * *", name).previous(moment) == expected


@pytest.mark.parametrize(
    ("text", "moment", "expected"),
    [
        ("30 12 * * *", "2026-03-02 12:29:59Z", "2026-03-01 12:30:00Z"),
        ("15 * * * *", "2026-03-02 00:14:00Z", "2026-03-01 23:15:00Z"),
        ("0 0 31 * *", "2026-05-30 00:00:00Z", "2026-03-31 00:00:00Z"),
        ("0 0 1 1 *", "2026-12-31 00:00:00Z", "2026-01-01 00:00:00Z"),
        ("59 23 31 12 *", "2026-12-31 23:58:00Z", "2025-12-31 23:59:00Z"),
        ("0 0 * 2 *", "2027-01-31 00:00:00Z", "2026-02-28 00:00:00Z"),
        ("0 0 13 * 5", "2026-03-19 23:59:00Z", "2026-03-13 00:00:00Z"),
    ],
)
def test_previous_borrows_from_hours_days_months_and_years(text: str, moment: str, expected: str) -> None:
    assert Schedule(text).previous(at(moment)) == at(expected)


# --- between ----------------------------------------------------------------------------------------------------------


def test_between_leaves_out_its_start_and_includes_its_end() -> None:
    found = Schedule("0 3 * * *").between(THREE, THREE + 2 * DAY)

    assert list(found) == [THREE + DAY, THREE + 2 * DAY]


@pytest.mark.parametrize("end", [THREE, THREE - DAY, THREE + DAY - TICK], ids=["empty", "reversed", "too short"])
def test_between_yields_nothing_where_nothing_matches(end: datetime) -> None:
    assert list(Schedule("0 3 * * *").between(THREE, end)) == []


@pytest.mark.parametrize("name", ["UTC", "America/New_York"])
def test_between_is_lazy(name: str) -> None:
    # Four thousand million minutes lie between; only three are asked for.
    found = Schedule("* * * * *", name).between(THREE, LAST_MOMENT)

    assert list(islice(found, 3)) == [THREE + MINUTE, THREE + 2 * MINUTE, THREE + 3 * MINUTE]


def test_between_refuses_a_naive_end_at_once() -> None:
    with pytest.raises(NaiveDatetimeError):
        Schedule("0 3 * * *").between(THREE, wall("2026-03-05"))


def test_between_ends_quietly_with_the_calendar() -> None:
    found = Schedule("0 0 31 12 *").between(at("9998-01-01 00:00:00Z"), LAST_MOMENT)

    assert list(found) == [at("9998-12-31 00:00:00Z"), at("9999-12-31 00:00:00Z")]


# --- what goes in and what comes out ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "tz",
    [UTC, timezone(timedelta(hours=-9, minutes=-30)), zone("Europe/Paris"), ZoneInfo("UTC")],
    ids=["UTC", "a fixed offset", "a ZoneInfo", "the ZoneInfo of UTC"],
)
@pytest.mark.parametrize("name", ["UTC", "Asia/Tokyo"])
def test_an_aware_datetime_of_any_zone_is_the_moment_it_names(tz: tzinfo, name: str) -> None:
    schedule = Schedule("0 3 * * *", name)

    assert schedule.next(THREE.astimezone(tz)) == schedule.next(THREE)
    assert schedule.previous(THREE.astimezone(tz)) == schedule.previous(THREE)
    assert list(schedule.between(THREE.astimezone(tz), (THREE + DAY).astimezone(tz))) == [schedule.next(THREE)]


@pytest.mark.parametrize("name", ["UTC", "Asia/Tokyo"])
def test_occurrences_are_in_utc_in_every_zone(name: str) -> None:
    schedule, paris = Schedule("0 3 * * *", name), THREE.astimezone(zone("Europe/Paris"))

    assert {schedule.next(paris).tzinfo, schedule.previous(paris).tzinfo} == {UTC}
    assert all(found.tzinfo is UTC for found in schedule.between(paris, paris + 3 * DAY))


@pytest.mark.parametrize("value", [wall("2026-03-02"), None, 0, "2026-03-02T00:00:00Z", THREE.date()], ids=repr)
@pytest.mark.parametrize("name", ["UTC", "Europe/Paris"])
def test_a_start_that_is_no_instant_is_refused(value: datetime, name: str) -> None:
    schedule = Schedule("0 3 * * *", name)

    with pytest.raises(NaiveDatetimeError):
        schedule.next(value)
    with pytest.raises(NaiveDatetimeError):
        schedule.previous(value)


@pytest.mark.parametrize("option", ["dialect", "repeated", "gap"])
def test_an_unknown_choice_is_refused_by_its_name(option: str) -> None:
    with pytest.raises(InvalidDefinitionError) as caught:
        Schedule("0 3 * * *", **{option: "sometimes"})  # type: ignore[arg-type]  # what an untyped caller may pass

    assert caught.value.field == option


def test_an_unknown_zone_is_refused() -> None:
    with pytest.raises(UnknownTimezoneError):
        Schedule("0 3 * * *", "Europe/Atlantis")


# --- laws -------------------------------------------------------------------------------------------------------------


@settings(max_examples=200)
@given(schedules, moments)
def test_the_next_occurrence_is_its_own_previous_and_none_is_between(schedule: Schedule, moment: datetime) -> None:
    found = schedule.next(moment)

    assert found > moment
    assert schedule.previous(found) == found
    assert schedule.previous(found - TICK) <= moment


@settings(max_examples=200)
@given(schedules, moments)
def test_from_before_an_occurrence_the_next_is_that_occurrence(schedule: Schedule, moment: datetime) -> None:
    found = schedule.previous(moment)

    assert found <= moment
    assert schedule.next(found - TICK) == found
    assert schedule.next(found) > moment


@given(schedules, moments, moments)
def test_a_later_question_never_has_an_earlier_answer(schedule: Schedule, one: datetime, other: datetime) -> None:
    early, late = sorted([one, other])

    assert schedule.next(early) <= schedule.next(late)
    assert schedule.previous(early) <= schedule.previous(late)


@given(schedules, moments, st.timedeltas(timedelta(), timedelta(days=40)))
def test_between_is_next_again_and_again(schedule: Schedule, start: datetime, length: timedelta) -> None:
    expected: list[datetime] = []
    while len(expected) < 50 and (found := schedule.next(expected[-1] if expected else start)) <= start + length:
        expected.append(found)

    assert list(islice(schedule.between(start, start + length), 50)) == expected


@given(schedules, moments)
def test_occurrences_ascend(schedule: Schedule, start: datetime) -> None:
    found = list(islice(schedule.between(start, LAST_MOMENT), 20))

    assert all(one < other for one, other in pairwise(found))


# --- values -----------------------------------------------------------------------------------------------------------


def test_schedules_are_equal_if_they_name_the_same_minutes_in_the_same_zone_with_the_same_policies() -> None:
    one = Schedule("*/30 3 * * *", "Europe/Paris")

    assert one == Schedule("0,30 03 * * *", "Europe/Paris")
    assert hash(one) == hash(Schedule("0,30 03 * * *", "Europe/Paris"))
    assert one != Schedule("*/30 3 * * *", "Europe/Rome")
    assert one != Schedule("*/30 3 * * *", "Europe/Paris", gap="shift")
    assert one != Schedule("*/30 3 * * *", "Europe/Paris", repeated="first")


def test_the_repr_of_a_schedule_makes_it_again() -> None:
    schedule = Schedule("*/30 3 * * *", "Europe/Paris", repeated="first", gap="shift")

    assert eval(repr(schedule), {"Schedule": Schedule}) == schedule


# --- count ------------------------------------------------------------------------------------------------------------


@given(schedules, moments, st.timedeltas(timedelta(), timedelta(days=3)))
def test_count_says_how_many_between_yields(schedule: Schedule, start: datetime, length: timedelta) -> None:
    assert schedule.count(start, start + length) == len(list(schedule.between(start, start + length)))


@given(
    st.builds(
        Schedule,
        st.sampled_from(["*/20 1-3 * * *", "30 0-4 * * *", "15 1,2,3 * * SUN", "*/7 2 * * *", "0 0,1 * * *"]),
        timezone=st.sampled_from(["Europe/Paris", "Australia/Lord_Howe", "America/Havana", "Africa/Casablanca"]),
        repeated=st.sampled_from(["both", "first"]),
        gap=st.sampled_from(["skip", "shift"]),
    ),
    st.datetimes(wall("2026-01-01"), wall("2026-12-31")).map(lambda value: value.replace(tzinfo=UTC)),
    st.integers(0, 200),
)
def test_count_follows_the_clocks_that_are_set(schedule: Schedule, start: datetime, days: int) -> None:
    end = start + days * DAY

    assert schedule.count(start, end) == len(list(schedule.between(start, end)))


def test_count_of_an_empty_span_is_none() -> None:
    schedule = Schedule("* * * * *")

    assert schedule.count(THREE, THREE) == 0
    assert schedule.count(THREE, THREE - DAY) == 0
    assert schedule.count(THREE - TICK, THREE) == 1


@pytest.mark.parametrize("name", ["UTC", "Europe/Paris", "America/New_York"])
def test_count_reaches_to_the_end_of_the_calendar(name: str) -> None:
    schedule = Schedule("59 * 31 12 *", name)

    assert schedule.count(at("9997-01-01 12:00:00Z"), LAST_MOMENT) == len(
        list(schedule.between(at("9997-01-01 12:00:00Z"), LAST_MOMENT))
    )
