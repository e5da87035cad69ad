"""A krond that is stopped and continued judges the missed periods as after downtime."""

import os
import signal
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from kron.adapters.process.procfs import list_pids, read_stat
from tests.faults.conftest import NewKrond
from tests.faults.fake_clock import FakeClock
from tests.hosts.krond.krond_process import Krond

pytestmark = pytest.mark.slow

NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)
MINUTE, SECOND = timedelta(minutes=1), timedelta(seconds=1)


def jobs(folder: Path) -> str:
    """Return a job that says who it is, and runs until it is over; later runs find that it is."""
    command = f"echo $$ >{folder}/pid; until [ -e {folder}/over ]; do sleep 0.02; done"
    job = f"schedule = '* * * * *'\ndeadline = '10m'\nshell = true\ncommand = '{command}'"
    return f"[krond]\nslack = '1s'\n[jobs.ticks]\n{job}\n"


def wait_until(claim: Callable[[], bool]) -> None:
    """Wait for something that another process does."""
    end = time.monotonic() + 60
    while not claim():
        assert time.monotonic() < end
        time.sleep(0.01)


def is_in(pid: int, states: str) -> bool:
    known = read_stat(pid)
    return known is None or known.state in states


def outcomes(krond: Krond) -> list[tuple[str, str, str | None, int]]:
    """Return the outcomes of periods, the oldest first; periods closed together appear once, under the last."""
    rows = sorted(krond.json("history", "ticks", "--limit", "1000"), key=lambda row: str(row["period_id"]))
    return [(row["period_id"][11:16], row["outcome"], row["reason"], row.get("count", 1)) for row in rows]


@pytest.mark.parametrize("with_spawners", [False, True], ids=["krond alone", "with its spawners"])
def test_a_krond_that_is_stopped_for_longer_than_its_slack_runs_the_newest_period(
    new_krond: NewKrond, tmp_path: Path, *, with_spawners: bool
) -> None:
    clock, pid = FakeClock(tmp_path), tmp_path / "pid"
    clock.set(NOON - 6 * SECOND)  # time to start on a busy machine
    krond = new_krond(jobs(tmp_path), environment=clock.environment).start()
    wait_until(lambda: pid.exists() and pid.read_text("utf-8") != "")
    assert krond.process is not None
    host, run = krond.process.pid, int(pid.read_text("utf-8"))
    spawners = [each for each in list_pids() if (known := read_stat(each)) and known.parent == host]

    stopped = [host, *spawners] if with_spawners else [host]
    for each in stopped:
        os.kill(each, signal.SIGSTOP)
    wait_until(lambda: all(is_in(each, "T") for each in stopped))
    (tmp_path / "over").touch()
    wait_until(lambda: is_in(run, "Z"))  # it has ended, and krond does not know
    clock.skip(5 * MINUTE)
    for each in stopped:
        os.kill(each, signal.SIGCONT)
    krond.wait_for("PeriodSkipped")

    assert outcomes(krond)[:3] == [
        ("12:00", "executed", None, 1),
        ("12:04", "skipped", "superseded", 4),
        ("12:05", "executed", None, 1),
    ]
