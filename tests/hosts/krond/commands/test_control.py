"""Commands of a running krond: earlier runs, logs, and upcoming runs."""

import asyncio
import os
import signal
import subprocess
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from kron.adapters.files.job_files import load_jobs
from kron.adapters.sqlite.job_ledger import SqliteJobLedger
from kron.adapters.system_time import system_now
from kron.engine.ledger import JobBatch
from kron.instant import format_instant
from kron.jobfile.host_job import work_of
from kron.rules.job_record import JobRecord
from tests.hosts.krond.krond_process import KROND, Krond

JOBS = """
[jobs.rarely]
schedule = "0 0 29 2 *"
command = ["false"]
[jobs.often]
schedule = "* * * * *"
timezone = "Europe/Berlin"
command = ["true"]
"""


@pytest.fixture
def krond(tmp_path: Path) -> Iterator[Krond]:
    """A krond that has been down for long; `often` was suspended by command before."""
    daemon = Krond(tmp_path, JOBS)
    long_ago = system_now() - timedelta(days=400)
    works = [work_of(job) for job in load_jobs([str(daemon.file)]).job_set.jobs]
    records = [
        JobRecord(work.identity, work.name, work.definition_key, long_ago, long_ago, is_suspended=work.name == "often")
        for work in works
    ]

    async def remember() -> None:
        daemon.state.mkdir(mode=0o700)
        ledger = SqliteJobLedger(daemon.state / "ledger.db", guard=lambda: True)
        await ledger.open()
        await ledger.append(JobBatch({work.definition_key: work.definition for work in works}, records))
        await ledger.close()

    asyncio.run(remember())
    yield daemon.start()
    daemon.ask("stop", "--now")
    daemon.end()


def test_how_a_job_ended_in_an_earlier_life_is_known(krond: Krond) -> None:
    krond.ask("trigger", "rarely", "--wait")
    krond.kill()
    krond.start()

    rarely, often = krond.json("jobs")

    assert (rarely["last_outcome"], rarely["last_result"]) == ("executed", "failed")
    assert (often["last_outcome"], often["last_result"]) == (None, None)


def test_upcoming_runs_of_a_suspended_job_are_in_the_future_and_marked(krond: Krond) -> None:
    now = format_instant(system_now())

    found = krond.json("next", "--count", "3")

    assert [(each["name"], each["suspended"]) for each in found] == [("often", True)] * 3
    assert now < found[0]["chosen_time"] < found[1]["chosen_time"] < found[2]["chosen_time"]
    assert next(job for job in krond.json("jobs") if job["name"] == "often")["next_chosen_time"] >= now


def test_upcoming_runs_of_one_job_are_shown_on_its_wall_clock(krond: Krond) -> None:
    head, line = krond.ask("next", "often", "--count", "1").stdout.splitlines()

    assert head.split() == ["chosen", "job", "nominal", "in", "its", "zone"]
    assert "+01:00" in line or "+02:00" in line


def test_a_state_directory_has_one_lock(krond: Krond) -> None:
    names = {path.name for path in krond.state.iterdir()}

    assert {name for name in names if "lock" in name} == {"lock"}


@pytest.mark.parametrize("asked", [("suspend", "rarely", "--until", "5"), ("history", "--since", "xx")])
def test_an_invalid_instant_is_refused_with_all_forms_also_a_duration(krond: Krond, asked: tuple[str, ...]) -> None:
    found = krond.ask(*asked)

    assert found.returncode == 2
    assert found.stderr.endswith("or as a duration: 90m, 2h, 7d\n")


def test_a_duration_that_is_too_long_is_said_to_be(krond: Krond) -> None:
    found = krond.ask("suspend", "rarely", "--until", "99999999h")

    assert found.returncode == 2
    assert "longer than" in found.stderr


def test_a_job_without_a_run_has_no_output_and_is_no_error(krond: Krond) -> None:
    found = krond.ask("logs", "rarely")

    assert found.returncode == 1
    assert found.stderr == "krond: error: rarely has no recorded run; krond next rarely shows when one is due\n"


def test_a_word_that_is_neither_a_job_nor_a_run_is_an_error(krond: Krond) -> None:
    found, near = krond.ask("logs", "unknown"), krond.ask("logs", "rarly")

    assert (found.returncode, near.returncode) == (2, 2)
    assert found.stderr == "krond: error: unknown is neither a job nor a run; krond jobs and krond history list them\n"
    assert near.stderr == "krond: error: rarly is neither a job nor a run; did you mean rarely?\n"


def test_every_job_that_its_file_still_suspends_is_named(tmp_path: Path) -> None:
    jobs = "".join(f'[jobs.{name}]\nschedule = "0 0 29 2 *"\ncommand = "true"\nsuspend = true\n' for name in "ab")
    krond = Krond(tmp_path, f"{jobs}[jobs.c]\nschedule = '0 0 29 2 *'\ncommand = 'true'\n").start()
    found = krond.ask("resume", "a", "b", "c")
    krond.ask("stop")
    krond.end()

    assert found.returncode == 1
    assert [f":{line} still suspends " in found.stderr for line in (4, 8)] == [True, True]
    assert found.stderr.endswith(":c is resumed\n")


def test_a_file_that_is_no_ledger_is_to_be_restored(tmp_path: Path) -> None:
    krond = Krond(tmp_path, "")
    krond.state.mkdir(mode=0o700)
    (krond.state / "ledger.db").write_text("no ledger\n" * 100)
    process = krond.begin()
    _, said = process.communicate()

    assert process.returncode == 1
    assert "it is not a Kron ledger; restore it from a backup" in said


def test_output_is_followed_until_the_run_is_over_also_when_no_krond_can_say_so(tmp_path: Path) -> None:
    krond = Krond(
        tmp_path, "[jobs.long]\nschedule = '0 0 29 2 *'\ncommand = \"sh -c 'echo here; exec sleep 1000'\"\n"
    ).start()
    run_id = krond.ask("trigger", "long").stdout.strip()
    while not (pid := krond.json("status")["active"][0]["pid"]):
        pass
    krond.kill()
    os.kill(pid, signal.SIGKILL)

    found = krond.ask("logs", run_id, "--follow")

    assert (found.returncode, found.stdout) == (0, "here\n")
    assert found.stderr.startswith("krond: neither krond nor this run is running; ")


def test_one_object_cannot_be_followed(krond: Krond) -> None:
    found = krond.ask("logs", "rarely", "--follow", "--json")

    assert found.returncode == 2
    assert "give either --follow or --json" in found.stderr


@pytest.mark.slow
def test_a_run_that_goes_on_without_krond_is_followed_also_if_it_has_no_environment(tmp_path: Path) -> None:
    command = "env -i sh -c 'echo here; sleep 1; echo there; exec sleep 1000'"
    krond = Krond(tmp_path, f'[jobs.long]\nschedule = "0 0 29 2 *"\ncommand = "{command}"\n').start()
    run_id = krond.ask("trigger", "long").stdout.strip()
    while not (pid := krond.json("status")["active"][0]["pid"]):
        pass
    krond.kill()
    words = [*KROND, "logs", run_id, "--follow", "--state", str(krond.state)]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as following:
        assert following.stdout is not None
        lines = [following.stdout.readline() for _ in range(2)]
        os.killpg(pid, signal.SIGKILL)
        following.communicate()

    assert lines == ["here\n", "there\n"]
