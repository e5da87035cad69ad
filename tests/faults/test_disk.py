"""Full and read-only disks, and files removed under a running krond: no run is lost or repeated."""

import shutil
import signal
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.faults.conftest import NewKrond
from tests.faults.fake_clock import FakeClock
from tests.hosts.krond.krond_process import NEVER
from tests.mounts import remount
from tests.web.page_client import PageClient

pytestmark = pytest.mark.slow

FILLED = "filled"
SOON = datetime(2026, 3, 2, 12, 0, 51, tzinfo=UTC)
Mount = Callable[[str], Path]


def writing_job(diary: Path) -> str:
    """Return a job that leaves a line in a file."""
    return f"[jobs.tells]\n{NEVER}\ncommand = 'echo ran >> {diary}'\nshell = true\n"


def due_soon(diary: Path) -> str:
    """Return a job that leaves a line in a file, nine seconds after `SOON`, and writes nothing else."""
    command = f"command = 'echo ran >> {diary}'\nshell = true\nstdout = 'discard'\nstderr = 'stdout'\n"
    return f"[jobs.tells]\nschedule = '1 12 * * *'\n{command}"


def fill(disk: Path) -> None:
    with (disk / FILLED).open("wb", buffering=0) as file:
        try:
            while file.write(b"x" * 4096):
                pass
        except OSError:
            return


def test_on_a_full_disk_nothing_starts_that_could_not_be_recorded_and_it_starts_later(
    new_krond: NewKrond, small_disk: Mount, tmp_path: Path
) -> None:
    disk, clock, diary = small_disk("1m"), FakeClock(tmp_path), tmp_path / "diary"
    clock.set(SOON)
    krond = new_krond(due_soon(diary), environment=clock.environment).start()
    fill(disk)

    failed = krond.wait_for("LedgerAppendFailed")

    assert "disk is full" in failed["error"]
    assert not diary.exists()
    assert krond.json("status")["failed_ledger"]["error"] == failed["error"]
    (disk / FILLED).unlink()
    krond.wait_for("LedgerRecovered")
    krond.wait_for("RunEnded")
    assert diary.read_text() == "ran\n"
    (row,) = krond.json("history")
    assert (row["kind"], row["result"]) == ("period", "succeeded")


def test_on_a_full_disk_a_trigger_is_refused_and_nothing_comes_of_it(
    new_krond: NewKrond, small_disk: Mount, tmp_path: Path
) -> None:
    disk, diary = small_disk("1m"), tmp_path / "diary"
    krond = new_krond(writing_job(diary)).start()
    fill(disk)

    found = krond.ask("trigger", "tells")

    assert (found.returncode, found.stdout) == (1, "")
    assert "disk is full" in found.stderr
    (disk / FILLED).unlink()
    assert krond.ask("trigger", "tells", "--wait").returncode == 0
    assert diary.read_text() == "ran\n"
    assert len(krond.json("history")) == 1


def test_on_a_full_disk_status_and_page_say_that_nothing_starts(new_krond: NewKrond, small_disk: Mount) -> None:
    disk = small_disk("1m")
    krond = new_krond(writing_job(disk / "diary"), options=("--listen", "127.0.0.1:0")).start()
    visitor = PageClient(krond)
    assert krond.json("status")["failed_ledger"] is None
    fill(disk)

    found = krond.ask("status")

    assert found.returncode == 1
    assert "starts nothing: " in found.stdout
    assert "No space left on device" in found.stdout
    assert "is ready" not in found.stdout
    assert "Starts nothing: " in visitor.get("/").words
    first, second = (krond.json("status")["failed_ledger"] for _ in range(2))
    assert first == second
    assert set(first) == {"since", "error"}
    (disk / FILLED).unlink()
    assert krond.json("status")["failed_ledger"] is None
    assert krond.ask("status").returncode == 0


def test_on_a_full_disk_a_krond_does_not_start_and_later_it_does(new_krond: NewKrond, small_disk: Mount) -> None:
    disk = small_disk("64k")
    fill(disk)
    krond = new_krond(writing_job(disk / "diary"))

    found = krond.ask("run", "--config", str(krond.file))

    assert found.returncode == 1
    assert found.stderr.startswith(f"krond: error: Ledger {disk / 'ledger.db'} cannot be used: ")
    assert "disk is full" in found.stderr
    (disk / FILLED).unlink()
    remount(disk, "size=1m")
    assert krond.start().json("status")["ready"]


def test_on_a_read_only_disk_a_krond_does_not_start(new_krond: NewKrond, small_disk: Mount) -> None:
    disk = small_disk("1m")
    krond = new_krond(writing_job(disk / "diary"))
    remount(disk, "ro")

    found = krond.ask("run", "--config", str(krond.file))

    assert found.returncode == 1
    assert found.stderr.startswith(f"krond: error: State directory {disk} cannot be locked: ")
    assert found.stderr.endswith("Read-only file system\n")


def test_a_ledger_that_is_deleted_under_krond_comes_back_with_everything_in_it(
    new_krond: NewKrond, tmp_path: Path
) -> None:
    clock = FakeClock(tmp_path)
    clock.set(SOON)
    krond = new_krond(due_soon(tmp_path / "diary"), environment=clock.environment).start()
    krond.ask("trigger", "tells", "--wait")
    for path in krond.state.glob("ledger.db*"):
        path.unlink()

    assert "its file was removed; it was written again" in krond.wait_for("LedgerAppendFailed")["error"]
    krond.wait_for("LedgerRecovered")
    krond.wait_for("RunEnded")
    krond.kill()
    assert [row["result"] for row in krond.json("history")] == ["succeeded"] * 2
    assert krond.ask("ledger", "check").returncode == 0
    assert (tmp_path / "diary").read_text() == "ran\nran\n"


def test_without_its_state_directory_krond_starts_nothing_until_there_is_one(
    new_krond: NewKrond, tmp_path: Path
) -> None:
    clock, diary = FakeClock(tmp_path), tmp_path / "diary"
    clock.set(SOON)
    krond = new_krond(due_soon(diary), environment=clock.environment).start()
    shutil.rmtree(krond.state)
    assert (
        krond.ask("status").stderr
        == f"krond: error: no krond runs on {krond.state}; start one, or name its directory with --state\n"
    )

    failed = krond.wait_for("LedgerAppendFailed")

    assert "its directory cannot be opened: No such file or directory" in failed["error"]
    assert not diary.exists()
    krond.state.mkdir(mode=0o700)
    krond.wait_for("LedgerRecovered")
    krond.wait_for("RunEnded")
    (row,) = krond.json("history")
    assert (row["result"], diary.read_text()) == ("succeeded", "ran\n")
    krond.signal(signal.SIGTERM)
    assert krond.end() == 0
