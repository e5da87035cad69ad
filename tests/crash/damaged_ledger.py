"""A sound ledger for damage, and the errors of a scheduler that opens it."""

import asyncio
import hashlib
import sqlite3
from contextlib import closing
from datetime import timedelta
from pathlib import Path

from kron import KronError, Scheduler
from kron.testing import VirtualClock
from tests.crash.lives import BEGINNING

_MINUTE = timedelta(minutes=1)
_TASKS = 60  # several pages of them


async def work() -> None:
    """A callback."""


REGISTRATIONS = [(f"task {number}", "* * * * *", work, _MINUTE) for number in range(_TASKS)]


def new_scheduler(ledger: Path) -> Scheduler:
    """Return a scheduler on virtual time."""
    return Scheduler(ledger=ledger, clock=VirtualClock(BEGINNING), sink=lambda _: None, timezone="UTC")


def make_ledger(ledger: Path) -> None:
    """Make a ledger with some history in it, and nothing beside it."""

    async def live() -> None:
        clock = VirtualClock(BEGINNING)
        scheduler = Scheduler(ledger=ledger, clock=clock, sink=lambda _: None, timezone="UTC")
        await scheduler.initialize(REGISTRATIONS)
        await clock.advance(_MINUTE)
        await scheduler.stop()

    asyncio.run(live())


def execute(ledger: Path, *statements: str) -> None:
    """Change a ledger as no Kron would."""
    with closing(sqlite3.connect(ledger, isolation_level=None)) as connection:
        for statement in statements:
            connection.execute(statement)


def overwrite(ledger: Path, offset: int, count: int = 16) -> None:
    """Put bytes into the middle of a file that do not belong there."""
    with ledger.open("r+b") as file:
        file.seek(offset)
        file.write(b"\xa5" * count)


def refusal(scheduler: Scheduler) -> KronError:
    """Initialise, and return the error of Kron's that this must end with."""

    async def initialize() -> KronError:
        try:
            await scheduler.initialize(REGISTRATIONS)
        except KronError as error:
            return error
        await scheduler.stop()
        raise AssertionError("it was accepted")

    return asyncio.run(initialize())


def accept(scheduler: Scheduler) -> None:
    """Initialise and stop; neither may fail."""

    async def live() -> None:
        await scheduler.initialize(REGISTRATIONS)
        await scheduler.stop()

    asyncio.run(live())


def fingerprint(ledger: Path) -> dict[str, str]:
    """Return what identifies the bytes of a ledger and of everything beside it that has any, but for the lock."""
    files = [path for path in ledger.parent.iterdir() if path.is_file() and path.name != f"{ledger.name}.lock"]
    # The index of the write-ahead log is no part of what a ledger says; SQLite makes it again when it is missing.
    paths = [path for path in files if path.stat().st_size and path.name != f"{ledger.name}-shm"]
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in paths}
