"""Tests of redefine_in_parts: what a changed definition closes, and what it leaves to the new one."""

from datetime import timedelta

import pytest
from hypothesis import given, settings, strategies as st

from kron.decision.timing import Timing
from kron.instant import Instant
from kron.rules.effort import finish
from kron.rules.outage import ClosedPeriods, Outage
from kron.rules.override import DefinitionChange, compare_definition, is_closed, redefine_in_parts
from kron.rules.periods import HandledPeriods, PeriodQueue
from kron.rules.policy import Policy
from kron.rules.verdict import Reason
from tests.rules.test_period_queue import HOUR, LINES, NOON, by_brute_force, taken, timing

MINUTE = timedelta(minutes=1)


def gap(since: Instant, until: Instant) -> Outage:
    return Outage(since, until, Reason.DOWNTIME)


def redefine(old: Timing, new: Timing | None, policy: Policy, gap: Outage, *handled: Instant) -> list[ClosedPeriods]:
    spans = HandledPeriods(tuple((nominal, nominal) for nominal in handled))
    return finish(redefine_in_parts(old, new, policy, gap, spans))


def closed(old: str, new: str | None, since: Instant, until: Instant, deadline: timedelta = HOUR) -> list[str]:
    found = redefine(timing(old), None if new is None else timing(new), Policy(deadline=deadline), gap(since, until))
    return [f"{each.period_count} {each.outcome.value}: {each.reason}" for each in found]


def test_a_window_that_had_begun_is_skipped_when_the_job_goes() -> None:
    at = NOON + MINUTE
    assert effective_of("0 12 * * * @win(after,2h)", at) > at

    assert closed("0 12 * * * @win(after,2h)", None, at, at) == ["1 skipped: definition changed"]


def effective_of(line: str, at: Instant) -> Instant:
    found = PeriodQueue(timing(line), at).next_time()
    assert found is not None
    return found


def test_a_window_that_had_not_begun_is_no_period_of_the_old_definition() -> None:
    assert closed("30 12 * * * @win(after,2h)", None, NOON, NOON + MINUTE) == []


def test_a_period_that_the_new_definition_runs_is_left_to_it() -> None:
    at = NOON + MINUTE

    assert closed("0 12 * * * @win(after,2h)", "0 12 * * * @win(after,2h) @seed(stable,salt=x)", at, at) == []


def test_a_period_that_the_new_definition_would_have_run_before_the_change_is_skipped() -> None:
    at = NOON + MINUTE

    assert closed("0 12 * * * @win(after,2h)", "0 12 * * *", at, at) == ["1 skipped: definition changed"]


@pytest.mark.parametrize("new", [None, "30 12 * * * @win(after,2h)", "0 12 * * *"])
def test_a_period_of_which_no_more_is_known_is_closed_if_it_had_begun(new: str | None) -> None:
    definition = None if new is None else timing(new)

    assert is_closed(NOON, definition, NOON + MINUTE)
    assert not is_closed(NOON, definition, NOON - MINUTE)


def test_a_period_of_which_no_more_is_known_is_left_to_a_definition_that_runs_it_later() -> None:
    assert not is_closed(NOON, timing("0 12 * * * @win(after,2h)"), NOON + MINUTE)


def test_periods_without_a_host_are_missed_or_skipped_but_never_run() -> None:
    assert closed("0 * * * *", "5 * * * *", NOON, NOON + 3 * HOUR + MINUTE) == [
        "2 missed: downtime",
        "1 skipped: definition changed",
    ]


@pytest.mark.slow
@settings(max_examples=40)
@given(
    lines=st.tuples(st.sampled_from(LINES), st.sampled_from(LINES)),
    minutes=st.tuples(st.integers(0, 300), st.integers(0, 300)),
)
def test_every_period_is_closed_once_or_comes_with_the_new_definition(
    lines: tuple[str, str], minutes: tuple[int, int]
) -> None:
    old, new = lines
    since = NOON + minutes[0] * MINUTE
    at = since + minutes[1] * MINUTE
    found = redefine(timing(old), timing(new), Policy(), gap(since, at))

    coming = {each.nominal_time for each in taken(PeriodQueue(timing(new), at), at + 60 * HOUR)}
    begun = [each for each in by_brute_force(old, since, at + 60 * HOUR) if each.window_start <= at]
    expected = [each for each in begun if each.nominal_time not in coming]
    assert sum(each.period_count for each in found) == len(expected)
    assert {each.first.nominal_time for each in found} <= {each.nominal_time for each in expected}


def test_handled_periods_stay_as_they_are() -> None:
    at = NOON + MINUTE
    line = Timing.parse("0 12 * * * @win(after,2h)", identity="test/job")

    assert redefine(line, None, Policy(), gap(at, at), NOON) == []


# --- whether a definition changed -------------------------------------------------------------------------------------


def _never() -> tuple[object, object]:
    raise AssertionError("timings are compared only if the definitions differ")


@pytest.mark.parametrize(
    ("before", "after", "change"),
    [
        (None, None, DefinitionChange.SAME),
        (None, "a", DefinitionChange.ADDED),
        ("a", None, DefinitionChange.REMOVED),
        ("a", "a", DefinitionChange.SAME),
    ],
)
def test_a_definition_that_did_not_change_is_not_read(
    before: str | None, after: str | None, change: DefinitionChange
) -> None:
    assert compare_definition(before, after, _never) is change


@pytest.mark.parametrize(
    ("timings", "change"),
    [(("daily", "daily"), DefinitionChange.SETTINGS), (("daily", "hourly"), DefinitionChange.TIMING)],
)
def test_a_change_is_one_of_the_timing_or_of_settings_alone(timings: tuple[str, str], change: DefinitionChange) -> None:
    assert compare_definition("a", "b", lambda: timings) is change


def test_a_change_without_timings_is_one_of_the_timing() -> None:
    assert compare_definition("a", "b") is DefinitionChange.TIMING
