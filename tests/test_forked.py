"""A forked command answers, fails and ends like one in a fresh Python."""

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests import forked
from tests.forked import Forked
from tests.mounts import may_mount

CALLS = {
    "an answer": ("kron", "next", "0 0 29 2 *", "--from", "2026-01-01T00:00:00Z", "--count", "2"),
    "an error": ("kron", "next", "61 * * * *"),
    "wrong usage": ("krond", "status", "--nothing"),
    "no krond": ("krond", "status", "--state", "/nowhere"),
    "help": ("kron-operator", "run", "--help"),
    "the version": ("krond", "--version"),
}
_MOUNTING = """
import sys
from pathlib import Path
from tests import forked
from tests.mounts import mounted_disk

forked.run("kron", "--version")
with mounted_disk(Path(sys.argv[1]), "size=1m") as disk:
    (disk / "crontab").write_text("30 4 * * * backup\\n", "utf-8")
    print(forked.run("kron", "import", "crontab", str(disk / "crontab")).stdout)
"""


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_a_forked_command_answers_as_one_in_a_fresh_python(call: tuple[str, ...]) -> None:
    program, *words = call
    main = f"{program.replace('-', '_')}_main"
    fresh = [sys.executable, "-c", f"from kron.entry_points import {main}; {main}()", *words]
    wanted = subprocess.run(fresh, capture_output=True, text=True, check=False)

    found = forked.run(program, *words)

    assert (found.returncode, found.stdout, found.stderr) == (wanted.returncode, wanted.stdout, wanted.stderr)


def test_a_forked_command_reads_its_input_and_has_the_folder_of_the_test(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "crontab").write_text("30 4 * * * backup\n", "utf-8")

    from_a_file = forked.run("kron", "import", "crontab", "crontab")
    from_its_input = forked.run("kron", "import", "crontab", "-", stdin="30 4 * * * backup\n")

    assert (from_a_file.returncode, from_its_input.returncode) == (0, 0)
    assert '"30 4 * * *"' in from_a_file.stdout
    assert from_a_file.stdout.startswith(from_its_input.stdout)  # what came from a file has an identity, too


def test_a_forked_command_has_an_exit_code_when_a_signal_ends_it() -> None:
    with Forked("kron", "import", "crontab", "-", pipes="stdin stdout stderr") as process:
        before = process.poll()
        process.kill()

        code = process.wait()

    assert (before, code) == (None, -signal.SIGKILL)


def test_a_forked_command_sees_a_disk_that_was_mounted_after_the_first_command(tmp_path: Path) -> None:
    if not may_mount():
        pytest.skip("MOUNTING IS NOT ALLOWED HERE: what a forked command sees of a disk was not tried")
    (tmp_path / "disk").mkdir()

    found = subprocess.run([sys.executable, "-c", _MOUNTING, str(tmp_path / "disk")], capture_output=True, text=True)

    assert '"30 4 * * *"' in found.stdout, found.stderr
