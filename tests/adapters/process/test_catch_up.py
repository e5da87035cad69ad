"""A host that was frozen learns of every ended process before it continues."""

import asyncio
import os
import signal
from pathlib import Path

from kron.adapters.process.procfs import read_stat
from tests.adapters.process.recorded_runner import RecordedRunner, living

LONG = 30.0  # seconds: more than any of these takes


async def with_stopped_spawner(runner: RecordedRunner) -> tuple[str, int]:
    """Return a run that has ended, and the spawner that should have said so and is stopped."""
    run_id = runner.start("sleep", "1000")
    pid = (await runner.started(run_id)).pid
    known = read_stat(pid)
    assert known is not None
    os.kill(known.parent, signal.SIGSTOP)
    os.waitid(os.P_PID, known.parent, os.WSTOPPED)
    os.kill(pid, signal.SIGKILL)
    while (left := read_stat(pid)) is not None and left.is_alive:
        await asyncio.wait([asyncio.get_running_loop().create_future()], timeout=0.005)
    return run_id, known.parent


async def test_catch_up_waits_for_a_spawner_that_was_stopped_as_well(tmp_path: Path) -> None:
    async with living(tmp_path) as runner:
        run_id, spawner = await with_stopped_spawner(runner)
        asyncio.get_running_loop().call_later(0.1, os.kill, spawner, signal.SIGCONT)

        await runner.runner.catch_up(LONG, with_starts=True)

        assert runner.has_ended(run_id)


async def test_catch_up_waits_no_longer_than_its_limit(tmp_path: Path) -> None:
    async with living(tmp_path) as runner:
        run_id, spawner = await with_stopped_spawner(runner)

        await runner.runner.catch_up(0.05, with_starts=True)

        assert not runner.has_ended(run_id)
        os.kill(spawner, signal.SIGCONT)


async def test_reports_sent_during_a_freeze_are_received(tmp_path: Path) -> None:
    async with living(tmp_path) as runner:
        run_id = runner.start("sleep", "1000")
        pid = (await runner.started(run_id)).pid
        os.kill(pid, signal.SIGKILL)
        while read_stat(pid) is not None:  # this loop does not turn until the spawner has reaped it
            pass

        await runner.runner.catch_up(LONG, with_starts=True)

        assert runner.has_ended(run_id)


async def test_a_start_that_was_not_answered_counts_if_the_host_stood_still(tmp_path: Path) -> None:
    async with living(tmp_path) as runner:
        run_id = runner.start("true")

        await runner.runner.catch_up(LONG, with_starts=True)

        assert (await runner.started(run_id)).pid


async def test_catch_up_does_not_wait_for_active_processes(tmp_path: Path) -> None:
    async with living(tmp_path) as runner:
        run_id = runner.start("sleep", "1000")
        await runner.started(run_id)

        await runner.runner.catch_up(LONG, with_starts=True)

        assert not runner.has_ended(run_id)
