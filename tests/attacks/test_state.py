"""Attacks on krond's state directory, its ledger, and the signals and sockets that others may flood."""

import os
import signal
import socket
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from time import sleep

import pytest

from tests.adapters.process.recorded_runner import needs_root
from tests.attacks.test_output import until
from tests.hosts.krond.krond_process import NEVER, Krond

pytestmark = pytest.mark.slow

JOBS = f"""
[jobs.quick]
{NEVER}
command = 'true'
[jobs.slow]
{NEVER}
command = 'until [ -e GO ]; do sleep 0.1; done'
shell = true
[jobs.each]
schedule = '* * * * *'
window = 'after,1h'
command = 'true'
"""


@pytest.fixture
def kronds(tmp_path: Path) -> Iterator[list[Krond]]:
    """Two kronds with the same files and the same state directory."""
    jobs = JOBS.replace("GO", str(tmp_path / "go"))
    made = [Krond(tmp_path, jobs), Krond(tmp_path, jobs)]
    yield made
    for krond in made:
        if krond.process is not None and krond.process.poll() is None:
            krond.kill()


@pytest.fixture
def krond(kronds: list[Krond]) -> Krond:
    return kronds[0]


def start_slow(krond: Krond) -> str:
    """Begin a run that ends when `go` is there, and return its name when the ledger knows its process."""
    run_id = krond.ask("trigger", "slow").stdout.strip()
    while not [run for run in krond.json("status")["active"] if run["run_id"] == run_id and run["pid"]]:
        pass
    return run_id


def refusal(krond: Krond) -> str:
    found = krond.ask("run", "--config", str(krond.file))
    assert found.returncode == 1
    return found.stderr.removesuffix("\n").removeprefix(f"krond: error: State directory {krond.state} ")


def test_a_state_directory_below_one_that_others_can_change_is_refused(krond: Krond, tmp_path: Path) -> None:
    folder = tmp_path / "open"
    folder.mkdir()
    krond.state = folder / "state"
    folder.chmod(0o777)

    assert refusal(krond) == f"is in {folder}, which is world-writable; chmod o-w {folder}"
    assert not krond.state.exists()
    folder.chmod(0o1777)
    assert krond.start().json("status")["ready"]


@needs_root
def test_a_state_directory_below_one_of_another_user_is_refused(krond: Krond, tmp_path: Path) -> None:
    folder = tmp_path / "theirs"
    folder.mkdir(mode=0o755)
    krond.state = folder / "below" / "state"
    os.chown(folder, 65534, 65534)

    assert refusal(krond) == f"is in {folder}, which belongs to uid 65534; chown root {folder}"
    assert list(folder.iterdir()) == []


@needs_root
def test_a_directory_that_another_user_puts_in_its_place_gets_nothing(krond: Krond, tmp_path: Path) -> None:
    folder = tmp_path / "sticky"
    folder.mkdir()
    folder.chmod(0o1777)
    krond.state = folder / "state"
    start_slow(krond.start())
    krond.state.rename(folder / "away")
    krond.state.mkdir(mode=0o700)
    os.chown(krond.state, 65534, 65534)
    (tmp_path / "go").touch()

    failed = krond.wait_for("LedgerAppendFailed")

    assert "its directory belongs to uid 65534" in failed["error"]
    assert list(krond.state.iterdir()) == []


def test_a_krond_whose_lock_was_removed_and_taken_by_another_ends(kronds: list[Krond]) -> None:
    first, second = kronds
    run_id = start_slow(first.start())
    (first.state / "lock").unlink()
    second.start()
    (second.file.parent / "go").touch()

    taken = first.wait_for("StateTaken")

    assert second.process is not None
    assert f"was taken by process {second.process.pid} after its lock was removed" in taken["error"]
    assert first.end() == 1
    assert second.json("status")["pid"] == second.process.pid
    assert second.ask("trigger", "quick", "--wait").returncode == 0
    until(lambda: all(row["result"] is not None for row in second.json("history") if row["run_id"] is not None))
    runs = {row["run_id"]: row["result"] for row in second.json("history") if row["run_id"] is not None}
    assert run_id in runs
    del runs[run_id]
    assert set(runs.values()) == {"succeeded"}


def test_a_lock_that_was_removed_is_made_again_and_keeps_others_away(kronds: list[Krond]) -> None:
    first, second = kronds
    first.start()
    (first.state / "lock").unlink()

    refused = first.ask("trigger", "quick")

    assert "its lock was removed; it was made again" in refused.stderr
    assert first.ask("trigger", "quick", "--wait").returncode == 0
    assert refusal(second).startswith("is in use by process")


@pytest.mark.parametrize("left", [0, 100, 4096, 10_000])
def test_a_ledger_that_was_cut_is_noticed_before_the_next_start(krond: Krond, left: int) -> None:
    krond.start()
    krond.ask("trigger", "quick", "--wait")
    with sqlite3.connect(krond.state / "ledger.db") as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.close()
    assert krond.ask("trigger", "quick", "--wait").returncode == 0  # a checkpoint of another process is no damage
    os.truncate(krond.state / "ledger.db", left)

    answer = krond.ask("trigger", "quick")

    assert (answer.returncode, answer.stdout) == (1, "")
    assert "its file was cut off; it has to be restored" in answer.stderr


def test_starts_resume_soon_after_the_state_directory_is_put_back(krond: Krond, tmp_path: Path) -> None:
    start_slow(krond.start())
    krond.state.rename(tmp_path / "away")
    (tmp_path / "go").touch()
    first = krond.wait_for("LedgerAppendFailed")
    sleep(4)  # by now it would wait for twice as long as before
    (tmp_path / "away").rename(krond.state)

    krond.wait_for("LedgerRecovered")

    failures = [each for each in krond.events if each["event"] == "LedgerAppendFailed"]
    assert failures == [first]
    assert first["retryInSeconds"] == 1
    assert krond.ask("trigger", "quick", "--wait").returncode == 0


def test_a_receiver_of_sd_notify_that_reads_nothing_does_not_hold_krond_up(tmp_path: Path) -> None:
    with (
        socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_NONBLOCK) as receiver,
        socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_NONBLOCK) as filler,
    ):
        receiver.bind(str(tmp_path / "notify"))
        try:
            while filler.sendto(b"full", str(tmp_path / "notify")):
                pass
        except BlockingIOError:
            pass
        krond = Krond(tmp_path, JOBS, environment={"NOTIFY_SOCKET": str(tmp_path / "notify")}).start()
        try:
            assert krond.json("status")["ready"]
            receiver.settimeout(60)
            while receiver.recv(100) != b"READY=1":
                pass
            krond.signal(signal.SIGTERM)
            assert krond.end() == 0
        finally:
            if krond.process is not None and krond.process.poll() is None:
                krond.kill()


def test_many_hangups_are_a_few_reloads_and_one_with_a_stop_is_no_error(krond: Krond) -> None:
    krond.start()
    for _ in range(300):
        krond.signal(signal.SIGHUP)
        sleep(0.005)
    krond.signal(signal.SIGTERM)
    krond.signal(signal.SIGHUP)

    with pytest.raises(AssertionError, match="krond is gone"):
        krond.wait_for("ErrorCaught")

    assert krond.end() == 0
    failures = [each["errors"] for each in krond.events if each["event"] == "ReloadFailed"]
    assert all("krond was asked to stop" in str(errors) for errors in failures)
    assert [each["event"] for each in krond.events].count("Reloaded") < 30


def spoil_rows(krond: Krond) -> None:
    """Let the rows of a krond that has ended say what no krond writes."""
    krond.start().signal(signal.SIGTERM)
    krond.end()
    first = "0001-01-01T00:00:00.000000Z"
    with sqlite3.connect(krond.state / "ledger.db") as connection:
        connection.execute("UPDATE job SET declared_at = ?1, served = ?1", (first,))
    connection.close()


def test_a_job_whose_rows_cannot_be_judged_can_be_removed(krond: Krond) -> None:
    spoil_rows(krond)
    krond.file.write_text(krond.file.read_text().partition("[jobs.each]")[0])

    krond.start()

    assert [each["name"] for each in krond.events if each["event"] == "JobSetAside"] == ["each"]
    assert krond.ask("trigger", "quick", "--wait").returncode == 0
    assert len(krond.json("jobs")) == 2


def test_a_job_whose_rows_cannot_be_judged_is_set_aside_alone(krond: Krond) -> None:
    spoil_rows(krond)

    krond.start()

    aside = krond.wait_for("JobSetAside")
    assert (aside["identity"], aside["name"]) == (f"{krond.file}:each", "each")
    assert krond.ask("trigger", "quick", "--wait").returncode == 0
    assert [job["identity"] for job in krond.json("status")["set_aside"]] == [f"{krond.file}:each"]
    assert "set aside: " in krond.ask("status").stdout
    assert len(krond.json("jobs")) == 3
