"""krond run --watch reloads job files one second after their last change."""

import asyncio
from collections.abc import Callable, Coroutine
from functools import wraps
from threading import Event
from typing import Any

import pytest

from kron.errors import KronError
from kron.hosts.krond.file_watch import (
    POLL,
    QUIET,
    ChangeWatch,
    Snapshot,
)

Test = Callable[..., Coroutine[Any, Any, None]]


def in_a_loop(test: Test) -> Callable[..., None]:
    """Return a test that runs an asynchronous one."""

    @wraps(test)
    def run(**fixtures: Any) -> None:
        asyncio.run(test(**fixtures))

    return run


class Timers:
    """Timers that end when the test says so."""

    def __init__(self) -> None:
        self.waiting: list[tuple[float, asyncio.TimerHandle]] = []

    def call_later(self, seconds: float, call: Callable[[], object]) -> asyncio.TimerHandle:
        loop = asyncio.get_running_loop()
        self.waiting.append((seconds, asyncio.TimerHandle(0, call, (), loop)))
        return self.waiting[-1][1]

    @property
    def pending(self) -> list[float]:
        return [seconds for seconds, timer in self.waiting if not timer.cancelled()]


class WatchedFiles:
    """A watch over files that the test changes, and what it has read."""

    def __init__(self) -> None:
        self.files = "old"
        self.read: list[str] = []
        self.late: list[str] = []
        self.timers = Timers()
        self.watch = ChangeWatch(self._look, self._reload, self.timers.call_later, on_late=self._on_late, limit=0.05)
        self.answers = Event()  # whether the disk does
        self.answers.set()
        self.looks = 0
        self.watch.applied = snapshot("old")

    def _look(self) -> Snapshot:
        self.looks += 1
        self.answers.wait(60)
        return snapshot(self.files)

    def _on_late(self, error: KronError) -> None:
        self.late.append(error.message)

    async def _reload(self) -> None:
        self.read.append(self.files)

    async def settle(self) -> None:
        """Wait until the watch has looked."""
        while (task := self.watch._task) is not None:
            await task

    async def change(self, files: str) -> None:
        self.files = files
        self.watch.on_change()
        await self.settle()

    async def pass_time(self) -> float:
        """Let the timer end that ends first, and return its seconds."""
        seconds, timer = next(each for each in self.timers.waiting if not each[1].cancelled())
        self.timers.waiting.clear()
        timer._run()
        await self.settle()
        return seconds


def snapshot(text: str) -> Snapshot:
    return ((text, None),)


async def begun() -> WatchedFiles:
    watched = WatchedFiles()
    watched.watch.start()
    await watched.settle()
    return watched


@in_a_loop
async def test_a_change_is_read_after_a_second_without_another_one() -> None:
    watched = await begun()

    await watched.change("half")
    assert watched.read == []
    await watched.change("whole")  # within the second
    assert await watched.pass_time() == QUIET
    assert watched.read == []
    assert await watched.pass_time() == QUIET

    assert watched.read == ["whole"]
    assert watched.timers.pending == [POLL]


@in_a_loop
async def test_files_that_do_not_change_are_not_read() -> None:
    watched = await begun()

    await watched.change("old")
    await watched.pass_time()

    assert watched.read == []


@in_a_loop
async def test_a_change_that_is_taken_back_within_a_second_is_not_read() -> None:
    watched = await begun()

    await watched.change("new")
    await watched.change("old")
    await watched.pass_time()

    assert watched.read == []


@in_a_loop
async def test_without_reports_of_the_kernel_a_change_is_found_by_looking() -> None:
    watched = await begun()
    watched.files = "new"

    assert await watched.pass_time() == POLL
    await watched.pass_time()

    assert watched.read == ["new"]


@in_a_loop
async def test_files_that_were_read_otherwise_are_not_read_again() -> None:
    watched = await begun()
    await watched.change("new")
    watched.watch.applied = snapshot("new")  # by a reload that a user asked for

    await watched.pass_time()

    assert watched.read == []


@in_a_loop
async def test_a_watch_that_is_stopped_reads_nothing() -> None:
    watched = await begun()
    await watched.change("new")

    watched.watch.stop()

    assert watched.timers.pending == []


@in_a_loop
async def test_a_watch_survives_a_reload_that_fails() -> None:
    async def fail() -> None:
        raise ZeroDivisionError

    watched = await begun()
    watched.watch._reload = fail
    await watched.change("new")

    with pytest.raises(ZeroDivisionError):
        await watched.pass_time()

    assert watched.timers.pending == [POLL]


@in_a_loop
async def test_a_disk_that_does_not_answer_is_reported_once_and_looked_at_by_one_thread() -> None:
    watched = await begun()
    watched.answers.clear()

    for _ in range(3):
        await watched.pass_time()

    assert watched.late == ["the job files could not be read within 0.05 s: a disk or a network may not answer"]
    assert watched.looks == 2  # that of the beginning, and the one that waits


@in_a_loop
async def test_a_disk_that_answers_again_is_watched_as_before() -> None:
    watched = await begun()
    watched.answers.clear()
    await watched.pass_time()
    watched.answers.set()
    watched.files = "new"

    while not watched.read:
        await watched.pass_time()

    assert watched.read == ["new"]
