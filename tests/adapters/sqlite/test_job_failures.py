"""Jobs whose last execution failed."""

from pathlib import Path

import pytest

from kron.engine.ledger import JobBatch
from kron.instant import Instant
from kron.rules.job_record import ResultCode, RunEnd
from kron.testing.job_ledger_suite import DECLARED, JOB, MINUTE, NOON, attempt_at
from tests.adapters.sqlite.job_histories import remembered

FAILED, SUCCEEDED = ResultCode.FAILED, ResultCode.SUCCEEDED


def fails(path: Path, *ends: tuple[ResultCode, Instant | None]) -> bool:
    """Whether a job fails after runs that ended so, or will be tried again."""
    begun = [attempt_at(number, f"run {number}") for number in range(len(ends))]
    ended = [RunEnd(f"run {number}", NOON, result, retry_at=again) for number, (result, again) in enumerate(ends)]
    history = remembered(path, DECLARED, JobBatch(begun=begun), JobBatch(ended=ended))
    return history.failing_jobs() == {JOB.identity}


@pytest.mark.parametrize("result", [ResultCode.FAILED, ResultCode.TIMEOUT, ResultCode.NOT_STARTED])
def test_a_job_fails_whose_last_run_did_not_succeed(tmp_path: Path, result: ResultCode) -> None:
    assert fails(tmp_path, (SUCCEEDED, None), (result, None))


def test_a_job_that_succeeded_since_does_not_fail(tmp_path: Path) -> None:
    assert not fails(tmp_path, (FAILED, None), (SUCCEEDED, None))


@pytest.mark.parametrize("result", [ResultCode.UNKNOWN, ResultCode.STOPPED, ResultCode.REPLACED])
def test_an_end_that_says_nothing_leaves_it_as_it_was(tmp_path: Path, result: ResultCode) -> None:
    assert fails(tmp_path, (FAILED, None), (result, None))


def test_an_attempt_that_is_tried_again_says_nothing(tmp_path: Path) -> None:
    assert not fails(tmp_path, (SUCCEEDED, None), (FAILED, NOON + MINUTE))


def test_a_job_that_never_ran_does_not_fail(tmp_path: Path) -> None:
    assert not fails(tmp_path)
