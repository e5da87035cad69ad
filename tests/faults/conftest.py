"""Fixtures of the fault tests: krond processes that are removed with all their children, and small disks."""

import os
import signal
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from tests.crash.conftest import quick_folder
from tests.faults.recording_jobs import living
from tests.hosts.krond.krond_process import Krond
from tests.mounts import mounted_disk

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
    with ExitStack() as mounted:

        def mount(size: str) -> Path:
            state.mkdir(mode=0o700)
            return mounted.enter_context(mounted_disk(state, f"size={size},mode=0700"))

        yield mount
