"""Maps of starts: minutes of the day, hours of days, and days of weeks."""

from datetime import timedelta

from hypothesis import given, settings

from kron.forecast.forecast import days_by_hours, hours_by_minutes, weekdays_by_weeks
from kron.forecast.runs import ForecastJob, TimeSpan
from tests.forecast.foreseen import NOON, entry, entry_lists, span, spans
from tests.forecast.test_forecast import forecast


@settings(max_examples=40)
@given(entries=entry_lists, wanted=spans)
def test_every_map_has_every_run_once(entries: list[ForecastJob], wanted: TimeSpan) -> None:
    found = forecast(entries, wanted)
    by_hour = days_by_hours(found)
    assert by_hour is not None

    for heat in (by_hour, hours_by_minutes(found), weekdays_by_weeks(found)):
        assert sum(map(sum, heat.chosen)) == found.load.chosen.total
        assert sum(map(sum, heat.nominal)) == found.load.nominal.total


def test_a_map_of_days_begins_with_the_first_day_of_the_span() -> None:
    found = days_by_hours(forecast([entry("0 13 * * *")], span(NOON, timedelta(days=2))))
    assert found is not None

    assert found.rows == ("Sun 2026-03-29", "Mon 2026-03-30", "Tue 2026-03-31")
    assert [row[13] for row in found.chosen] == [1, 1, 0]


def test_a_map_of_more_days_than_wanted_is_one_of_the_days_of_the_week() -> None:
    found = days_by_hours(forecast([entry("0 13 * * MON")], span(NOON, timedelta(days=28))), most=14)
    assert found is not None

    assert [sum(row) for row in found.chosen] == [4, 0, 0, 0, 0, 0, 0]


def test_a_span_of_many_years_has_no_map_of_hours() -> None:
    assert days_by_hours(forecast([entry("0 0 1 1 *")], span(NOON, timedelta(days=4000)))) is None


def test_a_map_of_weeks_has_a_column_for_each_week_from_its_monday_on() -> None:
    found = weekdays_by_weeks(forecast([entry("0 13 * * SUN,MON")], span(NOON, timedelta(days=9))))

    assert found.columns == ("23 Mar", "30 Mar", "06 Apr")
    assert [(cell.row, cell.column, cell.name) for cell in found.cells()] == [
        (6, 0, "Sun 2026-03-29"),
        (0, 1, "Mon 2026-03-30"),
        (6, 1, "Sun 2026-04-05"),
        (0, 2, "Mon 2026-04-06"),
    ]


def test_cells_are_named_after_their_time() -> None:
    found = forecast([entry("30 13 * * *")], span(NOON, timedelta(days=1)))
    hours = days_by_hours(found)
    assert hours is not None

    assert [(cell.name, cell.chosen) for cell in hours_by_minutes(found).cells()] == [("13:30", 1)]
    assert [(cell.name, cell.chosen) for cell in hours.cells()] == [("Sun 2026-03-29 13:00", 1)]
