"""The four policies at clock changes, by hand: the zone's facts first, then the instants."""

from datetime import datetime

import pytest

from kron.cron.schedule import Schedule
from tests.cron.moments import at


def offsets_shown(schedule: Schedule, start: str, end: str) -> list[str]:
    """The occurrences on the wall of the zone, each with its offset, such as 03:00-04:00."""
    found = schedule.between(at(start), at(end))
    return [schedule.zone.local(moment).strftime("%H:%M%z") for moment in found]


# --- New York, 12 March 2023: at 02:00-05:00 the clocks go forward to 03:00-04:00 -------------------------------------

NIGHT_OF_THE_GAP = ("2023-03-12 00:30:00-05:00", "2023-03-12 05:00:00-04:00")


def test_a_minute_in_a_gap_is_skipped() -> None:
    schedule = Schedule("30 2 * * *", "America/New_York")

    assert offsets_shown(schedule, *NIGHT_OF_THE_GAP) == []
    assert schedule.next(at("2023-03-11 03:00:00-05:00")) == at("2023-03-13 02:30:00-04:00")


def test_a_minute_in_a_gap_is_moved_to_its_end() -> None:
    schedule = Schedule("30 2 * * *", "America/New_York", gap="shift")

    assert offsets_shown(schedule, *NIGHT_OF_THE_GAP) == ["03:00-0400"]


def test_several_minutes_in_a_gap_become_one() -> None:
    schedule = Schedule("*/10 2 * * *", "America/New_York", gap="shift")

    assert offsets_shown(schedule, *NIGHT_OF_THE_GAP) == ["03:00-0400"]


def test_a_moved_minute_and_one_that_is_named_there_become_one() -> None:
    schedule = Schedule("0,30 2,3 * * *", "America/New_York", gap="shift")

    assert offsets_shown(schedule, *NIGHT_OF_THE_GAP) == ["03:00-0400", "03:30-0400"]


def test_a_moved_minute_comes_before_those_that_follow_it() -> None:
    schedule = Schedule("15 * * * *", "America/New_York", gap="shift")

    assert offsets_shown(schedule, *NIGHT_OF_THE_GAP) == ["01:15-0500", "03:00-0400", "03:15-0400", "04:15-0400"]


def test_the_first_minute_after_a_gap_is_no_minute_of_the_gap() -> None:
    schedule = Schedule("0 3 * * *", "America/New_York")

    assert offsets_shown(schedule, *NIGHT_OF_THE_GAP) == ["03:00-0400"]


def test_every_hour_has_no_hole_in_a_gap() -> None:
    schedule = Schedule("0 * * * *", "America/New_York")

    assert offsets_shown(schedule, *NIGHT_OF_THE_GAP) == ["01:00-0500", "03:00-0400", "04:00-0400", "05:00-0400"]


# --- New York, 5 November 2023: at 02:00-04:00 the clocks go back to 01:00-05:00 --------------------------------------

NIGHT_OF_THE_FOLD = ("2023-11-05 00:30:00-04:00", "2023-11-05 03:00:00-05:00")


def test_a_minute_in_a_fold_is_two_moments() -> None:
    schedule = Schedule("30 1 * * *", "America/New_York")

    assert offsets_shown(schedule, *NIGHT_OF_THE_FOLD) == ["01:30-0400", "01:30-0500"]


def test_of_a_minute_in_a_fold_only_the_first_is_taken() -> None:
    schedule = Schedule("30 1 * * *", "America/New_York", repeated="first")

    assert offsets_shown(schedule, *NIGHT_OF_THE_FOLD) == ["01:30-0400"]


def test_every_hour_has_no_hole_in_a_fold() -> None:
    schedule = Schedule("0 * * * *", "America/New_York")

    assert offsets_shown(schedule, *NIGHT_OF_THE_FOLD) == [
        "01:00-0400",
        "01:00-0500",
        "02:00-0500",
        "03:00-0500",
    ]


def test_asked_between_the_passes_the_second_is_next_and_the_first_is_previous() -> None:
    schedule = Schedule("30 1 * * *", "America/New_York")
    between = at("2023-11-05 01:45:00-04:00")

    assert schedule.next(between) == at("2023-11-05 01:30:00-05:00")
    assert schedule.previous(between) == at("2023-11-05 01:30:00-04:00")


def test_asked_after_the_second_pass_the_first_is_previous_if_only_it_counts() -> None:
    schedule = Schedule("30 1 * * *", "America/New_York", repeated="first")
    after = at("2023-11-05 01:45:00-05:00")

    assert schedule.previous(after) == at("2023-11-05 01:30:00-04:00")
    assert schedule.next(after) == at("2023-11-06 01:30:00-05:00")


# --- Lord Howe, 1 October 2023: 02:00+10:30 becomes 02:30+11:00; 2 April 2023: 02:00+11:00 becomes 01:30+10:30 --------


def test_a_gap_of_half_an_hour() -> None:
    skipped = Schedule("*/15 2 * * *", "Australia/Lord_Howe")
    span = ("2023-10-01 01:00:00+10:30", "2023-10-01 03:00:00+11:00")

    assert offsets_shown(skipped, *span) == ["02:30+1100", "02:45+1100"]


def test_a_fold_of_half_an_hour() -> None:
    both = Schedule("*/20 1 * * *", "Australia/Lord_Howe")
    span = ("2023-04-02 00:30:00+11:00", "2023-04-02 03:00:00+10:30")

    assert offsets_shown(both, *span) == ["01:00+1100", "01:20+1100", "01:40+1100", "01:40+1030"]


# --- Apia: 29 December 2011 ends at 24:00-10:00, and 31 December begins at 00:00+14:00 --------------------------------


@pytest.mark.parametrize(
    ("gap", "expected"),
    [
        ("skip", ["2011-12-29 12:00:00-10:00", "2011-12-31 12:00:00+14:00"]),
        ("shift", ["2011-12-29 12:00:00-10:00", "2011-12-31 00:00:00+14:00", "2011-12-31 12:00:00+14:00"]),
    ],
)
def test_a_day_that_does_not_occur(gap: str, expected: list[str]) -> None:
    schedule = Schedule("0 12 * * *", "Pacific/Apia", gap=gap)  # type: ignore[arg-type]  # one of the two
    found: list[datetime] = list(schedule.between(at("2011-12-29 00:00:00-10:00"), at("2012-01-01 00:00:00+14:00")))

    assert found == [at(text) for text in expected]


def test_a_weekly_job_on_the_day_that_does_not_occur_waits_a_week() -> None:
    # The 30th would have been a Friday.
    schedule = Schedule("0 12 * * FRI", "Pacific/Apia")

    assert schedule.next(at("2011-12-24 00:00:00-10:00")) == at("2012-01-06 12:00:00+14:00")


# --- Havana, 12 March 2023: 00:00-05:00 becomes 01:00-04:00; 5 November 2023: 01:00-04:00 becomes 00:00-05:00 ---------


def test_a_midnight_that_does_not_occur() -> None:
    midnight = ("2023-03-11 12:00:00-05:00", "2023-03-12 12:00:00-04:00")

    assert offsets_shown(Schedule("0 0 * * *", "America/Havana"), *midnight) == []
    assert offsets_shown(Schedule("0 0 * * *", "America/Havana", gap="shift"), *midnight) == ["01:00-0400"]


def test_a_midnight_that_occurs_twice() -> None:
    midnight = ("2023-11-04 12:00:00-04:00", "2023-11-05 12:00:00-05:00")

    assert offsets_shown(Schedule("0 0 * * *", "America/Havana"), *midnight) == ["00:00-0400", "00:00-0500"]
    assert offsets_shown(Schedule("0 0 * * *", "America/Havana", repeated="first"), *midnight) == ["00:00-0400"]


# --- Monrovia, 7 January 1972: 00:00:00-00:44:30 becomes 00:44:30+00:00 -----------------------------------------------


def test_a_gap_that_ends_within_a_minute() -> None:
    schedule = Schedule("44,45 0 * * *", "Africa/Monrovia", gap="shift")
    found = list(schedule.between(at("1972-01-06 12:00:00Z"), at("1972-01-07 12:00:00Z")))

    assert found == [at("1972-01-07 00:44:30Z"), at("1972-01-07 00:45:00Z")]


def test_a_minute_of_odd_local_time_begins_at_odd_seconds_of_utc() -> None:
    schedule = Schedule("0 12 * * *", "Africa/Monrovia")

    assert schedule.next(at("1971-07-01 00:00:00Z")) == at("1971-07-01 12:44:30Z")
