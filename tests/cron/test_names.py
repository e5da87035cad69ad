"""Names of months and weekdays, Sunday as 7, and ranges that would wrap around, in the extended dialect."""

import pytest

from kron.cron.dialect import EXTENDED
from kron.cron.expression import Expression, parse
from kron.errors import InvalidCronExpressionError


def extended(text: str) -> Expression:
    return parse(text, EXTENDED)


def refusal(text: str) -> InvalidCronExpressionError:
    with pytest.raises(InvalidCronExpressionError) as caught:
        extended(text)
    return caught.value


# --- names ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "months"),
    [
        ("0 0 1 JAN *", [1]),
        ("0 0 1 dec *", [12]),
        ("0 0 1 Feb,AUG,oCt *", [2, 8, 10]),
        ("0 0 1 MAR-JUN *", [3, 4, 5, 6]),
        ("0 0 1 jan-12/3 *", [1, 4, 7, 10]),
        ("0 0 1 4,MAY,jul-SEP,11 *", [4, 5, 7, 8, 9, 11]),
    ],
)
def test_months_have_names_in_any_case_alone_in_lists_and_in_ranges(text: str, months: list[int]) -> None:
    assert list(extended(text).month) == months


@pytest.mark.parametrize(
    ("text", "weekdays"),
    [
        ("0 0 * * SUN", [0]),
        ("0 0 * * sat", [6]),
        ("0 0 * * Mon,wED,FRI", [1, 3, 5]),
        ("0 0 * * MON-fri", [1, 2, 3, 4, 5]),
        ("0 0 * * sun-2", [0, 1, 2]),
        ("0 0 * * TUE-SAT/2", [2, 4, 6]),
    ],
)
def test_weekdays_have_names_in_any_case_alone_in_lists_and_in_ranges(text: str, weekdays: list[int]) -> None:
    assert list(extended(text).weekday) == weekdays


@pytest.mark.parametrize(
    "text", ["0 0 * MON *", "0 0 * * JAN", "0 0 JAN * *", "SUN * * * *", "0 0 * foo *", "0 0 * * MO"]
)
def test_a_name_of_another_field_or_of_none_is_refused(text: str) -> None:
    assert "unknown name" in refusal(text).reason


@pytest.mark.parametrize("text", ["0 0 * * SUNDAY", "0 0 * JANUARY *", "0 0 * * WEDNESDAY", "0 0 * APRIL *"])
def test_a_long_name_is_refused_as_unknown_even_with_the_letters_of_quartz(text: str) -> None:
    assert "unknown name" in refusal(text).reason


@pytest.mark.parametrize("text", ["0 0 * * ＭＯＮ", "0 0 * * thu\u0301", "0 0 * * ѕun"], ids=ascii)
def test_a_name_in_other_letters_is_refused(text: str) -> None:
    refusal(text)


@pytest.mark.parametrize("text", ["0 0 * * \u017fun", "0 0 * * fr\u0131", "@wee\u212aly"], ids=ascii)
def test_a_look_alike_of_a_name_is_refused(text: str) -> None:
    refusal(text)


# --- Sunday -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("weekday", ["7", "07", "SUN", "0,7", "7-7"])
def test_seven_is_sunday(weekday: str) -> None:
    assert extended(f"0 0 * * {weekday}") == extended("0 0 * * 0")


@pytest.mark.parametrize(
    ("weekday", "values"),
    [
        ("5-7", [0, 5, 6]),
        ("SAT-SUN", [0, 6]),
        ("fri-sun", [0, 5, 6]),
        ("6-SUN", [0, 6]),
        ("1-7", [0, 1, 2, 3, 4, 5, 6]),
        ("0-7", [0, 1, 2, 3, 4, 5, 6]),
        ("1-7/2", [0, 1, 3, 5]),
        ("TUE-SUN/5", [0, 2]),
    ],
)
def test_a_range_may_end_with_sunday(weekday: str, values: list[int]) -> None:
    assert list(extended(f"0 0 * * {weekday}").weekday) == values


def test_a_star_with_a_step_does_not_count_sunday_twice() -> None:
    assert list(extended("0 0 * * */7").weekday) == [0]
    assert list(extended("0 0 * * */5").weekday) == [0, 5]


def test_eight_is_no_weekday() -> None:
    assert refusal("0 0 * * 8").reason == "value 8 is outside 0-7"


# --- ranges that wrap around ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "fix"),
    [
        ("0 22-2 * * *", "write 22-23,0-2"),
        ("0 0 * NOV-FEB *", "write NOV-DEC,JAN-FEB"),
        ("0 0 * dec-jan *", "write DEC,JAN"),
        ("0 0 * * FRI-MON", "write FRI-SAT,SUN-MON"),
        ("0 0 * * 5-1", "write 5-6,0-1"),
        ("0 0 * * 7-2", "write 0-2"),
        ("0 0 * * SAT-TUE", "write SAT,SUN-TUE"),
    ],
)
def test_a_range_that_wraps_around_is_refused_with_the_right_spelling(text: str, fix: str) -> None:
    error = refusal(text)

    assert "wraps around" in error.reason
    assert error.fix == fix


@pytest.mark.parametrize("text", ["0 22-2 * * *", "0 0 * NOV-FEB *", "0 0 * * FRI-MON", "0 0 * * 7-2", "0 0 30-2 * *"])
def test_the_spelling_that_is_offered_for_a_wrapped_range_is_accepted(text: str) -> None:
    wrong = next(part for part in text.split() if "-" in part)

    assert extended(text.replace(wrong, refusal(text).fix.removeprefix("write ")))
