"""The forecast of infeasible periods by groups of days equals the one period by period."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, strategies as st

from kron import Timing
from kron.decision.feasibility import FeasibilityForecast, feasibility
from kron.instant import parse_instant
from tests.decision.strategies import clauses

NOW = parse_instant("2026-01-15T12:34:56Z")
TODAY = datetime(2026, 1, 15, tzinfo=UTC)
SCHEDULES = ("0 0 * * *", "30 23 * * *", "0 18 * * MON-FRI", "15 */6 1,15 * *", "59 3,4 * JAN,JUL *", "0 12 */2 * 1")


def by_definition(timing: Timing) -> tuple[float, float]:
    """Return the mean risk and the least allowed share of all periods of 400 days."""
    periods = timing.schedule.between(TODAY - timedelta(seconds=1), TODAY + timedelta(days=400, seconds=-1))
    reports = [feasibility(timing, nominal) for nominal in periods]
    return sum(found.failure_probability for found in reports) / len(reports), min(
        found.allowed_share for found in reports
    )


@given(
    st.sampled_from(SCHEDULES),
    st.sampled_from(["after", "around"]),
    st.sampled_from(["0s", "1s", "90m", "23h59m59s", "24h", "50h", "71h"]),
    st.lists(clauses, min_size=1, max_size=2),
    st.sampled_from(["only", "avoid"]),
)
def test_the_expected_number_is_the_mean_over_a_year_of_periods(
    schedule: str, mode: str, duration: str, constraint: list[str], side: str
) -> None:
    definition = {"schedule": schedule, "window": f"{mode},{duration}", side: constraint}
    timing = Timing.from_dict(definition, identity="x")

    prospect = FeasibilityForecast(NOW).forecast(timing)

    failing, share = by_definition(timing)
    assert prospect is not None
    assert prospect.failing_share == pytest.approx(failing, abs=1e-9)
    assert prospect.allowed == pytest.approx(share, abs=1e-9)


def test_a_window_of_weeks_is_looked_at_period_by_period() -> None:
    prospect = FeasibilityForecast(NOW).forecast(
        Timing.parse("@daily @win(after,500h) @only(months=JAN)", identity="x")
    )

    assert prospect is not None
    assert 0 < prospect.failing_share < 1


def test_a_day_that_comes_once_in_decades_is_found() -> None:
    assert FeasibilityForecast(NOW).forecast(Timing.parse("0 0 29 2 * @only(hours=1)", identity="x")) is not None


def test_at_the_end_of_the_calendar_there_is_nothing_to_expect() -> None:
    last = parse_instant("9999-12-31T00:00:00Z")

    assert FeasibilityForecast(last).forecast(Timing.parse("@daily @only(hours=1)", identity="x")) is None
