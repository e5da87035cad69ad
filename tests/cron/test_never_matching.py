"""A text that can never match is refused when it is parsed, and no other text is refused for that reason."""

from itertools import islice

import pytest
from hypothesis import example, given, settings, strategies as st

from kron.cron.dialect import EXTENDED, POSIX, Dialect
from kron.cron.expression import parse
from kron.errors import InvalidCronExpressionError
from tests.cron.reference import read
from tests.cron.texts import expressions

LATE_DAYS = st.lists(st.sampled_from(["29", "30", "31", "30-31", "29-31"]), min_size=1, max_size=2).map(",".join)
SHORT_MONTHS = st.lists(st.sampled_from(["2", "4", "6", "9", "11", "2-2"]), min_size=1, max_size=3).map(",".join)
DAY_SETS = LATE_DAYS | st.sampled_from(["*/29", "*/30", "*", "28", "28,30"])
WEEKDAY_SETS = st.sampled_from(["*", "*/2", "*/7", "1", "0-6"])


def never_matches(text: str, dialect: Dialect = EXTENDED) -> bool:
    try:
        parse(text, dialect)
    except InvalidCronExpressionError as error:
        if not error.reason.startswith("can never match"):
            raise
        return True
    return False


@pytest.mark.parametrize("dialect", [POSIX, EXTENDED], ids=["posix", "extended"])
@pytest.mark.parametrize(
    "text",
    ["0 0 30 2 *", "0 0 31 2 *", "0 0 30,31 2 *", "0 0 31 4 *", "0 0 31 2,4,6,9,11 *", "0 0 30-31 2 *", "* * 31 11 *"],
)
def test_a_day_that_no_named_month_has_is_refused(text: str, dialect: Dialect) -> None:
    assert never_matches(text, dialect)


@pytest.mark.parametrize("dialect", [POSIX, EXTENDED], ids=["posix", "extended"])
@pytest.mark.parametrize(
    "text",
    ["0 0 29 2 *", "0 0 29-31 2 *", "0 0 30 2,4 *", "0 0 31 1-12 *", "0 0 31 2,3 *", "0 0 30 4,6,9,11 *", "0 0 28 2 *"],
)
def test_a_day_that_some_named_month_has_in_some_year_is_accepted(text: str, dialect: Dialect) -> None:
    assert not never_matches(text, dialect)


@pytest.mark.parametrize("text", ["0 0 30 2 1", "0 0 31 4 0-6", "0 0 31 2 5,6"])
def test_a_restricted_weekday_saves_an_impossible_day_because_either_is_enough(text: str) -> None:
    assert not never_matches(text, POSIX)


@pytest.mark.parametrize("text", ["0 0 30 2 */2", "0 0 31 4 */7", "0 0 31 jun *"])
def test_a_weekday_that_begins_with_a_star_does_not_save_an_impossible_day(text: str) -> None:
    assert never_matches(text)


def test_a_leap_day_on_a_named_weekday_is_accepted() -> None:
    # 29 February falls on each weekday 13 or 15 times in 400 years.
    assert not never_matches("0 0 29 2 */7")


def test_the_refusal_points_at_the_day_and_says_why() -> None:
    with pytest.raises(InvalidCronExpressionError) as caught:
        parse("0 0 30,31 2 *")

    assert caught.value.position == 4
    assert caught.value.reason == "can never match: no day 30, 31 in Feb"
    assert caught.value.fix == "the longest month named has 29 days"


@settings(max_examples=100)
@given(st.builds("0 0 {} {} {}".format, DAY_SETS, SHORT_MONTHS, WEEKDAY_SETS))
@example("0 0 30 2 *")
@example("0 0 29 2 */7")
def test_a_text_is_refused_exactly_if_no_day_of_four_hundred_years_is_named(text: str) -> None:
    some_day = next(iter(read(text).days_of_a_cycle()), None)

    assert never_matches(text) == (some_day is None)


@settings(max_examples=200)
@given(expressions(extended=True))
def test_every_accepted_expression_matches_on_some_day(text: str) -> None:
    some_day = next(iter(read(text).days_of_a_cycle()), None)

    assert never_matches(text) == (some_day is None)


def test_every_pair_of_one_day_and_one_month_is_judged_as_the_calendar_judges_it() -> None:
    pairs = [(day, month) for day in range(1, 32) for month in range(1, 13)]
    possible = {pair for pair in pairs if list(islice(read(f"0 0 {pair[0]} {pair[1]} *").days_of_a_cycle(), 1))}

    assert {pair for pair in pairs if not never_matches(f"0 0 {pair[0]} {pair[1]} *", POSIX)} == possible
