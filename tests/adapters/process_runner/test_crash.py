"""What survives: executions a dead spawner, and a dead host; nothing is started any more after either has died."""

import asyncio
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from kron.adapters.process_runner.execution import Exit, Recorded, Start, Started
from kron.adapters.process_runner.proc import boot_id, processes, stat
from kron.rules.command import Command
from tests.adapters.process_runner.world import (
    NOBODY,
    World,
    gone,
    living,
    needs_root,
    spawners,
    until,
    within_time,
    zombies,
)

ROOT = Path(__file__).parents[3]


async def spawner_of(world: World, run_id: str) -> int:
    known = stat((await world.started(run_id)).pid)
    assert known is not None
    return known.parent


# --- the spawner ------------------------------------------------------------------------------------------------------


def test_codes_of_executions_whose_spawner_was_killed_are_not_lost(tmp_path: Path) -> None:
    async def body() -> None:
        async with living(tmp_path) as world:
            go = tmp_path / "go"
            os.mkfifo(go)
            waiting = world.start("sh", "-c", f"read line < {go}; exit 42")
            sleeping = world.start("sleep", "1000")
            spawner = await spawner_of(world, waiting)
            await world.started(sleeping)
            os.kill(spawner, signal.SIGKILL)
            after = await world.run("sh", "-c", "exit 3")
            go.write_text("go\n", "utf-8")

            assert after.exit_code == 3
            assert await world.ended(waiting) == Exit(waiting, exit_code=42)

            world.runner.kill(sleeping)

            assert await world.ended(sleeping) == Exit(sleeping, signal="SIGKILL")
            assert not zombies()

    within_time(body())


def test_starts_under_way_when_the_spawner_is_killed_are_each_accounted_for(tmp_path: Path) -> None:
    marks = tmp_path / "marks"
    marks.mkdir()

    async def body() -> None:
        async with living(tmp_path) as world:
            first = world.start("sleep", "1000")
            spawner = await spawner_of(world, first)
            run_ids = [f"mark-{number}" for number in range(400)]
            world.start_many(Start(run_id, Command(("mktemp", str(marks / f"{run_id}+XXXXXX")))) for run_id in run_ids)
            await world.ended(run_ids[40])
            os.kill(spawner, signal.SIGKILL)
            ended = {run_id: await world.ended(run_id) for run_id in run_ids}
            made = {path.name for path in marks.iterdir()}

            unknown = {run_id for run_id, end in ended.items() if end == Exit(run_id)}
            succeeded = {run_id for run_id, end in ended.items() if end.exit_code == 0}
            assert unknown | succeeded == set(run_ids)  # what it had not begun went to the next spawner
            assert succeeded <= {mark.partition("+")[0] for mark in made}
            assert len(made) == len({mark.partition("+")[0] for mark in made}), "one has run twice"
            assert len(unknown) < 20

    within_time(body())


def test_a_spawner_cannot_be_asked_to_end(tmp_path: Path) -> None:
    async def body() -> None:
        async with living(tmp_path) as world:
            run_id = world.start("sleep", "1000")
            spawner = await spawner_of(world, run_id)
            for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
                os.kill(spawner, number)
            again = world.start("sleep", "1000")

            assert await spawner_of(world, again) == spawner

    within_time(body())


@needs_root
def test_a_user_who_kills_everything_loses_no_codes(tmp_path: Path) -> None:
    async def body() -> None:
        async with living(tmp_path) as world:
            run_id = world.start("sh", "-c", "trap '' TERM; kill -9 $PPID; sleep 0.5; exit 9", user=NOBODY)

            assert await world.ended(run_id) == Exit(run_id, exit_code=9)
            assert (await world.run("true", user=NOBODY)).exit_code == 0

    within_time(body())


# --- the host ---------------------------------------------------------------------------------------------------------


class HostProcess:
    """The host as the test sees it."""

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        self.process = process

    def line(self) -> dict[str, Any]:
        """Return the next thing it tells."""
        assert self.process.stdout is not None
        found: dict[str, Any] = json.loads(self.process.stdout.readline())
        return found

    def kill(self) -> None:
        """Let it die without a word."""
        self.process.kill()
        self.process.wait()


@contextmanager
def hosting(folder: Path, *starts: dict[str, Any], descriptors: int | None = None) -> Iterator[HostProcess]:
    """Let another process be the host of the output folder."""
    limit = [] if descriptors is None else [str(descriptors)]
    asked = folder / "starts"
    asked.write_text(json.dumps(starts), "utf-8")
    command = [sys.executable, "-m", "tests.adapters.process_runner.host", str(folder / "output"), str(asked)]
    with subprocess.Popen(
        [*command, *limit], cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        yield HostProcess(process)
        if process.stdin is not None:
            process.stdin.close()


def sleeper(run_id: str, script: str = "", **command: Any) -> dict[str, Any]:
    return {"run_id": run_id, "argv": ["sh", "-c", f"{script} exec sleep 1000"], **command}


def recorded(line: dict[str, Any]) -> Recorded:
    return Recorded(line["run_id"], boot_id(), line["pid"], line["start_ticks"])


def test_a_survivor_is_recognised_watched_and_ends_without_a_code(tmp_path: Path) -> None:
    with hosting(tmp_path, sleeper("a", "echo before;")) as host:
        line = host.line()
        host.kill()

    async def body() -> None:
        async with living(tmp_path) as world:
            world.expect("a")
            survivors = await world.runner.reattach([recorded(line)])

            assert survivors == [Started("a", line["pid"], line["start_ticks"])]
            assert not world.has_ended("a")

            os.kill(line["pid"], signal.SIGKILL)

            assert await world.ended("a") == Exit("a")
            assert world.output("a").text() == b"before\n"

    within_time(body())


def test_a_survivor_without_descriptors_to_spare_is_looked_at(tmp_path: Path) -> None:
    with hosting(tmp_path, sleeper("a")) as host:
        line = host.line()
        host.kill()

    async def body() -> None:
        async with living(tmp_path) as world:
            world.expect("a")
            world.runner._watch._spare = 0
            await world.runner.reattach([recorded(line)])
            os.kill(line["pid"], signal.SIGKILL)

            assert await world.ended("a") == Exit("a")

    within_time(body())


def test_a_survivor_is_found_by_its_id_if_its_number_was_never_recorded(tmp_path: Path) -> None:
    with hosting(tmp_path, sleeper("unrecorded-1")) as host:
        line = host.line()
        host.kill()

    async def body() -> None:
        async with living(tmp_path) as world:
            world.expect("unrecorded-1")
            survivors = await world.runner.reattach(
                [Recorded("unrecorded-1", boot_id()), Recorded("unrecorded-2", boot_id())]
            )

            assert survivors == [Started("unrecorded-1", line["pid"], line["start_ticks"])]

    within_time(body())


@pytest.mark.parametrize("change", ["boot", "ticks", "number"])
def test_who_is_not_the_same_in_everything_is_not_a_survivor(tmp_path: Path, change: str) -> None:
    with hosting(tmp_path, sleeper("a")) as host:
        line = host.line()
        host.kill()
    changed = {
        "boot": Recorded("a", "another boot", line["pid"], line["start_ticks"]),
        "ticks": Recorded("a", boot_id(), line["pid"], line["start_ticks"] + 1),
        "number": Recorded("a", boot_id(), 2**22 + 1, line["start_ticks"]),
    }

    async def body() -> None:
        async with living(tmp_path) as world:
            assert await world.runner.reattach([changed[change]]) == []

    within_time(body())
    os.kill(line["pid"], signal.SIGKILL)


def test_output_of_a_survivor_goes_on_being_captured_and_bounded(tmp_path: Path) -> None:
    go = tmp_path / "go"
    os.mkfifo(go)
    script = f"echo early; read line < {go}; seq 1 50000; read line < {go};"
    with hosting(tmp_path, sleeper("a", script, output_limit=10_000)) as host:
        line = host.line()
        host.kill()

    async def body() -> None:
        async with living(tmp_path) as world:
            world.expect("a")
            await until(lambda: world.output("a").text() == b"early\n")  # from files alone
            await world.runner.reattach([recorded(line)])
            await asyncio.get_running_loop().run_in_executor(None, go.write_text, "go\n")
            await until(lambda: b"50000" in world.output("a").text())
            world.runner.kill("a")
            await world.ended("a")
            await until(lambda: world.output("a").is_final)
            output = world.output("a")

            assert output.text().startswith(b"early\n1\n2\n")
            assert output.bytes <= 10_000
            assert output.dropped > 200_000

    within_time(body())


def test_a_survivor_can_be_terminated(tmp_path: Path) -> None:
    with hosting(tmp_path, sleeper("a")) as host:
        line = host.line()
        host.kill()

    async def body() -> None:
        async with living(tmp_path) as world:
            world.expect("a")
            await world.runner.reattach([recorded(line)])
            world.runner.kill("a")

            assert await world.ended("a") == Exit("a")
            assert stat(line["pid"]) is None or zombies() == []

    within_time(body())


def test_output_of_those_that_did_not_survive_is_made_final(tmp_path: Path) -> None:
    with hosting(tmp_path, sleeper("a", "echo hello;")) as host:
        line = host.line()

        async def body() -> None:
            world = World(tmp_path)
            await until(lambda: world.output("a").bytes == 6)

        within_time(body())
        host.kill()
    os.kill(line["pid"], signal.SIGKILL)

    async def rest() -> None:
        await gone(line["pid"])
        async with living(tmp_path) as world:
            assert await world.runner.reattach([recorded(line)]) == []
            await until(lambda: world.output("a").is_final)

            assert world.output("a").text() == b"hello\n"

    within_time(rest())


def test_a_final_form_is_not_overwritten_by_what_a_crash_left_behind(tmp_path: Path) -> None:
    async def body() -> None:
        async with living(tmp_path) as world:
            run_id = world.start("sh", "-c", "echo remains; exec sleep 1000")
            await until(lambda: world.output(run_id).bytes == 8)
            world.runner.files.log(run_id).write_bytes(b"[]" + (2).to_bytes(8, "big"))
            world.runner.kill(run_id)
            await until(lambda: run_id not in world.runner.slots.of_run)

            assert world.output(run_id).text() == b""

    within_time(body())


def test_the_spawner_of_a_dead_host_starts_nothing_more_reaps_its_children_and_ends(tmp_path: Path) -> None:
    marks = tmp_path / "marks"
    marks.mkdir()
    many = [{"run_id": f"m{number}", "argv": ["touch", str(marks / str(number))]} for number in range(300)]
    with hosting(tmp_path, sleeper("a"), *many) as host:
        line = host.line()
        host.kill()
    known = stat(line["pid"])
    assert known is not None
    spawner = known.parent

    async def body() -> None:
        def children() -> list[int]:
            return [pid for pid in processes() if (one := stat(pid)) and one.parent == spawner]

        await until(lambda: children() == [line["pid"]])
        made = len(list(marks.iterdir()))
        assert made < 300

        os.kill(line["pid"], signal.SIGKILL)
        await gone(spawner)

        assert len(list(marks.iterdir())) == made
        assert stat(line["pid"]) is None

    within_time(body())


def test_letting_go_leaves_what_runs_running(tmp_path: Path) -> None:
    with hosting(tmp_path, sleeper("a")) as host:
        line = host.line()
        assert host.process.stdin is not None
        host.process.stdin.close()
        host.process.wait()

    async def body() -> None:
        async with living(tmp_path) as world:
            world.expect("a")

            assert len(await world.runner.reattach([recorded(line)])) == 1

    within_time(body())


# --- many -------------------------------------------------------------------------------------------------------------


def test_two_thousand_at_once_need_few_descriptors(tmp_path: Path) -> None:
    count = 2000
    starts = [sleeper(f"r{number}", "echo $KRON_RUN_ID;") for number in range(count)]
    with hosting(tmp_path, *starts, descriptors=64) as host:
        lines = [host.line() for _ in range(count)]
        assert {line["what"] for line in lines} == {"started"}

        async def body() -> None:
            world = World(tmp_path)
            for number in (0, count // 2, count - 1):
                await until(lambda run_id=f"r{number}": world.output(run_id).text() == f"{run_id}\n".encode())

        within_time(body())
        for line in lines:
            os.kill(line["pid"], signal.SIGKILL)
        ended = [host.line() for _ in range(count)]

        assert {(line["what"], line["signal"]) for line in ended} == {("ended", "SIGKILL")}


def test_there_are_no_spawners_before_the_first_start(tmp_path: Path) -> None:
    before = spawners()

    async def body() -> None:
        async with living(tmp_path):
            assert spawners() == before

    within_time(body())
