"""Fixtures of the process tests."""

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest


@pytest.fixture
def public_folder() -> Iterator[Path]:
    """A folder that every user can reach, which pytest's own are not."""
    folder = Path(tempfile.mkdtemp(prefix="kron-", dir="/tmp"))
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder)
