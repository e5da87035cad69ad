"""Job names and prefixes, and which results of a run are retried or need a person."""

import pytest

from kron.errors import UnknownJobError
from kron.rules.job_record import PROBLEM, RETRYABLE, ResultCode, find_identities


def test_words_are_found_in_one_pass_over_the_jobs() -> None:
    passed = []

    def known() -> "list[tuple[str, str]]":
        passed.append(1)
        return [("a", "/f:a"), ("b", "/f:b"), ("twin", "/f:twin"), ("twin", "/g:twin"), ("/f:a", "/h:odd")]

    assert find_identities(["b", "/f:a", "b", "a", "/g:twin"], known()) == ["/f:b", "/f:a", "/g:twin"]
    assert passed == [1]
    with pytest.raises(UnknownJobError) as several:
        find_identities(["a", "twin"], known())
    assert several.value.details["identities"] == ["/f:twin", "/g:twin"]
    with pytest.raises(UnknownJobError, match="c is not a job that krond runs; it may be in a file with errors: x"):
        find_identities(["a", "c"], known(), ("x",))


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
