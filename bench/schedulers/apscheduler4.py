"""APScheduler 4, a pre-release, with its memory store or its SQLAlchemy store on a file."""

import logging
from collections.abc import Sequence
from datetime import UTC
from importlib import import_module
from pathlib import Path
from typing import Any

from bench.schedulers.scheduler import Due, Scheduler, Task
from bench.starts import started

_MANY = 1_000_000
_AT_ONCE = 1000  # more of them make it slower


class APScheduler4(Scheduler):
    """A task is configured once, and every schedule refers to it: callbacks are kept by name."""

    distribution, seconds_per_task = "apscheduler", 3e-4
    store: str = ""

    async def open(self, folder: Path) -> None:
        logging.disable(logging.CRITICAL)
        self.trigger: Any = import_module("apscheduler.triggers.cron").CronTrigger
        store = self.data_store(folder)
        self.scheduler: Any = import_module("apscheduler").AsyncScheduler(
            data_store=store, max_concurrent_jobs=_AT_ONCE
        )
        await self.scheduler.__aenter__()
        await self.scheduler.configure_task("started", func=started, max_running_jobs=_MANY, misfire_grace_time=None)

    def data_store(self, folder: Path) -> Any:
        """Return the store, with the settings that it comes with."""
        if not self.store:
            return import_module("apscheduler.datastores.memory").MemoryDataStore()
        store = import_module("apscheduler.datastores.sqlalchemy").SQLAlchemyDataStore
        return store(f"{self.store}:///{folder / 'jobs.db'}")

    async def register(self, tasks: Sequence[Task], due: Due) -> None:
        add, trigger, second = self.scheduler.add_schedule, self.trigger, due.second
        for name, cron, _, _ in tasks:
            minute, hour, day, month, weekday = cron.split()
            when = {"second": second, "minute": minute, "hour": hour, "day": day, "month": month}
            await add("started", trigger(**when, day_of_week=weekday, timezone=UTC), id=name)

    async def begin(self) -> None:
        await self.scheduler.start_in_background()

    async def close(self) -> None:
        await self.scheduler.__aexit__(None, None, None)


class APScheduler4SQLite(APScheduler4):
    """The same on an SQLite file."""

    store, seconds_per_task = "sqlite+aiosqlite", 1.2e-2
