"""Child processes that misbehave are recorded as what they did, and affect no other job."""

import os
import signal
from pathlib import Path

import pytest

from tests.faults.conftest import NewKrond
from tests.hosts.krond.krond_process import NEVER, Krond

pytestmark = pytest.mark.slow

JOBS = f"""
[jobs.deaf]
{NEVER}
command = "trap '' TERM; while :; do sleep 1; done"
shell = true
timeout = "1s"
grace = "1s"
[jobs.closed]
{NEVER}
command = "exec 0<&- 1>&- 2>&-; exit 7"
shell = true
[jobs.daemon]
{NEVER}
command = "(setsid sleep 1000 & echo $! > $NUMBER)"
shell = true
env = {{NUMBER = "FOLDER/number"}}
[jobs.missing]
{NEVER}
command = "no-such-program"
"""


@pytest.fixture
def krond(new_krond: NewKrond, tmp_path: Path) -> Krond:
    return new_krond(JOBS.replace("FOLDER", str(tmp_path))).start()


def result(krond: Krond, job: str) -> tuple[str, int | None, str | None]:
    """Let a job run, and return how that is recorded."""
    krond.ask("trigger", job, "--wait")
    (row,) = krond.json("history", job)
    return row["result"], row["exit_code"], row["signal"]


def test_a_job_that_ignores_sigterm_is_killed_when_its_grace_is_over(krond: Krond) -> None:
    assert result(krond, "deaf") == ("timeout", None, "SIGKILL")


def test_the_end_of_a_job_that_closes_its_descriptors_is_recorded(krond: Krond) -> None:
    assert result(krond, "closed") == ("failed", 7, None)


def test_a_command_that_does_not_exist_is_recorded_with_its_reason(krond: Krond) -> None:
    assert result(krond, "missing") == ("not started", None, None)
    assert "no-such-program not found in PATH" in krond.json("history")[0]["detail"]


def test_a_daemon_that_a_job_leaves_behind_delays_neither_its_end_nor_that_of_krond(
    krond: Krond, tmp_path: Path
) -> None:
    assert result(krond, "daemon") == ("succeeded", 0, None)
    daemon = int((tmp_path / "number").read_text())

    krond.ask("stop")

    assert krond.end() == 0
    os.kill(daemon, signal.SIGKILL)  # it is still there, or this raises
