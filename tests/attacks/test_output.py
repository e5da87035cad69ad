"""A job's output cannot exhaust the disk, time or memory of other users."""

import json
import os
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from kron.adapters.process.output import OutputLog
from kron.adapters.process.output_collector import RunOutput
from kron.adapters.process.spool import STREAMS, Spool, SpoolFiles
from kron.adapters.process.syslog import Syslog
from tests.adapters.process.recorded_runner import UNPRIVILEGED_USER, needs_root
from tests.adapters.process.test_spool import allocate
from tests.faults.conftest import NewKrond
from tests.hosts.krond.krond_process import KROND, NEVER, Krond
from tests.web.page_client import PageClient

pytestmark = [needs_root, pytest.mark.slow]
MEBIBYTE = 1 << 20
PYTHON = "/usr/bin/python3"  # one that every user can execute
needs_python = pytest.mark.skipif(not Path(PYTHON).exists(), reason=f"NEEDS {PYTHON}")
OTHER = f"[jobs.other]\n{NEVER}\ncommand = 'echo hello'\nshell = true\n"


@pytest.fixture
def public_folder() -> Iterator[Path]:
    """A folder in which every user can write."""
    with tempfile.TemporaryDirectory(prefix="kron-") as name:
        folder = Path(name)
        folder.chmod(0o777)
        yield folder


def attacker(*command: str, limit: str = "1MiB") -> str:
    """Return a job of an ordinary user, beside one of another user."""
    keys = f"user = '{UNPRIVILEGED_USER}'\noutput_limit = '{limit}'\ncommand = {json.dumps(command)}\n"
    return f"[jobs.attacker]\n{NEVER}\n{keys}{OTHER}"


def until(claim: Callable[[], Any], seconds: float = 60) -> Any:
    """Return what a claim says as soon as it is true."""
    end = time.monotonic() + seconds
    while not (found := claim()):
        assert time.monotonic() < end, "it did not become true"
        time.sleep(0.02)  # a process outside is waited for
    return found


def used(state: Path) -> int:
    """Return how many bytes of its disk are used."""
    facts = os.statvfs(state)
    return (facts.f_blocks - facts.f_bfree) * facts.f_frsize


def last(krond: Krond, job: str) -> dict[str, Any]:
    found: dict[str, Any] = krond.json("history", job)[-1]
    return found


def test_blocks_beyond_the_end_of_output_are_freed_while_the_run_lives(
    new_krond: NewKrond, small_disk: Callable[[str], Path], public_folder: Path
) -> None:
    state, taken = small_disk("128m"), public_folder / "taken"
    grab = f"until fallocate -n -l 110M /proc/self/fd/1; do sleep 0.1; done; touch {taken}; exec sleep 1000"
    krond = new_krond(attacker("sh", "-c", grab)).start()
    krond.ask("trigger", "attacker")
    until(taken.exists)

    for _ in range(3):
        assert krond.ask("trigger", "other", "--wait").returncode == 0

    until(lambda: used(state) < 32 * MEBIBYTE)
    assert last(krond, "attacker")["state"] == "running"


def test_a_job_that_takes_the_whole_disk_again_and_again_is_killed_and_stops_no_other_job(
    new_krond: NewKrond, small_disk: Callable[[str], Path]
) -> None:
    state = small_disk("128m")
    script = "trap '' TERM; while :; do fallocate -n -l 110M /proc/self/fd/1; sleep 0.1; done"
    krond = new_krond(attacker("sh", "-c", script)).start()
    run_id = krond.ask("trigger", "attacker").stdout.strip()

    killed = krond.wait_for("RunKilled")

    assert (killed["run_id"], "output_limit" in killed["reason"]) == (run_id, True)
    until(lambda: last(krond, "attacker")["state"] != "running")
    assert (last(krond, "attacker")["result"], last(krond, "attacker")["signal"]) == ("failed", "SIGKILL")
    assert "[krond: the job allocated disk space" in krond.ask("logs", run_id).stdout
    until(lambda: used(state) < 32 * MEBIBYTE)
    assert krond.ask("trigger", "other", "--wait").returncode == 0


def test_the_space_of_a_run_is_free_after_its_end_and_no_file_is_used_again(
    new_krond: NewKrond, small_disk: Callable[[str], Path]
) -> None:
    state = small_disk("128m")
    script = "fallocate -n -l 100M /proc/self/fd/1; ls -l /proc/self/fd/1 >&2"
    krond = new_krond(attacker("sh", "-c", script)).start()

    for _ in range(3):
        assert krond.ask("trigger", "attacker", "--wait").returncode == 0

    until(lambda: used(state) < 32 * MEBIBYTE)
    files = {krond.ask("logs", str(row["run_id"])).stdout for row in krond.json("history", "attacker")}
    assert len(files) == 3


def test_a_stream_that_the_full_disk_has_no_room_for_does_not_keep_what_the_other_has_allocated(
    small_disk: Callable[[str], Path],
) -> None:
    state = small_disk("8m")
    files = SpoolFiles(state / "output")
    files.open()
    taken = [files.take() for _ in STREAMS]
    spools = [Spool(name, "run", stream, MEBIBYTE) for stream, (name, _) in zip(STREAMS, taken, strict=True)]
    files.assign(spools)
    output = RunOutput(state / "output", spools, Syslog())
    stdout, stderr = (descriptor for _, descriptor in taken)
    allocate(stdout, 0, MEBIBYTE // 2)
    allocate(stderr, 0, os.statvfs(state).f_bavail * os.statvfs(state).f_frsize)
    os.write(stdout, b"x" * (MEBIBYTE // 2))  # it is on the disk, and its log would not be

    with suppress(OSError):
        output.collect(1)

    output.collect(2)
    assert used(state) < 2 * MEBIBYTE
    for _, descriptor in taken:
        os.close(descriptor)
    assert output.finish(3)
    assert len(OutputLog(state / "output", "run").read().text()) == MEBIBYTE // 2


_LEASES = """
import fcntl, os, sys, time
name = os.open("/proc/self/fd/1", os.O_PATH)
if os.fork():
    os._exit(0)
os.setsid()
null = os.open(os.devnull, os.O_RDWR)
for number in (0, 1, 2):
    os.dup2(null, number)
said = open(sys.argv[1], "w", buffering=1)
for _ in range(400):
    for flags in (os.O_RDONLY, os.O_WRONLY):
        try:
            held = os.open(f"/proc/self/fd/{name}", flags)
            fcntl.fcntl(held, fcntl.F_SETLEASE, fcntl.F_RDLCK if flags == os.O_RDONLY else fcntl.F_WRLCK)
            print("lease", flags, file=said)
        except OSError as error:
            print(error.strerror, file=said)
    time.sleep(0.01)
print("over", file=said)
"""


@needs_python
def test_a_lease_on_old_output_delays_no_start(new_krond: NewKrond, public_folder: Path) -> None:
    said = public_folder / "said"
    krond = new_krond(attacker(PYTHON, "-c", _LEASES, str(said))).start()
    krond.ask("trigger", "attacker", "--wait")
    begun = time.monotonic()

    for _ in range(4):
        assert krond.ask("trigger", "other", "--wait").returncode == 0

    assert time.monotonic() - begun < 45, "a lease is broken after 45 s: krond has waited for it"
    until(lambda: said.read_text().endswith("over\n"))
    assert "lease" not in said.read_text()


@needs_python
def test_a_process_that_a_run_left_behind_cannot_write_to_its_complete_output(
    new_krond: NewKrond, public_folder: Path
) -> None:
    said = public_folder / "said"
    krond = new_krond(attacker(PYTHON, "-c", _LEASES, str(said))).start()

    krond.ask("trigger", "attacker", "--wait")

    until(lambda: said.exists() and said.read_text().endswith("over\n"))
    assert said.read_text().splitlines()[-3:] == ["Permission denied"] * 2 + ["over"]


def bytes_read(krond: Krond) -> int:
    """Return how many bytes a krond has read from files in its life."""
    assert krond.process is not None
    text = Path(f"/proc/{krond.process.pid}/io").read_text()
    return int(text.split("rchar:")[1].split()[0])


@pytest.mark.parametrize("limit", ["1MiB", "1GiB"])
def test_sparse_output_costs_krond_and_its_page_no_reading(new_krond: NewKrond, limit: str) -> None:
    script = "echo begin; truncate -s 100G /dev/stdout; sleep 1; truncate -s 200G /dev/stdout; echo end; sleep 1000"
    options = ("--listen", "127.0.0.1:0")
    krond = new_krond(attacker("sh", "-c", script, limit=limit), options=options).start()
    run = krond.ask("trigger", "attacker").stdout.strip()
    visitor, before = PageClient(krond), bytes_read(krond)

    until(lambda: "end" in visitor.get(f"/runs/{run}").words.partition("Output")[2])
    text = visitor.get(f"/runs/{run}/output").body

    assert bytes_read(krond) - before < 64 * MEBIBYTE
    assert text.splitlines()[-1] == "end"
    assert len(text) < 16_384  # a block of zeros follows what was written


def test_the_page_of_a_run_reads_the_tail_of_its_output_only(new_krond: NewKrond) -> None:
    script = "head -c 300000000 /dev/urandom"
    krond = new_krond(attacker("sh", "-c", script, limit="1GiB"), options=("--listen", "127.0.0.1:0")).start()
    krond.ask("trigger", "attacker", "--wait")
    run = str(last(krond, "attacker")["run_id"])
    visitor = PageClient(krond)
    until(lambda: OutputLog(krond.state / "output", run).tail(0).is_final)  # krond has read it once, to collect it
    before = bytes_read(krond)

    for _ in range(3):
        assert "300000000 bytes" in visitor.get(f"/runs/{run}").words

    assert bytes_read(krond) - before < 8 * MEBIBYTE


def test_an_output_limit_above_one_gibibyte_is_refused_with_the_largest_one(tmp_path: Path) -> None:
    krond = Krond(tmp_path, attacker("true", limit="2GiB"))

    command = [*KROND, "check", "--config", str(krond.file)]
    found = subprocess.run(command, capture_output=True, text=True, check=False)

    assert found.returncode == 1
    assert "output_limit" in found.stdout + found.stderr
    assert "must be at most 1GiB" in found.stdout + found.stderr
