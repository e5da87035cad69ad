"""Errors of the ledger: whom they blame, and that the database's text stays in `details.cause`."""

import asyncio
import sqlite3
from collections.abc import Awaitable, Callable
from contextlib import closing, suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from kron import KronError, Scheduler
from kron.errors import (
    LedgerError,
    LedgerInUseError,
    LedgerUnusableError,
    LedgerWriteError,
    SchedulerStepError,
    ScheduleTaskError,
    StopSchedulerError,
    TaskInvalidTypeError,
)
from kron.rules.events import Event
from kron.testing import FaultyLedger, MemoryTaskLedger, VirtualClock

NOW = datetime(2026, 3, 2, 12, 0, 30, tzinfo=UTC)
POLLING = ("polling", "polling-draft")
WORDS = (
    "sqlite",
    "no such",
    "database is locked",
    "malformed",
    "select",
    "pragma",
    "Tree ",
    "OperationalError",
    "table:",
)


async def work() -> None: ...


def task(name: str, cron: str = "0 * * * *") -> tuple[str, str, Callable[[], Awaitable[None]], timedelta]:
    return name, cron, work, timedelta(minutes=5)


class Life:
    """One scheduler on a virtual clock, and its events."""

    def __init__(self, ledger: Path | FaultyLedger, contract: str) -> None:
        self.clock = VirtualClock(NOW)
        self.events: list[Event] = []
        self.scheduler = Scheduler(
            ledger=ledger, contract=contract, clock=self.clock, sink=self.events.append, timezone="UTC"
        )

    def texts(self) -> str:
        return "\n".join(str(dict(event.fields)) for event in self.events)


def refusal(ledger: Path | FaultyLedger, contract: str, *names: str) -> KronError:
    """Return the error of a list; no event may have the words of a database."""
    life = Life(ledger, contract)

    async def initialize() -> None:
        try:
            await life.scheduler.initialize([task(name) for name in names])
        finally:
            await life.scheduler.stop()

    with pytest.raises(KronError) as caught:
        asyncio.run(initialize())
    for word in WORDS:
        assert word.lower() not in f"{caught.value.message}\n{life.texts()}".lower()
    return caught.value


def make(ledger: Path, *statements: str) -> None:
    """Make a ledger with two tasks, and change it."""

    async def live() -> None:
        scheduler = Life(ledger, "polling").scheduler
        await scheduler.initialize([task("first"), task("second")])
        await scheduler.stop()

    asyncio.run(live())
    with closing(sqlite3.connect(ledger, isolation_level=None)) as connection:
        for statement in statements:
            connection.execute(statement)


def faulty(error: Exception) -> FaultyLedger:
    disk = FaultyLedger(MemoryTaskLedger())
    disk.fail_next(9, error=error)
    return disk


# --- whom they blame --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("contract", POLLING)
def test_the_task_that_the_ledger_refuses_is_named(tmp_path: Path, contract: str) -> None:
    make(
        tmp_path / "tasks.db",
        "CREATE TRIGGER refuse BEFORE INSERT ON task WHEN NEW.name = 'third' BEGIN SELECT RAISE(ABORT, 'select'); END",
    )

    error = refusal(tmp_path / "tasks.db", contract, "first", "second", "third", "fourth")

    assert type(error) is ScheduleTaskError
    assert (error.details["name"], error.details["cronExpression"]) == ("third", "0 * * * *")
    assert error.message.startswith("Failed to schedule task 'third': Ledger ")
    assert isinstance(error.details["cause"], LedgerWriteError)
    assert isinstance(error.details["cause"].details["cause"], sqlite3.IntegrityError)


@pytest.mark.parametrize("contract", POLLING)
def test_a_ledger_that_fails_as_a_whole_blames_no_task(contract: str) -> None:
    cause = OSError(28, "No space left on device")

    error = refusal(faulty(cause), contract, "first", "second")

    assert (type(error), error.message) == (
        ScheduleTaskError,
        "Failed to schedule tasks: [Errno 28] No space left on device",
    )
    assert error.details == {"name": None, "cronExpression": None, "cause": cause}


@pytest.mark.parametrize("contract", POLLING)
def test_a_ledger_of_ones_own_may_name_the_task(contract: str) -> None:
    cause = LedgerError("the shelf is full")
    cause.task = "second"

    error = refusal(faulty(cause), contract, "first", "second")

    assert error.message == "Failed to schedule task 'second': the shelf is full"
    assert (error.details["name"], error.details["cronExpression"]) == ("second", "0 * * * *")


# --- while the ledger is opened ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("contract", POLLING)
def test_an_error_while_the_ledger_is_opened_is_one_of_scheduling(tmp_path: Path, contract: str) -> None:
    (tmp_path / "tasks.db").write_text("no ledger")

    error = refusal(tmp_path / "tasks.db", contract, "first")

    assert type(error) is ScheduleTaskError
    assert (error.details["name"], error.details["cronExpression"]) == (None, None)
    assert type(error.details["cause"]) is LedgerUnusableError
    assert error.message == f"Failed to schedule tasks: {error.details['cause']}"


@pytest.mark.parametrize("contract", POLLING)
def test_with_an_empty_list_the_error_is_the_ledgers_own(tmp_path: Path, contract: str) -> None:
    (tmp_path / "tasks.db").write_text("no ledger")
    full = LedgerWriteError(path="disk", reason="the disk is full")

    assert type(refusal(tmp_path / "tasks.db", contract)) is LedgerUnusableError

    stored = MemoryTaskLedger()
    disk = FaultyLedger(stored)

    async def live() -> None:
        scheduler = Life(disk, contract).scheduler
        await scheduler.initialize([task("first")])
        await scheduler.stop()
        disk.fail_next(error=full)
        await Life(disk, contract).scheduler.initialize([])

    with pytest.raises(LedgerWriteError) as caught:
        asyncio.run(live())
    assert caught.value is full


def test_under_the_declarative_contract_the_ledger_speaks_for_itself(tmp_path: Path) -> None:
    (tmp_path / "tasks.db").write_text("no ledger")

    error = refusal(tmp_path / "tasks.db", "declarative", "first")

    assert type(error) is LedgerUnusableError
    assert error.details["reason"] == "it is not a Kron ledger"


@pytest.mark.parametrize("contract", [*POLLING, "declarative"])
def test_the_error_of_a_damaged_record_is_raised_as_it_is(tmp_path: Path, contract: str) -> None:
    make(tmp_path / "tasks.db", "UPDATE task SET retryDelayMs = 'soon' WHERE name = 'second'")

    assert type(refusal(tmp_path / "tasks.db", contract, "first", "second")) is TaskInvalidTypeError


@pytest.mark.parametrize("contract", POLLING)
def test_a_ledger_in_use_is_an_error_of_scheduling_that_names_its_owner(contract: str) -> None:
    stored = MemoryTaskLedger()
    asyncio.run(stored.open())

    error = refusal(FaultyLedger(stored), contract, "first")

    assert type(error) is ScheduleTaskError
    assert type(error.details["cause"]) is LedgerInUseError


# --- the words of the database ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("cause", "kind"),
    [
        (
            sqlite3.OperationalError("no such table: task"),
            {"polling": ScheduleTaskError, "declarative": SchedulerStepError},
        ),
    ],
    ids=["sqlite"],
)
@pytest.mark.parametrize("contract", ["polling", "declarative"])
def test_the_text_of_the_database_stays_in_the_cause(
    contract: str, cause: Exception, kind: dict[str, type[KronError]]
) -> None:
    error = refusal(faulty(cause), contract, "first")

    assert type(error) is kind[contract]
    assert error.message.endswith(": the database failed")
    assert error.details["cause"] is cause


@pytest.mark.parametrize("contract", ["polling", "declarative"])
def test_a_running_scheduler_reports_a_missing_table_in_plain_words(tmp_path: Path, contract: str) -> None:
    ledger = tmp_path / "tasks.db"
    life = Life(ledger, contract)

    async def live() -> None:
        await life.scheduler.initialize([task("first")])
        with closing(sqlite3.connect(ledger, isolation_level=None)) as connection:
            connection.execute("DROP TABLE task")
        await life.clock.advance(timedelta(hours=1))
        await life.scheduler.stop()

    with suppress(KronError):
        asyncio.run(live())

    (failed, *_) = [event.fields for event in life.events if event.name == "LedgerAppendFailed"]
    assert failed["error"] == f"LedgerWriteError: Ledger {ledger} cannot be written: a table is missing"
    assert "no such" not in life.texts()


def test_a_stop_that_fails_says_so_in_plain_words() -> None:
    disk = FaultyLedger(MemoryTaskLedger())
    life = Life(disk, "polling")

    async def live() -> None:
        await life.scheduler.initialize([task("first")])
        await life.clock.advance(timedelta(minutes=59))
        disk.fail_next(9, error=sqlite3.OperationalError("database is locked"), after=1)
        await life.clock.advance(timedelta(minutes=1))
        await life.scheduler.stop()

    with pytest.raises(StopSchedulerError, match=r"^Failed to stop scheduler: the database failed$") as caught:
        asyncio.run(live())
    assert isinstance(caught.value.details["cause"], sqlite3.OperationalError)
    assert "locked" not in life.texts()


def test_a_damaged_ledger_is_refused_without_the_words_of_the_database(tmp_path: Path) -> None:
    ledger = tmp_path / "tasks.db"
    make(ledger)
    ledger.write_bytes(ledger.read_bytes()[:4096] + b"\xff" * 4096)

    error = refusal(ledger, "declarative", "first")

    assert (type(error), str(error.details["reason"]).partition(" (")[0]) == (LedgerUnusableError, "it is damaged")
    assert isinstance(error.details["cause"], sqlite3.Error)
