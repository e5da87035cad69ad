"""The progress of a stopped or killed spawner is known, although it did not report it."""

import os
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import pytest

from kron.adapters.process.spawner import Progress
from kron.adapters.process.spawner_client import ProcessExit, SpawnerProcess, SpawnerReport, SpawnRequest
from kron.jobfile.host_job import Command
from kron.rules.job_record import RunHandle

TICKS, EXITED_WITH_7 = 1000, 7 << 8


@pytest.fixture
def progress(tmp_path: Path) -> Progress:
    return Progress(os.open(tmp_path / "progress", os.O_RDWR | os.O_CREAT))


def test_starts_and_ends_are_read_in_their_order_from_a_number_on(progress: Progress) -> None:
    for pid in range(1, 6):
        progress.begin()
        progress.started(pid, TICKS + pid)
        progress.ended(pid, EXITED_WITH_7)

    assert progress.begun() == 5
    assert progress.starts(after=3) == [(4, TICKS + 4), (5, TICKS + 5)]
    assert progress.ends(after=4) == [(5, EXITED_WITH_7)]


def test_a_start_that_was_begun_and_not_noted_is_counted_and_has_no_process(progress: Progress) -> None:
    progress.begin()

    assert progress.begun() == 1
    assert progress.starts(after=0) == []


def test_the_newest_entries_replace_the_oldest(progress: Progress) -> None:
    for pid in range(1, 1001):
        progress.begin()
        progress.started(pid, TICKS)

    assert [pid for pid, _ in progress.starts(after=900)] == list(range(901, 1001))
    assert len(progress.starts(after=0)) < 300


@asynccontextmanager
async def spawner_process(news: list[SpawnerReport]) -> AsyncIterator[SpawnerProcess]:
    process = SpawnerProcess("", "", news.append, lambda _: None)
    try:
        await process.ready
        yield process
    finally:
        process.close()
        with suppress(ProcessLookupError):
            os.kill(process.pid, signal.SIGKILL)
        os.waitpid(process.pid, 0)


async def test_unreported_progress_is_known_after_the_death_of_a_spawner() -> None:
    news: list[SpawnerReport] = []
    async with spawner_process(news) as process:
        process.in_flight.extend((SpawnRequest(run_id, Command(("true",))), 1) for run_id in ("a", "b", "c", "d"))
        noted = Progress(process._counter)
        for pid in (101, 0, 103):
            noted.begin()
            noted.started(pid, TICKS if pid else 0)
        noted.begin()  # it was stopped before it could note the process of the fourth
        noted.ended(101, EXITED_WITH_7)
        process.read_rest()

        (heard,) = news
        assert heard.started == [RunHandle("a", 101, TICKS), RunHandle("c", 103, TICKS)]
        assert [each.run_id for each in heard.ended] == ["b", "a"]
        assert heard.ended[1] == ProcessExit("a", exit_code=7)
        assert "its spawner was ended" in str(heard.ended[0].not_started)
        assert [start.run_id for start, _ in process.in_flight] == ["d"]
