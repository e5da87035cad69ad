"""Reloading job files in a running krond: changed, removed and returning jobs."""

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from kron.hosts.krond.reload import Hangups
from tests.hosts.krond.krond_process import NEVER, Krond

LONG = f"""
[jobs.long]
{NEVER}
command = ["sleep", "1000"]
"""
SHORT = f"""
[jobs.short]
{NEVER}
command = ["true"]
"""


@pytest.fixture
def krond(tmp_path: Path) -> Iterator[Krond]:
    daemon = Krond(tmp_path, LONG + SHORT).start()
    yield daemon
    daemon.ask("stop", "--now")
    daemon.end()


def test_a_job_that_has_moved_in_its_file_is_found_where_it_stands(krond: Krond) -> None:
    before = {job["name"]: job["line"] for job in krond.json("jobs")}
    krond.write(f"# moved\n\n{LONG}{SHORT}")

    assert krond.ask("reload").returncode == 0

    assert {job["name"]: job["line"] - 2 for job in krond.json("jobs")} == before


def test_a_job_that_is_gone_and_comes_back_is_active_while_it_runs(krond: Krond) -> None:
    krond.ask("trigger", "long")
    for text in (SHORT, LONG + SHORT):
        krond.write(text)
        assert krond.ask("reload").returncode == 0

    found = krond.ask("trigger", "long")

    assert (found.returncode, found.stdout) == (1, "")
    assert [job["active"] for job in krond.json("jobs")] == [1, 0]


def test_warnings_about_valid_files_are_printed_at_a_reload(krond: Krond) -> None:
    krond.write(f"[jobs.a]\n{NEVER}\ncommand = '/does/not/exist'\n")

    answer = krond.ask("reload")

    assert answer.returncode == 0
    assert answer.stderr.startswith(f"{krond.file}:3: warning: jobs.a.command: ")
    warning = krond.wait_for("WarningFound")
    assert (warning["file"], warning["line"], warning["field"]) == (str(krond.file), 3, "jobs.a.command")


def test_a_reload_with_json_prints_the_changes_and_nothing_else(krond: Krond) -> None:
    assert set(krond.json("reload")) == {"declared_at", "added", "changed", "removed", "unchanged"}


def test_a_file_that_cannot_be_read_is_not_said_to_change_settings(tmp_path: Path) -> None:
    krond = Krond(tmp_path, f'[krond]\nlisten = "unix:{tmp_path}/web"\n').start()
    krond.write("[krond\n")

    found = krond.ask("reload", "--json")
    krond.ask("stop")
    krond.end()

    assert [finding["line"] for finding in json.loads(found.stdout)] == [1]


def test_signals_that_come_during_a_reload_are_one_more() -> None:
    begun: list[int] = []

    async def live() -> None:
        go_on = asyncio.Event()

        async def reload() -> None:
            begun.append(len(begun))
            await go_on.wait()

        async def signal_often() -> None:
            for _ in range(5):
                hangups()
                await asyncio.sleep(0)  # noqa: TID251  # one turn

        hangups = Hangups(reload)
        await signal_often()
        assert begun == [0]
        go_on.set()
        await asyncio.sleep(0)  # noqa: TID251  # one turn
        await asyncio.sleep(0)  # noqa: TID251  # one turn
        await hangups.close()
        await signal_often()

    asyncio.run(live())

    assert begun == [0, 1]
