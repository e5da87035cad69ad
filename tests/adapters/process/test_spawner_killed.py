"""Processes survive a killed spawner, none starts twice, and each is accounted for."""

import os
import signal
import socket
import sys
from pathlib import Path

from kron.adapters.process.procfs import read_stat
from kron.adapters.process.spawner import COUNTER, SOCKET
from kron.adapters.process.spawner_client import ProcessExit, SpawnRequest
from kron.jobfile.host_job import Command
from tests.adapters.process.recorded_runner import (
    UNPRIVILEGED_USER,
    RecordedRunner,
    living,
    needs_root,
    spawners,
    zombies,
)


async def spawner_of(runner: RecordedRunner, run_id: str) -> int:
    known = read_stat((await runner.started(run_id)).pid)
    assert known is not None
    return known.parent


async def test_codes_of_executions_whose_spawner_was_killed_are_not_lost(tmp_path: Path) -> None:
    async with living(tmp_path) as runner:
        go = tmp_path / "go"
        os.mkfifo(go)
        waiting = runner.start("sh", "-c", f"read line < {go}; exit 42")
        sleeping = runner.start("sleep", "1000")
        spawner = await spawner_of(runner, waiting)
        await runner.started(sleeping)
        os.kill(spawner, signal.SIGKILL)
        after = await runner.run("sh", "-c", "exit 3")
        go.write_text("go\n", "utf-8")

        assert after.exit_code == 3
        assert await runner.ended(waiting) == ProcessExit(waiting, exit_code=42)

        runner.runner.kill(sleeping)

        assert await runner.ended(sleeping) == ProcessExit(sleeping, signal="SIGKILL")
        assert not zombies()


async def test_starts_under_way_when_the_spawner_is_killed_are_each_accounted_for(tmp_path: Path) -> None:
    marks = tmp_path / "marks"
    marks.mkdir()

    async with living(tmp_path) as runner:
        first = runner.start("sleep", "1000")
        spawner = await spawner_of(runner, first)
        run_ids = [f"mark-{number}" for number in range(400)]
        runner.start_many(
            SpawnRequest(run_id, Command(("mktemp", str(marks / f"{run_id}+XXXXXX")))) for run_id in run_ids
        )
        await runner.ended(run_ids[40])
        os.kill(spawner, signal.SIGKILL)
        ended = {run_id: await runner.ended(run_id) for run_id in run_ids}
        made = {path.name for path in marks.iterdir()}

        unknown = {run_id for run_id, end in ended.items() if end == ProcessExit(run_id)}
        succeeded = {run_id for run_id, end in ended.items() if end.exit_code == 0}
        assert unknown | succeeded == set(run_ids)  # what it had not begun went to the next spawner
        assert succeeded <= {mark.partition("+")[0] for mark in made}
        assert len(made) == len({mark.partition("+")[0] for mark in made}), "one has run twice"
        assert len(unknown) < 20


async def test_a_spawner_cannot_be_asked_to_end(tmp_path: Path) -> None:
    async with living(tmp_path) as runner:
        run_id = runner.start("sleep", "1000")
        spawner = await spawner_of(runner, run_id)
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            os.kill(spawner, number)
        again = runner.start("sleep", "1000")

        assert await spawner_of(runner, again) == spawner


@needs_root
async def test_a_user_who_kills_everything_loses_no_codes(tmp_path: Path) -> None:
    async with living(tmp_path) as runner:
        command = "trap '' TERM; kill -9 $PPID; sleep 0.5; exit 9"
        run_id = runner.start("sh", "-c", command, user=UNPRIVILEGED_USER)

        assert await runner.ended(run_id) == ProcessExit(run_id, exit_code=9)
        assert (await runner.run("true", user=UNPRIVILEGED_USER)).exit_code == 0


def test_a_spawner_whose_host_is_gone_before_it_is_ready_ends_silently(tmp_path: Path) -> None:
    ours, theirs = socket.socketpair()
    ours.close()
    said = tmp_path / "said"
    actions = [
        (os.POSIX_SPAWN_OPEN, 2, str(said), os.O_WRONLY | os.O_CREAT, 0o600),
        (os.POSIX_SPAWN_DUP2, theirs.fileno(), SOCKET),
        (os.POSIX_SPAWN_OPEN, COUNTER, str(tmp_path / "counter"), os.O_RDWR | os.O_CREAT, 0o600),
    ]
    command = [sys.executable, "-c", "from kron.adapters.process.spawner import main; main()", "", ""]

    with theirs:
        pid = os.posix_spawn(sys.executable, command, os.environ, file_actions=actions)

    assert os.waitpid(pid, 0)[1] == 0
    assert said.read_text() == ""


async def test_there_are_no_spawners_before_the_first_start(tmp_path: Path) -> None:
    before = spawners()

    async with living(tmp_path):
        assert spawners() == before


@needs_root
async def test_a_user_who_stops_its_spawner_delays_no_other_user(tmp_path: Path) -> None:
    async with living(tmp_path) as runner:
        spawner = await spawner_of(runner, runner.start("sleep", "1000", user=UNPRIVILEGED_USER))
        os.kill(spawner, signal.SIGSTOP)  # as its user could
        waiting = [runner.start("true", user=UNPRIVILEGED_USER, stdin="x" * 100_000) for _ in range(50)]
        others = [runner.start("true") for _ in range(50)]

        assert {(await runner.ended(run_id)).exit_code for run_id in others} == {0}
        assert not any(runner.has_ended(run_id) for run_id in waiting)

        os.kill(spawner, signal.SIGCONT)

        assert {(await runner.ended(run_id)).exit_code for run_id in waiting} == {0}


async def test_letting_go_leaves_no_spawner_behind_that_is_stopped(tmp_path: Path) -> None:
    async with living(tmp_path) as runner:
        run_id = runner.start("sh", "-c", "sleep 0.2")
        spawner = await spawner_of(runner, run_id)
        await runner.ended(run_id)
        os.kill(spawner, signal.SIGSTOP)

    assert read_stat(spawner) is None
