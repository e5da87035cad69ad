"""Tests of parse_until: the end of a suspension, as people write it."""

import pytest

from kron.cron.zone import UTC_ZONE, load_zone
from kron.errors import ControlError, InvalidInstantError
from kron.instant import parse_instant
from kron.web.source import parse_until

NOW = parse_instant("2026-03-01T12:00:30Z")


@pytest.mark.parametrize(
    ("text", "end"),
    [("2h", "2026-03-01T14:00:30Z"), ("2026-03-02 03:00", "2026-03-02T03:00:00Z")],
)
def test_an_end_is_a_duration_from_now_or_a_time(text: str, end: str) -> None:
    assert parse_until(text, UTC_ZONE, NOW) == parse_instant(end)


def test_a_time_is_on_the_wall_clock_of_the_job() -> None:
    assert parse_until("2026-03-02 03:00", load_zone("Europe/Berlin"), NOW) == parse_instant("2026-03-02T02:00:00Z")


@pytest.mark.parametrize("text", ["2026-03-01T12:00:30Z", "2026-03-01T12:00:29Z"])
def test_an_end_that_is_not_in_the_future_is_refused(text: str) -> None:
    with pytest.raises(ControlError, match="has passed; name a time to come"):
        parse_until(text, UTC_ZONE, NOW)


def test_an_end_after_the_last_year_is_refused() -> None:
    with pytest.raises(ControlError, match="lies after the year 9999"):
        parse_until("365d", UTC_ZONE, parse_instant("9999-06-01T00:00:00Z"))


def test_a_text_that_is_neither_is_refused_with_both_forms() -> None:
    with pytest.raises(InvalidInstantError) as refused:
        parse_until("some day", UTC_ZONE, NOW)

    assert refused.value.message == InvalidInstantError(text="some day", has_zone=True, may_last=True).message
