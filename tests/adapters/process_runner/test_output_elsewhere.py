"""Output that is not kept: in a file of the job's, in the host's own, in the log, or nowhere."""

import socket
from pathlib import Path

import pytest

from tests.adapters.process_runner.world import living, settled, within_time


def test_a_file_is_appended_to_and_made_for_its_user_alone(tmp_path: Path) -> None:
    path = tmp_path / "log"

    async def body() -> None:
        async with living(tmp_path) as world:
            for word in ("one", "two"):
                await world.run("sh", "-c", f"echo {word}; echo {word} >&2", stdout=f"file:{path}", stderr="stdout")

            assert path.read_text("utf-8") == "one\none\ntwo\ntwo\n"
            assert path.stat().st_mode & 0o777 == 0o600

    within_time(body())


def test_discarded_output_is_nowhere(tmp_path: Path) -> None:
    async def body() -> None:
        async with living(tmp_path) as world:
            run_id = world.start("sh", "-c", "echo out; echo err >&2", stdout="discard")
            await settled(world, run_id)

            assert world.output(run_id).text() == b"err\n"

    within_time(body())


def test_inherited_output_is_the_hosts(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    async def body() -> None:
        async with living(tmp_path) as world:
            await world.run("sh", "-c", "echo out; echo err >&2", stdout="inherit", stderr="inherit")

    within_time(body())
    found = capfd.readouterr()

    assert (found.out, found.err) == ("out\n", "err\n")


def test_syslog_gets_a_message_a_line_and_the_disk_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kron.adapters.process_runner.syslog.ADDRESS", str(tmp_path / "log"))
    log = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    log.bind(str(tmp_path / "log"))
    log.settimeout(20)

    async def body() -> None:
        async with living(tmp_path) as world:
            run_id = world.start("sh", "-c", "echo one; printf 'two\\nthree'", stdout="syslog")
            await settled(world, run_id)

            assert world.output(run_id).text() == b""

    within_time(body())
    messages = [log.recv(1000) for _ in range(3)]
    log.close()

    assert messages == [b"<78>krond[run-1]: one", b"<78>krond[run-1]: two", b"<78>krond[run-1]: three"]


def test_a_host_without_syslog_runs_all_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kron.adapters.process_runner.syslog.ADDRESS", str(tmp_path / "nowhere"))

    async def body() -> None:
        async with living(tmp_path) as world:
            run_id = world.start("echo", "hello", stdout="syslog", stderr="syslog")

            assert (await world.ended(run_id)).exit_code == 0
            await settled(world, run_id)

    within_time(body())
