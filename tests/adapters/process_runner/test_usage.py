"""Who has a file open is known before it is used again, or taken for complete."""

import os
from pathlib import Path

import pytest

from kron.adapters.process_runner.usage import Usage, usage

FILES = {"empty": (b"", Usage.EMPTY), "full": (b"x", Usage.FREE)}


@pytest.fixture(params=FILES)
def file(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    path = tmp_path / str(request.param)
    path.write_bytes(FILES[path.name][0])
    return path


def test_nobody_has_it(file: Path) -> None:
    assert usage(file) is FILES[file.name][1]
    assert usage(file) is FILES[file.name][1]  # asking changes nothing


@pytest.mark.parametrize("flags", [os.O_WRONLY, os.O_RDWR, os.O_WRONLY | os.O_APPEND])
def test_somebody_can_write(file: Path, flags: int) -> None:
    descriptor = os.open(file, flags)

    assert usage(file) is Usage.WRITTEN

    os.close(descriptor)


def test_somebody_can_only_read(file: Path) -> None:
    descriptor = os.open(file, os.O_RDONLY)

    assert usage(file) is Usage.READ

    os.close(descriptor)


def test_it_has_another_name(file: Path) -> None:
    (file.parent / "other").hardlink_to(file)

    assert usage(file) is Usage.READ


def test_it_has_gone(tmp_path: Path) -> None:
    assert usage(tmp_path / "nowhere") is Usage.READ
