"""Results of a run: which are retried, and which a person should look at."""

import pytest

from kron.rules.job_record import PROBLEM, RETRYABLE, ResultCode


@pytest.mark.parametrize("code", [ResultCode.FAILED, ResultCode.TIMEOUT, ResultCode.NOT_STARTED])
def test_a_failed_attempt_is_a_problem_and_may_be_retried(code: ResultCode) -> None:
    assert code in RETRYABLE
    assert code in PROBLEM


def test_a_run_whose_end_was_not_seen_is_a_problem_and_is_not_retried() -> None:
    assert ResultCode.UNKNOWN in PROBLEM
    assert ResultCode.UNKNOWN not in RETRYABLE


@pytest.mark.parametrize("code", [ResultCode.SUCCEEDED, ResultCode.REPLACED, ResultCode.STOPPED])
def test_an_end_that_was_wanted_is_no_problem(code: ResultCode) -> None:
    assert code not in PROBLEM
