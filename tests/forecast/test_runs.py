"""The decisions of a span: after its first instant, up to its last, by chosen time."""

from datetime import timedelta

import pytest
from hypothesis import given, settings

from kron.forecast.runs import ForecastJob, TimeSpan, decisions_in, merged_decisions
from kron.jobfile.host_job import forecast_jobs
from tests.forecast.foreseen import NOON, by_brute_force, entry, entry_lists, span, spans
from tests.jobfile.job_sets import jobs

EXACT = "0 * * * *"


@settings(max_examples=30)
@given(entries=entry_lists, wanted=spans)
def test_all_jobs_together_come_in_the_order_of_chosen_times(entries: list[ForecastJob], wanted: TimeSpan) -> None:
    assert list(merged_decisions(entries, wanted)) == by_brute_force(entries, wanted)


@settings(max_examples=30)
@given(entries=entry_lists, wanted=spans)
def test_one_job_alone_has_the_same_decisions(entries: list[ForecastJob], wanted: TimeSpan) -> None:
    for each in entries:
        assert set(decisions_in(each.timing, wanted)) == {decision for _, decision in by_brute_force([each], wanted)}


def test_a_span_begins_after_its_first_instant_and_ends_with_its_last() -> None:
    found = decisions_in(entry(EXACT).timing, span(NOON, timedelta(hours=1)))

    assert [decision.chosen_time for decision in found] == [NOON + timedelta(hours=1)]


def test_a_run_is_in_the_span_by_its_chosen_time_and_not_by_its_nominal_time() -> None:
    timing = entry("0 12 29 3 * @win(after,1h)").timing
    chosen = next(decisions_in(timing, span(NOON - timedelta(days=1), timedelta(days=2)))).chosen_time
    assert chosen is not None

    assert [each.nominal_time for each in decisions_in(timing, TimeSpan(chosen - timedelta(seconds=1), chosen))] == [
        NOON
    ]
    assert list(decisions_in(timing, TimeSpan(NOON, chosen - timedelta(seconds=1)))) == []


def test_a_period_without_an_allowed_second_is_in_the_span_by_the_start_of_its_window() -> None:
    found = list(decisions_in(entry("0 12 * * * @only(hours=5)").timing, span(NOON - timedelta(hours=1), NOON)))

    assert [(decision.nominal_time, decision.chosen_time) for decision in found] == [(NOON, None)]


@pytest.mark.parametrize("line", ["59 23 * * *", "59 23 * * * @win(after,3h)", "0 0 * * * @win(around,48h)"])
def test_the_end_of_the_calendar_ends_what_is_foreseen(line: str) -> None:
    last_days = span("9999-12-29T00:00:00+00:00", "9999-12-31T23:59:59+00:00")

    assert list(merged_decisions([entry(line)], last_days)) == [
        (entry(line), decision) for decision in decisions_in(entry(line).timing, last_days)
    ]


def test_a_suspended_job_is_not_expected_to_run() -> None:
    text = "0 3 * * * @policy(suspend=true) name=held command=true\n0 3 * * * name=free command=true"

    assert [each.name for each in forecast_jobs(jobs(text, "kron").values())] == ["free"]


def test_a_job_of_boots_has_no_time_at_which_it_is_expected() -> None:
    assert forecast_jobs(jobs("@reboot name=boot command=true", "kron").values()) == []
