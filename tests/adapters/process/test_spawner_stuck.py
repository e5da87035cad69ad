"""A hung spawner is replaced, and other users' processes do not wait for it."""

import asyncio
import os
import resource
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import pytest

from kron.adapters.process.procfs import read_stat
from kron.adapters.process.spawner_client import ProcessExit, SpawnerProcess
from tests.adapters.process.recorded_runner import (
    UNPRIVILEGED_USER,
    RecordedRunner,
    living,
    needs_root,
    spawners,
    until,
    zombies,
)

STOP_THE_SPAWNER = ("sh", "-c", "kill -STOP $PPID")


@asynccontextmanager
async def spawner_process() -> AsyncIterator[SpawnerProcess]:
    """A spawner without a lane, which nothing supervises."""
    process = SpawnerProcess("", "", lambda _: None, lambda _: None)
    try:
        yield process
    finally:
        process.close()
        os.kill(process.pid, signal.SIGKILL)
        os.waitpid(process.pid, 0)


def stop(pid: int) -> None:
    """Stop a child, and wait until it is stopped."""
    os.kill(pid, signal.SIGSTOP)
    os.waitid(os.P_PID, pid, os.WSTOPPED)


async def parent_of(runner: RecordedRunner, run_id: str) -> int:
    known = read_stat((await runner.started(run_id)).pid)
    assert known is not None
    return known.parent


async def test_a_spawner_that_is_slow_to_get_ready_is_given_half_a_minute() -> None:
    async with spawner_process() as process:  # this loop does not turn: nothing is heard of it
        assert not process.is_stuck(29.0)
        assert process.is_stuck(2.0)


async def test_a_spawner_that_owes_nothing_may_be_silent_for_ever() -> None:
    async with spawner_process() as process:
        await process.ready
        process.running[os.getpid()] = "one that goes on"

        assert not any(process.is_stuck(1_000.0) for _ in range(3))


async def test_silence_from_before_something_was_owed_does_not_count() -> None:
    async with spawner_process() as process:
        await process.ready
        process.running[os.getpid()] = "one that goes on"
        process.is_stuck(1_000.0)
        process.running.clear()
        process.retire()  # its end is owed

        assert not process.is_stuck(1.0)


async def test_a_spawner_with_children_that_is_stopped_is_given_a_few_seconds() -> None:
    async with spawner_process() as process:
        await process.ready
        process.is_stuck(1.0)
        process.running[os.getpid()] = "one whose end would not be reported"
        stop(process.pid)

        assert not process.is_stuck(2.0)
        assert process.is_stuck(2.0)


async def test_a_word_ends_the_silence() -> None:
    async with spawner_process() as process:
        process.is_stuck(29.0)
        await process.ready
        process.retire()

        assert not process.is_stuck(29.0)


@needs_root
@pytest.mark.slow
async def test_starts_that_wait_for_a_stopped_spawner_are_made_by_another(tmp_path: Path) -> None:
    async with living(tmp_path) as runner:
        stopping = runner.start(*STOP_THE_SPAWNER, user=UNPRIVILEGED_USER)
        await until(lambda: any((known := read_stat(pid)) and known.is_stopped for pid in spawners()))
        waiting = runner.start("sh", "-c", "exit 7", user=UNPRIVILEGED_USER)

        assert await runner.ended(waiting) == ProcessExit(waiting, exit_code=7)
        assert await runner.ended(stopping) == ProcessExit(stopping, exit_code=0)
        assert not zombies()


@needs_root
@pytest.mark.slow
async def test_an_execution_whose_spawner_is_stopped_can_be_ended(tmp_path: Path) -> None:
    async with living(tmp_path) as runner:
        run_id = runner.start("sleep", "1000", user=UNPRIVILEGED_USER)
        stop(await parent_of(runner, run_id))
        runner.runner.kill(run_id)

        assert await runner.ended(run_id) == ProcessExit(run_id, signal="SIGKILL")


async def test_a_refresh_does_not_wait_for_a_spawner_that_is_stopped(tmp_path: Path) -> None:
    async with living(tmp_path) as runner:
        old = await parent_of(runner, runner.start("sleep", "1000"))
        refreshing = asyncio.ensure_future(runner.runner.refresh())
        await until(lambda: len(spawners()) > 1)
        (new,) = set(spawners()) - {old}
        stop(new)
        await refreshing

        assert await parent_of(runner, runner.start("sleep", "1000")) == old

        os.kill(new, signal.SIGCONT)
        await until(lambda: old in spawners())


def descriptors() -> list[int]:
    """Return those that this process has."""
    return [int(path.name) for path in Path("/proc/self/fd").iterdir()]


def as_many_as_can_be() -> list[SpawnerProcess]:
    made = []
    with suppress(OSError):
        while True:
            made.append(SpawnerProcess("", "", lambda _: None, lambda _: None))
    return made


@pytest.mark.parametrize("free", range(16))
async def test_a_spawner_for_which_there_are_no_descriptors_takes_none(free: int) -> None:
    before = len(descriptors())
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(descriptors()) + free, hard))
    try:
        made = as_many_as_can_be()
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    for process in made:
        process.close()
        os.kill(process.pid, signal.SIGKILL)
        os.waitpid(process.pid, 0)

    assert len(descriptors()) == before
