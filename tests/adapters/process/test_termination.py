"""A run is terminated with its process group: SIGTERM first, SIGKILL after the grace period."""

import os
import signal
from datetime import timedelta
from pathlib import Path

from kron.adapters.process.procfs import read_stat
from tests.adapters.process.recorded_runner import RecordedRunner, gone, living, until

LONG, SHORT = timedelta(seconds=30), timedelta(milliseconds=100)


async def said(runner: RecordedRunner, run_id: str, text: bytes) -> None:
    """Wait until an execution has written something."""
    await until(lambda: text in runner.output(run_id).text())


async def test_a_process_that_does_not_handle_sigterm_ends_by_it(tmp_path: Path) -> None:
    async with living(tmp_path) as runner:
        run_id = runner.start("sleep", "1000")
        await runner.started(run_id)
        runner.runner.terminate(run_id, LONG)

        assert (await runner.ended(run_id)).signal == "SIGTERM"


async def test_a_process_that_ignores_sigterm_is_killed_after_the_grace(tmp_path: Path) -> None:
    async with living(tmp_path) as runner:
        run_id = runner.start("sh", "-c", "trap '' TERM; echo ready; while :; do sleep 1000; done")
        await said(runner, run_id, b"ready")
        runner.runner.terminate(run_id, SHORT)

        assert (await runner.ended(run_id)).signal == "SIGKILL"


async def test_a_process_has_the_grace_to_clean_up(tmp_path: Path) -> None:
    async with living(tmp_path) as runner:
        run_id = runner.start("sh", "-c", "trap 'echo cleaned; exit 4' TERM; echo ready; sleep 1000 & wait")
        await said(runner, run_id, b"ready")
        runner.runner.terminate(run_id, LONG)

        assert (await runner.ended(run_id)).exit_code == 4
        assert runner.output(run_id).text() == b"ready\ncleaned\n"


async def test_a_kill_does_not_ask(tmp_path: Path) -> None:
    async with living(tmp_path) as runner:
        run_id = runner.start("sh", "-c", "trap '' TERM; echo ready; sleep 1000")
        await said(runner, run_id, b"ready")
        runner.runner.kill(run_id)

        assert (await runner.ended(run_id)).signal == "SIGKILL"


async def test_the_rest_of_the_group_is_killed_though_its_leader_has_obeyed(tmp_path: Path) -> None:
    script = "(trap '' TERM; echo $(exec sh -c 'echo $PPID'); while :; do sleep 1000; done) & sleep 0.1; wait"

    async with living(tmp_path) as runner:
        run_id = runner.start("sh", "-c", script)
        await said(runner, run_id, b"\n")
        stubborn = int(runner.output(run_id).text())
        runner.runner.terminate(run_id, SHORT)

        assert (await runner.ended(run_id)).signal == "SIGTERM"
        await gone(stubborn)


async def test_one_that_is_under_way_is_ended_as_soon_as_it_has_started(tmp_path: Path) -> None:
    async with living(tmp_path) as runner:
        await runner.run("true")  # a spawner is there
        run_ids = [runner.start("sleep", "1000") for _ in range(20)]
        await runner.started(run_ids[0])
        for run_id in run_ids:
            runner.runner.terminate(run_id, LONG)
        ended = [await runner.ended(run_id) for run_id in run_ids]

        assert all(one.signal == "SIGTERM" or one.not_started for one in ended)


async def test_a_daemon_that_left_the_group_is_left_alone_and_delays_nothing(tmp_path: Path) -> None:
    async with living(tmp_path) as runner:
        run_id = runner.start("sh", "-c", "setsid sh -c 'echo $$; exec sleep 1000' & wait $!; exit 0")
        await said(runner, run_id, b"\n")
        daemon = int(runner.output(run_id).text())
        runner.runner.terminate(run_id, SHORT)
        await runner.ended(run_id)
        known = read_stat(daemon)

        assert known is not None
        assert known.is_alive

        os.kill(daemon, signal.SIGKILL)
        await gone(daemon)


async def test_ending_what_has_ended_or_was_never_known_is_harmless(tmp_path: Path) -> None:
    async with living(tmp_path) as runner:
        run_id = runner.start("true")
        await runner.ended(run_id)

        runner.runner.terminate(run_id, SHORT)
        runner.runner.kill(run_id)
        runner.runner.kill("unknown")


async def left_behind(runner: RecordedRunner, folder: Path, grace: timedelta) -> int:
    """Return the process that is left of a group which was asked to end; its leader has gone."""
    script = folder / "stubborn"
    script.write_text("trap '' TERM\necho $$\nwhile :; do sleep 1000; done\n")
    run_id = runner.start("sh", "-c", f"sh {script} & wait")
    await until(lambda: runner.output(run_id).text().endswith(b"\n"))
    runner.runner.terminate(run_id, grace)
    await runner.ended(run_id)
    return int(runner.output(run_id).text())


async def test_a_group_whose_leader_has_exited_is_killed_also_when_the_runner_detaches(
    tmp_path: Path,
) -> None:
    async with living(tmp_path) as runner:
        left = await left_behind(runner, tmp_path, SHORT)
    await gone(left)


async def test_remaining_processes_are_killed_at_once_on_request(tmp_path: Path) -> None:
    async with living(tmp_path) as runner:
        left = await left_behind(runner, tmp_path, timedelta(hours=1))
        runner.runner.kill_terminating()
    await gone(left)
