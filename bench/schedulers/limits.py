"""Lower bounds that are no products: the least work of plain Python for the same effect, without cron or errors."""

import asyncio
import heapq
import sqlite3
from collections.abc import Coroutine, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from time import time
from typing import Any

from bench.probe import pause
from bench.schedulers.scheduler import Due, Scheduler, Task

_CHUNK = 1000  # runs that share a commit
_SCHEMA = "CREATE TABLE task(id INTEGER PRIMARY KEY, name TEXT, cron TEXT, delay REAL, started REAL, ended REAL)"


class Timers(Scheduler):
    """A timer of the event loop for each task."""

    async def register(self, tasks: Sequence[Task], due: Due) -> None:
        self.loop, self.tasks, self.period = asyncio.get_running_loop(), tasks, due.period
        self.running: set[asyncio.Task[None]] = set()
        at = self.loop.time() + due.at - time()
        for number in range(len(tasks)):
            self.loop.call_at(at, self.fire, number, at)

    def fire(self, number: int, at: float) -> None:
        """Start one, and set the timer for its next time."""
        self.loop.call_at(at + self.period, self.fire, number, at + self.period)
        _start(self.loop, self.running, self.tasks[number][2]())


class HeapScheduler(Scheduler):
    """A heap of due instants; when the first has come, all that are due are started."""

    async def register(self, tasks: Sequence[Task], due: Due) -> None:
        self.tasks, self.period = tasks, due.period
        self.heap: list[tuple[float, int]] = []
        for number in range(len(tasks)):
            heapq.heappush(self.heap, (due.at, number))

    async def begin(self) -> None:
        self.running: set[asyncio.Task[None]] = set()
        self.work = asyncio.get_running_loop().create_task(self.serve())

    async def serve(self) -> None:
        """Wait for the first due instant, start what is due, and so on."""
        loop = asyncio.get_running_loop()
        while True:
            await pause(max(0.0, self.heap[0][0] - time()))
            for number in self.due(len(self.heap)):
                _start(loop, self.running, self.tasks[number][2]())

    def due(self, most: int) -> list[int]:
        """Take so many of those that are due, and put each back for its next time."""
        heap, now = self.heap, time()
        found: list[int] = []
        while len(found) < most and heap[0][0] <= now:
            at, number = heap[0]
            heapq.heapreplace(heap, (at + self.period, number))
            found.append(number)
        return found

    async def close(self) -> None:
        self.work.cancel()


class Ledger(HeapScheduler):
    """The heap, and SQLite (WAL, FULL) in a thread: 1,000 starts a commit, before they start, with earlier ends.

    While one chunk runs, the next is being written.
    """

    restarts = True

    async def open(self, folder: Path) -> None:
        self.thread = ThreadPoolExecutor(1)
        self.database = sqlite3.connect(folder / "limit.db", isolation_level=None, check_same_thread=False)
        self.database.execute("PRAGMA journal_mode=WAL")
        self.database.execute("PRAGMA synchronous=FULL")
        self.ended: list[tuple[float, int]] = []

    async def register(self, tasks: Sequence[Task], due: Due) -> None:
        known = self.database.execute("SELECT name FROM sqlite_master WHERE name = 'task'").fetchone()
        if known:
            for row, task in zip(self.database.execute("SELECT * FROM task ORDER BY id"), tasks, strict=True):
                assert row[1] == task[0], "the restart finds what was registered"
        else:
            self.database.execute("BEGIN")
            self.database.execute(_SCHEMA)
            rows = ((n, name, cron, delay.total_seconds()) for n, (name, cron, _, delay) in enumerate(tasks))
            self.database.executemany("INSERT INTO task(id, name, cron, delay) VALUES (?, ?, ?, ?)", rows)
            self.database.execute("COMMIT")
        await super().register(tasks, due)

    async def serve(self) -> None:
        loop = asyncio.get_running_loop()
        while True:
            await pause(max(0.0, self.heap[0][0] - time()))
            chunk = self.due(_CHUNK)
            write = loop.run_in_executor(self.thread, self.write, chunk, [])
            while chunk:
                await write
                following, ended, self.ended = self.due(_CHUNK), self.ended, []
                write = loop.run_in_executor(self.thread, self.write, following, ended)
                for number in chunk:
                    _start(loop, self.running, self.run(number))
                chunk = following
            await write

    async def run(self, number: int) -> None:
        """Run one, and note its end."""
        await self.tasks[number][2]()
        self.ended.append((time(), number))

    def write(self, started: Sequence[int], ended: Sequence[tuple[float, int]]) -> None:
        """Write starts and ends in one durable commit."""
        if not started and not ended:
            return
        now = time()
        self.database.execute("BEGIN IMMEDIATE")
        self.database.executemany("UPDATE task SET started = ? WHERE id = ?", [(now, number) for number in started])
        self.database.executemany("UPDATE task SET ended = ? WHERE id = ?", ended)
        self.database.execute("COMMIT")

    async def close(self) -> None:
        if hasattr(self, "work"):
            self.work.cancel()
        await asyncio.get_running_loop().run_in_executor(self.thread, self.write, [], self.ended)
        self.thread.shutdown()
        self.database.close()


def _start(
    loop: asyncio.AbstractEventLoop, running: set[asyncio.Task[None]], coroutine: Coroutine[Any, Any, None]
) -> None:
    """Start a coroutine, and keep it alive until it has ended, as the documentation of asyncio asks for."""
    task = loop.create_task(coroutine)
    running.add(task)
    task.add_done_callback(running.discard)
