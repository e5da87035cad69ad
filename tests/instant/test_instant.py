"""Instants and their texts: aware datetimes become UTC; only RFC 3339 is parsed and printed."""

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import example, given, strategies as st

from kron.errors import InvalidInstantError, NaiveDatetimeError, OutOfRangeError
from kron.instant import (
    FIRST_INSTANT as FIRST_MOMENT,
    LAST_INSTANT as LAST_MOMENT,
    MILLISECOND,
    epoch_milliseconds,
    format_instant,
    from_epoch_milliseconds,
    instant,
    parse_instant,
    shift,
)

NOON = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)

instants = st.datetimes(timezones=st.just(UTC))
offsets = st.integers(-23 * 60 - 59, 23 * 60 + 59).map(lambda minutes: timezone(timedelta(minutes=minutes)))


# --- instant ----------------------------------------------------------------------------------------------------------


@given(st.datetimes(datetime(2, 1, 1), datetime(9998, 12, 31), timezones=offsets))  # noqa: DTZ001 - bounds are naive
def test_an_aware_datetime_becomes_the_same_moment_in_utc(value: datetime) -> None:
    found = instant(value)

    assert found == value
    assert found.tzinfo is UTC


@pytest.mark.parametrize(
    "value",
    [NOON.replace(tzinfo=None), NOON.date(), NOON.time(), "2026-03-01T12:00:00Z", 1772366400, None],
    ids=["a naive datetime", "a date", "a time", "a text", "a number", "None"],
)
def test_a_text_that_names_no_instant_is_refused(value: datetime) -> None:
    with pytest.raises(NaiveDatetimeError) as caught:
        instant(value)

    assert caught.value.details["value"] == repr(value)


@pytest.mark.parametrize(
    "value",
    [
        FIRST_MOMENT.replace(tzinfo=timezone(timedelta(hours=1))),
        LAST_MOMENT.replace(tzinfo=timezone(timedelta(hours=-1))),
    ],
    ids=["before year 1", "after year 9999"],
)
def test_a_local_time_whose_moment_is_outside_the_calendar_is_refused(value: datetime) -> None:
    with pytest.raises(OutOfRangeError):
        instant(value)


# --- texts ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("moment", "text"),
    [
        (NOON, "2026-03-01T12:00:00Z"),
        (NOON.replace(microsecond=5), "2026-03-01T12:00:00.000005Z"),
        (NOON.replace(microsecond=500_000), "2026-03-01T12:00:00.500000Z"),
        (datetime(2026, 11, 9, 8, 7, 6, tzinfo=UTC), "2026-11-09T08:07:06Z"),
        (datetime(987, 1, 2, tzinfo=UTC), "0987-01-02T00:00:00Z"),
        (datetime(45, 1, 2, 3, 4, 5, 6, tzinfo=UTC), "0045-01-02T03:04:05.000006Z"),
        (FIRST_MOMENT, "0001-01-01T00:00:00Z"),
        (LAST_MOMENT, "9999-12-31T23:59:59.999999Z"),
    ],
)
def test_an_instant_is_written_in_utc_with_microseconds_where_there_are_any(moment: datetime, text: str) -> None:
    assert format_instant(moment) == text


@given(instants)
@example(FIRST_MOMENT)
@example(LAST_MOMENT)
def test_a_written_instant_is_read_back(moment: datetime) -> None:
    assert parse_instant(format_instant(moment)) == moment


@given(instants)
def test_the_standard_library_reads_a_written_instant(moment: datetime) -> None:
    assert datetime.fromisoformat(format_instant(moment)) == moment


@given(instants, instants)
def test_texts_without_microseconds_sort_as_their_moments(one: datetime, other: datetime) -> None:
    one, other = one.replace(microsecond=0), other.replace(microsecond=0)

    assert (format_instant(one) < format_instant(other)) == (one < other)


@given(st.datetimes(datetime(2, 1, 1), datetime(9998, 12, 31), timezones=offsets))  # noqa: DTZ001 - bounds are naive
def test_a_text_with_any_offset_is_read_as_the_moment_it_names(value: datetime) -> None:
    assert parse_instant(value.isoformat()) == value


@pytest.mark.parametrize(
    "text",
    [
        "2026-03-01T12:00:00Z",
        "2026-03-01t12:00:00z",
        "2026-03-01 12:00:00Z",
        "2026-03-01T12:00:00+00:00",
        "2026-03-01T12:00:00-00:00",
        "2026-03-01T13:00:00+01:00",
        "2026-03-01T06:15:00-05:45",
        "2026-03-02T11:59:00+23:59",
        "2026-03-01T12:00:00.0Z",
        "2026-03-01T12:00:00.000000000Z",
        "2026-03-01T12:00:00.0000009Z",
    ],
)
def test_every_form_of_rfc_3339_is_read(text: str) -> None:
    assert parse_instant(text) == NOON


@pytest.mark.parametrize(
    ("fraction", "microseconds"), [("5", 500_000), ("123", 123_000), ("123456", 123_456), ("1234569", 123_456)]
)
def test_a_fraction_is_read_to_the_microsecond_and_the_rest_is_dropped(fraction: str, microseconds: int) -> None:
    assert parse_instant(f"2026-03-01T12:00:00.{fraction}Z") == NOON.replace(microsecond=microseconds)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "now",
        "2026-03-01",
        "2026-03-01T12:00:00",
        "2026-03-01T12:00Z",
        "2026-03-01T12Z",
        "20260301T120000Z",
        "2026-W09-7T12:00:00Z",
        "2026-060T12:00:00Z",
        "26-03-01T12:00:00Z",
        "12026-03-01T12:00:00Z",
        "+2026-03-01T12:00:00Z",
        "2026-3-1T12:00:00Z",
        "2026-03-01_12:00:00Z",
        "2026-03-01T12:00:00.Z",
        "2026-03-01T12:00:00,5Z",
        "2026-03-01T12:00:00+1:00",
        "2026-03-01T12:00:00+0100",
        "2026-03-01T12:00:00+01",
        "2026-03-01T12:00:00+01:00:00",
        "2026-03-01T12:00:00 Z",
        "2026-03-01T12:00:00ZZ",
        "2026-03-01T12:00:00Z\n",
        " 2026-03-01T12:00:00Z",
        "2026-03-01T12:00:00\u221201:00",
        "２０２６-03-01T12:00:00Z",
        "2026-03-01T12:00:00Z\x00",
        "1" * 2**20,
    ],
    ids=lambda text: ascii(text)[:40],
)
def test_a_text_that_is_not_rfc_3339_is_refused(text: str) -> None:
    with pytest.raises(InvalidInstantError) as caught:
        parse_instant(text)

    assert len(str(caught.value)) < 400


@pytest.mark.parametrize(
    "text",
    [
        "2026-02-29T12:00:00Z",
        "2026-13-01T12:00:00Z",
        "2026-00-01T12:00:00Z",
        "2026-03-00T12:00:00Z",
        "2026-03-01T24:00:00Z",
        "2026-03-01T12:60:00Z",
        "2026-03-01T23:59:60Z",
        "2026-03-01T12:00:00+24:00",
        "0000-01-01T00:00:00Z",
        "0001-01-01T00:00:00+00:01",
        "9999-12-31T23:59:59-00:01",
    ],
)
def test_a_moment_that_does_not_exist_is_refused(text: str) -> None:
    with pytest.raises(InvalidInstantError):
        parse_instant(text)


@pytest.mark.parametrize("text", ["2026-03-01T12:00:00+01:60", "2026-03-01T12:00:00-00:99"])
def test_an_offset_with_more_than_59_minutes_is_refused(text: str) -> None:
    with pytest.raises(InvalidInstantError):
        parse_instant(text)


def test_the_refusal_shows_how_to_write_it() -> None:
    with pytest.raises(InvalidInstantError) as caught:
        parse_instant("tomorrow")

    assert str(caught.value) == (
        'Invalid instant "tomorrow"; write it as 2026-03-01T00:00:00Z or 2026-03-01T01:00:00+01:00'
    )
    assert dict(caught.value.details) == {"text": "tomorrow"}


@given(st.text(max_size=40))
def test_any_other_text_is_refused_and_nothing_else_happens(text: str) -> None:
    try:
        assert parse_instant(text).tzinfo is UTC
    except InvalidInstantError as error:
        assert error.details["text"] == text  # noqa: PT017 - either outcome is right


# --- milliseconds -----------------------------------------------------------------------------------------------------


@given(instants)
@example(FIRST_MOMENT)
@example(LAST_MOMENT)
def test_an_instant_is_at_most_a_millisecond_after_its_number_of_milliseconds(value: datetime) -> None:
    found = from_epoch_milliseconds(epoch_milliseconds(value))

    assert timedelta() <= value - found < MILLISECOND


def test_milliseconds_count_from_1970() -> None:
    assert epoch_milliseconds(datetime(1970, 1, 1, 0, 0, 1, 999, tzinfo=UTC)) == 1000
    assert epoch_milliseconds(datetime(1969, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC)) == -1


def test_an_instant_shifted_beyond_the_calendar_is_its_end() -> None:
    day = timedelta(days=1)

    assert (shift(NOON, day), shift(NOON, -day)) == (NOON + day, NOON - day)
    assert (shift(LAST_MOMENT, day), shift(FIRST_MOMENT, -day)) == (LAST_MOMENT, FIRST_MOMENT)
