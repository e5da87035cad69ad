"""Spawners: made before they are needed, and made anew without anybody waiting."""

import os
import sys
from pathlib import Path
from threading import Event, Thread

from kron.adapters.process.procfs import read_stat
from kron.adapters.process.spawner_client import SpawnerProcess, SpawnRequest
from kron.jobfile.host_job import Command
from tests.adapters.process.recorded_runner import living, spawners, until, within_time


def test_what_is_prepared_is_used_by_the_first_start(tmp_path: Path) -> None:
    async def body() -> None:
        async with living(tmp_path) as world:
            live = tmp_path / "output" / "live"
            world.runner.prepare("", "", 40)
            await until(lambda: len(spawners()) == 1 and len(list(live.iterdir())) == 40)
            before = spawners()
            await world.ended(world.start("true"))

            assert spawners() == before
            assert len(list(live.iterdir())) == 40

    within_time(body())


def test_users_are_looked_up_anew_after_a_refresh(tmp_path: Path) -> None:
    async def body() -> None:
        async with living(tmp_path) as world:
            long = world.start("sleep", "1000")
            first = (await world.started(long)).pid
            old = read_stat(first)
            await world.runner.refresh()
            second = await world.started(world.start("sleep", "1000"))
            new = read_stat(second.pid)

            assert old is not None
            assert new is not None
            assert old.parent != new.parent

            world.runner.kill(long)

            assert (await world.ended(long)).signal == "SIGKILL"
            await until(lambda: old.parent not in spawners())

    within_time(body())


def test_a_spawner_is_asked_for_room_while_a_thread_sends() -> None:
    start, is_over = SpawnRequest("run", Command(("true",))), Event()

    def send(process: SpawnerProcess) -> None:
        while not is_over.is_set():
            process.in_flight.extend((start, 1) for _ in range(32))
            for _ in range(32):
                process.in_flight.pop()

    async def body() -> None:
        process = SpawnerProcess("", "", lambda _: None, lambda _: None)
        await process.ready
        sending = Thread(target=send, args=(process,))
        sending.start()
        try:
            assert not any(process.is_full for _ in range(20_000))
        finally:
            is_over.set()
            sending.join()
            process.close()
            os.waitpid(process.pid, 0)

    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        within_time(body())
    finally:
        sys.setswitchinterval(before)
