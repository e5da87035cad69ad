"""The nine validation rules of the strict language, and texts that are invalid for other reasons."""

import pytest

from kron.cron.dialect import POSIX
from kron.cron.expression import MAX_TEXT_LENGTH, parse
from kron.errors import InvalidCronExpressionError


def refusal(text: str) -> InvalidCronExpressionError:
    with pytest.raises(InvalidCronExpressionError) as caught:
        parse(text, POSIX)
    return caught.value


# --- SPEC: Validation Rules -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "count"),
    [("0", 1), ("0 0", 2), ("0 0 * *", 4), ("0 0 * * * *", 6), ("0 0 0 * * * 2026", 7), ("* " * 100, 100)],
)
def test_rule_1_other_than_five_fields_is_refused_with_their_number(text: str, count: int) -> None:
    error = refusal(text)

    assert error.field == "expression"
    assert error.reason == f"must have exactly 5 fields, found {count}"


@pytest.mark.parametrize("text", ["", " ", "\t\t", " \t "], ids=["nothing", "space", "tabs", "both"])
def test_rule_1_an_empty_text_is_refused(text: str) -> None:
    assert refusal(text).reason == "must not be empty"


@pytest.mark.parametrize(
    ("text", "field"),
    [
        ("*/15 * * * *", "minute"),
        ("0 8-18/2 * * *", "hour"),
        ("0 0 1,*/2 * *", "day"),
        ("0 0 * 1/3 *", "month"),
        ("0 0 * * 0-6/2", "weekday"),
        ("*/0 * * * *", "minute"),
        ("*/ * * * *", "minute"),
    ],
)
def test_rule_2_a_step_is_refused(text: str, field: str) -> None:
    error = refusal(text)

    assert error.field == field
    assert "step" in error.reason
    assert "not POSIX" in error.reason


@pytest.mark.parametrize(
    ("text", "field"),
    [
        ("0 0 * jan *", "month"),
        ("0 0 * JAN-MAR *", "month"),
        ("0 0 * 1,Feb *", "month"),
        ("0 0 * * mon", "weekday"),
        ("0 0 * * MON-FRI", "weekday"),
        ("0 0 * * sunday", "weekday"),
        ("0 0 mon * *", "day"),
        ("noon * * * *", "minute"),
    ],
)
def test_rule_3_a_named_value_is_refused(text: str, field: str) -> None:
    error = refusal(text)

    assert error.field == field
    assert "name" in error.reason


@pytest.mark.parametrize(
    "macro", ["@hourly", "@daily", "@midnight", "@weekly", "@monthly", "@yearly", "@annually", "@DAILY", "@every", "@"]
)
def test_rule_4_a_macro_is_refused(macro: str) -> None:
    error = refusal(macro)

    assert error.field == "expression"
    assert "macro" in error.reason


@pytest.mark.parametrize(
    ("text", "field", "token"),
    [
        ("0 0 ? * *", "day", "?"),
        ("0 0 * * ?", "weekday", "?"),
        ("0 0 L * *", "day", "L"),
        ("0 0 l * *", "day", "L"),
        ("0 0 * * 5L", "weekday", "L"),
        ("0 0 15W * *", "day", "W"),
        ("0 0 * * 5#2", "weekday", "#"),
    ],
)
def test_rule_5_a_quartz_token_is_refused_by_its_name(text: str, field: str, token: str) -> None:
    error = refusal(text)

    assert error.field == field
    assert f"uses {token}, a Quartz token" in error.reason


@pytest.mark.parametrize("weekday", ["7", "07", "5-7", "1,7", "7-7"])
def test_rule_6_weekday_seven_is_refused_in_favour_of_zero(weekday: str) -> None:
    error = refusal(f"0 0 * * {weekday}")

    assert error.field == "weekday"
    assert error.fix == "write 0 for Sunday"


@pytest.mark.parametrize(
    ("text", "field", "fix"),
    [
        ("50-10 * * * *", "minute", "write 50-59,0-10"),
        ("0 22-2 * * *", "hour", "write 22-23,0-2"),
        ("0 23-0 * * *", "hour", "write 23,0"),
        ("0 0 30-2 * *", "day", "write 30-31,1-2"),
        ("0 0 * 11-2 *", "month", "write 11-12,1-2"),
        ("0 0 * * 5-1", "weekday", "write 5-6,0-1"),
        ("0 0 * * 6-0", "weekday", "write 6,0"),
    ],
)
def test_rule_7_a_range_that_wraps_around_is_refused_with_the_right_spelling(text: str, field: str, fix: str) -> None:
    error = refusal(text)

    assert (error.field, error.fix) == (field, fix)
    assert "wraps around" in error.reason


@pytest.mark.parametrize(
    ("text", "field", "limits"),
    [
        ("60 * * * *", "minute", "0-59"),
        ("0 24 * * *", "hour", "0-23"),
        ("0 0 0 * *", "day", "1-31"),
        ("0 0 32 * *", "day", "1-31"),
        ("0 0 * 0 *", "month", "1-12"),
        ("0 0 * 13 *", "month", "1-12"),
        ("0 0 * * 8", "weekday", "0-6"),
        ("0-60 * * * *", "minute", "0-59"),
        ("0 0 0-5 * *", "day", "1-31"),
        ("1,2,99 * * * *", "minute", "0-59"),
        (f"{2**64} * * * *", "minute", "0-59"),
        (f"{'9' * 4000} * * * *", "minute", "0-59"),
    ],
    ids=lambda value: value if len(value) < 20 else f"{value[:3]}…",
)
def test_rule_8_a_value_outside_the_range_is_refused_with_the_range(text: str, field: str, limits: str) -> None:
    error = refusal(text)

    assert error.field == field
    assert error.reason.endswith(f"is outside {limits}")


@pytest.mark.parametrize(
    "number",
    ["1e1", "1E1", "0x1F", "0b1", "0o7", "-1", "+1", "1.0", "1_0", "½", "²", "٣", "०", "１", "①", "Ⅷ", "1\x00", "\x00"],
)
@pytest.mark.parametrize("template", ["{} * * * *", "1,{} * * * *", "0-{} * * * *"])
def test_rule_9_only_ascii_decimal_digits_make_a_number(template: str, number: str) -> None:
    assert refusal(template.format(number)).field == "minute"


# --- beyond the rules -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "field",
    ["*,5", "5,*", "**", "*5", "5*", "*-5", "1-*", "1,", ",1", "1,,2", ",", "1-", "-", "1--2", "1-2-3", "!", "$(date)"],
)
def test_a_text_outside_the_grammar_is_refused(field: str) -> None:
    assert refusal(f"{field} * * * *").field == "minute"


@pytest.mark.parametrize("text", ["1" * 2**20, "* " * 2**19, "1," * 2**19 + " * * * *", " " * 2**20, "\x00" * 2**20])
def test_a_megabyte_of_text_is_refused_unread(text: str) -> None:
    error = refusal(text)

    assert error.reason == f"must have at most {MAX_TEXT_LENGTH} characters, found {len(text)}"
    assert len(str(error)) < 1000
    assert len(error.pointer) < 1000


def test_a_text_of_the_greatest_length_is_read() -> None:
    text = "0 3 * * *".ljust(MAX_TEXT_LENGTH)

    assert parse(text, POSIX) == parse("0 3 * * *", POSIX)
    assert refusal(text + " ").field == "expression"
