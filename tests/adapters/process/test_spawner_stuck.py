"""A spawner that says nothing any more, as its user can make it do, is replaced, and nobody else waits for it."""

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
    NOBODY,
    RecordedRunner,
    living,
    needs_root,
    spawners,
    until,
    within_time,
    zombies,
)

STOP_THE_SPAWNER = ("sh", "-c", "kill -STOP $PPID")


@asynccontextmanager
async def spawner_process() -> AsyncIterator[SpawnerProcess]:
    """A spawner without a lane, which nobody looks after."""
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


async def parent_of(world: RecordedRunner, run_id: str) -> int:
    known = read_stat((await world.started(run_id)).pid)
    assert known is not None
    return known.parent


def test_a_spawner_that_is_slow_to_get_ready_is_given_half_a_minute() -> None:
    async def body() -> None:
        async with spawner_process() as process:  # this loop does not turn: nothing is heard of it
            assert not process.is_stuck(29.0)
            assert process.is_stuck(2.0)

    within_time(body())


def test_a_spawner_that_owes_nothing_may_be_silent_for_ever() -> None:
    async def body() -> None:
        async with spawner_process() as process:
            await process.ready
            process.running[os.getpid()] = "one that goes on"

            assert not any(process.is_stuck(1_000.0) for _ in range(3))

    within_time(body())


def test_silence_from_before_something_was_owed_does_not_count() -> None:
    async def body() -> None:
        async with spawner_process() as process:
            await process.ready
            process.running[os.getpid()] = "one that goes on"
            process.is_stuck(1_000.0)
            process.running.clear()
            process.retire()  # its end is owed

            assert not process.is_stuck(1.0)

    within_time(body())


def test_a_spawner_with_children_that_is_stopped_is_given_a_few_seconds() -> None:
    async def body() -> None:
        async with spawner_process() as process:
            await process.ready
            process.is_stuck(1.0)
            process.running[os.getpid()] = "one whose end would not be told"
            stop(process.pid)

            assert not process.is_stuck(2.0)
            assert process.is_stuck(2.0)

    within_time(body())


def test_a_word_ends_the_silence() -> None:
    async def body() -> None:
        async with spawner_process() as process:
            process.is_stuck(29.0)
            await process.ready
            process.retire()

            assert not process.is_stuck(29.0)

    within_time(body())


@needs_root
@pytest.mark.slow
def test_what_waits_for_a_spawner_that_its_user_has_stopped_is_started_by_another(tmp_path: Path) -> None:
    async def body() -> None:
        async with living(tmp_path) as world:
            stopping = world.start(*STOP_THE_SPAWNER, user=NOBODY)
            await until(lambda: any((known := read_stat(pid)) and known.is_stopped for pid in spawners()))
            waiting = world.start("sh", "-c", "exit 7", user=NOBODY)

            assert await world.ended(waiting) == ProcessExit(waiting, exit_code=7)
            assert await world.ended(stopping) == ProcessExit(stopping, exit_code=0)
            assert not zombies()

    within_time(body())


@needs_root
@pytest.mark.slow
def test_an_execution_whose_spawner_is_stopped_can_be_ended(tmp_path: Path) -> None:
    async def body() -> None:
        async with living(tmp_path) as world:
            run_id = world.start("sleep", "1000", user=NOBODY)
            stop(await parent_of(world, run_id))
            world.runner.kill(run_id)

            assert await world.ended(run_id) == ProcessExit(run_id, signal="SIGKILL")

    within_time(body())


def test_a_refresh_does_not_wait_for_a_spawner_that_is_stopped(tmp_path: Path) -> None:
    async def body() -> None:
        async with living(tmp_path) as world:
            old = await parent_of(world, world.start("sleep", "1000"))
            refreshing = asyncio.ensure_future(world.runner.refresh())
            await until(lambda: len(spawners()) > 1)
            (new,) = set(spawners()) - {old}
            stop(new)
            await refreshing

            assert await parent_of(world, world.start("sleep", "1000")) == old

            os.kill(new, signal.SIGCONT)
            await until(lambda: old in spawners())

    within_time(body())


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
def test_a_spawner_for_which_there_are_no_descriptors_takes_none(free: int) -> None:
    async def body() -> None:
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

    within_time(body())
