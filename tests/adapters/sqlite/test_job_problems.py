"""Recent runs that ended badly, and queries at the end of the calendar."""

from pathlib import Path

import pytest

from kron.engine.ledger import HistoryQuery, JobBatch
from kron.errors import OutOfRangeError
from kron.instant import parse_instant
from kron.rules.job_record import ResultCode, RunEnd
from kron.testing.job_ledger_suite import DECLARED, JOB, NOON, attempt_at
from tests.adapters.sqlite.job_histories import remembered


def troubles(path: Path, *results: ResultCode, limit: int = 10) -> list[object]:
    """Return the runs that are reported as problems after runs that ended so."""
    begun = [attempt_at(number, f"run {number}") for number in range(len(results) + 1)]  # the last one still runs
    ended = [RunEnd(f"run {number}", NOON, result) for number, result in enumerate(results)]
    history = remembered(path, DECLARED, JobBatch(begun=begun), JobBatch(ended=ended))
    return [row.run_id for row in history.problems(limit)]


@pytest.mark.parametrize("result", [ResultCode.FAILED, ResultCode.TIMEOUT, ResultCode.NOT_STARTED, ResultCode.UNKNOWN])
def test_a_run_that_did_not_end_well_is_a_problem(tmp_path: Path, result: ResultCode) -> None:
    assert troubles(tmp_path, ResultCode.SUCCEEDED, result) == ["run 1"]


@pytest.mark.parametrize("result", [ResultCode.SUCCEEDED, ResultCode.REPLACED, ResultCode.STOPPED])
def test_a_run_that_was_meant_to_end_so_is_not(tmp_path: Path, result: ResultCode) -> None:
    assert troubles(tmp_path, result) == []


def test_the_newest_problems_come_first_and_no_more_than_wanted(tmp_path: Path) -> None:
    assert troubles(tmp_path, *[ResultCode.FAILED] * 3, limit=2) == ["run 2", "run 1"]


def test_a_ledger_without_a_record_has_no_troubles(tmp_path: Path) -> None:
    assert troubles(tmp_path) == []


def test_a_question_at_the_end_of_the_calendar_is_one_clear_error(tmp_path: Path) -> None:
    history, last = remembered(tmp_path, DECLARED), parse_instant("9999-12-31T23:59:59Z")

    with pytest.raises(OutOfRangeError):
        history.evidence(JOB.identity, last, NOON)
    with pytest.raises(OutOfRangeError):
        history.rows(HistoryQuery(at=last))
