"""Words and signs of the page: the tone of a result follows the sets of results in `rules`."""

import pytest

from kron.hosts.krond.web.format import last_verdict
from kron.rules.job_record import PROBLEM, RETRYABLE, ResultCode
from kron.rules.verdict import Outcome


@pytest.mark.parametrize("result", ResultCode)
def test_the_page_shows_a_result_as_bad_if_and_only_if_it_is_a_problem(result: ResultCode) -> None:
    badge = str(last_verdict(Outcome.EXECUTED.value, result.value))

    assert ("badge bad" in badge) == (result in PROBLEM)
    assert ("badge good" in badge) == (result is ResultCode.SUCCEEDED)


def test_a_run_whose_end_was_not_seen_is_a_problem_and_is_not_retried() -> None:
    assert {*PROBLEM} - {*RETRYABLE} == {ResultCode.UNKNOWN}
