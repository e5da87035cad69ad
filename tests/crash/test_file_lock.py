"""One scheduler per ledger: in a process, between processes, across a fork, and after a kill."""

import asyncio
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from kron import Scheduler
from tests.crash.lock_holder import refusal

_ROOT = Path(__file__).parents[2]
_FREE = ""


class Holder:
    """The holding process as the test sees it, and the line that its forked child printed or its number."""

    def __init__(self, process: "subprocess.Popen[str]", lines: list[str]) -> None:
        self.process = process
        self.lines = lines

    @property
    def child(self) -> int:
        """The number of the forked child."""
        return int(self.lines[-1])


@contextmanager
def holding(ledger: Path, *fork: str) -> Iterator[Holder]:
    """Let another process hold the ledger for a while."""
    command = [sys.executable, "-m", "tests.crash.lock_holder", str(ledger), *fork]
    with subprocess.Popen(command, cwd=_ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        lines = []
        while (line := process.stdout.readline().strip()) != "holding":
            assert process.poll() is None
            lines.append(line)
        yield Holder(process, lines)


def opening(ledger: Path) -> str:
    """Try to open the ledger here; return the error."""
    return asyncio.run(refusal(str(ledger)))


@pytest.fixture
def ledger(tmp_path: Path) -> Path:
    return tmp_path / "ledger"


# --- one process ------------------------------------------------------------------------------------------------------


async def test_a_second_scheduler_of_the_same_process_is_refused(ledger: Path) -> None:
    first = Scheduler(ledger=ledger, timezone="UTC")
    await first.initialize([])
    error = await refusal(str(ledger))
    await first.stop()

    error = error

    assert error.startswith("LedgerInUseError: ")
    assert str(ledger) in error
    assert "another scheduler of this process" in error


def test_another_name_of_the_same_file_is_refused_too(ledger: Path) -> None:
    other = ledger.with_name("other")
    other.symlink_to(ledger)
    with holding(ledger):
        error = opening(other)

    assert error.startswith("LedgerInUseError: ")


def test_a_ledger_that_was_stopped_is_free(ledger: Path) -> None:
    assert (opening(ledger), opening(ledger)) == (_FREE, _FREE)


# --- two processes ----------------------------------------------------------------------------------------------------


def test_a_second_process_is_refused_with_the_holder_of_the_lock(ledger: Path) -> None:
    with holding(ledger) as holder:
        error = opening(ledger)

    assert error.startswith("LedgerInUseError: ")
    assert str(ledger) in error
    assert f"process {holder.process.pid}" in error


def test_refusing_a_process_does_not_weaken_the_owner(ledger: Path) -> None:
    with holding(ledger):
        errors = [opening(ledger) for _ in range(3)]

    assert all(errors)


def test_a_ledger_is_free_when_its_owner_has_stopped(ledger: Path) -> None:
    with holding(ledger):
        pass

    assert opening(ledger) == _FREE


def test_a_ledger_is_free_at_once_when_its_owner_was_killed(ledger: Path) -> None:
    with holding(ledger) as holder:
        holder.process.kill()

    assert opening(ledger) == _FREE


# --- forks ------------------------------------------------------------------------------------------------------------


def test_a_forked_child_does_not_keep_the_ledger_of_its_dead_parent(ledger: Path) -> None:
    with holding(ledger, "stay") as holder:
        holder.process.kill()
        holder.process.wait()
        error = opening(ledger)
        os.kill(holder.child, signal.SIGKILL)  # it lived until here, or this raises

    assert error == _FREE


def test_a_forked_child_is_refused_while_its_parent_has_the_ledger(ledger: Path) -> None:
    with holding(ledger, "open") as holder:
        error, _ = holder.lines

    assert error.startswith("LedgerInUseError: ")
    assert f"process {holder.process.pid}" in error


@pytest.mark.parametrize("fork", ["exit", "close", "open"])
def test_a_forked_child_leaves_the_ledger_to_its_parent(ledger: Path, fork: str) -> None:
    with holding(ledger, fork) as holder:
        error = opening(ledger)
        if fork == "close":
            os.kill(holder.child, signal.SIGKILL)

    assert error.startswith("LedgerInUseError: ")
    assert f"process {holder.process.pid}" in error


# --- others who touch the files ---------------------------------------------------------------------------------------


async def test_a_callback_that_copies_the_folder_does_not_give_the_ledger_away(ledger: Path, tmp_path: Path) -> None:
    scheduler = Scheduler(ledger=ledger, timezone="UTC")
    await scheduler.initialize([])
    shutil.copytree(tmp_path, tmp_path / "backup")
    program = (
        f"import asyncio; from tests.crash.lock_holder import refusal; print(asyncio.run(refusal({str(ledger)!r})))"
    )
    other = subprocess.run([sys.executable, "-c", program], cwd=_ROOT, capture_output=True, text=True, check=True)
    await scheduler.stop()

    assert other.stdout.startswith("LedgerInUseError: ")
