"""Processes survive a killed host and are recognised again; its pending requests are dropped."""

import asyncio
import os
import signal
from datetime import timedelta
from pathlib import Path
from uuid import uuid4

import pytest

from kron.adapters.process.procfs import boot_id, list_pids, read_stat, since_boot
from kron.adapters.process.spawner_client import ProcessExit
from kron.adapters.process.supervision import RecordedProcess, find_survivors
from kron.rules.job_record import RunHandle
from tests.adapters.process.host_process import hosting, recorded, sleeper
from tests.adapters.process.recorded_runner import RecordedRunner, gone, living, until, within_time, zombies


async def test_a_survivor_is_recognised_watched_and_ends_without_a_code(tmp_path: Path) -> None:
    with hosting(tmp_path, sleeper("a", "echo before;")) as host:
        line = host.line()
        host.kill()

    async with living(tmp_path) as runner:
        runner.expect("a")
        survivors = await runner.runner.reattach([recorded(line)])

        assert survivors == [RunHandle("a", line["pid"], line["start_ticks"])]
        assert not runner.has_ended("a")

        os.kill(line["pid"], signal.SIGKILL)

        assert await runner.ended("a") == ProcessExit("a")
        assert runner.output("a").text() == b"before\n"


async def test_very_many_survivors_are_looked_at_for_a_small_part_of_the_time(tmp_path: Path) -> None:
    with hosting(tmp_path, sleeper("a")) as host:
        line = host.line()
        host.kill()
    here = read_stat(os.getpid())
    assert here is not None
    many = [RunHandle(str(number), os.getpid(), here.ticks) for number in range(2_000)]

    async with living(tmp_path) as runner:
        runner.expect("a")
        await runner.runner.reattach([recorded(line)])
        runner.runner.watch_orphans(many)
        os.kill(line["pid"], signal.SIGKILL)
        await gone(line["pid"])
        runner.runner.watch_orphans([])

        assert not runner.has_ended("a")
        assert await runner.ended("a") == ProcessExit("a")


async def test_a_survivor_is_found_by_its_id_if_its_number_was_never_recorded(tmp_path: Path) -> None:
    first, second = unique_id(), unique_id()
    with hosting(tmp_path, sleeper(first)) as host:
        line = host.line()
        host.kill()

    async with living(tmp_path) as runner:
        runner.expect(first)
        survivors = await runner.runner.reattach([unrecorded(first, os.geteuid()), unrecorded(second, os.geteuid())])

        assert survivors == [RunHandle(first, line["pid"], line["start_ticks"])]


def unique_id() -> str:
    """Return the id of a run that no other process of this machine has: it is all that such a run is found by."""
    return uuid4().hex


def unrecorded(run_id: str, uid: int, ago: timedelta = timedelta()) -> RecordedProcess:
    """Return a start whose process was never recorded."""
    return RecordedProcess(run_id, boot_id(), uid=uid, began=since_boot() - ago)


async def test_a_process_with_the_id_of_a_run_is_no_survivor_of_another_user(tmp_path: Path) -> None:
    forged = unique_id()
    with hosting(tmp_path, sleeper(forged)) as host:
        line = host.line()
        host.kill()

    async with living(tmp_path) as runner:
        assert await runner.runner.reattach([unrecorded(forged, os.geteuid() + 1)]) == []
    os.kill(line["pid"], signal.SIGKILL)


@pytest.mark.skipif(since_boot() < timedelta(hours=2), reason="NOT TRIED: this machine booted less than two hours ago")
async def test_a_process_with_the_id_of_a_run_is_no_survivor_if_it_began_at_another_time(tmp_path: Path) -> None:
    forged = unique_id()
    with hosting(tmp_path, sleeper(forged)) as host:
        line = host.line()
        host.kill()

    async with living(tmp_path) as runner:
        assert await runner.runner.reattach([unrecorded(forged, os.geteuid(), timedelta(minutes=61))]) == []
    os.kill(line["pid"], signal.SIGKILL)


@pytest.mark.parametrize("began", [timedelta(days=-1), timedelta(days=20_000)], ids=["before the boot", "to come"])
def test_a_survivor_is_found_although_the_clock_was_set_meanwhile(tmp_path: Path, began: timedelta) -> None:
    run_id = unique_id()
    with hosting(tmp_path, sleeper(run_id)) as host:
        line = host.line()
        host.kill()

    found = find_survivors([RecordedProcess(run_id, boot_id(), uid=os.geteuid(), began=began)])

    os.kill(line["pid"], signal.SIGKILL)
    assert found == [RunHandle(run_id, line["pid"], line["start_ticks"])]


@pytest.mark.parametrize("change", ["boot", "ticks", "number"])
async def test_a_process_that_differs_in_any_field_is_not_a_survivor(tmp_path: Path, change: str) -> None:
    with hosting(tmp_path, sleeper("a")) as host:
        line = host.line()
        host.kill()
    changed = {
        "boot": RecordedProcess("a", "another boot", line["pid"], line["start_ticks"]),
        "ticks": RecordedProcess("a", boot_id(), line["pid"], line["start_ticks"] + 1),
        "number": RecordedProcess("a", boot_id(), 2**22 + 1, line["start_ticks"]),
    }

    async with living(tmp_path) as runner:
        assert await runner.runner.reattach([changed[change]]) == []
    os.kill(line["pid"], signal.SIGKILL)


async def test_output_of_a_survivor_goes_on_being_captured_and_bounded(tmp_path: Path) -> None:
    go = tmp_path / "go"
    os.mkfifo(go)
    script = f"echo early; read line < {go}; seq 1 50000; read line < {go};"
    with hosting(tmp_path, sleeper("a", script, output_limit=10_000)) as host:
        line = host.line()
        host.kill()

    async with living(tmp_path) as runner:
        runner.expect("a")
        await until(lambda: runner.output("a").text() == b"early\n")  # from files alone
        await runner.runner.reattach([recorded(line)])
        await asyncio.get_running_loop().run_in_executor(None, go.write_text, "go\n")
        await until(lambda: b"50000" in runner.output("a").text())
        runner.runner.kill("a")
        await runner.ended("a")
        await until(lambda: runner.output("a").is_final)
        output = runner.output("a")

        assert output.text().startswith(b"early\n1\n2\n")
        assert output.bytes <= 10_000
        assert output.dropped > 200_000


async def test_a_survivor_can_be_terminated(tmp_path: Path) -> None:
    with hosting(tmp_path, sleeper("a")) as host:
        line = host.line()
        host.kill()

    async with living(tmp_path) as runner:
        runner.expect("a")
        await runner.runner.reattach([recorded(line)])
        runner.runner.kill("a")

        assert await runner.ended("a") == ProcessExit("a")
        assert read_stat(line["pid"]) is None or zombies() == []


def test_output_of_those_that_did_not_survive_is_made_final(tmp_path: Path) -> None:
    with hosting(tmp_path, sleeper("a", "echo hello;")) as host:
        line = host.line()

        async def body() -> None:
            runner = RecordedRunner(tmp_path)
            await until(lambda: runner.output("a").bytes == 6)

        within_time(body())
        host.kill()
    os.kill(line["pid"], signal.SIGKILL)

    async def rest() -> None:
        await gone(line["pid"])
        async with living(tmp_path) as runner:
            assert await runner.runner.reattach([recorded(line)]) == []
            await until(lambda: runner.output("a").is_final)

            assert runner.output("a").text() == b"hello\n"

    within_time(rest())


async def test_the_spawner_of_a_dead_host_starts_nothing_more_reaps_its_children_and_ends(tmp_path: Path) -> None:
    marks = tmp_path / "marks"
    marks.mkdir()
    many = [{"run_id": f"m{number}", "argv": ["touch", str(marks / str(number))]} for number in range(300)]
    with hosting(tmp_path, sleeper("a"), *many) as host:
        line = host.line()
        host.kill()
    known = read_stat(line["pid"])
    assert known is not None
    spawner = known.parent

    def children() -> list[int]:
        return [pid for pid in list_pids() if (one := read_stat(pid)) and one.parent == spawner]

    await until(lambda: children() == [line["pid"]])
    made = len(list(marks.iterdir()))
    assert made < 300

    os.kill(line["pid"], signal.SIGKILL)
    await gone(spawner)

    assert len(list(marks.iterdir())) == made
    assert read_stat(line["pid"]) is None


async def test_letting_go_leaves_what_runs_running(tmp_path: Path) -> None:
    with hosting(tmp_path, sleeper("a")) as host:
        line = host.line()
        assert host.process.stdin is not None
        host.process.stdin.close()
        host.process.wait()

    async with living(tmp_path) as runner:
        runner.expect("a")

        assert len(await runner.runner.reattach([recorded(line)])) == 1


# --- many -------------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_two_thousand_at_once_need_few_descriptors(tmp_path: Path) -> None:
    count = 2000
    starts = [sleeper(f"r{number}", "echo $KRON_RUN_ID;") for number in range(count)]
    with hosting(tmp_path, *starts, descriptors=64) as host:
        lines = [host.line() for _ in range(count)]
        assert {line["what"] for line in lines} == {"started"}

        async def body() -> None:
            runner = RecordedRunner(tmp_path)
            for number in (0, count // 2, count - 1):
                await until(lambda run_id=f"r{number}": runner.output(run_id).text() == f"{run_id}\n".encode())

        within_time(body())
        for line in lines:
            os.kill(line["pid"], signal.SIGKILL)
        ended = [host.line() for _ in range(count)]

        assert {(line["what"], line["signal"]) for line in ended} == {("ended", "SIGKILL")}
