"""The strict language: what its grammar admits, and what the five fields mean together."""

from datetime import datetime, timedelta

import pytest
from hypothesis import given, settings, strategies as st

from kron.cron.dialect import POSIX
from kron.cron.expression import Expression, parse
from kron.errors import InvalidCronExpressionError
from tests.cron.moments import wall
from tests.cron.reference import read
from tests.cron.texts import matching, untidy


def posix(text: str) -> Expression:
    return parse(text, POSIX)


def days_named_in(text: str, year: int, month: int) -> list[int]:
    first = datetime(year, month, 1)  # noqa: DTZ001 - a wall time
    moments = [first + timedelta(days=day) for day in range(31)]
    return [moment.day for moment in moments if moment.month == month and posix(text).matches(moment)]


# --- SPEC: Formal Grammar ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "minutes"),
    [
        ("7 0 1 1 0", [7]),
        ("1,3,5 * * * *", [1, 3, 5]),
        ("10-13 * * * *", [10, 11, 12, 13]),
        ("5-5 * * * *", [5]),
        ("1,10-12,59 * * * *", [1, 10, 11, 12, 59]),
        ("30,20,20,10 * * * *", [10, 20, 30]),
        ("1-5,3-7 * * * *", [1, 2, 3, 4, 5, 6, 7]),
    ],
    ids=["number", "list", "range", "range of one", "ranges in a list", "unsorted and repeated", "overlapping"],
)
def test_a_field_names_the_values_of_its_elements(text: str, minutes: list[int]) -> None:
    assert list(posix(text).minute) == minutes


def test_a_lone_star_names_every_value() -> None:
    expression = posix("* * * * *")

    assert [list(expression.minute), list(expression.hour)] == [list(range(60)), list(range(24))]
    assert [list(expression.day), list(expression.month)] == [list(range(1, 32)), list(range(1, 13))]
    assert list(expression.weekday) == list(range(7))


@pytest.mark.parametrize("text", ["00 * * * *", "007,010 03 01 002 06", "0000000000000059 * * * *"])
def test_numbers_may_have_leading_zeros_and_stay_decimal(text: str) -> None:
    assert posix(text) == posix(" ".join(part if part == "*" else _without_zeros(part) for part in text.split()))


def _without_zeros(part: str) -> str:
    return ",".join(str(int(number)) for number in part.split(","))


@pytest.mark.parametrize(
    "text",
    ["  0 3 * * *", "0 3 * * *  ", "0\t3\t*\t*\t*", "\t 0 \t3  *\t\t* * \t", "0    3 * * *"],
    ids=["before", "after", "tabs", "mixed", "many"],
)
def test_spaces_and_tabs_may_stand_before_between_and_after_fields(text: str) -> None:
    assert posix(text) == posix("0 3 * * *")


@pytest.mark.parametrize(
    "blank",
    list("\n\r\v\f\x1c\x1d\x1e\x1f\x85\xa0\u1680\u2000\u2003\u2009\u2028\u2029\u202f\u205f\u3000\u200b\ufeff\x00"),
    ids=lambda blank: f"U+{ord(blank):04X}",
)
@pytest.mark.parametrize("template", ["0{}3 * * *", "0 {}3 * * *", "{}0 3 * * *", "0 3 * * *{}", "0 3 * * {}*"])
def test_no_other_blank_separates_surrounds_or_hides_in_fields(template: str, blank: str) -> None:
    with pytest.raises(InvalidCronExpressionError):
        posix(template.format(blank))


@settings(max_examples=200)
@given(untidy(matching(extended=False)), st.datetimes())
def test_every_text_of_the_grammar_is_read_as_the_specification_reads_it(text: str, moment: datetime) -> None:
    expression, reference = posix(text), read(text)

    assert set(expression.minute) == reference.minutes
    assert set(expression.hour) == reference.hours
    assert set(expression.day) == reference.days
    assert set(expression.month) == reference.months
    assert set(expression.weekday) == reference.weekdays
    assert expression.matches(moment) == reference.names(moment.replace(second=0, microsecond=0))


# --- SPEC: Field Ranges -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", ["0 0 1 1 0", "59 23 31 12 6", "0-59 0-23 1-31 1-12 0-6"])
def test_the_ends_of_every_range_are_values(text: str) -> None:
    assert posix(text).canonical


@pytest.mark.parametrize(
    ("text", "day"),
    [("0 0 * * 0", "2026-03-01"), ("0 0 * * 1", "2026-03-02"), ("0 0 * * 6", "2026-03-07")],
    ids=["0 is Sunday", "1 is Monday", "6 is Saturday"],
)
def test_weekdays_count_from_sunday(text: str, day: str) -> None:
    # 1 March 2026 is a Sunday.
    expression = posix(text)

    assert expression.matches(wall(day))
    assert days_named_in(text, 2026, 3)[0] == int(day[-2:])


# --- SPEC: Day-of-Month/Day-of-Week Semantics -------------------------------------------------------------------------

# March 2026 begins on a Sunday, so its Mondays are the 2nd, 9th, 16th, 23rd and 30th.
MONDAYS = [2, 9, 16, 23, 30]


@pytest.mark.parametrize(
    ("text", "days"),
    [
        ("0 0 * * *", list(range(1, 32))),
        ("0 0 * * 1", MONDAYS),
        ("0 0 15 * *", [15]),
        ("0 0 1,15 * 1", [1, 2, 9, 15, 16, 23, 30]),
    ],
    ids=["* and *: every day", "* and restricted: weekday only", "restricted and *: day only", "both: either"],
)
def test_two_restricted_day_fields_are_ored_and_a_star_leaves_the_choice_to_the_other(
    text: str, days: list[int]
) -> None:
    assert days_named_in(text, 2026, 3) == days


def test_a_full_range_counts_as_restricted_because_it_is_not_a_star() -> None:
    assert days_named_in("0 0 1-31 * 1", 2026, 3) == list(range(1, 32))
    assert days_named_in("0 0 15 * 0-6", 2026, 3) == list(range(1, 32))


def test_the_month_restricts_both_sides_of_the_or() -> None:
    assert days_named_in("0 0 15 3 1", 2026, 3) == [2, 9, 15, 16, 23, 30]
    assert days_named_in("0 0 15 3 1", 2026, 4) == []


def test_hour_and_minute_restrict_both_sides_of_the_or() -> None:
    expression = posix("30 12 15 * 1")

    assert expression.matches(wall("2026-03-15 12:30"))
    assert expression.matches(wall("2026-03-16 12:30"))
    assert not expression.matches(wall("2026-03-15 12:31"))
    assert not expression.matches(wall("2026-03-16 11:30"))


# --- SPEC: Examples ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "named", "not_named"),
    [
        ("0 0 * * *", "2026-03-01 00:00", "2026-03-01 12:00"),
        ("15 3 * * 1-5", "2026-03-06 03:15", "2026-03-07 03:15"),
        ("0,30 * * * *", "2026-03-01 17:30", "2026-03-01 17:15"),
        ("0 12 14 2 *", "2026-02-14 12:00", "2026-03-14 12:00"),
    ],
    ids=["daily at midnight", "3:15 on weekdays", "every 30 minutes", "noon on February 14th"],
)
def test_the_valid_examples_name_what_they_say(text: str, named: str, not_named: str) -> None:
    expression = posix(text)

    assert expression.matches(wall(named))
    assert not expression.matches(wall(not_named))


@pytest.mark.parametrize("text", ["*/15 * * * *", "0 0 * * mon", "@daily", "0 0 ? * *"])
def test_the_invalid_examples_are_refused(text: str) -> None:
    with pytest.raises(InvalidCronExpressionError):
        posix(text)
