"""Policies of jobs: the report of a violated deadline, overlap or retry rule."""

import pytest

from kron.theory.alphabet import Owner
from tests.theory.period_traces import judge_periods
from tests.theory.traces import finding, violated


def test_the_slack_of_the_host_is_added_to_a_deadline() -> None:
    late, later = "D1(;deadline=10) O1(executed;accepted=105.9)", "D1(;deadline=10) O1(executed;accepted=106)"

    assert violated(judge_periods(late, slack=5)) == set()
    assert violated(judge_periods(later, slack=5)) == {"I9"}


@pytest.mark.parametrize(
    ("name", "text", "says"),
    [
        ("I8", "D1 RS1@88.5", "starts 1.5 s before its chosen time, at 1"),
        (
            "I9",
            "D1(;deadline=10) O1(executed;accepted=107.2)",
            "accepted 17 s after its chosen time, but its deadline is 10 s and the slack 5 s, at 1",
        ),
        (
            "I10",
            "D1(;forbid) D2(;forbid) RS1@90 RS2@150",
            "starts while a 1970-01-01T00:01:00Z runs, but its job forbids that, at 3",
        ),
        ("I11", "RS1 REs1 RS1(2) REs1", "not so at 3: A period succeeds at most once."),
        ("I12", "D1(;retries=0) RS1@90 REf1 RS1(2)", "attempt 2 starts, but its job allows no retries, at 3"),
        ("I12", "D1(;retries=1) RS1@90 REf1 RS1(3)", "attempt 3 starts, but its job allows 1 retry, at 3"),
    ],
)
def test_a_violated_policy_is_explained_and_blamed_on_the_scheduler(name: str, text: str, says: str) -> None:
    found = finding(judge_periods(text, slack=5), name)

    assert says in found.explanation
    assert found.explanation.startswith("a 1970-01-01T00:0")
    assert found.blame is Owner.SCHEDULER
