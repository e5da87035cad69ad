"""What the fault tests share: kronds that are gone afterwards, with all their children, and small disks."""

import os
import signal
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.crash.conftest import quick_folder
from tests.faults.chores import living
from tests.hosts.krond.daemon import Krond

__all__ = ["new_krond", "quick_folder", "small_disk"]
NewKrond = Callable[..., Krond]


@pytest.fixture
def new_krond(tmp_path: Path) -> Iterator[NewKrond]:
    """Make a krond, which is not started yet."""
    made: list[Krond] = []

    def make(jobs: str, **how: Any) -> Krond:
        made.append(Krond(tmp_path, jobs, **how))
        return made[-1]

    yield make
    for krond in made:
        if krond.process is not None and krond.process.poll() is None:
            krond.kill()
        for pid in living(krond.file).values():
            os.kill(pid, signal.SIGKILL)


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Callable[[str], Path]]:
    """Mount a disk of some size where a krond has its state."""
    state = tmp_path / "state"
    mounted: list[Path] = []

    def mount(size: str) -> Path:
        state.mkdir(mode=0o700)
        options = f"size={size},mode=0700"
        done = subprocess.run(["mount", "-t", "tmpfs", "-o", options, "kron", state], check=False, capture_output=True)
        if done.returncode:
            pytest.skip("NOBODY MAY MOUNT A DISK HERE: what a full one does to krond was not tried")
        mounted.append(state)
        return state

    yield mount
    for path in mounted:
        subprocess.run(["umount", "--lazy", path], check=True)
