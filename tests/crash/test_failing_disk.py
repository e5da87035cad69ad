"""A file system that is full, failing or read-only at step 1, 2, 3, … until a run passes without a fault.

The failures are real: they happen below SQLite, in its own layer for files, and below Python too where there is a C
compiler, between the process and its C library.
"""

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.crash.disk import Fault
from tests.crash.libc_disk import build
from tests.crash.sqlite_disk import library

Report = dict[str, Any]

WAITS = [1, 2, 4, 8, 16, 32, 60, 60, 60, 60]  # seconds between two tries to write
_ROOT = Path(__file__).parents[2]

places = pytest.mark.parametrize(
    ("layer", "fault"),
    [
        pytest.param("sqlite", Fault.NO_SPACE, id="no space left below SQLite", marks=pytest.mark.slow),
        pytest.param("sqlite", Fault.IO_ERROR, id="input-output errors below SQLite", marks=pytest.mark.slow),
        pytest.param("sqlite", Fault.READ_ONLY, id="read-only below SQLite", marks=pytest.mark.slow),
        pytest.param("libc", Fault.NO_SPACE, id="no space left below everything", marks=pytest.mark.slow),
        pytest.param("libc", Fault.IO_ERROR, id="input-output errors below everything", marks=pytest.mark.slow),
        pytest.param("libc", Fault.READ_ONLY, id="read-only below everything", marks=pytest.mark.slow),
    ],
)


def reports(layer: str, fault: Fault, undertaking: str, folder: Path) -> list[Report]:
    """Try an undertaking until it passes untouched; return what is known of each trial."""
    environment = dict(os.environ)
    if layer == "sqlite" and library() is None:
        pytest.skip("SQLite's library is not a file of its own here: failures below it were NOT tried")
    if layer == "libc":
        preload = build(folder)
        if preload is None:
            pytest.skip("there is no C compiler here: failures below the C library were NOT tried")
        environment["LD_PRELOAD"] = str(preload)
    command = [sys.executable, "-m", "tests.crash.disk_trial", layer, fault.value, undertaking, str(folder / "disk")]
    done = subprocess.run(command, cwd=_ROOT, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found = [json.loads(line) for line in done.stdout.splitlines()]
    assert [bool(report["failed"]) for report in found] == [True] * (len(found) - 1) + [False]
    return found


def where(report: Report) -> str:
    """Return the place of a failure, for the message of an assertion."""
    return f"step {report['step']}: {report['failed'][:1]}"


def names_the_ledger(error: dict[str, str], folder: Path) -> bool:
    """Whether an error is one of Kron's, and says which file it is about."""
    return error["is_ours"] == "True" and str(folder / "disk" / "ledger") in error["text"]


def events(report: Report, name: str) -> list[dict[str, Any]]:
    """Return the fields of each event of that name."""
    return [line["fields"] for line in report["lines"] if line["what"] == "event" and line["name"] == name]


def begun_in_doubt(lines: Sequence[Report]) -> Iterator[str]:
    """Yield the callbacks that began between an append that failed and the next that went well."""
    failing = False
    for line in lines:
        failing = (failing or line["what"] == "refused") and line["what"] != "appended"
        if failing and line["what"] == "begun":
            yield line["task"]


@places
@pytest.mark.parametrize("undertaking", ["first_start", "second_start"])
def test_a_start_on_a_failing_disk_is_refused_and_leaves_what_was_there(
    layer: str, fault: Fault, undertaking: str, quick_folder: Path
) -> None:
    trials = reports(layer, fault, undertaking, quick_folder)

    refusals = [trial for trial in trials if trial["refused"]]
    assert len(refusals) >= 10
    for trial in refusals:
        assert names_the_ledger(trial["refused"], quick_folder), (where(trial), trial["refused"])
        # A disk that fails to sync may still have kept the write: then all of it, never a half.
        allowed = {"before", "after"} if trial["failed"][0] == "sync ledger-wal" else {"before"}
        assert trial["found"] in allowed, where(trial)
    for trial in trials:
        assert trial["again"] is None, where(trial)
        assert trial["complaints"] == [], where(trial)


@places
def test_one_failure_delays_a_run_and_nothing_else(layer: str, fault: Fault, quick_folder: Path) -> None:
    trials = reports(layer, fault, "one_failure", quick_folder)

    assert sum(bool(events(trial, "LedgerAppendFailed")) for trial in trials) >= 20
    for trial in trials:
        assert [*begun_in_doubt(trial["lines"])] == [], where(trial)
        assert trial["complaints"] == [], where(trial)
        failures, recoveries = events(trial, "LedgerAppendFailed"), events(trial, "LedgerRecovered")
        if len(failures) > len(recoveries):  # the last thing that it had to write
            assert names_the_ledger(trial["stopped"], quick_folder), where(trial)
        else:
            assert trial["stopped"] is None, where(trial)


@places
def test_an_outage_starts_nothing_and_is_over_when_the_disk_is_back(
    layer: str, fault: Fault, quick_folder: Path
) -> None:
    trials = reports(layer, fault, "outage", quick_folder)

    assert max(len(events(trial, "LedgerAppendFailed")) for trial in trials) >= 7
    for trial in trials:
        waits = [fields["retryInSeconds"] for fields in events(trial, "LedgerAppendFailed")]
        assert waits == WAITS[: len(waits)], where(trial)
        assert len(events(trial, "LedgerRecovered")) == bool(waits), where(trial)
        assert [*begun_in_doubt(trial["lines"])] == [], where(trial)
        assert trial["stopped"] is None, where(trial)
        assert trial["complaints"] == [], where(trial)


@places
def test_a_stop_during_an_outage_returns_with_an_error_and_the_next_scheduler_goes_on(
    layer: str, fault: Fault, quick_folder: Path
) -> None:
    trials = reports(layer, fault, "stop_during_an_outage", quick_folder)

    assert sum(bool(trial["stopped"]) for trial in trials) >= 20
    for trial in trials:
        if events(trial, "LedgerAppendFailed"):
            assert names_the_ledger(trial["stopped"], quick_folder), where(trial)
        else:
            assert trial["stopped"] is None, where(trial)
        assert (trial["again"], trial["stopped_again"]) == (None, None), where(trial)
        assert trial["complaints"] == [], where(trial)
