"""Job files that a local user writes to stop krond or its commands, or to have jobs of others removed."""

import os
import resource
import signal
import socket
import subprocess
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.adapters.process.recorded_runner import needs_root
from tests.attacks.test_output import until
from tests.cli.kron_runner import kron
from tests.hosts.krond.krond_process import KROND, NEVER, Krond
from tests.mounts import hanging_disk, may_mount

_KRON = (KROND[0], "-c", "from kron.entry_points import kron_main; kron_main()")
_ENOUGH = 6  # seconds of processor time; the attacks take minutes or never end
SOME = f"[jobs.a]\n{NEVER}\ncommand = 'true'\n"


@pytest.fixture
def krond(tmp_path: Path) -> Iterator[Krond]:
    """A krond that reads all files of a directory, in which there is one."""
    folder = tmp_path / "jobs"
    folder.mkdir(mode=0o755)
    made = Krond(folder, SOME)
    made.file, made.state = folder, tmp_path / "state"
    yield made
    if made.process is not None and made.process.poll() is None:
        made.kill()


def limited(*command: str) -> subprocess.CompletedProcess[str]:
    """Run a command that gets little processor time, and little time to wait for anything."""

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_CPU, (_ENOUGH, _ENOUGH))

    return subprocess.run(
        command, capture_output=True, text=True, check=False, timeout=60, preexec_fn=limit, stdin=subprocess.DEVNULL
    )


def test_a_file_that_is_not_regular_is_refused_and_not_waited_for(tmp_path: Path) -> None:
    device, pipe, name = (str(tmp_path / f"{kind}.crontab") for kind in ("device", "pipe", "socket"))
    Path(device).symlink_to("/dev/zero")
    os.mkfifo(pipe)
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(name)

    linted = limited(*_KRON, "lint", device, pipe, name)
    checked = limited(*KROND, "check", "--no-permissions", "--config", str(tmp_path))

    refusals = [f"{path}:1: error: file: is not a regular file; give a file" for path in (device, pipe, name)]
    assert (linted.returncode, linted.stderr.splitlines()) == (1, refusals)
    assert (checked.returncode, checked.stderr.splitlines()) == (1, refusals)


@pytest.mark.slow
def test_a_pipe_in_a_state_directory_is_refused_and_not_waited_for(tmp_path: Path) -> None:
    krond = Krond(tmp_path, f"[jobs.a]\n{NEVER}\ncommand = 'echo hello'\n").start()
    assert krond.ask("trigger", "a", "--wait").returncode == 0
    run_id = krond.json("history")[0]["run_id"]
    assert krond.ask("stop").returncode == 0
    krond.end()
    at = ("--at", "2026-03-02T12:00:00Z")
    reading = (["history"], ["why", "a", *at], ["explain", "a", *at], ["logs", "a"], ["ledger", "check"])
    attacks = {"ledger.db-wal": reading, "output/spools": [["logs", "a"]], f"output/{run_id}.log": [["logs", "a"]]}
    attacks["ledger.db"] = (*reading, ["ledger", "backup", str(tmp_path / "copy")])  # the last: it is overwritten
    for name, commands in attacks.items():
        pipe = krond.state / name
        pipe.unlink(missing_ok=True)
        os.mkfifo(pipe)
        for command in commands:
            found = limited(*KROND, *command, "--state", str(krond.state))

            assert found.returncode in (1, 2), (name, command)
            (line,) = (found.stdout + found.stderr).splitlines()
            assert pipe.name in line
            assert "is not a regular file" in line
        pipe.unlink()


@pytest.fixture
def hanging(krond: Krond) -> Iterator[Callable[[], Path]]:
    """Let the disk of a krond's job files hang. A krond that is started after this fixture is made sees it."""
    if not may_mount():
        pytest.skip("MOUNTING IS NOT ALLOWED HERE: a disk that hangs was not tried")
    with ExitStack() as mounted:
        yield lambda: mounted.enter_context(hanging_disk(krond.file))


@pytest.mark.slow
@needs_root
def test_a_stop_does_not_wait_for_a_reload_whose_disk_hangs(krond: Krond, hanging: Callable[[], Path]) -> None:
    krond.start()
    hanging()
    krond.signal(signal.SIGHUP)
    until(lambda: has_reader(krond))

    found = subprocess.run(
        [*KROND, "stop", "--state", str(krond.state)], capture_output=True, text=True, check=False, timeout=45
    )  # the reload has 60 s

    assert (found.returncode, found.stderr) == (0, "")
    assert krond.end() == 0


def has_reader(krond: Krond) -> bool:
    """Whether a process reads the job files for a krond."""
    assert krond.process is not None
    children = (path.read_text() for path in Path(f"/proc/{krond.process.pid}/task").glob("*/children"))
    commands = (Path(f"/proc/{pid}/cmdline").read_bytes() for each in children for pid in each.split())
    return any(b"kron.hosts.krond.file_reader" in command for command in commands)


@pytest.mark.slow
@needs_root
def test_a_disk_that_hangs_at_the_start_is_one_clear_error(krond: Krond, hanging: Callable[[], Path]) -> None:
    hanging()

    found = krond.ask("run", "--config", str(krond.file))

    said = "the job files could not be read within 60 s: a disk or a network may not answer"
    assert (found.returncode, found.stderr) == (1, f"krond: error: {said}\n")


@pytest.mark.parametrize("blank", ["\v", "\f", "\x1c", "\u2003"])
@pytest.mark.parametrize(("name", "user"), [("jobs.crontab", ""), ("cron.d/jobs", "root ")], ids=["user", "system"])
def test_a_command_of_strange_blanks_is_one_clear_error(tmp_path: Path, name: str, user: str, blank: str) -> None:
    path = tmp_path / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(f"* * * * * {user}{blank}\n", "utf-8")

    found = kron("lint", str(path))

    assert (found.code, found.err) == (1, f"{path}:1: error: command: is required; add it after the schedule\n")


def test_a_command_of_many_backslashes_is_read_in_linear_time(tmp_path: Path) -> None:
    path = tmp_path / "jobs.toml"
    text = "\\\\" * 500_000
    path.write_text(f"[jobs.a]\n{NEVER}\ncommand = '\"{text}\"'\n", "utf-8")

    assert limited(*_KRON, "lint", str(path)).returncode == 0


@pytest.mark.slow
def test_a_file_that_is_removed_from_a_world_writable_directory_takes_no_job_with_it(krond: Krond) -> None:
    krond.start()
    folder = krond.file
    folder.chmod(0o777)
    (folder / "krond.toml").unlink()  # as each user may do now

    answer = krond.ask("reload")

    assert answer.returncode == 1
    assert f"{folder}:1: error: file: is in {folder}, which is world-writable; chmod o-w {folder}" in answer.stderr
    assert [job["name"] for job in krond.json("jobs")] == ["a"]


@pytest.mark.slow
@needs_root
def test_a_directory_of_another_user_adds_no_job(krond: Krond) -> None:
    below = krond.file / "below"
    below.mkdir(mode=0o755)
    (below / "more.toml").write_text(SOME.replace("jobs.a", "jobs.b"))
    os.chown(below, 65534, 65534)

    (failed,) = krond.start().json("status")["failed_files"]

    assert failed["file"] == str(below)
    assert failed["findings"][0]["message"] == f"is in {below}, which belongs to uid 65534"
    assert [job["name"] for job in krond.json("jobs")] == ["a"]


@pytest.mark.slow
def test_a_group_writable_directory_is_warned_about_once(krond: Krond) -> None:
    folder = krond.file
    (folder / "more.toml").write_text(SOME.replace("jobs.a", "jobs.b"))
    folder.chmod(0o775)

    krond.start()

    warnings = [
        each for each in krond.events if each["event"] == "WarningFound" and "group-writable" in each["message"]
    ]
    assert [each["fix"] for each in warnings] == [f"chmod g-w {folder}"]
    assert len(krond.json("jobs")) == 2
