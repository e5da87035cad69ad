"""Files and sockets of other users in krond's way: krond names the fault, trusts none, and admits no client."""

import socket
import subprocess
import sys
from pathlib import Path

import pytest

from kron.adapters.unix_socket import short_address
from tests.adapters.process.recorded_runner import needs_root
from tests.faults.conftest import NewKrond
from tests.hosts.krond.krond_process import NEVER, Krond

_SQUATTER = """
import os, socket
os.setuid(65534)
listening = socket.socket(socket.AF_UNIX)
listening.bind("control.sock")
listening.listen()
print("listening", flush=True)
print(listening.accept()[0].recv(1000), flush=True)
"""


@pytest.fixture
def krond(new_krond: NewKrond) -> Krond:
    return new_krond(f"[jobs.a]\n{NEVER}\ncommand = 'true'\n")


def refusal(krond: Krond) -> tuple[int, str]:
    """Return how a krond ends that cannot start, and what it says."""
    found = krond.ask("run", "--config", str(krond.file))
    return found.returncode, found.stderr.removesuffix("\n")


def test_a_job_file_that_everybody_may_write_is_not_obeyed(krond: Krond) -> None:
    krond.file.chmod(0o666)

    (failed,) = krond.start().json("status")["failed_files"]

    assert failed["file"] == str(krond.file)
    assert failed["findings"][0]["message"] == "is world-writable"
    assert krond.json("jobs") == []


def test_a_state_directory_that_is_a_link_is_refused(krond: Krond, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir(mode=0o700)
    krond.state.symlink_to(tmp_path / "elsewhere")

    code, said = refusal(krond)

    assert (code, said.partition(";")[0]) == (1, f"krond: error: State directory {krond.state} is a link")
    assert list((tmp_path / "elsewhere").iterdir()) == []


def test_a_job_of_a_user_that_does_not_exist_fails_its_file(krond: Krond) -> None:
    krond.write(f"[jobs.a]\n{NEVER}\ncommand = 'true'\nuser = 'no-such-user'\n")

    (failed,) = krond.start().json("status")["failed_files"]

    (finding,) = failed["findings"]
    assert (finding["line"], finding["field"]) == (4, "jobs.a.user")
    assert "no-such-user" in finding["message"]


def test_a_socket_that_a_dead_krond_has_left_is_replaced(krond: Krond) -> None:
    krond.start().kill()
    assert (krond.state / "control.sock").is_socket()

    assert krond.start().json("status")["ready"]


def test_a_socket_with_a_foreign_listener_is_replaced(krond: Krond) -> None:
    krond.state.mkdir(mode=0o700)
    with socket.socket(socket.AF_UNIX) as squatter:
        with short_address(krond.state / "control.sock") as address:
            squatter.bind(address)
        squatter.listen()

        assert krond.start().json("status")["ready"]


def test_a_directory_in_place_of_the_socket_is_named(krond: Krond) -> None:
    (krond.state / "control.sock").mkdir(parents=True)
    krond.state.chmod(0o700)

    code, said = refusal(krond)

    problem = f"cannot be used: {krond.state / 'control.sock'}: Is a directory"
    assert (code, said) == (1, f"krond: error: State directory {krond.state} {problem}")


@needs_root
def test_a_command_sends_nothing_to_a_squatter_of_the_socket(krond: Krond) -> None:
    krond.state.mkdir()
    krond.state.chmod(0o1777)  # another user may create it first
    command = [sys.executable, "-I", "-S", "-c", _SQUATTER]
    with subprocess.Popen(command, cwd=krond.state, stdout=subprocess.PIPE, text=True) as squatter:
        assert squatter.stdout is not None
        assert squatter.stdout.readline() == "listening\n"

        found = krond.ask("trigger", "a")

        assert found.returncode == 1
        assert "uid 65534 answers on" in found.stderr
        assert squatter.stdout.readline() == "b''\n"
