"""Output goes to files: bounded, in order, and delaying nothing."""

import os
from datetime import timedelta
from pathlib import Path

import pytest

from kron.adapters.process.procfs import read_stat
from kron.adapters.process.spawner_client import ProcessExit
from kron.adapters.system_time import system_now
from tests.adapters.process.recorded_runner import RecordedRunner, gone, living, settled, until, within_time

KIB, MIB = 1 << 10, 1 << 20


def blocks(world: RecordedRunner) -> int:
    """Return how many bytes of disk the live files take."""
    total = 0
    for path in world.runner.spools.live.iterdir():
        try:
            total += path.stat().st_blocks * 512
        except FileNotFoundError:
            continue
    return total


def test_both_streams_are_there_while_it_runs_and_afterwards(tmp_path: Path) -> None:
    async def body() -> None:
        async with living(tmp_path) as world:
            run_id = world.start("sh", "-c", "echo out; echo err >&2; exec sleep 1000")
            await until(lambda: world.output(run_id).bytes == 8)
            running = world.output(run_id)
            world.runner.kill(run_id)
            await settled(world, run_id)
            final = world.output(run_id)

            assert not running.is_final
            assert final.is_final
            assert sorted(running.text().splitlines()) == sorted(final.text().splitlines()) == [b"err", b"out"]
            assert final.only("stderr").text() == b"err\n"
            files = {path.name for path in world.output_folder.iterdir() if path.is_file()}
            assert files == {"spools", f"{run_id}.log"}

    within_time(body())


@pytest.mark.slow
def test_streams_come_in_the_order_in_which_they_were_written(tmp_path: Path) -> None:
    script = "for i in 1 2 3; do echo out $i; sleep 0.5; echo err $i >&2; sleep 0.5; done"

    async def body() -> None:
        async with living(tmp_path) as world:
            text = await world.says("sh", "-c", script)

            assert text.split("\n")[:-1] == [f"{stream} {number}" for number in (1, 2, 3) for stream in ("out", "err")]

    within_time(body())


def test_joined_streams_are_in_exact_order(tmp_path: Path) -> None:
    async def body() -> None:
        async with living(tmp_path) as world:
            text = await world.says("sh", "-c", "echo 1; echo 2 >&2; echo 3; echo 4 >&2", stderr="stdout")

            assert text == "1\n2\n3\n4\n"

    within_time(body())


def test_a_silent_execution_leaves_no_file_of_its_own(tmp_path: Path) -> None:
    async def body() -> None:
        async with living(tmp_path) as world:
            run_id = world.start("true")
            await settled(world, run_id)

            assert [path.name for path in world.output_folder.iterdir() if path.is_file()] == ["spools"]
            assert list(world.runner.spools.live.iterdir()) == []
            await until(lambda: world.output(run_id).is_final)
            assert world.output(run_id).text() == b""

    within_time(body())


def test_files_are_for_the_host_alone(tmp_path: Path) -> None:
    async def body() -> None:
        async with living(tmp_path) as world:
            run_id = world.start("sh", "-c", "echo hello; exec sleep 1000", umask=0)
            log = world.output_folder / f"{run_id}.log"
            await until(log.exists)

            assert {path.stat().st_mode & 0o777 for path in (log, world.output_folder / "spools")} == {0o600}
            assert {path.stat().st_mode & 0o777 for path in (world.output_folder, world.runner.spools.live)} == {0o700}
            assert {path.stat().st_uid for path in world.runner.spools.live.iterdir()} == {os.geteuid()}

    within_time(body())


# --- bounds -----------------------------------------------------------------------------------------------------------


def test_of_too_much_the_head_and_the_tail_are_kept(tmp_path: Path) -> None:
    async def body() -> None:
        async with living(tmp_path) as world:
            run_id = world.start("seq", "1", "100000", output_limit=10_000)
            await settled(world, run_id)
            output = world.output(run_id)
            lines = output.text().splitlines()
            marker = lines.index(b"[krond: %d bytes dropped]" % output.dropped)

            assert output.bytes <= 10_000
            assert output.bytes + output.dropped == sum(len(str(number)) + 1 for number in range(1, 100_001))
            assert lines[:marker] == [b"%d" % number for number in range(1, marker + 1)]
            assert lines[-1] == b"100000"
            assert lines[marker + 1 :] == [b"%d" % number for number in range(int(lines[marker + 1]), 100_001)]

    within_time(body())


@pytest.mark.slow
def test_who_writes_without_end_takes_a_bounded_part_of_the_disk(tmp_path: Path) -> None:
    async def body() -> None:
        async with living(tmp_path) as world:
            writer = "while :; do head -c 1000000 /dev/zero | tr '\\0' 'x'; echo; sleep 0.1; done"
            run_id = world.start("sh", "-c", writer, output_limit=MIB)
            most = 0

            def has_written_enough() -> bool:
                nonlocal most
                most = max(most, blocks(world))
                return sum(path.stat().st_size for path in world.runner.spools.live.iterdir()) > 20 * MIB

            await until(has_written_enough)
            output = world.output(run_id)
            world.runner.kill(run_id)
            await settled(world, run_id)

            assert most < 12 * MIB
            assert output.dropped > 5 * MIB
            assert world.output(run_id).bytes <= MIB

    within_time(body())


def test_a_limit_of_zero_keeps_nothing_and_counts_everything(tmp_path: Path) -> None:
    async def body() -> None:
        async with living(tmp_path) as world:
            run_id = world.start("echo", "hello", output_limit=0)
            await settled(world, run_id)

            assert world.output(run_id).text() == b"[krond: 6 bytes dropped]\n"
            (dropped,) = world.output(run_id).lines()
            assert before <= dropped.time <= system_now()

    before = system_now() - timedelta(seconds=1)  # files know milliseconds, and those of the last tick
    within_time(body())


# --- grandchildren ----------------------------------------------------------------------------------------------------


def test_a_daemon_that_keeps_the_files_delays_no_end_and_is_still_heard(tmp_path: Path) -> None:
    script = "(setsid sh -c 'trap \"echo bye; exit\" TERM; echo $$; while :; do sleep 0.05; done' &) ; exit 5"

    async def body() -> None:
        async with living(tmp_path) as world:
            run_id = world.start("sh", "-c", script)

            assert await world.ended(run_id) == ProcessExit(run_id, exit_code=5)

            await until(lambda: world.output(run_id).bytes > 0)
            daemon = int(world.output(run_id).text())
            known = read_stat(daemon)
            assert known is not None
            assert known.is_alive
            os.kill(daemon, 15)
            await gone(daemon)
            await settled(world, run_id)

            assert world.output(run_id).text() == b"%d\nbye\n" % daemon

    within_time(body())


def test_who_closes_its_descriptors_runs_on(tmp_path: Path) -> None:
    async def body() -> None:
        async with living(tmp_path) as world:
            run_id = world.start("sh", "-c", "echo before; exec 0<&- 1>&- 2>&-; sleep 0.3; exit 6")

            assert (await world.ended(run_id)).exit_code == 6
            assert world.output(run_id).text() == b"before\n"

    within_time(body())


# --- spool files ------------------------------------------------------------------------------------------------------


def test_a_spool_file_is_used_once_and_then_removed(tmp_path: Path) -> None:
    async def body() -> None:
        async with living(tmp_path) as world:
            names = set()
            for word in ("first", "second"):
                run_id = world.start("sh", "-c", f"echo {word}; ls -l /proc/self/fd/1 >&2", run_id=word)
                await settled(world, run_id)
                names.add(world.output(run_id).only("stderr").text().split()[-1])
                assert list(world.runner.spools.live.iterdir()) == []

            assert len(names) == 2
            assert [world.output(run).only("stdout").text() for run in ("first", "second")] == [b"first\n", b"second\n"]

    within_time(body())


def test_files_that_are_made_ahead_are_made_again_after_a_burst(tmp_path: Path) -> None:
    async def body() -> None:
        async with living(tmp_path) as world:
            world.runner.prepare("", "", 40)
            await until(lambda: not world.runner.spools.lacks(40))
            for run_id in [world.start("true") for _ in range(20)]:
                await settled(world, run_id)

            await until(lambda: not world.runner.spools.lacks(40))
            assert len(list(world.runner.spools.live.iterdir())) == 40

    within_time(body())
