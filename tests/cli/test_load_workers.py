"""Counting in several processes: what a killed worker leaves behind, and how all end on an interrupt."""

import json
import os
import select
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from kron.adapters.process.procfs import read_stat
from tests.cli.kron_runner import kron

SPAN = ("--from", "2026-03-01T00:00:00Z", "--to", "4d", "--json")


def write(folder: Path, jobs: int) -> str:
    path = folder / "jobs.kron"
    lines = (f"*/2 * * * * @win(after,2m) name=job-{number} command=true" for number in range(jobs))
    path.write_text("\n".join(lines) + "\n", "utf-8")
    return str(path)


@contextmanager
def counting(path: str) -> Iterator[tuple[subprocess.Popen[str], list[int]]]:
    """Yield a forecast that is being counted, and the processes that count."""
    command = [sys.executable, "-m", "kron", "forecast", path, *SPAN]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        children: list[int] = []
        while len(children) < 2 and process.poll() is None:
            children = [int(each) for each in _children(process.pid).read_text("ascii").split()]
        try:
            yield process, children
        finally:
            process.kill()


def _children(pid: int) -> Path:
    return Path(f"/proc/{pid}/task/{pid}/children")


@pytest.mark.slow
def test_the_slice_of_a_killed_worker_is_counted(tmp_path: Path) -> None:
    path = write(tmp_path, 60)
    right = kron("forecast", path, *SPAN).json

    with counting(path) as (process, children):
        os.kill(children[0], signal.SIGKILL)
        out, _ = process.communicate(timeout=120)

    assert json.loads(out) == right


def test_an_interrupt_ends_all_workers_without_output(tmp_path: Path) -> None:
    with counting(write(tmp_path, 600)) as (process, children):
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)

    assert (process.returncode, out, err) == (130, "", "")
    assert not any(known.is_alive for child in children if (known := read_stat(child)))


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_workers_end_after_the_slice_that_they_count_when_the_command_is_killed(
    number: signal.Signals, tmp_path: Path
) -> None:
    with counting(write(tmp_path, 60)) as (process, children):
        handles = [os.pidfd_open(child) for child in children]  # readable once its process has ended
        process.send_signal(number)
        process.wait()

        ended = [select.select([handle], [], [], 60.0)[0] for handle in handles]

    for handle in handles:
        os.close(handle)
    assert ended == [[handle] for handle in handles]
