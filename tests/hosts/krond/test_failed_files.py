"""Job files with errors: krond runs the jobs of the other files, and shows the failed files."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kron.hosts.krond.commands.control import connect
from tests.hosts.krond.krond_process import NEVER, Krond
from tests.web.page_client import PageClient

BAD = f'[jobs.c]\nschedule = "61 * * * *"\ncommand = "true"\n[jobs.d]\n{NEVER}\ncommand = "true"\n'


def job(name: str, *, command: str = "true", **keys: str) -> str:
    more = "".join(f"{key} = '{value}'\n" for key, value in keys.items())
    return f"[jobs.{name}]\n{NEVER}\ncommand = '{command}'\n{more}"


def write(file: Path, text: str, mode: int = 0o644) -> Path:
    file.parent.mkdir(mode=0o755, exist_ok=True)
    file.write_text(text, "utf-8")
    file.chmod(mode)
    return file


def ask(krond: Krond, command: str) -> Any:
    """Return what krond answers on its socket."""
    with connect(krond.state) as client:
        return client.ask(command)


def names(krond: Krond) -> list[str]:
    return sorted(each["name"] for each in ask(krond, "jobs"))


def failed(krond: Krond) -> dict[str, list[int]]:
    """Return the lines of the errors of each failed file, by its name."""
    found = ask(krond, "status")["failed_files"]
    return {Path(each["file"]).name: [finding["line"] for finding in each["findings"]] for each in found}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "jobs"
    made.mkdir(mode=0o755)
    return made


@pytest.fixture
def krond(tmp_path: Path, folder: Path) -> Iterator[Krond]:
    """A krond of a directory and of a file; it is not started."""
    daemon = Krond(tmp_path, job("own"), options=("--config", str(folder)))
    yield daemon
    if daemon.process is not None and daemon.process.poll() is None:
        ask(daemon, "stop")
        daemon.end()


def test_krond_starts_the_sound_files_and_shows_the_failed_ones(krond: Krond, folder: Path) -> None:
    krond.write(f'[krond]\nlisten = "127.0.0.1:0"\n{job("own")}')
    write(folder / "a.toml", job("a", identity="same"))
    write(folder / "b.toml", job("b") + job("twin", identity="same"))
    write(folder / "c.toml", BAD)
    write(folder / "e.toml", job("e"), 0o666)

    krond.start()

    assert names(krond) == ["a", "own"]
    assert failed(krond) == {"b.toml": [7], "c.toml": [2], "e.toml": [1]}
    events = {each["file"]: each for each in krond.events if each["event"] == "FileFailed"}
    assert [Path(file).name for file in events] == ["b.toml", "c.toml", "e.toml"]
    (finding,) = events[str(folder / "b.toml")]["findings"]
    assert finding["field"] == "jobs.twin.identity"
    assert f"{folder / 'a.toml'}:1" in finding["message"]
    status = krond.ask("status")
    assert (status.returncode, f"failed at the start: {folder / 'c.toml'}:2: error: " in status.stdout) == (0, True)
    visitor = PageClient(krond)
    assert "kron_failed_files 3.0" in visitor.get("/metrics").body.split("\n")
    page = visitor.get("/").words
    assert (
        f"Failed at the start: {folder / 'c.toml'}:2: error: jobs.c.schedule: minute field value 61 is outside 0-59"
        in page
    )
    for command in (("trigger", "b"), ("why", "b", "--at", "12:00"), ("logs", "b")):
        answer = krond.ask(*command).stderr
        assert "b is not a job that krond runs; " in answer
        assert f"{folder / 'b.toml'}:7: error: jobs.twin.identity: is also that of a" in answer
    refused = visitor.get("/why?job=b&at=12:00")
    assert (refused.status, f"{folder / 'b.toml'}:7: error: " in refused.words) == (404, True)


@pytest.mark.slow
def test_a_failed_file_whose_name_is_not_utf_8_keeps_krond_from_no_answer(krond: Krond, folder: Path) -> None:
    krond.write(f'[krond]\nlisten = "127.0.0.1:0"\n{job("own")}')
    write(folder / os.fsdecode(b"\xff.toml"), BAD)

    krond.start()

    assert list(failed(krond)) == ["\udcff.toml"]
    status, reload = krond.ask("status"), krond.ask("reload")
    assert (status.returncode, "\\udcff.toml:2: error: " in status.stdout) == (0, True)
    assert (reload.returncode, "\\udcff.toml:2: error: " in reload.stderr) == (1, True)
    assert PageClient(krond).get("/").status == 200


@pytest.mark.slow
def test_a_reload_takes_up_the_good_files_and_keeps_the_jobs_of_the_bad_one(krond: Krond, folder: Path) -> None:
    write(folder / "a.toml", job("a"))
    write(folder / "c.toml", job("c") + job("d"))
    krond.start()
    write(folder / "a.toml", job("a", command="false") + job("new"))
    write(folder / "c.toml", BAD)

    found = krond.ask("reload")

    assert found.returncode == 1
    assert found.stderr.startswith(
        f"{folder / 'c.toml'}:2: error: jobs.c.schedule: minute field value 61 is outside 0-59"
    )
    assert f"changed {folder / 'a.toml'}:a\n" in found.stdout
    assert names(krond) == ["a", "c", "d", "new", "own"]
    assert failed(krond) == {"c.toml": [2]}
    assert f"old jobs kept: {folder / 'c.toml'}:2: error: " in krond.ask("status").stdout
    assert krond.json("reload")["failed_files"][0]["file"] == str(folder / "c.toml")
    assert [each["line"] for each in ask(krond, "status")["failed_reload"]] == [2]
    krond.wait_for("ReloadFailed")
    assert {"FileFailed", "Reloaded", "ReloadFailed"} < {each["event"] for each in krond.events}

    write(folder / "c.toml", job("c"))
    assert ask(krond, "reload")["ok"]
    assert (failed(krond), ask(krond, "status")["failed_reload"]) == ({}, None)
    assert names(krond) == ["a", "c", "new", "own"]


@pytest.mark.slow
def test_the_jobs_of_a_file_that_is_repaired_after_a_start_are_not_declared_as_new(krond: Krond, folder: Path) -> None:
    write(folder / "c.toml", job("c"))
    krond.start()
    ((declared, before),) = [(each["identity"], each["declared_at"]) for each in ask(krond, "jobs")[1:]]
    ask(krond, "stop")
    krond.end()
    write(folder / "c.toml", BAD)
    krond.start()
    assert names(krond) == ["own"]
    write(folder / "c.toml", job("c"))

    found = ask(krond, "reload")

    assert declared in found["unchanged"]
    assert [each["declared_at"] for each in ask(krond, "jobs") if each["identity"] == declared] == [before]


@pytest.mark.slow
def test_a_reload_refuses_all_files_if_the_settings_say_so_or_cannot_be_read(krond: Krond, folder: Path) -> None:
    krond.write(f'[krond]\non_invalid = "refuse"\n{job("own")}')
    write(folder / "a.toml", job("a"))
    krond.start()
    write(folder / "a.toml", job("a") + job("new"))
    write(folder / "c.toml", BAD)
    assert not ask(krond, "reload")["ok"]
    assert (names(krond), failed(krond)) == (["a", "own"], {"c.toml": [2]})
    (folder / "c.toml").unlink()

    krond.file.chmod(0o666)  # its settings hold, and cannot be read

    assert "declared_at" not in ask(krond, "reload")
    assert names(krond) == ["a", "own"]
    assert [each["line"] for each in ask(krond, "status")["failed_reload"]] == [1]


@pytest.mark.slow
def test_krond_starts_without_jobs_if_all_files_are_bad(krond: Krond) -> None:
    krond.write(BAD)

    krond.start()

    assert (names(krond), failed(krond)) == ([], {"krond.toml": [2]})


@pytest.mark.slow
def test_a_directory_that_has_gone_takes_no_jobs_with_it(krond: Krond, folder: Path) -> None:
    write(folder / "a.toml", job("a"))
    krond.start()
    folder.rename(folder.with_name("elsewhere"))

    assert not ask(krond, "reload")["ok"]
    assert names(krond) == ["a", "own"]


@pytest.mark.slow
def test_a_file_that_failed_at_the_start_is_said_to_have_failed_then_until_it_is_repaired(
    krond: Krond, folder: Path
) -> None:
    write(folder / "c.toml", BAD)
    krond.start()
    write(folder / "new.toml", BAD)

    assert not ask(krond, "reload")["ok"]
    at_reload = krond.ask("status").stdout
    write(folder / "c.toml", job("c"))
    ask(krond, "reload")
    write(folder / "c.toml", BAD)
    ask(krond, "reload")
    repaired = krond.ask("status").stdout

    assert f"failed at the start: {folder / 'c.toml'}:2: error: " in at_reload
    assert f"failed at a reload: {folder / 'new.toml'}:2: error: " in at_reload
    assert f"old jobs kept: {folder / 'c.toml'}:2: error: " in repaired
    assert "not reloaded" not in at_reload + repaired
