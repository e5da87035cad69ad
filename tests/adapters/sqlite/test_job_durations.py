"""Recent durations of runs, read from the job ledger."""

from datetime import timedelta
from pathlib import Path

from kron.engine.ledger import JobBatch
from kron.rules.job_record import ResultCode, RunEnd, RunStart
from kron.testing.job_ledger_suite import DECLARED, JOB, attempt_at
from tests.adapters.sqlite.job_histories import remembered

SECOND = timedelta(seconds=1)


def end(run: RunStart, seconds: int, result: ResultCode = ResultCode.SUCCEEDED) -> RunEnd:
    return RunEnd(run.run_id, run.started + SECOND * seconds, result, 0, None, "", None)


def durations(path: Path, *took: int, result: ResultCode = ResultCode.SUCCEEDED) -> dict[str, timedelta]:
    runs = [attempt_at(minute, f"run {minute:04}") for minute in range(1, len(took) + 1)]
    ended = [end(run, seconds, result) for run, seconds in zip(runs, took, strict=True)]
    return remembered(path, DECLARED, JobBatch(begun=runs), JobBatch(ended=ended)).median_durations()


def test_the_usual_duration_is_the_median(tmp_path: Path) -> None:
    assert durations(tmp_path, 10, 600, 20) == {JOB.identity: 20 * SECOND}


def test_of_many_runs_the_newest_count(tmp_path: Path) -> None:
    assert durations(tmp_path, *[600] * 60, *[5] * 50) == {JOB.identity: 5 * SECOND}


def test_a_run_with_an_unobserved_end_has_no_duration(tmp_path: Path) -> None:
    assert durations(tmp_path, 10, result=ResultCode.UNKNOWN) == {}


def test_an_active_run_has_no_duration(tmp_path: Path) -> None:
    history = remembered(tmp_path, DECLARED, JobBatch(begun=[attempt_at(1, "run")]))

    assert history.median_durations() == {}
