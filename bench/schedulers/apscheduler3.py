"""APScheduler 3: AsyncIOScheduler with its memory store or its SQLAlchemy store on a file."""

from collections.abc import Sequence
from datetime import UTC
from importlib import import_module
from pathlib import Path
from typing import Any

from bench.schedulers.scheduler import Due, Scheduler, Task


class APScheduler3(Scheduler):
    """Nothing is a misfire, however late it is; due instants have seconds."""

    distribution, seconds_per_task = "apscheduler", 3e-4
    store: str = ""

    async def open(self, folder: Path) -> None:
        stores = {"default": self.job_store(folder)} if self.store else {}
        self.trigger: Any = import_module("apscheduler.triggers.cron").CronTrigger
        self.scheduler: Any = import_module("apscheduler.schedulers.asyncio").AsyncIOScheduler(
            timezone=UTC, jobstores=stores, job_defaults={"misfire_grace_time": None, "coalesce": True}
        )
        self.scheduler.start(paused=True)

    def job_store(self, folder: Path) -> Any:
        """Return the store, with the settings that it comes with: a rollback journal, a commit for each write."""
        store = import_module("apscheduler.jobstores.sqlalchemy").SQLAlchemyJobStore
        return store(url=f"{self.store}:///{folder / 'jobs.db'}")

    async def register(self, tasks: Sequence[Task], due: Due) -> None:
        add, trigger, second = self.scheduler.add_job, self.trigger, due.second
        for name, cron, callback, _ in tasks:
            minute, hour, day, month, weekday = cron.split()
            when = {"second": second, "minute": minute, "hour": hour, "day": day, "month": month}
            add(callback, trigger(**when, day_of_week=weekday, timezone=UTC), id=name)

    async def begin(self) -> None:
        self.scheduler.resume()

    async def close(self) -> None:
        self.scheduler.shutdown(wait=False)


class APScheduler3SQLite(APScheduler3):
    """The same on an SQLite file."""

    store, seconds_per_task = "sqlite", 4e-3
