"""A disk below a host of jobs that fails for a minute, from any step on: no run is lost."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.crash.disk import Fault
from tests.crash.sqlite_disk import library

_ROOT = Path(__file__).parents[2]
_STRIDE = 3


@pytest.mark.slow
@pytest.mark.parametrize("fault", [Fault.NO_SPACE, Fault.IO_ERROR, Fault.READ_ONLY], ids=lambda fault: fault.value)
def test_with_any_temporary_disk_fault_every_period_has_one_outcome(fault: Fault, quick_folder: Path) -> None:
    if library() is None:
        pytest.skip("SQLITE'S LIBRARY IS NOT A FILE OF ITS OWN HERE: failures below it were not tried")
    command = [sys.executable, "-m", "tests.faults.disk_trial", fault.value, str(_STRIDE), str(quick_folder / "disk")]

    done = subprocess.run(command, cwd=_ROOT, capture_output=True, text=True, check=False)

    assert done.returncode == 0, done.stderr
    trials = [json.loads(line) for line in done.stdout.splitlines()]
    assert [trial for trial in trials if trial["complaints"]] == []
    assert len(trials) >= 10
