"""What is decided in a span: after its first instant, up to its last, by chosen time."""

from datetime import timedelta

import pytest
from hypothesis import given, settings

from kron.rules.expected import Entry, Span, decisions, entries_of, in_order
from tests.rules.files.world import jobs
from tests.rules.foreseen import NOON, by_brute_force, entry, entry_lists, span, spans

EXACT = "0 * * * *"


@settings(max_examples=30)
@given(entries=entry_lists, wanted=spans)
def test_all_jobs_together_come_in_the_order_of_chosen_times(entries: list[Entry], wanted: Span) -> None:
    assert list(in_order(entries, wanted)) == by_brute_force(entries, wanted)


@settings(max_examples=30)
@given(entries=entry_lists, wanted=spans)
def test_one_job_alone_has_the_same_decisions(entries: list[Entry], wanted: Span) -> None:
    for each in entries:
        assert set(decisions(each.timing, wanted)) == {decision for _, decision in by_brute_force([each], wanted)}


def test_a_span_begins_after_its_first_instant_and_ends_with_its_last() -> None:
    found = decisions(entry(EXACT).timing, span(NOON, timedelta(hours=1)))

    assert [decision.chosen_time for decision in found] == [NOON + timedelta(hours=1)]


def test_a_run_is_in_the_span_by_its_chosen_time_and_not_by_its_nominal_time() -> None:
    timing = entry("0 12 29 3 * @win(after,1h)").timing
    chosen = next(decisions(timing, span(NOON - timedelta(days=1), timedelta(days=2)))).chosen_time
    assert chosen is not None

    assert [each.nominal_time for each in decisions(timing, Span(chosen - timedelta(seconds=1), chosen))] == [NOON]
    assert list(decisions(timing, Span(NOON, chosen - timedelta(seconds=1)))) == []


def test_a_period_without_an_allowed_second_is_in_the_span_by_the_start_of_its_window() -> None:
    found = list(decisions(entry("0 12 * * * @only(hours=5)").timing, span(NOON - timedelta(hours=1), NOON)))

    assert [(decision.nominal_time, decision.chosen_time) for decision in found] == [(NOON, None)]


@pytest.mark.parametrize("line", ["59 23 * * *", "59 23 * * * @win(after,3h)", "0 0 * * * @win(around,48h)"])
def test_the_end_of_the_calendar_ends_what_is_foreseen(line: str) -> None:
    last_days = span("9999-12-29T00:00:00+00:00", "9999-12-31T23:59:59+00:00")

    assert list(in_order([entry(line)], last_days)) == [
        (entry(line), decision) for decision in decisions(entry(line).timing, last_days)
    ]


def test_a_suspended_job_is_not_expected_to_run() -> None:
    text = "0 3 * * * @policy(suspend=true) name=held command=true\n0 3 * * * name=free command=true"

    assert [each.name for each in entries_of(jobs(text, "kron").values())] == ["free"]


def test_a_job_of_boots_has_no_time_at_which_it_is_expected() -> None:
    assert entries_of(jobs("@reboot name=boot command=true", "kron").values()) == []
