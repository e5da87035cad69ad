"""Spool files are used once, closed before they are removed, and hold no blocks beyond their end."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from kron.adapters.process.spool import (
    Spool,
    SpoolFiles,
    beyond_end,
    data_from,
    free_beyond_end,
    punch_hole,
    read_spools,
    seal,
)
from tests.adapters.process.recorded_runner import needs_root

MEBIBYTE = 1 << 20
PYTHON = "/usr/bin/python3"  # one that every user can execute


@pytest.fixture
def files(tmp_path: Path) -> SpoolFiles:
    files = SpoolFiles(tmp_path / "output")
    files.open()
    return files


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "file"
    path.write_bytes(b"x" * 10_000)
    return path


def taken(files: SpoolFiles) -> str:
    name, descriptor = files.take()
    os.close(descriptor)
    return name


# --- who can write ----------------------------------------------------------------------------------------------------


def test_a_file_that_no_process_has_open_can_be_sealed_again_and_again(file: Path) -> None:
    assert seal(file)
    assert seal(file)
    assert file.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("flags", [os.O_WRONLY, os.O_RDWR, os.O_WRONLY | os.O_APPEND])
def test_a_file_that_a_process_can_write_is_not_sealed(file: Path, flags: int) -> None:
    file.chmod(0o666)
    descriptor = os.open(file, flags)

    assert not seal(file)

    os.close(descriptor)
    assert file.stat().st_mode & 0o777 == 0o666
    assert seal(file)


def test_a_process_that_can_only_read_does_not_matter(file: Path) -> None:
    descriptor = os.open(file, os.O_RDONLY)

    assert seal(file)

    os.close(descriptor)


def test_a_file_that_has_gone_is_written_by_no_process(tmp_path: Path) -> None:
    assert seal(tmp_path / "nowhere")


def test_sealing_while_others_open_the_file_does_not_end_us(file: Path) -> None:
    code = (
        "import os, pathlib, sys, threading\n"
        "from kron.adapters.process.spool import seal\n"
        "def open_it():\n"
        "    for _ in range(2_000_000):\n"
        "        try: os.close(os.open(sys.argv[1], os.O_WRONLY | os.O_NONBLOCK))\n"
        "        except BlockingIOError: return print('refused')\n"
        "thread = threading.Thread(target=open_it)\n"
        "thread.start()\n"
        "while thread.is_alive(): seal(pathlib.Path(sys.argv[1]))\n"
    )

    done = subprocess.run([sys.executable, "-c", code, str(file)], capture_output=True, text=True, check=True)

    assert "refused" in done.stdout


@needs_root
@pytest.mark.skipif(not Path(PYTHON).exists(), reason=f"NEEDS {PYTHON}")
def test_a_user_can_open_its_output_until_it_is_sealed_and_take_no_lease_on_it(files: SpoolFiles) -> None:
    code = (
        "import fcntl, os, sys\n"
        "name = os.open('/proc/self/fd/1', os.O_PATH)\n"
        "held = os.open(f'/proc/self/fd/{name}', os.O_RDWR)\n"
        "try: fcntl.fcntl(held, fcntl.F_SETLEASE, fcntl.F_WRLCK)\n"
        "except OSError as error: print(error.strerror, file=sys.stderr, flush=True)\n"
        "os.close(held); os.close(1); sys.stdin.readline()\n"
        "try: os.open(f'/proc/self/fd/{name}', os.O_WRONLY)\n"
        "except OSError as error: print(error.strerror, file=sys.stderr, flush=True)\n"
    )
    name, descriptor = files.take()
    pipe = subprocess.PIPE
    with subprocess.Popen(
        [PYTHON, "-c", code], stdin=pipe, stdout=descriptor, stderr=pipe, user="nobody", text=True
    ) as process:
        os.close(descriptor)
        assert process.stderr is not None
        assert process.stderr.readline() == "Permission denied\n"
        while not seal(files.live / name):
            pass
        said = process.communicate("go\n")[1]

    assert said == "Permission denied\n"


# --- what is on the disk ----------------------------------------------------------------------------------------------


def allocate(descriptor: int, offset: int, length: int) -> None:
    command = ["fallocate", "-n", "-o", str(offset), "-l", str(length), f"/proc/self/fd/{descriptor}"]
    subprocess.run(command, pass_fds=[descriptor], check=True)


@pytest.mark.parametrize("offset", [0, 10_000, 1 << 40], ids=["at once", "behind the end", "far behind the end"])
def test_blocks_beyond_the_end_are_freed_and_the_data_stays(file: Path, offset: int) -> None:
    descriptor = os.open(file, os.O_RDWR)
    allocate(descriptor, offset, 16 * MEBIBYTE)
    assert beyond_end(os.fstat(descriptor), 0) > 15 * MEBIBYTE

    free_beyond_end(descriptor, 0, MEBIBYTE)

    assert beyond_end(os.fstat(descriptor), 0) < MEBIBYTE
    os.close(descriptor)
    assert file.read_bytes() == b"x" * 10_000


def test_read_data_is_a_hole_and_later_data_is_found(file: Path) -> None:
    descriptor = os.open(file, os.O_RDWR)

    assert punch_hole(descriptor, 8192)

    assert data_from(descriptor, 0, 10_000) == 8192
    assert data_from(descriptor, 9_000, 10_000) == 9_000
    assert os.fstat(descriptor).st_size == 10_000
    os.close(descriptor)


# --- which file is whose ----------------------------------------------------------------------------------------------


def test_a_number_is_never_used_twice_also_by_the_next_daemon(files: SpoolFiles) -> None:
    first = taken(files)
    files.assign([Spool(first, "a", "stdout", 10)])
    (files.live / first).unlink()
    again = SpoolFiles(files.folder)
    again.open()

    second = taken(again)

    assert second != first
    assert read_spools(files.folder) == []


def test_files_that_no_run_has_are_removed_by_the_next_daemon(files: SpoolFiles) -> None:
    files.stock(5)
    spool = Spool(taken(files), "../a b/.é", "stderr", None)
    files.assign([spool])

    assert SpoolFiles(files.folder).open() == [spool]
    assert [path.name for path in files.live.iterdir()] == [spool.name]


def test_a_line_that_a_crash_cut_off_does_not_count(files: SpoolFiles) -> None:
    spool = Spool(taken(files), "a", "stdout", 10)
    files.assign([spool])
    with (files.folder / "spools").open("a") as lines:
        lines.write(f"{spool.name} b stdo")

    assert read_spools(files.folder) == [spool]


def test_lines_of_runs_that_are_over_are_left_out_of_a_long_file(files: SpoolFiles) -> None:
    name = taken(files)
    files.assign(Spool("0", "over", "stdout", 10) for _ in range(20_000))
    files.assign([Spool(name, "a", "stdout", 10)])

    assert (files.folder / "spools").read_text() == f"{name} a stdout 10\n"
