"""The command with full disks, closed pipes, other encodings and plain terminals."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.kron_runner import kron, kron_on_a_terminal

COMMAND = [sys.executable, "-m", "kron"]


def run(*arguments: str, **options: object) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run([*COMMAND, *arguments], stderr=subprocess.PIPE, check=False, **options)  # type: ignore[call-overload,no-any-return] # as given


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
def test_a_full_disk_is_one_clear_error() -> None:
    with Path("/dev/full").open("wb") as full:
        done = run("explain", "* * * * *", stdout=full)

    assert done.returncode == 2
    assert done.stderr == b"kron: error: cannot read or write: No space left on device\n"


def test_a_reader_that_goes_away_is_no_traceback() -> None:
    pipe = subprocess.Popen(["head", "-1"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)
    assert pipe.stdin is not None
    done = run("next", "* * * * *", "--count", "20000", "--json", stdout=pipe.stdin)
    pipe.stdin.close()
    pipe.wait()

    assert b"Traceback" not in done.stderr


def test_a_character_that_the_terminal_lacks_is_shown_by_its_number() -> None:
    environment = {**os.environ, "PYTHONIOENCODING": "latin-1"}

    done = run("next", "@daily @seed(daily,salt=€)", "--count", "1", "--json", stdout=subprocess.PIPE, env=environment)

    assert done.returncode == 0
    assert b"\\u20ac" in done.stdout


def test_a_record_that_is_not_utf_8_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "record"
    file.write_bytes(b"\xff\xfe{")

    answer = kron("explain", "--replay", str(file))

    assert answer.code == 2
    assert answer.err.startswith("kron: error: Invalid decision: text is not JSON")


def test_no_colour_is_shown_where_it_is_not_wanted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")

    assert "\x1b[1m" not in kron_on_a_terminal("next", "0 9 * * *", "--count", "2")


def test_a_message_does_not_pass_control_characters_on() -> None:
    answer = kron("next", "0 9 * * *", "--from", "a\x1b[2J")

    assert "\x1b" not in answer.err


@pytest.mark.parametrize("command", ["lint", "explain"])
def test_a_window_of_centuries_is_answered_at_once(command: str) -> None:
    answer = kron(command, "* * * * * @win(after,2500000h) @only(hours=1)")

    assert answer.code == 0


def test_a_posix_line_can_be_linted() -> None:
    answer = kron("lint", "--dialect", "posix", "*/15 * * * *")

    assert answer.code == 1
    assert "which is not POSIX" in answer.err
