"""The errors of refused texts: stable names, exact messages, details for machines, a caret for people."""

import pytest
from hypothesis import given, strategies as st

from kron.cron.dialect import EXTENDED, MINUTE, POSIX, Dialect
from kron.cron.expression import parse
from kron.cron.field import parse_field
from kron.cron.schedule import Schedule
from kron.errors import (
    CronCalculationError,
    CronExpressionInvalidError,
    FieldParseError,
    InvalidCronExpressionError,
    KronError,
    OutOfRangeError,
)
from tests.cron.moments import at
from tests.cron.reference import read


def refusal(text: str, dialect: Dialect = POSIX) -> InvalidCronExpressionError:
    with pytest.raises(InvalidCronExpressionError) as caught:
        parse(text, dialect)
    return caught.value


# --- SPEC: Cron Expression Parsing Errors -----------------------------------------------------------------------------


def test_an_invalid_expression_error_says_expression_field_and_reason() -> None:
    error = refusal("0 24 * * *")

    assert error.name == "InvalidCronExpressionError"
    assert str(error) == 'Invalid cron expression "0 24 * * *": hour field value 24 is outside 0-23'
    assert dict(error.details) == {"expression": "0 24 * * *", "field": "hour", "reason": "value 24 is outside 0-23"}


def test_an_invalid_expression_error_about_no_single_field_names_the_expression() -> None:
    error = refusal("0 0 * *")

    assert str(error) == 'Invalid cron expression "0 0 * *": expression field must have exactly 5 fields, found 4'
    assert error.details["field"] == "expression"


def test_the_message_repeats_the_text_as_it_was_written() -> None:
    assert refusal(" 0\t24 * * * ").details["expression"] == " 0\t24 * * * "


def test_the_error_of_the_field_is_the_cause_of_the_error_of_the_expression() -> None:
    cause = refusal("1,2,99 * * * *").__cause__

    assert isinstance(cause, FieldParseError)
    assert dict(cause.details) == {"fieldValue": "1,2,99", "fieldName": "minute"}


def test_a_field_parse_error_says_what_is_wrong_with_its_field() -> None:
    with pytest.raises(FieldParseError) as caught:
        parse_field("61", MINUTE, POSIX)

    assert caught.value.name == "FieldParseError"
    assert str(caught.value) == "minute field value 61 is outside 0-59"
    assert dict(caught.value.details) == {"fieldValue": "61", "fieldName": "minute"}


def test_a_field_that_was_refused_once_is_refused_again() -> None:
    assert str(refusal("61 * * * *")) == str(refusal("61 * * * *"))


@pytest.mark.parametrize(
    "value", [None, 5, ["0", "3", "*", "*", "*"], b"0 3 * * *"], ids=["None", "int", "list", "bytes"]
)
def test_a_value_that_is_not_a_string_is_refused_by_its_type(value: object) -> None:
    error = refusal(value)  # type: ignore[arg-type]  # what an untyped caller may pass

    assert error.reason == f"must be a text, found {type(value).__name__}"


# --- SPEC: Registration Validation Errors -----------------------------------------------------------------------------


def test_an_expression_of_a_registration_is_refused_in_the_same_words() -> None:
    error = CronExpressionInvalidError(expression="0 24 * * *", field="hour", reason="value 24 is outside 0-23")

    assert error.name == "CronExpressionInvalidError"
    assert str(error) == str(refusal("0 24 * * *"))
    assert dict(error.details) == dict(refusal("0 24 * * *").details)


# --- SPEC: Cron Calculation Errors ------------------------------------------------------------------------------------


def test_a_calculation_error_says_expression_current_time_and_cause() -> None:
    with pytest.raises(CronCalculationError) as caught:
        Schedule("0 3 * * *").next(at("9999-12-31 03:00:00Z"))
    error = caught.value

    assert error.name == "CronCalculationError"
    assert str(error) == f"Failed to calculate next occurrence: {error.details['cause']}"
    assert isinstance(error.details["cause"], OutOfRangeError)
    assert error.details["expression"] == "0 3 * * *"
    assert error.details["currentTime"] == "9999-12-31T03:00:00Z"


def test_a_calculation_error_of_the_past_has_the_same_form() -> None:
    with pytest.raises(CronCalculationError) as caught:
        Schedule("0 3 * * *").previous(at("0001-01-01 02:59:59Z"))

    assert set(caught.value.details) == {"expression", "currentTime", "cause"}
    assert caught.value.details["currentTime"] == "0001-01-01T02:59:59Z"


# --- the tree ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "kind", [InvalidCronExpressionError, FieldParseError, CronExpressionInvalidError, CronCalculationError]
)
def test_every_error_of_cron_is_an_error_of_kron(kind: type[Exception]) -> None:
    assert issubclass(kind, KronError)


def test_details_cannot_be_changed_afterwards() -> None:
    details = refusal("61 * * * *").details

    with pytest.raises(TypeError):
        details["field"] = "hour"  # type: ignore[index]  # what must not work


# --- the caret --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("dialect", "text", "caret"),
    [
        (POSIX, "60 * * * *", "^"),
        (POSIX, "0 24 * * *", "  ^"),
        (POSIX, "0 0 * * 8", "        ^"),
        (POSIX, "0 1,2,33 * * *", "      ^"),
        (POSIX, "0 1-33 * * *", "    ^"),
        (POSIX, "0 8-18/2 * * *", "      ^"),
        (POSIX, "0 0 15W * *", "      ^"),
        (POSIX, "0 0 1-5#2 * *", "       ^"),
        (POSIX, "1,,2 * * * *", "  ^"),
        (POSIX, "0x1F * * * *", " ^"),
        (POSIX, "1--2 * * * *", "  ^"),
        (POSIX, "5,* * * * *", "  ^"),
        (POSIX, "0 0 * 1,FEB *", "        ^"),
        (POSIX, "0 0 * *", "       ^"),
        (POSIX, "0 0 * *   ", "       ^"),
        (POSIX, "0 0 * * * 2026", "          ^"),
        (POSIX, "@daily", "^"),
        (POSIX, "   @daily", "   ^"),
        (POSIX, "   0 24 * * *", "     ^"),
        (POSIX, "\t0\t\t24 * * *", "    ^"),
        (POSIX, "0 0 30 2 *", "    ^"),
        (POSIX, " 0  0\t30 2 *", "      ^"),
        (EXTENDED, "*/0 * * * *", "  ^"),
        (EXTENDED, "5/15 * * * *", " ^"),
        (EXTENDED, "0 22-2 * * *", "  ^"),
        (EXTENDED, "1,50-10 * * * *", "  ^"),
        (EXTENDED, "0 0 * * MON,FOO", "            ^"),
        (EXTENDED, "0 0 * * 5#2", "         ^"),
        (EXTENDED, "  @reboot", "  ^"),
    ],
)
def test_the_caret_is_under_the_wrong_character(dialect: Dialect, text: str, caret: str) -> None:
    assert refusal(text, dialect).pointer.split("\n")[1] == caret


@given(st.text(" \t", max_size=40), st.lists(st.text(" \t", min_size=1, max_size=9), min_size=4, max_size=4))
def test_the_caret_follows_the_field_through_any_blanks(lead: str, blanks: list[str]) -> None:
    text = lead + "".join(part + blank for part, blank in zip(["0", "3", "*", "1,13"], blanks, strict=True)) + "*"
    shown, caret, _ = refusal(text).pointer.split("\n")

    assert shown[caret.index("^") :].startswith("13")


@given(st.integers(0, 500))
def test_the_caret_stays_right_where_a_long_text_is_shown_in_part(elements: int) -> None:
    shown, caret, _ = refusal("1," * elements + "X" + ",2" * 100 + " * * * *").pointer.split("\n")

    assert shown[caret.index("^")] == "X"
    assert len(shown) <= 122


def test_characters_without_a_shape_take_one_column() -> None:
    shown, caret, _ = refusal("\t0\t24\x00 * * *").pointer.split("\n")

    assert shown == "·0·24· * * *"
    assert shown[caret.index("^")] == "·"


def test_the_caret_is_right_behind_a_letter_whose_upper_case_is_longer() -> None:
    shown, caret, _ = refusal("0 0 ßL * *").pointer.split("\n")

    assert shown[caret.index("^")] == "L"


def test_the_pointer_ends_with_the_problem_and_its_fix() -> None:
    pointer = refusal("0 0 * * 7").pointer

    assert pointer == "0 0 * * 7\n        ^\nweekday field value 7 is outside 0-6; write 0 for Sunday"


def test_the_pointer_ends_with_the_problem_alone_where_there_is_no_fix() -> None:
    assert refusal("x" * 5000).pointer.endswith("\nexpression field must have at most 4096 characters, found 5000")


# --- the fix ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "fix"),
    [
        ("*/15 * * * *", "write 0,15,30,45"),
        ("0 8-18/5 * * *", "write 8,13,18"),
        ("0 0 * JAN *", "write 1"),
        ("0 0 * * sat", "write 6"),
        ("@daily", "write 0 0 * * *"),
        ("0 0 ? * *", "write *"),
        ("0 0 * * 7", "write 0 for Sunday"),
        ("0 22-2 * * *", "write 22-23,0-2"),
        ("0 0 * *", "add the field that is missing: minute hour day month weekday"),
        ("0 0 0 * * *", "remove the seconds or the year: cron has neither"),
        ("1,,2 * * * *", "remove the extra comma"),
    ],
)
def test_the_fix_says_how_to_write_it(text: str, fix: str) -> None:
    assert refusal(text).fix == fix


def offered(text: str) -> str:
    """The text with its wrong field written as the fix says."""
    wrong = next(part for part in text.split() if not part.isdecimal() and part != "*")
    return text.replace(wrong, refusal(text).fix.removeprefix("write "))


@pytest.mark.parametrize("text", ["*/15 * * * *", "0 8-18/5 * * *", "0 0 1,*/9 * *", "0 0 * JAN *", "0 0 * * sat"])
def test_the_strict_spelling_that_is_offered_means_the_same(text: str) -> None:
    assert parse(offered(text), POSIX)
    assert read(offered(text)) == read(text)


def test_no_strict_spelling_is_offered_that_would_turn_and_into_or() -> None:
    assert refusal("0 0 */2 * 1").fix == ""


@pytest.mark.parametrize(
    ("dialect", "text", "fix"),
    [
        (POSIX, "0 0 1-10/2 * 1", "write 1,3,5,7,9"),
        (EXTENDED, "0 0 1/7 * 1", "write 1-31/7"),
        (EXTENDED, "0 0 1 * 1/2", "write 1-6/2"),
        (EXTENDED, "0 0 1 * */0", "write */1 or *"),
    ],
)
def test_a_spelling_that_changes_nothing_is_offered_beside_a_restricted_day_field(
    dialect: Dialect, text: str, fix: str
) -> None:
    assert refusal(text, dialect).fix == fix


# --- several mistakes -------------------------------------------------------------------------------------------------


def test_the_first_field_that_is_wrong_is_raised_with_the_others_beside_it() -> None:
    assert [each.details["field"] for each in refusal("0 25 L 13 *").all_errors] == ["hour", "day", "month"]


def test_one_mistake_has_no_others_beside_it() -> None:
    assert refusal("0 25 * * *").others == ()
