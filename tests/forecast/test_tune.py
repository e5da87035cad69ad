"""Salts and windows that bring the starts under a budget with few changes."""

from datetime import timedelta

import pytest
from hypothesis import given, settings, strategies as st

from kron.forecast.load import count_starts
from kron.forecast.runs import ForecastJob, TimeSpan
from kron.forecast.tune import Tuner, TuningChange
from tests.forecast.foreseen import NOON, entry, span

DAYS = span(NOON, timedelta(days=3))


def tuned(
    lines: list[str], budget: int, unit: str = "second", *, wanted: TimeSpan = DAYS, fixed: frozenset[str] = frozenset()
) -> tuple[Tuner, list[ForecastJob]]:
    entries = [entry(line, f"job-{number}") for number, line in enumerate(lines)]
    tuner = Tuner(entries, wanted, unit, budget, fixed=fixed)
    for gained in tuner.steps():
        assert gained > 0
    return tuner, entries


def peak(entries: list[ForecastJob], unit: str = "second", wanted: TimeSpan = DAYS) -> int:
    return count_starts(entries, wanted).chosen.peaks[unit].count


@settings(max_examples=30)
@given(
    lines=st.lists(
        st.sampled_from(
            ["0 */4 * * *", "0 */4 * * * @win(after,2m)", "0 13 * * * @win(around,10m)", "0 1,13 * * * @seed(daily)"]
        ),
        min_size=1,
        max_size=8,
    ),
    budget=st.integers(1, 3),
    unit=st.sampled_from(["second", "minute", "hour"]),
)
def test_the_excess_is_what_counting_says_and_never_grows(lines: list[str], budget: int, unit: str) -> None:
    tuner, entries = tuned(lines, budget, unit)

    assert (tuner.excess == 0) == (peak(tuner.entries, unit) <= budget)
    assert peak(tuner.entries, unit) <= max(budget, peak(entries, unit))
    assert {change.identity for change in tuner.changes()} == {
        new.identity for old, new in zip(entries, tuner.entries, strict=True) if old != new
    }


# One of the few crowds of which a change that was made early is not needed in the end.
MINUTE, SECONDS = "0 13 * * * @win(after,1m)", "0 13 * * * @win(after,3s)"
CROWD = [
    MINUTE, SECONDS, MINUTE, SECONDS, "0 13,14 * * * @win(after,10s)", SECONDS, SECONDS, "*/30 13 * * *", "0 13 * * *",
    SECONDS, SECONDS,
]  # fmt: skip


@pytest.mark.parametrize(("lines", "budget"), [(CROWD, 1), ([MINUTE] * 12, 1), ([MINUTE] * 30, 2)])
def test_no_change_can_be_taken_back_within_the_budget(lines: list[str], budget: int) -> None:
    tuner, entries = tuned(lines, budget)

    assert tuner.excess == 0
    for place, (old, new) in enumerate(zip(entries, tuner.entries, strict=True)):
        if old != new:
            undone = [*tuner.entries[:place], old, *tuner.entries[place + 1 :]]
            assert peak(undone) > budget


def test_under_the_budget_nothing_is_changed() -> None:
    assert tuned(["0 13 * * *"] * 3, 3)[0].changes() == []


def test_jobs_that_have_room_in_their_windows_get_other_salts_only() -> None:
    tuner, entries = tuned(["0 13 * * * @win(after,1m)"] * 30, 2)

    assert peak(entries) > 2
    assert tuner.excess == 0
    assert {change.key for change in tuner.changes()} == {"salt"}


def test_jobs_without_a_window_get_the_smallest_that_helps() -> None:
    tuner, _ = tuned(["0 13 * * *"] * 2, 1)

    assert tuner.changes() == [TuningChange("test/job-0", "window", "after,0s", "after,1m")]


def test_a_window_stays_smaller_than_the_time_between_periods() -> None:
    tuner, _ = tuned(["*/10 13 * * *"] * 40, 1)

    widths = [each.timing.window.duration for each in tuner.entries]
    assert timedelta(minutes=1) <= max(widths) < timedelta(minutes=10)


def test_a_fixed_job_is_not_changed() -> None:
    tuner, _ = tuned(["0 13 * * *"] * 2, 1, fixed=frozenset({"test/job-0"}))

    assert [change.identity for change in tuner.changes()] == ["test/job-1"]


def test_no_period_loses_its_only_allowed_seconds() -> None:
    tuner, _ = tuned(["0 13 * * * @only(between=13:00-13:00)"] * 70, 1)

    assert tuner.changes()
    assert count_starts(tuner.entries, DAYS).unschedulable == 0


@pytest.mark.parametrize(("unit", "budget"), [("second", 1), ("minute", 2), ("hour", 6)])
def test_a_budget_out_of_reach_is_seen(unit: str, budget: int) -> None:
    lines = ["* * * * *"] * 400 if unit == "second" else ["* * * * *"] * 8
    hour = span(NOON, timedelta(minutes=10))

    tuner, _ = tuned(lines, budget, unit, wanted=hour)

    assert tuner.excess > 0
