"""What the extended dialect adds to the strict one: steps and macros; and what it still refuses."""

from datetime import datetime, timedelta

import pytest
from hypothesis import given, settings, strategies as st

from kron.cron.dialect import EXTENDED, POSIX
from kron.cron.expression import Expression, parse
from kron.errors import InvalidCronExpressionError
from tests.cron.reference import read
from tests.cron.texts import matching, untidy


def extended(text: str) -> Expression:
    return parse(text, EXTENDED)


def refusal(text: str) -> InvalidCronExpressionError:
    with pytest.raises(InvalidCronExpressionError) as caught:
        extended(text)
    return caught.value


def days_named_in_march_2026(text: str) -> list[int]:
    moments = [datetime(2026, 3, 1) + timedelta(days=day) for day in range(31)]  # noqa: DTZ001 - wall times
    return [moment.day for moment in moments if extended(text).matches(moment)]


def test_the_extended_dialect_is_the_default() -> None:
    assert parse("*/15 * * * MON") == extended("*/15 * * * MON")


@given(matching(extended=False))
def test_a_text_of_the_strict_language_means_the_same(text: str) -> None:
    assert extended(text) == parse(text, POSIX)


@settings(max_examples=200)
@given(untidy(matching(extended=True)), st.datetimes())
def test_every_text_is_read_as_the_specification_reads_it(text: str, moment: datetime) -> None:
    expression, reference = extended(text), read(text)

    assert set(expression.minute) == reference.minutes
    assert set(expression.hour) == reference.hours
    assert set(expression.day) == reference.days
    assert set(expression.month) == reference.months
    assert set(expression.weekday) == reference.weekdays
    assert expression.matches(moment) == reference.names(moment.replace(second=0, microsecond=0))


# --- steps ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "minutes"),
    [
        ("*/15 * * * *", [0, 15, 30, 45]),
        ("*/1 * * * *", list(range(60))),
        ("*/7 * * * *", [0, 7, 14, 21, 28, 35, 42, 49, 56]),
        ("*/59 * * * *", [0, 59]),
        ("*/60 * * * *", [0]),
        ("*/99999999999999999999 * * * *", [0]),
        ("*/015 * * * *", [0, 15, 30, 45]),
        ("5-59/15 * * * *", [5, 20, 35, 50]),
        ("10-20/5 * * * *", [10, 15, 20]),
        ("10-19/5,3 * * * *", [3, 10, 15]),
        ("*/30,5 * * * *", [0, 5, 30]),
        ("5-5/3 * * * *", [5]),
    ],
)
def test_a_step_takes_every_nth_value_from_the_first_of_its_range(text: str, minutes: list[int]) -> None:
    assert list(extended(text).minute) == minutes


def test_a_step_in_a_field_that_starts_at_one_starts_at_one() -> None:
    expression = extended("0 0 */10 */4 *")

    assert list(expression.day) == [1, 11, 21, 31]
    assert list(expression.month) == [1, 5, 9]


@pytest.mark.parametrize(
    ("text", "fix"),
    [
        ("5/15 * * * *", "write 5-59/15"),
        ("0 8/2 * * *", "write 8-23/2"),
        ("0 0 1/7 * *", "write 1-31/7"),
        ("0 0 * 2/3 *", "write 2-12/3"),
        ("0 0 * * 1/2", "write 1-6/2"),
    ],
)
def test_a_step_from_a_single_number_is_refused_with_the_range_it_seems_to_mean(text: str, fix: str) -> None:
    error = refusal(text)

    assert "step without a range" in error.reason
    assert error.fix == fix


@pytest.mark.parametrize("step", ["0", "00", "", "-5", "+5", "1.5", "x", "2/3", "٣", "*", "1-2"])
def test_a_step_is_a_positive_decimal_number(step: str) -> None:
    error = refusal(f"*/{step} * * * *")

    assert error.field == "minute"
    assert "step" in error.reason


# --- macros -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("macro", "text"),
    [
        ("@hourly", "0 * * * *"),
        ("@daily", "0 0 * * *"),
        ("@midnight", "0 0 * * *"),
        ("@weekly", "0 0 * * 0"),
        ("@monthly", "0 0 1 * *"),
        ("@yearly", "0 0 1 1 *"),
        ("@annually", "0 0 1 1 *"),
        ("@Daily", "0 0 * * *"),
        (" \t@hourly  ", "0 * * * *"),
    ],
)
def test_a_macro_stands_for_five_fields(macro: str, text: str) -> None:
    assert extended(macro) == extended(text)


def test_a_macro_keeps_its_text() -> None:
    assert str(extended("@daily")) == "@daily"


def test_reboot_is_refused_because_it_names_no_time() -> None:
    assert refusal("@reboot").reason == "names no time (@reboot)"


@pytest.mark.parametrize("text", ["@", "@never", "@every 5m", "@dailyy", "@daily @daily", "daily", "0 0 * * @daily"])
def test_no_other_macro_is_known(text: str) -> None:
    refusal(text)


# --- Quartz -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "token"),
    [
        ("0 0 ? * MON", "?"),
        ("0 0 L * *", "L"),
        ("0 0 L-3 * *", "L"),
        ("0 0 15W * *", "W"),
        ("0 0 * * FRI#2", "#"),
        ("0 0 * * 5L", "L"),
    ],
)
def test_a_quartz_token_is_refused_by_its_name(text: str, token: str) -> None:
    assert f"uses {token}, a Quartz token" in refusal(text).reason


# --- the two day fields -----------------------------------------------------------------------------------------------

# March 2026 begins on a Sunday: its Mondays are the 2nd, 9th, 16th, 23rd and 30th.


@pytest.mark.parametrize(
    ("text", "days"),
    [
        ("0 0 */2 * MON", [9, 23]),
        ("0 0 1-31/2 * MON", sorted({*range(1, 32, 2), 2, 9, 16, 23, 30})),
        ("0 0 1,4,9 * */3", [1, 4]),
        ("0 0 */1 * MON", [2, 9, 16, 23, 30]),
        ("0 0 */10,9 * MON", [9]),
        ("0 0 9,*/10 * MON", [1, 2, 9, 11, 16, 21, 23, 30, 31]),
    ],
)
def test_a_day_field_that_begins_with_a_star_turns_or_into_and(text: str, days: list[int]) -> None:
    assert days_named_in_march_2026(text) == days


@pytest.mark.parametrize("field", ["*,5", "5,*", "*,*/2"])
def test_a_star_inside_a_list_is_refused(field: str) -> None:
    assert refusal(f"{field} * * * *").reason == "has * inside a list"
