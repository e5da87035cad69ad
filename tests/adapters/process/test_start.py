"""A process starts in surroundings that are all said, and nothing of the host's reaches it."""

import json
import os
import signal
import sys
from datetime import timedelta
from pathlib import Path

import pytest

from kron.adapters.process.procfs import read_stat
from kron.adapters.process.spawner_client import ProcessExit
from tests.adapters.process.recorded_runner import gone, living, spawners, until, within_time, zombies


@pytest.mark.parametrize(
    ("script", "exit_code", "signal_name"),
    [("exit 0", 0, None), ("exit 7", 7, None), ("kill -9 $$", None, "SIGKILL"), ("kill -TERM $$", None, "SIGTERM")],
)
def test_an_end_is_a_code_or_a_signal(
    tmp_path: Path, script: str, exit_code: int | None, signal_name: str | None
) -> None:
    async def body() -> None:
        async with living(tmp_path) as world:
            run_id = world.start("sh", "-c", script)

            assert await world.ended(run_id) == ProcessExit(run_id, exit_code=exit_code, signal=signal_name)

    within_time(body())


def test_a_started_process_is_named_by_its_number_and_the_kernels_start_time(tmp_path: Path) -> None:
    async def body() -> None:
        async with living(tmp_path) as world:
            run_ids = [world.start("sleep", "1000") for _ in range(50)]
            for run_id in run_ids:
                started = await world.started(run_id)
                known = read_stat(started.pid)

                assert known is not None
                assert started.start_ticks == known.ticks

    within_time(body())


def test_it_leads_a_session_and_a_group_of_its_own(tmp_path: Path) -> None:
    async def body() -> None:
        async with living(tmp_path) as world:
            started = await world.started(world.start("sleep", "1000"))
            known = read_stat(started.pid)

            assert known is not None
            assert (known.session, known.group) == (started.pid, started.pid)

    within_time(body())


def test_its_environment_is_exactly_what_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET_OF_THE_HOST", "1")
    home = str(Path("~").expanduser())

    async def body() -> None:
        async with living(tmp_path) as world:
            text = await world.says("env", "-0", run_id="r1", kron=(("KRON_JOB", "backup"), ("KRON_PERIOD_ID", "")))
            found = dict(entry.split("=", 1) for entry in text.split("\0") if entry)

            assert found.pop("USER") == found.pop("LOGNAME")
            assert found == {
                "HOME": home,
                "KRON_JOB": "backup",
                "KRON_PERIOD_ID": "",
                "KRON_RUN_ID": "r1",
                "LANG": "C.UTF-8",
                "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
                "SHELL": "/bin/sh",
            }

    within_time(body())


def test_the_jobs_own_variables_go_over_the_usual_ones(tmp_path: Path) -> None:
    async def body() -> None:
        async with living(tmp_path) as world:
            said = await world.says("sh", "-c", 'echo "$LANG $A"', env=(("LANG", "C"), ("A", "b  c")))

            assert said == "C b  c\n"

    within_time(body())


@pytest.mark.parametrize(
    ("home", "directory"),
    [("/usr", "/usr"), ("/no/such/home", "/"), ("/etc/hostname/x", "/"), ("relative", "/"), ("", "/")],
)
def test_it_runs_in_the_home_that_the_job_sets_or_in_the_root(tmp_path: Path, home: str, directory: str) -> None:
    async def body() -> None:
        async with living(tmp_path) as world:
            await world.run("true", cwd=str(tmp_path))

            assert await world.says("pwd", env=(("HOME", home),)) == f"{directory}\n"

    within_time(body())


def test_it_has_no_descriptors_but_three_though_the_host_leaks_one(tmp_path: Path) -> None:
    leaked = os.open("/etc/hostname", os.O_RDONLY)
    os.set_inheritable(leaked, True)  # noqa: FBT003  # it has no name

    async def body() -> None:
        async with living(tmp_path) as world:
            # The third is the folder that ls itself has opened.
            assert await world.says("ls", "/proc/self/fd") == "0\n1\n2\n3\n"
            assert await world.says("readlink", "/proc/self/fd/0") == "/dev/null\n"
            assert await world.says("ls", "/proc/self/fd", limits=(("nofile", 100),)) == "0\n1\n2\n3\n"

    within_time(body())
    os.close(leaked)


@pytest.mark.parametrize("limits", [(), (("core", 0),)], ids=["spawned", "forked for its limits"])
def test_every_signal_has_its_default_effect_and_none_is_blocked(
    tmp_path: Path, limits: tuple[tuple[str, int], ...]
) -> None:
    ignored = signal.signal(signal.SIGUSR2, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1])

    async def body() -> None:
        async with living(tmp_path) as world:
            text = await world.says("cat", "/proc/self/status", limits=limits)
            found = dict(line.split(":\t", 1) for line in text.splitlines() if line.startswith("Sig"))

            # Two that the C library keeps for itself it also sets itself.
            assert [int(found[f"Sig{kind}"], 16) & ~(3 << 31) for kind in ("Blk", "Ign", "Cgt")] == [0, 0, 0]

    within_time(body())
    signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGUSR1])
    signal.signal(signal.SIGUSR2, ignored)


# --- where ------------------------------------------------------------------------------------------------------------


def test_it_starts_at_home_or_where_it_is_told(tmp_path: Path) -> None:
    async def body() -> None:
        async with living(tmp_path) as world:
            assert await world.says("pwd") == f"{Path('~').expanduser()}\n"
            assert await world.says("pwd", cwd=str(tmp_path)) == f"{tmp_path}\n"

    within_time(body())


def test_a_program_is_looked_up_in_the_jobs_path(tmp_path: Path) -> None:
    folder = tmp_path / "bin"
    folder.mkdir()
    program = folder / "hello"
    program.write_text("#!/bin/sh\necho hello\n", "utf-8")
    program.chmod(0o755)

    async def body() -> None:
        async with living(tmp_path) as world:
            assert await world.says("hello", env=(("PATH", f"/nowhere:{folder}"),)) == "hello\n"
            assert await world.says("bin/hello", cwd=str(tmp_path)) == "hello\n"
            assert await world.says("./hello", cwd=str(folder)) == "hello\n"

    within_time(body())


def test_a_folder_that_was_removed_and_made_again_is_the_new_one(tmp_path: Path) -> None:
    folder = tmp_path / "work"
    folder.mkdir()

    async def body() -> None:
        async with living(tmp_path) as world:
            await world.run("true", cwd=str(folder))
            folder.rmdir()
            folder.mkdir()

            await world.run("touch", "here", cwd=str(folder))

            assert (folder / "here").exists()

    within_time(body())


# --- with what --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("umask", "said"), [(None, "0022\n"), (0o77, "0077\n"), (0, "0000\n")])
def test_the_umask_is_the_jobs_own(tmp_path: Path, umask: int | None, said: str) -> None:
    async def body() -> None:
        async with living(tmp_path) as world:
            assert await world.says("sh", "-c", "umask", umask=umask) == said

    within_time(body())


def test_limits_hold_for_the_process_and_not_for_those_after_it(tmp_path: Path) -> None:
    async def body() -> None:
        async with living(tmp_path) as world:
            before = await world.says("sh", "-c", "ulimit -n; ulimit -H -n; ulimit -v")
            limits = (("nofile", 77), ("as", 512 << 20))

            assert (
                await world.says("sh", "-c", "ulimit -n; ulimit -H -n; ulimit -v", limits=limits) == "77\n77\n524288\n"
            )
            assert await world.says("sh", "-c", "ulimit -n; ulimit -H -n; ulimit -v") == before

    within_time(body())


def test_standard_input_holds_the_text_and_then_ends(tmp_path: Path) -> None:
    text = "line\n" * 100_000 + "end"

    async def body() -> None:
        async with living(tmp_path) as world:
            assert await world.says("cat", stdin="a\nb\n") == "a\nb\n"
            assert await world.says("wc", "-c", stdin=text) == f"{len(text)}\n"
            assert await world.says("cat") == ""

    within_time(body())


def test_arguments_arrive_as_they_are(tmp_path: Path) -> None:
    arguments = ["a b", "", "$HOME", "é", "\n", "x" * 100_000]
    code = "import json, sys; print(json.dumps(sys.argv[1:]))"

    async def body() -> None:
        async with living(tmp_path) as world:
            said = await world.says(sys.executable, "-X", "utf8", "-c", code, *arguments)

            assert json.loads(said) == arguments

    within_time(body())


# --- many -------------------------------------------------------------------------------------------------------------


def test_messages_larger_than_a_socket_holds_arrive_whole(tmp_path: Path) -> None:
    async def body() -> None:
        async with living(tmp_path) as world:
            run_ids = [world.start("wc", "-c", stdin="x" * 700_000) for _ in range(20)]
            said = {(await world.ended(run_id), world.output(run_id).text()) for run_id in run_ids}

            assert said == {(ProcessExit(run_id, exit_code=0), b"700000\n") for run_id in run_ids}

    within_time(body())


def test_no_zombie_is_left_and_no_spawner(tmp_path: Path) -> None:
    before = set(spawners())

    async def body() -> None:
        async with living(tmp_path) as world:
            for run_id in [world.start("true") for _ in range(200)]:
                await world.ended(run_id)
            # An orphan of an execution becomes a child of this process, and then a zombie.
            orphan = int(await world.says("sh", "-c", "(sleep 0.1; exit 3) & echo $!"))

            await gone(orphan)
            await until(lambda: not zombies())

        assert set(spawners()) == before
        assert not zombies()

    within_time(body())


def test_a_start_that_is_withdrawn_before_it_happens_never_happens(tmp_path: Path) -> None:
    async def body() -> None:
        async with living(tmp_path) as world:
            run_id = world.start("touch", str(tmp_path / "made"))
            world.runner.terminate(run_id, timedelta(seconds=1))
            ended = await world.ended(run_id)

            assert ended.not_started == "it was ended before it was started"

        assert not (tmp_path / "made").exists()

    within_time(body())
