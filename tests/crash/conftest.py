"""Fixtures of the crash tests: a fork server, and a folder on a disk that syncs quickly."""

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.crash.fork_server import ForkServer

_MEMORY = Path("/dev/shm")


@pytest.fixture(scope="session")
def fork_server() -> Iterator[ForkServer]:
    """A process that forks children."""
    with ForkServer() as fork_server:
        yield fork_server


@pytest.fixture
def quick_folder(tmp_path: Path) -> Iterator[Path]:
    """A folder in memory where there is one: SIGKILL does not touch what a disk would still have to write."""
    if not _MEMORY.is_dir():
        yield tmp_path
        return
    folder = Path(tempfile.mkdtemp(prefix="kron-", dir=_MEMORY))
    yield folder
    shutil.rmtree(folder)
