"""Small schedulers: aiocron, and schedule, which supports neither coroutines nor cron."""

import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime
from importlib import import_module
from time import sleep
from typing import Any

from bench.probe import pause
from bench.schedulers.scheduler import Due, Scheduler, Task
from bench.starts import STARTS, started_plainly


class Aiocron(Scheduler):
    """Six fields, seconds first."""

    distribution, seconds_per_task = "aiocron", 2.5e-4

    async def register(self, tasks: Sequence[Task], due: Due) -> None:
        crontab: Any = import_module("aiocron").crontab
        loop, second = asyncio.get_running_loop(), due.second
        self.kept = [crontab(f"{second} {cron}", func=callback, tz=UTC, loop=loop) for _, cron, callback, _ in tasks]
        await pause(0)  # a crontab arms itself in the next turn of the loop
        await pause(0)


class Schedule(Scheduler):
    """Every day, the first time at the due instant; its own loop of calls, in which callbacks are called directly."""

    distribution, seconds_per_task, blocks = "schedule", 3e-5, True

    async def register(self, tasks: Sequence[Task], due: Due) -> None:
        self.scheduler: Any = import_module("schedule").Scheduler()
        first = datetime.fromtimestamp(due.at).astimezone().replace(tzinfo=None)  # it wants local time
        for _ in tasks:
            self.scheduler.every(1).days.do(started_plainly).next_run = first

    async def begin(self) -> None:
        while not STARTS.complete:
            sleep(max(0.0, self.scheduler.idle_seconds))  # that is how it is used
            self.scheduler.run_pending()
