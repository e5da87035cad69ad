"""Durations in Go's form: parsing, printing, and refusals with a reason."""

from datetime import timedelta

import pytest
from hypothesis import example, given, strategies as st

from kron.errors import InvalidDurationError
from kron.instant import format_duration, parse_duration

LONGEST = timedelta(microseconds=(2**63 - 1) // 1000)  # what Go's int64 of nanoseconds holds

durations = st.timedeltas(timedelta(), LONGEST)
SIZES = {
    "h": timedelta(hours=1),
    "m": timedelta(minutes=1),
    "s": timedelta(seconds=1),
    "ms": timedelta(milliseconds=1),
    "us": timedelta(microseconds=1),
    "µs": timedelta(microseconds=1),
    "μs": timedelta(microseconds=1),
}


@pytest.mark.parametrize(
    ("text", "duration"),
    [
        ("0", timedelta()),
        ("0s", timedelta()),
        ("90s", timedelta(seconds=90)),
        ("1h30m", timedelta(hours=1, minutes=30)),
        ("1.5h", timedelta(minutes=90)),
        ("0.1s", timedelta(milliseconds=100)),
        ("1.s", timedelta(seconds=1)),
        ("250ms", timedelta(milliseconds=250)),
        ("7us", timedelta(microseconds=7)),
        ("7\u00b5s", timedelta(microseconds=7)),
        ("7\u03bcs", timedelta(microseconds=7)),
        ("7000ns", timedelta(microseconds=7)),
        ("30m1h", timedelta(minutes=90)),
        ("1h1h", timedelta(hours=2)),
        ("100m", timedelta(minutes=100)),
        ("007s", timedelta(seconds=7)),
        ("2562047h47m16.854775s", LONGEST),
    ],
)
def test_a_duration_is_the_sum_of_its_parts(text: str, duration: timedelta) -> None:
    assert parse_duration(text) == duration


@given(st.lists(st.tuples(st.integers(0, 1000), st.sampled_from(list(SIZES))), min_size=1, max_size=6))
def test_parts_may_come_in_any_order_and_number(parts: list[tuple[int, str]]) -> None:
    text = "".join(f"{count}{unit}" for count, unit in parts)

    assert parse_duration(text) == sum((count * SIZES[unit] for count, unit in parts), timedelta())


@pytest.mark.parametrize(
    ("duration", "text"),
    [
        (timedelta(), "0s"),
        (timedelta(seconds=1), "1s"),
        (timedelta(seconds=90), "1m30s"),
        (timedelta(minutes=1), "1m"),
        (timedelta(hours=1), "1h"),
        (timedelta(hours=1, seconds=1), "1h1s"),
        (timedelta(days=3), "72h"),
        (timedelta(milliseconds=250), "250ms"),
        (timedelta(microseconds=7), "7us"),
        (timedelta(seconds=1, milliseconds=500), "1.5s"),
        (timedelta(minutes=1, microseconds=1), "1m0.000001s"),
        (LONGEST, "2562047h47m16.854775s"),
    ],
)
def test_a_duration_is_written_in_hours_minutes_and_seconds(duration: timedelta, text: str) -> None:
    assert format_duration(duration) == text


@given(durations)
@example(timedelta())
@example(LONGEST)
@example(timedelta(microseconds=1))
def test_a_written_duration_is_read_back(duration: timedelta) -> None:
    assert parse_duration(format_duration(duration)) == duration


@given(durations)
def test_a_written_duration_is_plain(duration: timedelta) -> None:
    text = format_duration(duration)

    assert text.isascii()
    assert not set(text) - set("0123456789.hmsu")


@given(durations, durations)
def test_different_durations_have_different_texts(one: timedelta, other: timedelta) -> None:
    assert (format_duration(one) == format_duration(other)) == (one == other)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "must not be empty"),
        ("-1s", "must not be negative"),
        ("-0.5h", "must not be negative"),
        ("5", "no number with a unit at '5'"),
        ("1h30", "no number with a unit at '30'"),
        ("h", "no number with a unit at 'h'"),
        ("1d", "no number with a unit at '1d'"),
        ("1w", "no number with a unit at '1w'"),
        ("1H", "no number with a unit at '1H'"),
        ("1 h", "no number with a unit at '1 h'"),
        ("1h ", "no number with a unit at ' '"),
        ("1h\n", "no number with a unit at '\\n'"),
        ("1,5h", "no number with a unit at '1,5h'"),
        ("1.5.5h", "no number with a unit at '1.5.5h'"),
        ("1e3s", "no number with a unit at '1e3s'"),
        ("0x1s", "no number with a unit at '0x1s'"),
        ("1_000s", "no number with a unit at '1_000s'"),
        ("٣s", "no number with a unit at '٣s'"),
        ("PT1H", "no number with a unit at 'PT1H'"),
        ("1ns", "finer than a microsecond"),
        ("1.0000001s", "finer than a microsecond"),
        ("0.0001ms", "finer than a microsecond"),
        ("2562047h47m16.854776s", "longer than 2562047h47m16.854775s"),
        ("9999999999h", "longer than 2562047h47m16.854775s"),
        ("1" * 101, "longer than 100 characters"),
        ("1s" * 2**19, "longer than 100 characters"),
    ],
    ids=lambda value: ascii(value)[:30],
)
def test_an_invalid_duration_is_refused_with_the_reason(text: str, reason: str) -> None:
    with pytest.raises(InvalidDurationError) as caught:
        parse_duration(text)

    assert caught.value.details["reason"] == reason
    assert len(str(caught.value)) < 500


@pytest.mark.parametrize("text", ["0.5ns", "1.0000000001s", "2.0000000000001h"])
def test_a_duration_finer_than_a_nanosecond_is_refused_too(text: str) -> None:
    with pytest.raises(InvalidDurationError):
        parse_duration(text)


@pytest.mark.parametrize("value", [5, 1.5, None, timedelta(seconds=5), b"5s"], ids=repr)
def test_a_value_that_is_not_a_string_is_refused(value: str) -> None:
    with pytest.raises(InvalidDurationError) as caught:
        parse_duration(value)

    assert caught.value.details["reason"] == "a duration is a text with units, not a bare number"


def test_the_refusal_shows_how_to_write_it() -> None:
    with pytest.raises(InvalidDurationError) as caught:
        parse_duration("soon")

    assert str(caught.value) == (
        "Invalid duration \"soon\": no number with a unit at 'soon'; write it as 1h30m, 90s or 250ms"
    )


@given(st.text(max_size=20) | st.text("0123456789.hmsun", max_size=20))
def test_any_other_text_is_refused_and_nothing_else_happens(text: str) -> None:
    try:
        assert timedelta() <= parse_duration(text) <= LONGEST
    except InvalidDurationError as error:
        assert error.details["text"] == text  # noqa: PT017 - either outcome is right
