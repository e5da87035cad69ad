"""Tests of judge: the verdict on one period at an instant."""

from datetime import timedelta

import pytest
from hypothesis import given, strategies as st

from kron import Decision, Policy, Timing, decide
from kron.instant import SECOND, Instant, parse_instant
from kron.rules.policy import Concurrency
from kron.rules.verdict import (
    Close,
    Execute,
    Outcome,
    OverlapAction,
    Wait,
    decide_overlap,
    is_late,
    judge,
    late_until,
    lateness,
    start_before,
)

NOMINAL = parse_instant("2026-03-01T00:00:00Z")
BACKUP: Decision = decide(
    Timing.parse("0 0 * * * @win(after,3h) @seed(stable,salt=backup)", identity="prod/db-backup"), NOMINAL
)
CHOSEN = parse_instant("2026-03-01T02:32:20Z")
IMPOSSIBLE = decide(Timing.parse("0 0 * * * @win(around,2h) @only(hours=12)", identity="x"), NOMINAL)
A_MILLISECOND = timedelta(milliseconds=1)
MISSED = Close(Outcome.MISSED, "deadline")


def within(deadline: str, **keys: object) -> Policy:
    return Policy.from_dict({"deadline": deadline, **keys})


def test_a_period_before_its_chosen_second_waits_for_it() -> None:
    assert judge(BACKUP, Policy(), CHOSEN - A_MILLISECOND) == Wait(CHOSEN)


def test_a_period_at_its_chosen_second_runs() -> None:
    assert judge(BACKUP, Policy(), CHOSEN) == Execute(0)


def test_a_busy_millisecond_is_not_late_even_without_a_deadline() -> None:
    assert judge(BACKUP, Policy(), CHOSEN + 999 * A_MILLISECOND) == Execute(0)


def test_a_period_one_second_late_without_a_deadline_is_missed() -> None:
    assert judge(BACKUP, Policy(), CHOSEN + SECOND) == MISSED


def test_a_period_within_its_deadline_runs_and_its_lateness_is_known() -> None:
    assert judge(BACKUP, within("10m"), CHOSEN + 460 * SECOND) == Execute(460)


def test_a_period_exactly_at_its_deadline_runs_and_a_second_later_is_missed() -> None:
    assert judge(BACKUP, within("10m"), CHOSEN + 600 * SECOND + 999 * A_MILLISECOND) == Execute(600)
    assert judge(BACKUP, within("10m"), CHOSEN + 601 * SECOND) == MISSED


def test_slack_is_added_to_the_deadline() -> None:
    late = CHOSEN + 30 * SECOND

    assert judge(BACKUP, Policy(), late, slack=timedelta(seconds=30)) == Execute(30)
    assert judge(BACKUP, Policy(), late + SECOND, slack=timedelta(seconds=30)) == MISSED


@pytest.mark.parametrize(
    ("concurrency", "verdict"),
    [
        ("allow", Execute(0)),
        ("forbid", Close(Outcome.SKIPPED, "active")),
        ("replace", Execute(0, replaces=True)),
    ],
)
def test_an_active_execution_is_met_by_the_policy(concurrency: str, verdict: object) -> None:
    assert judge(BACKUP, within("0s", concurrency=concurrency), CHOSEN, active=True) == verdict


def test_nothing_is_replaced_where_nothing_is_active() -> None:
    assert judge(BACKUP, within("0s", concurrency="replace"), CHOSEN) == Execute(0)


def test_lateness_is_judged_before_concurrency() -> None:
    assert judge(BACKUP, Policy(), CHOSEN + SECOND, active=True) == MISSED


def test_a_handled_period_is_left_alone_whatever_the_time() -> None:
    assert judge(BACKUP, Policy(), CHOSEN + timedelta(days=1), handled=True) == Wait(None)
    assert judge(IMPOSSIBLE, Policy(), CHOSEN, handled=True) == Wait(None)


def test_a_suspended_job_handles_nothing() -> None:
    assert judge(BACKUP, Policy(suspend=True), CHOSEN + timedelta(days=1)) == Wait(None)
    assert judge(IMPOSSIBLE, Policy(suspend=True), CHOSEN) == Wait(None)


def test_an_unschedulable_period_waits_for_its_window_and_is_closed_then() -> None:
    start = IMPOSSIBLE.window_start

    assert judge(IMPOSSIBLE, Policy(), start - A_MILLISECOND) == Wait(start)
    assert judge(IMPOSSIBLE, Policy(), start) == Close(
        Outcome.UNSCHEDULABLE, "no candidate accepted within MaxAttempts"
    )


policies = st.builds(
    Policy, st.sampled_from(Concurrency), st.timedeltas(timedelta(), timedelta(hours=2)), suspend=st.booleans()
)
moments = st.datetimes(
    parse_instant("2026-02-28T00:00:00Z").replace(tzinfo=None),
    parse_instant("2026-03-02T00:00:00Z").replace(tzinfo=None),
).map(lambda moment: moment.replace(tzinfo=CHOSEN.tzinfo))


@given(policy=policies, now=moments, active=st.booleans(), slack=st.timedeltas(timedelta(), timedelta(minutes=1)))
def test_nothing_runs_before_its_second_or_after_deadline_and_slack(
    policy: Policy, now: Instant, *, active: bool, slack: timedelta
) -> None:
    verdict = judge(BACKUP, policy, now, active=active, slack=slack)

    if isinstance(verdict, Execute):
        assert now >= CHOSEN
        assert timedelta(seconds=verdict.lateness) <= policy.deadline + slack
        assert not policy.suspend


@given(policy=policies, now=moments, active=st.booleans())
def test_a_verdict_to_wait_for_an_instant_names_a_later_one(policy: Policy, now: Instant, *, active: bool) -> None:
    verdict = judge(BACKUP, policy, now, active=active)

    if isinstance(verdict, Wait) and verdict.until is not None:
        assert verdict.until > now


# --- lateness and overlap ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("deadline", "slack", "seconds"), [("0s", 0, 1), ("10s", 0, 11), ("10s", 30, 41), ("1500ms", 0, 2)]
)
def test_a_start_is_too_late_from_the_second_after_deadline_and_slack(deadline: str, slack: int, seconds: int) -> None:
    limit = start_before(CHOSEN, within(deadline).deadline, slack * SECOND)

    assert limit == CHOSEN + seconds * SECOND


def test_a_deadline_beyond_the_calendar_never_passes() -> None:
    deadline = timedelta(days=300_000) * 10

    assert not is_late(CHOSEN, parse_instant("9999-12-31T23:59:59Z"), deadline)
    assert late_until(CHOSEN, deadline) is None


spans = st.timedeltas(timedelta(), timedelta(minutes=3))


@given(late=spans, deadline=spans, slack=spans)
def test_lateness_is_whole_seconds_beyond_deadline_and_slack(
    late: timedelta, deadline: timedelta, slack: timedelta
) -> None:
    now = CHOSEN + late

    assert is_late(CHOSEN, now, deadline, slack) == (lateness(CHOSEN, now) * SECOND > deadline + slack)


@given(late=spans, deadline=spans)
def test_the_chosen_times_up_to_late_until_are_late(late: timedelta, deadline: timedelta) -> None:
    now, whole = CHOSEN + late, deadline // SECOND * SECOND
    last = late_until(now, whole)

    assert last is not None
    assert is_late(CHOSEN, now, whole) == (last >= CHOSEN)


@pytest.mark.parametrize("concurrency", Concurrency)
def test_every_policy_starts_an_execution_if_none_is_active(concurrency: Concurrency) -> None:
    assert decide_overlap(concurrency, active=False) is OverlapAction.START
