"""A process that cannot be started fails with its reason, and other processes start."""

import os
import resource
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import pytest

from kron.adapters.process.spawner_client import ProcessExit
from tests.adapters.process.recorded_runner import UNPRIVILEGED_USER, living, needs_root, spawners, within_time


def refusal(folder: Path, *argv: str, **command: Any) -> str:
    """Start something that cannot be, and beside it something that can; return why."""

    async def body() -> str:
        async with living(Path(mkdtemp(dir=folder))) as runner:
            before = runner.start("true")
            run_id = runner.start(*argv, **command)
            after = runner.start("true")
            ended = await runner.ended(run_id)

            assert await runner.ended(before) == ProcessExit(before, exit_code=0)
            assert await runner.ended(after) == ProcessExit(after, exit_code=0)
            assert (ended.exit_code, ended.signal) == (None, None)
            assert ended.not_started is not None
            return ended.not_started

    return within_time(body())


def script(folder: Path, text: str, mode: int) -> str:
    path = folder / "script"
    path.write_text(text, "utf-8")
    path.chmod(mode)
    return str(path)


def test_a_program_that_is_not_there(tmp_path: Path) -> None:
    assert refusal(tmp_path, "no-such-program", env=(("PATH", "/bin"),)) == (
        "program no-such-program not found in PATH /bin"
    )
    assert refusal(tmp_path, "/no/such/program") == "program /no/such/program: No such file or directory"


def test_a_program_that_may_not_be_executed(tmp_path: Path) -> None:
    path = script(tmp_path, "#!/bin/sh\n", 0o644)

    assert refusal(tmp_path, path) == f"program {path}: Permission denied"
    assert refusal(tmp_path, "script", env=(("PATH", str(tmp_path)),)) == f"program {path}: Permission denied"


def test_a_script_that_does_not_say_what_runs_it(tmp_path: Path) -> None:
    path = script(tmp_path, "echo hello\n", 0o755)

    assert refusal(tmp_path, path) == (
        f"program {path}: Exec format error (it is no program of this machine, and no script that begins with #!)"
    )


def test_a_script_whose_interpreter_is_missing(tmp_path: Path) -> None:
    path = script(tmp_path, "#!/no/such/shell\n", 0o755)

    assert refusal(tmp_path, path) == (
        f"program {path}: No such file or directory (its interpreter, named after #!, does not exist)"
    )


def test_arguments_that_are_too_long(tmp_path: Path) -> None:
    assert "Argument list too long" in refusal(tmp_path, "true", *["x" * 100_000] * 100)


def test_an_argument_with_a_zero_byte(tmp_path: Path) -> None:
    assert "null byte" in refusal(tmp_path, "echo", "a\0b")


def test_a_folder_that_is_missing(tmp_path: Path) -> None:
    assert refusal(tmp_path, "true", cwd="/no/such/folder") == (
        "working directory /no/such/folder: No such file or directory"
    )


@pytest.mark.parametrize("path", ["/no/such/folder/file", "/"])
def test_an_output_file_that_cannot_be_opened(tmp_path: Path, path: str) -> None:
    assert refusal(tmp_path, "true", stdout=f"file:{path}").startswith(f"output file {path}: ")


def test_an_output_file_that_is_a_pipe_without_a_reader_is_refused(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)

    assert refusal(tmp_path, "true", stdout=f"file:{pipe}") == f"output file {pipe}: No such device or address"


def test_a_limit_that_is_not_allowed_or_not_known(tmp_path: Path) -> None:
    assert refusal(tmp_path, "true", limits=(("nofile", 1 << 60),)).startswith("limit nofile: ")
    assert refusal(tmp_path, "true", limits=(("patience", 1),)).startswith("limit patience: ")


def test_a_program_that_fails_beside_a_limit(tmp_path: Path) -> None:
    assert refusal(tmp_path, "/no/such/program", limits=(("core", 0),)) == (
        "program /no/such/program: No such file or directory"
    )


def test_a_user_that_does_not_exist(tmp_path: Path) -> None:
    assert refusal(tmp_path, "true", user="no-such-user") == "there is no user no-such-user"
    assert refusal(tmp_path, "true", group="no-such-group") == "there is no group no-such-group"


@pytest.mark.skipif(os.geteuid() == 0, reason="NEEDS ANOTHER USER THAN ROOT: root may become any user")
def test_a_user_that_we_may_not_become(tmp_path: Path) -> None:
    assert refusal(tmp_path, "true", user="root").startswith("may not become the user root: ")


@needs_root
def test_a_user_with_too_many_processes(tmp_path: Path) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NPROC)
    resource.setrlimit(resource.RLIMIT_NPROC, (1, hard))  # root is exempt; whom it becomes is not
    try:
        reason = refusal(tmp_path, "true", user=UNPRIVILEGED_USER)
    finally:
        resource.setrlimit(resource.RLIMIT_NPROC, (soft, hard))

    assert reason.endswith(
        "Resource temporarily unavailable (the user, or the host, has reached its limit of processes)"
    )


async def test_a_disk_that_takes_no_output_file(tmp_path: Path) -> None:
    async with living(tmp_path) as runner:
        runner.runner.spools.live.rename(tmp_path / "elsewhere")
        run_id = runner.start("true")
        ended = await runner.ended(run_id)
        silent = await runner.run("true", stdout="discard", stderr="discard")

        assert ended == ProcessExit(run_id, not_started="output file: No such file or directory")
        assert silent.exit_code == 0


@needs_root
def test_a_fork_that_fails_leaves_nothing_open_in_the_spawner(tmp_path: Path) -> None:
    async def body() -> None:
        async with living(tmp_path) as runner:
            await runner.run("true", user=UNPRIVILEGED_USER, limits=(("core", 0),))
            (spawner,) = spawners()
            opened = Path(f"/proc/{spawner}/fd")
            before = len(list(opened.iterdir()))
            failed = await runner.run("true", user=UNPRIVILEGED_USER, limits=(("core", 0),))

            assert "limit of processes" in str(failed.not_started)
            assert len(list(opened.iterdir())) == before

    soft, hard = resource.getrlimit(resource.RLIMIT_NPROC)
    resource.setrlimit(resource.RLIMIT_NPROC, (1, hard))  # root is exempt; whom it becomes is not
    try:
        within_time(body())
    finally:
        resource.setrlimit(resource.RLIMIT_NPROC, (soft, hard))
