"""kron run: a module's registrations run in a process until a signal arrives."""

import json
import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.cli.kron_runner import kron_process
from tests.forked import Forked

MODULE = """
import asyncio
from datetime import timedelta

go_on = asyncio.Event()

async def quick():
    print("quick began", flush=True)

async def slow():
    print("slow began", flush=True)
    asyncio.get_running_loop().add_reader(0, go_on.set)
    await go_on.wait()
    print("slow ended", flush=True)

not_a_list = 7
registrations = [("quick", "* * * * *", quick, timedelta(0))]
slow_ones = [("slow", "* * * * *", slow, timedelta(0))]
wrong = [("a", "61 * * * *", quick, timedelta(0))]

def made():
    return registrations

def failing():
    raise ValueError("oh no")
"""


@pytest.fixture(autouse=True)
def in_a_folder_with_a_module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "tasks_of_mine.py").write_text(MODULE)
    (tmp_path / "broken.py").write_text("import nothing_of_that_name")
    (tmp_path / "unreadable.py").write_text("def (")
    monkeypatch.chdir(tmp_path)


@contextmanager
def running(*arguments: str) -> Iterator[Forked]:
    """Run the command as a process; whatever the test does, it is gone afterwards."""
    with Forked("kron", "run", *arguments, pipes="stdin stdout stderr") as process:
        try:
            yield process
        finally:
            process.kill()


def read_until(process: Forked, text: str) -> None:
    assert process.stdout is not None
    for line in process.stdout:
        if text in line:
            return
    raise AssertionError(f"{text!r} never came")


@pytest.mark.parametrize("target", ["tasks_of_mine:registrations", "tasks_of_mine:made"])
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it_cleanly(target: str, number: signal.Signals) -> None:
    with running(target, "--timezone", "UTC") as process:
        read_until(process, "quick began")

        process.send_signal(number)
        _, err = process.communicate()

    assert process.returncode == 0
    assert "SchedulerStopped" in err
    assert "Traceback" not in err


def test_a_run_in_flight_may_end_after_the_signal() -> None:
    with running("tasks_of_mine:slow_ones", "--timezone", "UTC", "--json") as process:
        read_until(process, "slow began")

        process.send_signal(signal.SIGTERM)
        read_until(process, "SchedulerStopRequested")
        out, _ = process.communicate("go on\n")

    assert process.returncode == 0
    assert out.index("slow ended") < out.index("TaskRunCompleted") < out.index("SchedulerStopped")


def test_a_second_signal_does_not_wait() -> None:
    with running("tasks_of_mine:slow_ones", "--timezone", "UTC", "--json") as process:
        read_until(process, "slow began")

        process.send_signal(signal.SIGTERM)
        read_until(process, "SchedulerStopRequested")
        process.send_signal(signal.SIGTERM)
        process.wait()

    assert process.returncode == -signal.SIGTERM


def test_finished_runs_are_remembered_by_the_next_process(tmp_path: Path) -> None:
    arguments = ("tasks_of_mine:registrations", "--timezone", "UTC", "--ledger", str(tmp_path / "l.db"), "--json")
    with running(*arguments) as first:
        read_until(first, "TaskRunCompleted")
        first.send_signal(signal.SIGTERM)
        first.communicate()

    with running(*arguments) as second:
        read_until(second, "SchedulerInitializationStarted")
        assert second.stdout is not None
        event = json.loads(second.stdout.readline())
        second.send_signal(signal.SIGTERM)
        second.communicate()

    assert event["event"] == "TaskPreserved"


@pytest.mark.parametrize(
    ("target", "message"),
    [
        ("tasks_of_mine", "package.module:name"),
        (":registrations", "package.module:name"),
        ("no_such_module:x", "No module named 'no_such_module'"),
        ("broken:x", "No module named 'nothing_of_that_name'"),
        ("unreadable:x", "unreadable.py, line 1"),
        ("tasks_of_mine:nothing", "has nothing named nothing"),
        ("tasks_of_mine:not_a_list", "has int named not_a_list"),
        ("tasks_of_mine:quick", "has function named quick"),
        ("tasks_of_mine:failing", "failing() failed: ValueError: oh no"),
        ("tasks_of_mine:wrong", 'Invalid cron expression "61 * * * *"'),
    ],
)
def test_a_wrong_target_gets_one_clear_error(target: str, message: str) -> None:
    answer = kron_process("run", target)

    assert answer.code == 2
    assert message in answer.err
    assert "Traceback" not in answer.err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--timezone", "Europe/Pariss"), "did you mean Europe/Paris"),
        (("--contract", "none"), "contract: must be one of"),
        (("--run-timeout", "soon"), "duration"),
        (("--run-timeout", "0s"), "run_timeout: must be a timedelta above zero"),
        (("--ledger", os.sep), "it is a directory"),
    ],
    ids=lambda value: value[0] if isinstance(value, tuple) else "",
)
def test_a_wrong_option_gets_one_clear_error(arguments: tuple[str, ...], message: str) -> None:
    answer = kron_process("run", "tasks_of_mine:registrations", *arguments)

    assert answer.code == 2
    assert message in answer.err
    assert "Traceback" not in answer.err
