"""A process starts with exactly the environment that its job sets, and inherits nothing from the host."""

import json
import os
import signal
import sys
from datetime import timedelta
from pathlib import Path

import pytest

from kron.adapters.process.procfs import read_stat
from kron.adapters.process.spawner_client import ProcessExit
from tests.adapters.process.recorded_runner import gone, living, spawners, until, zombies


@pytest.mark.parametrize(
    ("script", "exit_code", "signal_name"),
    [("exit 0", 0, None), ("exit 7", 7, None), ("kill -9 $$", None, "SIGKILL"), ("kill -TERM $$", None, "SIGTERM")],
)
async def test_an_end_is_a_code_or_a_signal(
    tmp_path: Path, script: str, exit_code: int | None, signal_name: str | None
) -> None:
    async with living(tmp_path) as runner:
        run_id = runner.start("sh", "-c", script)

        assert await runner.ended(run_id) == ProcessExit(run_id, exit_code=exit_code, signal=signal_name)


async def test_a_started_process_is_named_by_its_number_and_the_kernels_start_time(tmp_path: Path) -> None:
    async with living(tmp_path) as runner:
        run_ids = [runner.start("sleep", "1000") for _ in range(50)]
        for run_id in run_ids:
            started = await runner.started(run_id)
            known = read_stat(started.pid)

            assert known is not None
            assert started.start_ticks == known.ticks


async def test_a_process_leads_a_session_and_a_group_of_its_own(tmp_path: Path) -> None:
    async with living(tmp_path) as runner:
        started = await runner.started(runner.start("sleep", "1000"))
        known = read_stat(started.pid)

        assert known is not None
        assert (known.session, known.group) == (started.pid, started.pid)


async def test_the_environment_of_a_process_is_exactly_the_configured_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SECRET_OF_THE_HOST", "1")
    home = str(Path("~").expanduser())

    async with living(tmp_path) as runner:
        text = await runner.says("env", "-0", run_id="r1", kron=(("KRON_JOB", "backup"), ("KRON_PERIOD_ID", "")))
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


async def test_the_jobs_own_variables_go_over_the_usual_ones(tmp_path: Path) -> None:
    async with living(tmp_path) as runner:
        said = await runner.says("sh", "-c", 'echo "$LANG $A"', env=(("LANG", "C"), ("A", "b  c")))

        assert said == "C b  c\n"


@pytest.mark.parametrize(
    ("home", "directory"),
    [("/usr", "/usr"), ("/no/such/home", "/"), ("/etc/hostname/x", "/"), ("relative", "/"), ("", "/")],
)
async def test_a_process_runs_in_the_home_that_the_job_sets_or_in_the_root(
    tmp_path: Path, home: str, directory: str
) -> None:
    async with living(tmp_path) as runner:
        await runner.run("true", cwd=str(tmp_path))

        assert await runner.says("pwd", env=(("HOME", home),)) == f"{directory}\n"


async def test_a_process_has_three_descriptors_though_the_host_leaks_one(tmp_path: Path) -> None:
    leaked = os.open("/etc/hostname", os.O_RDONLY)
    os.set_inheritable(leaked, True)  # noqa: FBT003  # it has no name

    async with living(tmp_path) as runner:
        # The third is the folder that ls itself has opened.
        assert await runner.says("ls", "/proc/self/fd") == "0\n1\n2\n3\n"
        assert await runner.says("readlink", "/proc/self/fd/0") == "/dev/null\n"
        assert await runner.says("ls", "/proc/self/fd", limits=(("nofile", 100),)) == "0\n1\n2\n3\n"
    os.close(leaked)


@pytest.mark.parametrize("limits", [(), (("core", 0),)], ids=["spawned", "forked for its limits"])
async def test_every_signal_has_its_default_effect_and_none_is_blocked(
    tmp_path: Path, limits: tuple[tuple[str, int], ...]
) -> None:
    ignored = signal.signal(signal.SIGUSR2, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1])

    async with living(tmp_path) as runner:
        text = await runner.says("cat", "/proc/self/status", limits=limits)
        found = dict(line.split(":\t", 1) for line in text.splitlines() if line.startswith("Sig"))

        # Two that the C library keeps for itself it also sets itself.
        assert [int(found[f"Sig{kind}"], 16) & ~(3 << 31) for kind in ("Blk", "Ign", "Cgt")] == [0, 0, 0]
    signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGUSR1])
    signal.signal(signal.SIGUSR2, ignored)


# --- where ------------------------------------------------------------------------------------------------------------


async def test_a_process_starts_at_home_or_in_its_configured_folder(tmp_path: Path) -> None:
    async with living(tmp_path) as runner:
        assert await runner.says("pwd") == f"{Path('~').expanduser()}\n"
        assert await runner.says("pwd", cwd=str(tmp_path)) == f"{tmp_path}\n"


async def test_a_program_is_looked_up_in_the_jobs_path(tmp_path: Path) -> None:
    folder = tmp_path / "bin"
    folder.mkdir()
    program = folder / "hello"
    program.write_text("#!/bin/sh\necho hello\n", "utf-8")
    program.chmod(0o755)

    async with living(tmp_path) as runner:
        assert await runner.says("hello", env=(("PATH", f"/nowhere:{folder}"),)) == "hello\n"
        assert await runner.says("bin/hello", cwd=str(tmp_path)) == "hello\n"
        assert await runner.says("./hello", cwd=str(folder)) == "hello\n"


async def test_a_folder_that_was_removed_and_made_again_is_the_new_one(tmp_path: Path) -> None:
    folder = tmp_path / "work"
    folder.mkdir()

    async with living(tmp_path) as runner:
        await runner.run("true", cwd=str(folder))
        folder.rmdir()
        folder.mkdir()

        await runner.run("touch", "here", cwd=str(folder))

        assert (folder / "here").exists()


# --- with what --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("umask", "said"), [(None, "0022\n"), (0o77, "0077\n"), (0, "0000\n")])
async def test_the_umask_is_the_jobs_own(tmp_path: Path, umask: int | None, said: str) -> None:
    async with living(tmp_path) as runner:
        assert await runner.says("sh", "-c", "umask", umask=umask) == said


async def test_limits_hold_for_the_process_and_not_for_those_after_it(tmp_path: Path) -> None:
    async with living(tmp_path) as runner:
        before = await runner.says("sh", "-c", "ulimit -n; ulimit -H -n; ulimit -v")
        limits = (("nofile", 77), ("as", 512 << 20))

        assert await runner.says("sh", "-c", "ulimit -n; ulimit -H -n; ulimit -v", limits=limits) == "77\n77\n524288\n"
        assert await runner.says("sh", "-c", "ulimit -n; ulimit -H -n; ulimit -v") == before


async def test_standard_input_holds_the_text_and_then_ends(tmp_path: Path) -> None:
    text = "line\n" * 100_000 + "end"

    async with living(tmp_path) as runner:
        assert await runner.says("cat", stdin="a\nb\n") == "a\nb\n"
        assert await runner.says("wc", "-c", stdin=text) == f"{len(text)}\n"
        assert await runner.says("cat") == ""


async def test_arguments_arrive_as_they_are(tmp_path: Path) -> None:
    arguments = ["a b", "", "$HOME", "é", "\n", "x" * 100_000]
    code = "import json, sys; print(json.dumps(sys.argv[1:]))"

    async with living(tmp_path) as runner:
        said = await runner.says(sys.executable, "-X", "utf8", "-c", code, *arguments)

        assert json.loads(said) == arguments


# --- many -------------------------------------------------------------------------------------------------------------


async def test_messages_larger_than_a_socket_holds_arrive_whole(tmp_path: Path) -> None:
    async with living(tmp_path) as runner:
        run_ids = [runner.start("wc", "-c", stdin="x" * 700_000) for _ in range(20)]
        said = {(await runner.ended(run_id), runner.output(run_id).text()) for run_id in run_ids}

        assert said == {(ProcessExit(run_id, exit_code=0), b"700000\n") for run_id in run_ids}


async def test_no_zombie_is_left_and_no_spawner(tmp_path: Path) -> None:
    before = set(spawners())

    async with living(tmp_path) as runner:
        for run_id in [runner.start("true") for _ in range(200)]:
            await runner.ended(run_id)
        # An orphan of an execution becomes a child of this process, and then a zombie.
        orphan = int(await runner.says("sh", "-c", "(sleep 0.1; exit 3) & echo $!"))

        await gone(orphan)
        await until(lambda: not zombies())

    assert set(spawners()) == before
    assert not zombies()


async def test_a_start_that_is_withdrawn_before_it_happens_never_happens(tmp_path: Path) -> None:
    async with living(tmp_path) as runner:
        run_id = runner.start("touch", str(tmp_path / "made"))
        runner.runner.terminate(run_id, timedelta(seconds=1))
        ended = await runner.ended(run_id)

        assert ended.not_started == "it was ended before it was started"

    assert not (tmp_path / "made").exists()
