"""Words and symbols of pages: the class of a result follows the sets of results in `rules`."""

import pytest

from kron.rules.job_record import PROBLEM, RETRYABLE, ResultCode
from kron.rules.verdict import Outcome
from kron.web.format import last_badge


@pytest.mark.parametrize("result", ResultCode)
def test_the_page_shows_a_result_as_bad_if_and_only_if_it_is_a_problem(result: ResultCode) -> None:
    badge = last_badge(Outcome.EXECUTED.value, result.value)

    assert (badge.kind == "bad") == (result in PROBLEM)
    assert (badge.kind == "good") == (result is ResultCode.SUCCEEDED)


def test_a_run_whose_end_was_not_seen_is_a_problem_and_is_not_retried() -> None:
    assert {*PROBLEM} - {*RETRYABLE} == {ResultCode.UNKNOWN}
