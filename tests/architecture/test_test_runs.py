"""A killed test run leaves nothing behind, and pytest inside a test reports its result."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.adapters.process.recorded_runner import needs_root
from tests.mutation import PROJECT, NestedRun, run_pytest

MOUNTS = """
import sys, time
from pathlib import Path
from tests.mounts import mounted_disk
with mounted_disk(Path(sys.argv[1]), "size=1m"):
    print("mounted", flush=True)
    time.sleep(1000)
"""
WRITES = "import tempfile\ndef test_it(tmp_path): print(tmp_path); assert not tmp_path"
CRASHES = "import os\ndef test_it(): os._exit(3)"
RAISES = "import pytest\n@pytest.fixture\ndef broken(): raise OSError('no disk')\ndef test_it(broken): pass"

ASYNC = """
import asyncio, pytest
@pytest.mark.parametrize("number", [1])
async def test_it(number, tmp_path):
    await asyncio.get_running_loop().run_in_executor(None, tmp_path.iterdir)
    assert (number == 1) is {ok}
"""


def nested(folder: Path, code: str, *options: str) -> NestedRun:
    file = folder / "test_nested.py"
    file.write_text(code)
    return run_pytest(str(file), folder, ("-p", "no:warnings", f"--rootdir={folder}", *options))


@needs_root
def test_a_small_disk_is_gone_when_the_process_that_mounted_it_is_killed(tmp_path: Path) -> None:
    command = [sys.executable, "-c", MOUNTS, str(tmp_path)]
    with subprocess.Popen(command, cwd=PROJECT, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        if process.stdout.readline() != "mounted\n":
            pytest.skip("MOUNTING IS NOT ALLOWED HERE: what a killed run leaves behind was not tried")
        process.send_signal(signal.SIGKILL)

    assert not os.path.ismount(tmp_path)


def test_a_nested_run_has_a_temporary_folder_of_its_own(tmp_path: Path) -> None:
    found = nested(tmp_path, WRITES)

    assert found.is_red
    assert f"{tmp_path}/temporary/" in found.output


@pytest.mark.parametrize("code", [CRASHES, RAISES, "syntax error", ""])
def test_a_nested_run_that_crashes_is_neither_red_nor_green(tmp_path: Path, code: str) -> None:
    found = nested(tmp_path, code)

    assert not found.is_red
    assert not found.is_green


def test_a_test_that_waits_for_ever_fails(tmp_path: Path) -> None:
    conftest = (PROJECT / "tests" / "conftest.py").read_text("utf-8")
    (tmp_path / "conftest.py").write_text(conftest.replace("LONGEST = 900", "LONGEST = 1"))

    found = nested(tmp_path, "def test_it():\n    while True: pass")

    assert found.is_red
    assert "it has not ended within 1 s" in found.output


@pytest.mark.parametrize("ok", [True, False])
def test_an_async_test_is_run_with_its_fixtures_and_parameters(tmp_path: Path, *, ok: bool) -> None:
    (tmp_path / "conftest.py").write_text((PROJECT / "tests" / "conftest.py").read_text("utf-8"))

    found = nested(tmp_path, ASYNC.format(ok=ok))

    assert (found.is_green, found.is_red) == (ok, not ok)


def test_an_async_test_that_waits_for_ever_fails(tmp_path: Path) -> None:
    conftest = (PROJECT / "tests" / "conftest.py").read_text("utf-8")
    (tmp_path / "conftest.py").write_text(conftest.replace("LONGEST_ASYNC = 120", "LONGEST_ASYNC = 0.1"))

    found = nested(tmp_path, "import asyncio\nasync def test_it(): await asyncio.Event().wait()")

    assert found.is_red
    assert "TimeoutError" in found.output
