"""krond under systemd: the unit is valid, and its assumptions hold."""

import os
import shutil
import signal
import socket
import subprocess
import sys
from configparser import RawConfigParser
from pathlib import Path

import pytest

from tests.hosts.krond.krond_process import Krond

FOLDER = Path(__file__).parents[2] / "packaging" / "systemd"
NEVER = 'schedule = "0 0 29 2 *"'  # so that only triggers run
HERE = str(Path(sys.executable).with_name("krond"))

needs_systemd = pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd-analyze is not installed")

# What systemd.exec(5), systemd.resource-control(5) and systemd.kill(5) have, and what every child has with its parent.
INHERITED = (
    "Protect", "Private", "Restrict", "ReadOnly", "ReadWrite", "Inaccessible", "NoNewPrivileges", "Capability",
    "Ambient", "SystemCall", "LockPersonality", "MemoryDeny", "Limit", "Nice", "CPU", "IOScheduling", "OOMScore",
    "Memory", "IPAddress", "Device", "Dynamic", "Root", "Bind", "Secure", "Keyring",
)  # fmt: skip


def unit(*, user: bool, folder: Path) -> Path:
    """Write the unit, for a user with the drop-in, as it would be with the krond of these tests; return its path."""
    path = folder / "krond.service"
    path.write_text((FOLDER / "krond.service").read_text("utf-8").replace("/usr/local/bin/krond", HERE), "utf-8")
    if user:
        extra = folder / "krond.service.d" / "user.conf"
        extra.parent.mkdir()
        extra.write_text((FOLDER / "user.conf").read_text("utf-8").replace("%h/.local/bin/krond", HERE), "utf-8")
    return path


def keys() -> RawConfigParser:
    parser = RawConfigParser(strict=True)
    parser.optionxform = str  # type: ignore[assignment,method-assign] # the way to keep capitals
    parser.read(FOLDER / "krond.service", "utf-8")
    return parser


@needs_systemd
@pytest.mark.parametrize("manager", ["--system", "--user"])
def test_systemd_understands_every_line(manager: str, tmp_path: Path) -> None:
    path = unit(user=manager == "--user", folder=tmp_path)
    environment = {**os.environ, "XDG_RUNTIME_DIR": str(tmp_path)}

    command = ["systemd-analyze", manager, "--man=no", "verify", str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)

    assert (done.returncode, done.stderr) == (0, "")


def test_nothing_of_the_unit_reaches_the_jobs() -> None:
    said = keys()["Service"]

    assert [key for key in said if key.startswith(INHERITED)] == []
    assert said["KillMode"] == "process"
    assert said["OOMPolicy"] == "continue"


def test_the_state_directory_of_the_unit_is_one_that_krond_takes() -> None:
    said = keys()["Service"]

    assert said["StateDirectoryMode"] == "0700"
    assert f"--state /var/lib/{said['StateDirectory']}" in said["ExecStart"]
    assert f"--state /var/lib/{said['StateDirectory']}" in said["ExecReload"]


def test_krond_notifies_systemd_when_it_is_ready_and_when_it_stops(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
        manager.bind(str(tmp_path / "notify"))
        monkeypatch.setenv("NOTIFY_SOCKET", str(tmp_path / "notify"))
        krond = Krond(tmp_path, f'[jobs.a]\n{NEVER}\ncommand = "true"\n').start()
        ready = manager.recv(100)
        krond.signal(signal.SIGTERM)
        stopping = manager.recv(100)

    assert krond.end() == 0
    assert (ready, stopping) == (b"READY=1", b"STOPPING=1")


def test_a_job_has_neither_the_umask_of_krond_nor_the_address_of_systemd(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NOTIFY_SOCKET", "@unused")
    before = os.umask(0o077)
    try:
        krond = Krond(tmp_path, f'[jobs.a]\n{NEVER}\nshell = true\ncommand = "umask; env"\n').start()
    finally:
        os.umask(before)

    krond.ask("trigger", "a", "--wait")
    said = krond.ask("logs", "a").stdout
    krond.ask("stop")

    assert krond.end() == 0
    assert said.startswith("0022\n")
    assert "NOTIFY_SOCKET" not in said


def test_a_host_without_a_job_yet_can_start_the_service(tmp_path: Path) -> None:
    krond = Krond(tmp_path, "")

    krond.start()
    krond.signal(signal.SIGTERM)

    assert krond.end() == 0
