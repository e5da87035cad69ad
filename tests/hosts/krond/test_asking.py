"""What a running krond tells of lives before its own, and of what comes."""

import asyncio
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from kron.adapters.sqlite_ledger.job_ledger import SqliteJobLedger
from kron.adapters.system_now import system_now
from kron.engine.jobs.store import JobBatch
from kron.hosts.krond.definition import work_of
from kron.hosts.krond.job_files import load_jobs
from kron.instant import format_instant
from kron.rules.job_record import JobRecord
from tests.hosts.krond.daemon import Krond

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
        JobRecord(work.identity, work.name, work.key, long_ago, long_ago, suspended=work.name == "often")
        for work in works
    ]

    async def remember() -> None:
        daemon.state.mkdir(mode=0o700)
        ledger = SqliteJobLedger(daemon.state / "ledger.db", is_ours=True)
        await ledger.open()
        await ledger.append(JobBatch({work.key: work.definition for work in works}, records))
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


def test_what_comes_of_a_suspended_job_lies_in_the_future_and_is_marked(krond: Krond) -> None:
    now = format_instant(system_now())

    found = krond.json("next", "--count", "3")

    assert [(each["name"], each["suspended"]) for each in found] == [("often", True)] * 3
    assert now < found[0]["chosen_time"] < found[1]["chosen_time"] < found[2]["chosen_time"]
    assert next(job for job in krond.json("jobs") if job["name"] == "often")["next_chosen_time"] >= now


def test_what_comes_of_one_job_is_told_on_its_wall_clock(krond: Krond) -> None:
    head, line = krond.ask("next", "often", "--count", "1").stdout.splitlines()

    assert head.split() == ["chosen", "job", "nominal", "in", "its", "zone"]
    assert "+01:00" in line or "+02:00" in line


def test_a_state_directory_has_one_lock(krond: Krond) -> None:
    names = {path.name for path in krond.state.iterdir()}

    assert {name for name in names if "lock" in name} == {"lock"}
