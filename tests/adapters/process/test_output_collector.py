"""Tests of OutputCollector: it handles every run, with many threads calling it at once."""

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from threading import Barrier, Thread

import pytest

from kron.adapters.process.output import OutputLog
from kron.adapters.process.output_collector import OutputCollector, RunOutput
from kron.adapters.process.spool import Spool, drop_attributes
from kron.adapters.process.syslog import Syslog
from tests.mounts import mounted_disk

ROUNDS, THREADS = 4000, 4  # a thread that could miss a word did so within 1,200 rounds


@pytest.fixture
def collector(tmp_path: Path) -> Iterator[OutputCollector]:
    collector = OutputCollector(tmp_path, lambda: False, lambda _run_id, _lines: None)
    collector.start()
    yield collector
    collector.close()


@pytest.fixture
def many_turns() -> Iterator[None]:
    """Threads interrupt each other wherever they can."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


@pytest.mark.slow
@pytest.mark.usefixtures("many_turns")
def test_a_collector_without_runs_hears_threads_that_speak_at_the_same_time(collector: OutputCollector) -> None:
    together = Barrier(THREADS + 1)

    def speak() -> None:
        for _ in range(ROUNDS):
            together.wait(60)
            collector.end("a run without output")
            collector.end("another")
            together.wait(60)

    for _ in range(THREADS):
        Thread(target=speak, daemon=True).start()
    for _ in range(ROUNDS):
        together.wait(60)
        together.wait(60)
        end = time.monotonic() + 5
        while collector.is_busy:
            assert time.monotonic() < end, "it has not heard of what was said"
            time.sleep(0.0001)  # another thread is waited for


def test_attributes_that_a_job_gives_its_file_are_removed_at_the_next_look(tmp_path: Path) -> None:
    (tmp_path / "live").mkdir()
    file = tmp_path / "live" / "1"
    file.touch()
    output, made = RunOutput(tmp_path, [Spool("1", "run", "stdout", 1000)], Syslog()), time.time_ns()
    values = count()  # an equal value would leave the time of the last change as it is
    while file.stat().st_ctime_ns <= made:  # the kernel's time goes on in steps
        os.setxattr(file, "user.ballast", b"%1000d" % next(values))

    output.collect(0)

    assert os.listxattr(file) == []


def test_attributes_of_a_file_that_goes_to_syslog_are_removed_at_the_next_look(tmp_path: Path) -> None:
    (tmp_path / "live").mkdir()
    file = tmp_path / "live" / "1"
    file.touch()
    output = RunOutput(tmp_path, [Spool("1", "run", "stdout", None)], Syslog(str(tmp_path / "no log")))
    output.collect(0)
    made, values = file.stat().st_ctime_ns, count()
    while file.stat().st_ctime_ns <= made:
        os.setxattr(file, "user.ballast", b"%1000d" % next(values))

    output.collect(0)

    assert os.listxattr(file) == []


def test_large_attributes_are_removed_where_a_file_system_stores_them(tmp_path: Path) -> None:
    large = b"x" * 60_000
    folder = tmp_path / "disk"
    folder.mkdir()
    with mounted_disk(folder, "size=8m"):
        file = folder / "1"
        file.touch()
        try:
            os.setxattr(file, "user.ballast", large)
        except OSError as error:
            pytest.skip(f"THIS FILE SYSTEM STORES NO LARGE ATTRIBUTES: {error.strerror}")
        with file.open("rb+") as opened:
            drop_attributes(opened.fileno())

        assert os.listxattr(file) == []


def test_output_that_a_process_left_behind_has_open_is_looked_at_less_often_while_nothing_is_written(
    tmp_path: Path,
) -> None:
    (tmp_path / "live").mkdir(exist_ok=True)
    with (tmp_path / "live" / "1").open("ab", buffering=0) as left_behind:
        idle = OutputCollector(tmp_path, lambda: False, lambda _run_id, _lines: None)
        idle.add([Spool("1", "run", "stdout", 1000)])
        idle.end("run")

        silent = [idle._look() for _ in range(2)]
        left_behind.write(b"still here\n")
        writing, later = idle._look(), idle._look()

    assert silent == [2.0, 2.0]
    assert writing is not None
    assert writing < 2.0
    assert later == 2.0
    assert idle._look() is None  # no process has it open


def test_output_after_the_end_of_a_run_is_moved_and_counted(tmp_path: Path) -> None:
    (tmp_path / "live").mkdir()
    output = RunOutput(tmp_path, [Spool("1", "run", "stdout", 1000)], Syslog())

    with (tmp_path / "live" / "1").open("ab", buffering=0) as left_behind:
        left_behind.write(b"still here\n")

        assert not output.finish(0)
        assert output.moved == len(b"still here\n")
        assert not output.finish(0)
        assert output.moved == 0


def seize(file: Path, length: int) -> None:
    """Allocate so many bytes beyond the end of a file."""
    subprocess.run(["fallocate", "-n", "-o", str(file.stat().st_size), "-l", str(length), file], check=True)


def test_output_says_why_its_run_was_killed_also_if_the_disk_was_full_at_the_third_look(tmp_path: Path) -> None:
    with mounted_disk(tmp_path, "size=8m"):
        (tmp_path / "live").mkdir()
        file, other = tmp_path / "live" / "1", tmp_path / "other"
        file.touch()
        output = RunOutput(tmp_path, [Spool("1", "run", "stdout", 1 << 20)], Syslog())
        for look in (1, 2):
            seize(file, 3 << 20)
            output.collect(look)
        file.write_bytes(b"x" * (1 << 16))
        seize(file, 3 << 20)
        other.touch()
        seize(other, os.statvfs(tmp_path).f_bavail * os.statvfs(tmp_path).f_frsize)
        with pytest.raises(OSError, match="No space left"):
            output.collect(3)
        assert output.seizes_disk
        other.unlink()
        seize(file, 3 << 20)

        output.collect(4)

        assert OutputLog(tmp_path, "run").read().text().count(b"[krond: the job allocated disk space") == 1


class HandWrittenRun:
    """A run whose output is written by hand."""

    def __init__(self, folder: Path, limit: int | None) -> None:
        (folder / "live").mkdir()
        self.file = folder / "live" / "1"
        self.file.touch()
        self.output = RunOutput(folder, [Spool("1", "run", "stdout", limit)], Syslog(str(folder / "no log")))


@pytest.mark.parametrize("limit", [1 << 20, None], ids=["captured", "to syslog"])
def test_blocks_that_a_file_system_allocates_for_what_a_run_writes_are_not_seized(
    tmp_path: Path, limit: int | None
) -> None:
    run = HandWrittenRun(tmp_path, limit)
    for look in range(5):  # as XFS does
        with run.file.open("ab") as file:
            file.write(b"a line of a long output\n" * 1_000_000)
        seize(run.file, 40 << 20)
        run.output.collect(look)

    assert not run.output.seizes_disk


@pytest.mark.parametrize("limit", [1 << 20, None], ids=["captured", "to syslog"])
def test_a_run_that_only_moves_the_end_of_its_output_seizes_what_is_beyond(tmp_path: Path, limit: int | None) -> None:
    run = HandWrittenRun(tmp_path, limit)
    for look in range(3):
        os.truncate(run.file, run.file.stat().st_size + (1 << 30))
        seize(run.file, 40 << 20)
        run.output.collect(look)

    assert run.output.seizes_disk
