"""The thread that collects output hears of every run, however many threads speak to it at once."""

import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from threading import Barrier, Thread

import pytest

from kron.adapters.process_runner.output_collector import OutputCollector, RunOutput
from kron.adapters.process_runner.spool import Spool
from kron.adapters.process_runner.syslog import Syslog

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
        while collector.has("a run that is not there"):
            assert time.monotonic() < end, "it has not heard of what was said"
            time.sleep(0.0001)  # another thread is waited for


def test_attributes_that_a_job_gives_its_file_are_removed_at_the_next_look(tmp_path: Path) -> None:
    (tmp_path / "live").mkdir()
    file = tmp_path / "live" / "1"
    file.touch()
    output, made = RunOutput(tmp_path, [Spool("1", "run", "stdout", 1000)], Syslog()), time.time_ns()
    while file.stat().st_ctime_ns <= made:  # the kernel's time goes on in steps
        os.setxattr(file, "user.ballast", b"x" * 1000)

    output.collect(0)

    assert os.listxattr(file) == []


def test_what_a_process_writes_after_its_run_is_moved_and_counted(tmp_path: Path) -> None:
    (tmp_path / "live").mkdir()
    output = RunOutput(tmp_path, [Spool("1", "run", "stdout", 1000)], Syslog())

    with (tmp_path / "live" / "1").open("ab", buffering=0) as left_behind:
        left_behind.write(b"still here\n")

        assert not output.finish(0)
        assert output.moved == len(b"still here\n")
        assert not output.finish(0)
        assert output.moved == 0
