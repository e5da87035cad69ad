"""Output is written to files: bounded, in order, and without delaying starts."""

import os
from datetime import timedelta
from pathlib import Path

import pytest

from kron.adapters.process.procfs import read_stat
from kron.adapters.process.spawner_client import ProcessExit
from kron.adapters.system_time import system_now
from tests.adapters.process.recorded_runner import RecordedRunner, gone, living, settled, until, within_time

KIB, MIB = 1 << 10, 1 << 20


def blocks(runner: RecordedRunner) -> int:
    """Return how many bytes of disk the live files take."""
    total = 0
    for path in runner.runner.spools.live.iterdir():
        try:
            total += path.stat().st_blocks * 512
        except FileNotFoundError:
            continue
    return total


async def test_both_streams_are_there_while_it_runs_and_afterwards(tmp_path: Path) -> None:
    async with living(tmp_path) as runner:
        run_id = runner.start("sh", "-c", "echo out; echo err >&2; exec sleep 1000")
        await until(lambda: runner.output(run_id).bytes == 8)
        running = runner.output(run_id)
        runner.runner.kill(run_id)
        await settled(runner, run_id)
        final = runner.output(run_id)

        assert not running.is_final
        assert final.is_final
        assert sorted(running.text().splitlines()) == sorted(final.text().splitlines()) == [b"err", b"out"]
        assert final.only("stderr").text() == b"err\n"
        files = {path.name for path in runner.output_folder.iterdir() if path.is_file()}
        assert files == {"spools", f"{run_id}.log"}


@pytest.mark.slow
async def test_streams_come_in_the_order_in_which_they_were_written(tmp_path: Path) -> None:
    script = "for i in 1 2 3; do echo out $i; sleep 0.5; echo err $i >&2; sleep 0.5; done"

    async with living(tmp_path) as runner:
        text = await runner.says("sh", "-c", script)

        assert text.split("\n")[:-1] == [f"{stream} {number}" for number in (1, 2, 3) for stream in ("out", "err")]


async def test_joined_streams_are_in_exact_order(tmp_path: Path) -> None:
    async with living(tmp_path) as runner:
        text = await runner.says("sh", "-c", "echo 1; echo 2 >&2; echo 3; echo 4 >&2", stderr="stdout")

        assert text == "1\n2\n3\n4\n"


async def test_a_silent_execution_leaves_no_file_of_its_own(tmp_path: Path) -> None:
    async with living(tmp_path) as runner:
        run_id = runner.start("true")
        await settled(runner, run_id)

        assert [path.name for path in runner.output_folder.iterdir() if path.is_file()] == ["spools"]
        assert list(runner.runner.spools.live.iterdir()) == []
        await until(lambda: runner.output(run_id).is_final)
        assert runner.output(run_id).text() == b""


async def test_files_are_for_the_host_alone(tmp_path: Path) -> None:
    async with living(tmp_path) as runner:
        run_id = runner.start("sh", "-c", "echo hello; exec sleep 1000", umask=0)
        log = runner.output_folder / f"{run_id}.log"
        await until(log.exists)

        assert {path.stat().st_mode & 0o777 for path in (log, runner.output_folder / "spools")} == {0o600}
        assert {path.stat().st_mode & 0o777 for path in (runner.output_folder, runner.runner.spools.live)} == {0o700}
        assert {path.stat().st_uid for path in runner.runner.spools.live.iterdir()} == {os.geteuid()}


# --- bounds -----------------------------------------------------------------------------------------------------------


async def test_of_too_much_the_head_and_the_tail_are_kept(tmp_path: Path) -> None:
    async with living(tmp_path) as runner:
        run_id = runner.start("seq", "1", "100000", output_limit=10_000)
        await settled(runner, run_id)
        output = runner.output(run_id)
        lines = output.text().splitlines()
        marker = lines.index(b"[krond: %d bytes dropped]" % output.dropped)

        assert output.bytes <= 10_000
        assert output.bytes + output.dropped == sum(len(str(number)) + 1 for number in range(1, 100_001))
        assert lines[:marker] == [b"%d" % number for number in range(1, marker + 1)]
        assert lines[-1] == b"100000"
        assert lines[marker + 1 :] == [b"%d" % number for number in range(int(lines[marker + 1]), 100_001)]


@pytest.mark.slow
def test_endless_output_takes_a_bounded_part_of_the_disk(tmp_path: Path) -> None:
    async def body() -> None:
        async with living(tmp_path) as runner:
            writer = "while :; do head -c 1000000 /dev/zero | tr '\\0' 'x'; echo; sleep 0.1; done"
            run_id = runner.start("sh", "-c", writer, output_limit=MIB)
            most = 0

            def has_written_enough() -> bool:
                nonlocal most
                most = max(most, blocks(runner))
                return sum(path.stat().st_size for path in runner.runner.spools.live.iterdir()) > 20 * MIB

            await until(has_written_enough)
            output = runner.output(run_id)
            runner.runner.kill(run_id)
            await settled(runner, run_id)

            assert most < 12 * MIB
            assert output.dropped > 5 * MIB
            assert runner.output(run_id).bytes <= MIB

    within_time(body())


def test_a_limit_of_zero_keeps_nothing_and_counts_everything(tmp_path: Path) -> None:
    async def body() -> None:
        async with living(tmp_path) as runner:
            run_id = runner.start("echo", "hello", output_limit=0)
            await settled(runner, run_id)

            assert runner.output(run_id).text() == b"[krond: 6 bytes dropped]\n"
            (dropped,) = runner.output(run_id).lines()
            assert before <= dropped.time <= system_now()

    before = system_now() - timedelta(seconds=1)  # files know milliseconds, and those of the last tick
    within_time(body())


# --- grandchildren ----------------------------------------------------------------------------------------------------


async def test_a_daemon_that_keeps_the_files_delays_no_end_and_is_still_heard(tmp_path: Path) -> None:
    script = "(setsid sh -c 'trap \"echo bye; exit\" TERM; echo $$; while :; do sleep 0.05; done' &) ; exit 5"

    async with living(tmp_path) as runner:
        run_id = runner.start("sh", "-c", script)

        assert await runner.ended(run_id) == ProcessExit(run_id, exit_code=5)

        await until(lambda: runner.output(run_id).bytes > 0)
        daemon = int(runner.output(run_id).text())
        known = read_stat(daemon)
        assert known is not None
        assert known.is_alive
        os.kill(daemon, 15)
        await gone(daemon)
        await settled(runner, run_id)

        assert runner.output(run_id).text() == b"%d\nbye\n" % daemon


async def test_a_process_that_closes_its_descriptors_keeps_running(tmp_path: Path) -> None:
    async with living(tmp_path) as runner:
        run_id = runner.start("sh", "-c", "echo before; exec 0<&- 1>&- 2>&-; sleep 0.3; exit 6")

        assert (await runner.ended(run_id)).exit_code == 6
        assert runner.output(run_id).text() == b"before\n"


# --- spool files ------------------------------------------------------------------------------------------------------


async def test_a_spool_file_is_used_once_and_then_removed(tmp_path: Path) -> None:
    async with living(tmp_path) as runner:
        names = set()
        for word in ("first", "second"):
            run_id = runner.start("sh", "-c", f"echo {word}; ls -l /proc/self/fd/1 >&2", run_id=word)
            await settled(runner, run_id)
            names.add(runner.output(run_id).only("stderr").text().split()[-1])
            assert list(runner.runner.spools.live.iterdir()) == []

        assert len(names) == 2
        assert [runner.output(run).only("stdout").text() for run in ("first", "second")] == [
            b"first\n",
            b"second\n",
        ]


async def test_files_that_are_made_ahead_are_made_again_after_a_burst(tmp_path: Path) -> None:
    async with living(tmp_path) as runner:
        runner.runner.prepare("", "", 40)
        await until(lambda: not runner.runner.spools.lacks(40))
        for run_id in [runner.start("true") for _ in range(20)]:
            await settled(runner, run_id)

        await until(lambda: not runner.runner.spools.lacks(40))
        assert len(list(runner.runner.spools.live.iterdir())) == 40
