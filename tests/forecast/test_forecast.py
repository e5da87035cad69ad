"""Forecast documents: a series without gaps, and collisions with names."""

from datetime import timedelta

import pytest
from hypothesis import given, settings

from kron.forecast.forecast import Forecast, build_forecast
from kron.forecast.load import count_starts, series_unit
from kron.forecast.runs import ForecastJob, TimeSpan
from tests.forecast.foreseen import NOON, by_brute_force, entry, entry_lists, span, spans


def forecast(entries: list[ForecastJob], wanted: TimeSpan, durations: dict[str, timedelta] | None = None) -> Forecast:
    load = count_starts(entries, wanted, series_unit(wanted), durations=durations)
    return build_forecast(entries, wanted, load, jobs=len(entries), durations=durations or {})


@settings(max_examples=40)
@given(entries=entry_lists, wanted=spans)
def test_the_series_has_every_run_once_and_no_unit_is_left_out(entries: list[ForecastJob], wanted: TimeSpan) -> None:
    document = forecast(entries, wanted).to_dict()
    series = document["series"]
    assert isinstance(series, dict)

    assert sum(series["chosen"]) == document["runs"]
    assert len(series["chosen"]) == len(series["nominal"])


@settings(max_examples=40)
@given(entries=entry_lists, wanted=spans)
def test_a_collision_names_everybody_who_starts_then(entries: list[ForecastJob], wanted: TimeSpan) -> None:
    starts = [(decision.chosen_time, each.identity) for each, decision in by_brute_force(entries, wanted)]

    for at, found in forecast(entries, wanted).collisions:
        identities = tuple(each.identity for each in found)
        assert list(identities) == sorted(identity for when, identity in starts if when == at)


@pytest.mark.parametrize(
    ("length", "unit", "count"),
    [
        (timedelta(hours=1), "second", 3600),
        (timedelta(days=1), "minute", 1441),
        (timedelta(days=7), "hour", 169),
        (timedelta(days=365), "hour", 8761),
        (timedelta(days=3650), "day", 3651),
    ],
    ids=str,
)
def test_the_unit_of_the_series_follows_from_the_span(length: timedelta, unit: str, count: int) -> None:
    found = forecast([entry("0 0 1 * *")], span(NOON, length))

    assert (found.unit, len(found.buckets)) == (unit, count)


def test_how_many_run_at_once_is_reported_only_where_durations_are_known() -> None:
    entries, day = [entry("0 * * * *")], span(NOON + timedelta(minutes=45), timedelta(days=1))
    known = {"test/job": timedelta(minutes=30)}

    assert forecast(entries, day).to_dict()["concurrency"] is None
    assert forecast(entries, day, known).to_dict()["concurrency"] == {
        "count": 1, "at": "2026-03-29T13:00:00Z", "mean": 0.5, "jobs": 1,
    }  # fmt: skip


def test_an_empty_span_is_reported_without_a_peak() -> None:
    document = forecast([], span(NOON, timedelta())).to_dict()

    assert document["chosen"] == {unit: {"count": 0, "at": None} for unit in ("second", "minute", "hour")}
