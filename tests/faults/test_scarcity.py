"""Too few processes, descriptors or bytes of disk: krond reports the failure and continues."""

from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.adapters.process.recorded_runner import UNPRIVILEGED_USER, needs_root
from tests.faults.conftest import NewKrond
from tests.faults.fake_clock import FakeClock
from tests.hosts.krond.krond_process import NEVER

pytestmark = pytest.mark.slow
JUST_BEFORE_NOON = datetime(2026, 3, 2, 11, 59, 50, tzinfo=UTC)
MEBIBYTE = 1024 * 1024


@needs_root
def test_a_fork_that_fails_is_recorded_with_its_reason_and_tried_again_as_the_job_says(new_krond: NewKrond) -> None:
    jobs = f"""
        [jobs.crowded]
        {NEVER}
        command = "true"
        user = "{UNPRIVILEGED_USER}"
        retries = 2
        retry_delay = "1s"
        [jobs.other]
        {NEVER}
        command = "true"
    """
    krond = new_krond(jobs, before=["prlimit", "--nproc=1"]).start()  # root is exempt; whom it becomes is not

    krond.ask("trigger", "crowded", "--wait")
    for _ in range(3):
        krond.wait_for("RunEnded")

    assert krond.ask("trigger", "other", "--wait").returncode == 0
    rows = krond.json("history", "crowded")
    assert [(row["attempt"], row["result"]) for row in rows] == [
        (1, "not started"),
        (2, "not started"),
        (3, "not started"),
    ]
    assert "has reached its limit of processes" in rows[0]["detail"]


def test_five_thousand_jobs_at_once_all_run_though_descriptors_are_few(new_krond: NewKrond, tmp_path: Path) -> None:
    clock = FakeClock(tmp_path)
    clock.set(JUST_BEFORE_NOON)
    jobs = "".join(f"[jobs.j{number}]\nschedule = '0 12 * * *'\ncommand = 'true'\n" for number in range(5000))
    krond = new_krond(jobs, before=["prlimit", "--nofile=64"], environment=clock.environment).start()

    ended = Counter(krond.wait_for("RunEnded")["result"] for _ in range(5000))

    assert ended == {"succeeded": 5000}
    outcomes = Counter((row["period_id"], row["outcome"]) for row in krond.json("history", "--limit", "10000"))
    assert outcomes == {("2026-03-02T12:00:00Z", "executed"): 5000}


def test_ten_gigabytes_of_output_pass_through_a_small_disk(
    new_krond: NewKrond, small_disk: Callable[[str], Path]
) -> None:
    small_disk("3g")  # a busy machine looks at the output a second later, and dd writes a gigabyte meanwhile
    command = "dd if=/dev/zero bs=1M count=10000 status=none"
    writer = f"[jobs.writes]\n{NEVER}\ncommand = '{command}'\noutput_limit = '1MiB'\n"
    krond = new_krond(writer).start()

    found = krond.ask("trigger", "writes", "--wait")

    assert found.returncode == 0, krond.ask("logs", "writes", "--stream", "stderr").stdout
    krond.ask("logs", "writes", "--follow")  # until its output is complete
    logs = krond.json("logs", "writes")
    assert logs["bytes"] <= MEBIBYTE
    assert logs["bytes"] + logs["dropped"] == 10_000 * MEBIBYTE
