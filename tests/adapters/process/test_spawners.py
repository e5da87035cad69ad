"""Spawners are created before they are needed, and replaced without a wait."""

import os
import sys
from pathlib import Path
from threading import Event, Thread

from kron.adapters.process.procfs import read_stat
from kron.adapters.process.spawner_client import SpawnerProcess, SpawnRequest
from kron.jobfile.host_job import Command
from tests.adapters.process.recorded_runner import living, spawners, until, within_time


async def test_a_prepared_spawner_is_used_by_the_first_start(tmp_path: Path) -> None:
    async with living(tmp_path) as runner:
        live = tmp_path / "output" / "live"
        runner.runner.prepare("", "", 40)
        await until(lambda: len(spawners()) == 1 and len(list(live.iterdir())) == 40)
        before = spawners()
        await runner.ended(runner.start("true"))

        assert spawners() == before
        assert len(list(live.iterdir())) == 40


async def test_users_are_looked_up_again_after_a_refresh(tmp_path: Path) -> None:
    async with living(tmp_path) as runner:
        long = runner.start("sleep", "1000")
        first = (await runner.started(long)).pid
        old = read_stat(first)
        await runner.runner.refresh()
        second = await runner.started(runner.start("sleep", "1000"))
        new = read_stat(second.pid)

        assert old is not None
        assert new is not None
        assert old.parent != new.parent

        runner.runner.kill(long)

        assert (await runner.ended(long)).signal == "SIGKILL"
        await until(lambda: old.parent not in spawners())


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
