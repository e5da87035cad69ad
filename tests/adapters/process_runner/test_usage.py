"""Who has a file open is known before it is used again, or taken for complete."""

import os
import subprocess
import sys
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


def test_asking_while_others_open_the_file_does_not_end_us(tmp_path: Path) -> None:
    code = (
        "import os, sys, threading\n"
        "from kron.adapters.process_runner.usage import usage\n"
        "def open_it():\n"
        "    for _ in range(2_000_000):\n"
        "        try: os.close(os.open(sys.argv[1], os.O_RDONLY | os.O_NONBLOCK))\n"
        "        except BlockingIOError: return print('refused')\n"
        "thread = threading.Thread(target=open_it)\n"
        "thread.start()\n"
        "while thread.is_alive(): usage(sys.argv[1])\n"
    )
    (tmp_path / "file").touch()

    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path / "file")], capture_output=True, text=True, check=True
    )

    assert "refused" in done.stdout
