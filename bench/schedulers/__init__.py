"""Load any scheduler that runs inside a process, behind one interface."""

from importlib import import_module

from bench.schedulers.scheduler import Scheduler

_HOMES = {
    "kron-sqlite": "kron_library:KronSQLite",
    "kron-monitored": "kron_library:KronMonitored",
    "kron-memory": "kron_library:KronMemory",
    "apscheduler3": "apscheduler3:APScheduler3",
    "apscheduler3-sqlite": "apscheduler3:APScheduler3SQLite",
    "apscheduler4": "apscheduler4:APScheduler4",
    "apscheduler4-sqlite": "apscheduler4:APScheduler4SQLite",
    "aiocron": "small:Aiocron",
    "schedule": "small:Schedule",
    "limit-timers": "limits:Timers",
    "limit-heap": "limits:Heap",
    "limit-ledger": "limits:Ledger",
}


def load_scheduler(name: str) -> Scheduler:
    """Return the scheduler by the name of its row, or raise what its import raises."""
    module, _, kind = _HOMES[name].partition(":")
    scheduler: Scheduler = getattr(import_module(f"bench.schedulers.{module}"), kind)()
    return scheduler
