"""Cron language: the days that day, month and weekday name together, and those that no year has.

March 2026 begins with a Sunday: its Mondays are the days 2, 9, 16, 23 and 30.
"""

import pytest

from kron.rules.contract import Contract
from tests.conformance.citing import clause
from tests.conformance.test_cron_language import matches, refused

EVERY_DAY = list(range(1, 32))
MONDAYS = [2, 9, 16, 23, 30]


async def days_of_march(contract: Contract, cron: str) -> list[int]:
    """Return the days of March 2026 on which a task of midnight runs."""
    midnights = [f"2026-03-{day:02}T00:00:00Z" for day in EVERY_DAY]
    return [midnights.index(moment) + 1 for moment in await matches(contract, cron, *midnights)]


@clause("cron.sunday-is-zero")
@pytest.mark.parametrize("weekday", range(7), ids=["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"])
async def test_weekdays_are_counted_from_sunday(contract: Contract, weekday: int) -> None:
    days = await days_of_march(contract, f"0 0 * * {weekday}")

    assert days[0] == 1 + weekday


@clause("cron.day-or-weekday")
@pytest.mark.parametrize(
    ("cron", "days"),
    [
        ("0 0 1,15 * 1", [1, 2, 9, 15, 16, 23, 30]),
        ("0 0 2 * 1", MONDAYS),
        ("0 0 31 * 0", [1, 8, 15, 22, 29, 31]),
        ("0 0 1-31 * 1", EVERY_DAY),
        ("0 0 5 * 0-6", EVERY_DAY),
    ],
    ids=["that of the specification", "the day is a Monday", "Sundays", "all days named", "all weekdays named"],
)
async def test_where_both_are_restricted_a_match_of_either_suffices(
    contract: Contract, cron: str, days: list[int]
) -> None:
    assert await days_of_march(contract, cron) == days


@clause("cron.day-or-weekday")
@pytest.mark.parametrize("cron", ["0 0 1,15 4 1", "0 1 1,15 * 1", "1 0 1,15 * 1"], ids=["month", "hour", "minute"])
async def test_month_hour_and_minute_must_match_as_well(contract: Contract, cron: str) -> None:
    assert await days_of_march(contract, cron) == []


@clause("cron.both-stars")
async def test_where_neither_is_restricted_every_day_matches(contract: Contract) -> None:
    assert await days_of_march(contract, "0 0 * * *") == EVERY_DAY


@clause("cron.both-stars")
async def test_where_neither_is_restricted_the_month_still_decides(contract: Contract) -> None:
    assert await days_of_march(contract, "0 0 * 1,2,4-12 *") == []


@clause("cron.weekday-alone")
@pytest.mark.parametrize(
    ("weekday", "days"), [("1", MONDAYS), ("0,6", [1, 7, 8, 14, 15, 21, 22, 28, 29]), ("0-6", EVERY_DAY)]
)
async def test_a_weekday_alone_decides(contract: Contract, weekday: str, days: list[int]) -> None:
    assert await days_of_march(contract, f"0 0 * * {weekday}") == days


@clause("cron.day-alone")
@pytest.mark.parametrize(("day", "days"), [("15", [15]), ("1-3,31", [1, 2, 3, 31]), ("1-31", EVERY_DAY)])
async def test_a_day_alone_decides(contract: Contract, day: str, days: list[int]) -> None:
    assert await days_of_march(contract, f"0 0 {day} * *") == days


@clause("cron.never-matching")
@pytest.mark.parametrize("cron", ["0 0 30 2 *", "0 0 31 2 *", "0 0 30,31 2 *", "0 0 31 4,6,9,11 *", "* * 31 2,4 *"])
async def test_a_date_that_no_year_has_is_refused(contract: Contract, cron: str) -> None:
    assert await refused(contract, cron) == "expression"


@clause("cron.never-matching")
@pytest.mark.parametrize(
    ("cron", "moment"),
    [
        ("0 0 29 2 *", "2028-02-29T00:00:00Z"),
        ("0 0 30 2 1", "2026-02-02T00:00:00Z"),
        ("0 0 31 2,3 *", "2026-03-31T00:00:00Z"),
        ("0 0 28-31 2 *", "2026-02-28T00:00:00Z"),
    ],
    ids=["a leap day", "a weekday saves it", "another month saves it", "another day saves it"],
)
async def test_a_date_that_some_year_has_is_accepted(contract: Contract, cron: str, moment: str) -> None:
    assert await matches(contract, cron, moment) == [moment]
