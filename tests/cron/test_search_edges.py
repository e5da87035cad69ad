"""The first and the last year of the calendar, leap days and occurrences that are centuries apart."""

from collections.abc import Callable
from datetime import datetime, timedelta
from itertools import islice

import pytest
from hypothesis import example, given, settings, strategies as st

from kron.cron.schedule import Schedule
from kron.errors import CronCalculationError, OutOfRangeError
from tests.cron.iana import distinct_names, zone
from tests.cron.moments import FIRST_MOMENT, LAST_MOMENT, MINUTE, TICK, at

ZONES = ["UTC", "Africa/Abidjan", "America/New_York", "Asia/Tokyo", "Pacific/Kiritimati", "Pacific/Pago_Pago"]


# --- the edges of the calendar ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ZONES)
def test_there_is_nothing_after_the_last_moment(name: str) -> None:
    with pytest.raises(CronCalculationError):
        Schedule("* * * * *", name).next(LAST_MOMENT)


@pytest.mark.parametrize("name", ZONES)
def test_there_is_nothing_before_the_first_moment(name: str) -> None:
    with pytest.raises(CronCalculationError):
        Schedule("1 1 * * *", name).previous(FIRST_MOMENT)


def test_the_first_minute_of_the_calendar_is_an_occurrence() -> None:
    assert Schedule("* * * * *").previous(FIRST_MOMENT) == FIRST_MOMENT


def test_the_last_minute_of_the_calendar_is_an_occurrence() -> None:
    assert Schedule("* * * * *").next(LAST_MOMENT - MINUTE) == at("9999-12-31 23:59:00Z")


@pytest.mark.parametrize(
    ("text", "name", "after"),
    [
        ("0 3 * * *", "UTC", "9999-12-31 03:00:00Z"),
        ("0 0 29 2 *", "UTC", "9996-02-29 00:00:00Z"),
        ("0 0 1 1 *", "Europe/Paris", "9999-01-01 00:00:00Z"),
        ("0 23 31 12 *", "America/New_York", "9999-12-31 00:00:00Z"),
    ],
)
def test_a_schedule_whose_next_would_leave_the_calendar_says_so(text: str, name: str, after: str) -> None:
    with pytest.raises(CronCalculationError):
        Schedule(text, name).next(at(after))


@pytest.mark.parametrize(
    ("text", "name", "moment"),
    [
        ("0 3 * * *", "UTC", "0001-01-01 02:59:59Z"),
        ("0 0 29 2 *", "UTC", "0004-02-28 23:59:00Z"),
        ("0 0 1 1 *", "Asia/Tokyo", "0001-06-01 00:00:00Z"),
    ],
)
def test_a_schedule_whose_previous_would_leave_the_calendar_says_so(text: str, name: str, moment: str) -> None:
    with pytest.raises(CronCalculationError):
        Schedule(text, name).previous(at(moment))


@pytest.mark.parametrize("name", ["America/New_York", "Pacific/Honolulu"])
def test_from_the_first_moment_the_first_occurrence_is_found_west_of_greenwich(name: str) -> None:
    assert Schedule("0 12 * * *", name).next(FIRST_MOMENT) < at("0001-01-03 00:00:00Z")


@pytest.mark.parametrize("name", ["Asia/Tokyo", "Pacific/Kiritimati"])
def test_from_the_last_moment_the_last_occurrence_is_found_east_of_greenwich(name: str) -> None:
    assert Schedule("0 12 * * *", name).previous(LAST_MOMENT) > at("9999-12-30 00:00:00Z")


def test_from_the_first_moment_the_first_minute_is_found_west_of_greenwich() -> None:
    # New York's local mean time is 4 h 56 min 2 s behind UTC.
    assert Schedule("* * * * *", "America/New_York").next(FIRST_MOMENT) == at("0001-01-01 04:56:02Z")


@pytest.mark.parametrize("moment", [FIRST_MOMENT, at("0001-01-01 04:56:01Z")], ids=str)
def test_before_the_first_minute_west_of_greenwich_there_is_nothing(moment: datetime) -> None:
    with pytest.raises(CronCalculationError):
        Schedule("* * * * *", "America/New_York").previous(moment)


def test_the_first_and_the_last_year_are_searched() -> None:
    summer = Schedule("0 0 1 6 *")

    assert summer.previous(at("0002-01-15 00:00:00Z")) == at("0001-06-01 00:00:00Z")
    assert summer.next(at("9998-07-01 00:00:00Z")) == at("9999-06-01 00:00:00Z")


def test_the_first_minute_west_of_greenwich_is_found_from_behind() -> None:
    first = at("0001-01-01 04:56:02Z")

    assert Schedule("* * * * *", "America/New_York").previous(first + TICK) == first


hours_of_the_edges = st.timedeltas(timedelta(), timedelta(hours=30)) | st.timedeltas(timedelta(), timedelta(days=400))


@settings(max_examples=50)
@given(st.sampled_from(distinct_names()), hours_of_the_edges, st.sampled_from(["* * * * *", "0 0 29 2 *", "5 5 5 5 *"]))
@example("America/New_York", timedelta(), "* * * * *")
def test_near_the_edges_an_answer_is_on_its_side_or_an_error_of_kron(name: str, inwards: timedelta, text: str) -> None:
    schedule = Schedule(text, name, gap="shift", repeated="first")
    for moment in (FIRST_MOMENT + inwards, LAST_MOMENT - inwards):
        later, earlier = answer(schedule.next, moment), answer(schedule.previous, moment)

        assert later is None or later > moment
        assert earlier is None or earlier <= moment


def answer(ask: Callable[[datetime], datetime], moment: datetime) -> datetime | None:
    try:
        return ask(moment)
    except CronCalculationError:
        return None


@pytest.mark.parametrize("text", ["0001-01-01 00:00:00+14:00", "9999-12-31 23:59:00-12:00"])
def test_a_local_time_whose_moment_is_outside_the_calendar_is_refused(text: str) -> None:
    with pytest.raises(OutOfRangeError):
        Schedule("* * * * *").next(datetime.fromisoformat(text))


def test_between_over_the_whole_calendar_starts_and_ends_inside_it() -> None:
    found = list(islice(Schedule("0 0 1 1 *").between(FIRST_MOMENT, LAST_MOMENT), 10_000))

    assert (found[0], found[-1], len(found)) == (at("0002-01-01 00:00:00Z"), at("9999-01-01 00:00:00Z"), 9998)


# --- leap days --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["UTC", "Africa/Abidjan"])
def test_the_leap_day_of_2096_is_followed_by_that_of_2104(name: str) -> None:
    leap_day = Schedule("0 0 29 2 *", name)

    assert leap_day.next(at("2096-02-29 00:00:00Z")) == at("2104-02-29 00:00:00Z")
    assert leap_day.previous(at("2104-02-28 23:59:59Z")) == at("2096-02-29 00:00:00Z")


def test_the_leap_day_of_2000_is_one() -> None:
    leap_day = Schedule("0 0 29 2 *")

    assert leap_day.next(at("1996-02-29 00:00:00Z")) == at("2000-02-29 00:00:00Z")


@pytest.mark.parametrize(
    ("after", "expected"),
    [("1976-02-29 00:00:00Z", "2004-02-29 00:00:00Z"), ("2088-02-29 00:00:00Z", "2128-02-29 00:00:00Z")],
    ids=["28 years, as in most centuries", "40 years, because 2100 has no leap day"],
)
def test_a_leap_day_on_a_sunday_is_found_decades_away(after: str, expected: str) -> None:
    # `*/7` is Sunday alone, and begins with a star: so the day and the weekday must both match.
    schedule = Schedule("0 0 29 2 */7")

    assert schedule.next(at(after)) == at(expected)
    assert schedule.previous(at(expected) - TICK) == at(after)


@given(st.integers(1, 23), st.integers(0, 399))
def test_the_calendar_repeats_after_four_hundred_years(cycles: int, year: int) -> None:
    days = timedelta(days=146_097 * cycles)
    start = at(f"{year + 1:04}-03-01 00:00:00Z")
    leap_day = Schedule("0 0 29 2 */7")

    assert leap_day.next(start + days) - leap_day.next(start) == days


def test_zones_know_the_summer_of_a_far_year() -> None:
    # Paris in July 2391 is two hours ahead of UTC as far as anyone knows; the table has to grow for it.
    summer = Schedule("0 12 1 7 *", "Europe/Paris")

    assert summer.next(at("2390-12-01 00:00:00Z")) == at("2391-07-01 12:00:00+02:00")
    assert summer.next(at("2390-12-01 00:00:00Z")).astimezone(zone("Europe/Paris")).hour == 12
    assert summer.previous(at("2391-06-30 00:00:00Z") + TICK) == at("2390-07-01 12:00:00+02:00")
