"""Concurrency and reentrancy: concurrent runs, and calls that arrive during another call."""

import asyncio

import pytest

from kron import Scheduler
from kron.errors import KronError, SchedulerAlreadyActiveError
from kron.rules.contract import Contract
from kron.testing import FaultyLedger, MemoryTaskLedger
from tests.conformance.citing import clause
from tests.conformance.clause import BOTH_POLLING
from tests.conformance.contract_harness import (
    HOUR,
    MINUTE,
    SECOND,
    ContractHarness,
    Registered,
    at,
    disk_full,
    names_of,
    times,
)

INITIALIZATIONS = (
    "SchedulerInitializationStarted",
    "SchedulerReinitializationStarted",
    "SchedulerInitializationCompleted",
    "SchedulerInitializationFailed",
)


class GatedTaskLedger(MemoryTaskLedger):
    """A ledger whose opening waits for its door."""

    def __init__(self) -> None:
        super().__init__()
        self.door = asyncio.Event()

    async def open(self) -> None:
        await self.door.wait()
        await super().open()


class GatedHarness(ContractHarness):
    """A harness whose ledger holds up each initialisation until the gate is opened."""

    def __init__(self, contract: Contract, now: str = "10:07:30") -> None:
        super().__init__(contract, now)
        self.store = self.gate = GatedTaskLedger()
        self.disk = FaultyLedger(self.gate)

    async def begin(self, scheduler: Scheduler, *tasks: Registered) -> "asyncio.Future[None]":
        """Call initialize and let it come as far as it comes."""
        return await self.call(asyncio.ensure_future(scheduler.initialize(list(tasks))))

    async def call(self, call: "asyncio.Future[None]") -> "asyncio.Future[None]":
        """Let a call come as far as it comes, while the clock stands still."""
        for _ in range(20):
            await asyncio.wait([call], timeout=0)
        return call


# --- runs


@clause("concurrent.parallel")
async def test_tasks_that_are_due_together_run_side_by_side(contract: Contract) -> None:
    harness = ContractHarness(contract)
    await harness.start(*(harness.task(name, takes=10 * MINUTE) for name in ("one", "two", "three")))

    await harness.until("11:05")

    assert names_of(harness.began) == ["one", "three", "two"]
    assert harness.ended == []
    assert {moment for _, moment in harness.began} == {at("11:00")}


@clause("concurrent.parallel")
async def test_a_task_that_becomes_due_while_another_runs_does_not_wait_for_it(contract: Contract) -> None:
    harness = ContractHarness(contract)
    await harness.start(harness.task("long", takes=50 * MINUTE), harness.task("short", "5 * * * *"))

    await harness.until("11:30")

    assert harness.starts("short") == times("11:05")
    assert names_of(harness.ended) == ["short"]


@pytest.mark.parametrize("order", [("one", "two"), ("two", "one")], ids=", ".join)
@clause("concurrent.no-order")
async def test_tasks_that_start_together_may_wait_for_each_other_in_any_order(
    contract: Contract, order: tuple[str, str]
) -> None:
    harness = ContractHarness(contract)
    arrived = {"one": asyncio.Event(), "two": asyncio.Event()}
    met: list[str] = []

    def meeting(me: str, other: str) -> Registered:
        async def meet() -> None:
            arrived[me].set()
            await arrived[other].wait()
            met.append(me)

        return me, "0 * * * *", meet, MINUTE

    tasks = {"one": meeting("one", "two"), "two": meeting("two", "one")}
    await harness.start(*(tasks[name] for name in order))

    await harness.until("11:00")

    assert sorted(met) == ["one", "two"]


@clause("concurrent.serial")
async def test_an_occurrence_during_a_run_starts_a_run_when_that_has_ended(contract: Contract) -> None:
    harness = ContractHarness(contract, "11:00:00")
    await harness.start(harness.task(cron="* * * * *", takes=150 * SECOND))

    await harness.until("11:06")

    assert harness.starts() == times("11:00:00", "11:02:30", "11:05:00")
    assert [moment for _, moment in harness.ended] == times("11:02:30", "11:05:00")


@clause("concurrent.serial", under=BOTH_POLLING)
async def test_a_task_that_is_changed_while_it_runs_does_not_run_beside_itself(contract: Contract) -> None:
    harness = ContractHarness(contract)
    scheduler = await harness.start(harness.task(takes=30 * MINUTE))
    await harness.until("11:09:30")

    await scheduler.initialize([harness.task(cron="* * * * *", takes=30 * MINUTE)])
    await harness.until("11:45")

    assert harness.starts() == times("11:00", "11:30")
    assert [moment for _, moment in harness.ended] == times("11:30")


# --- initialize beside initialize


@clause("concurrent.initialize-prevented")
async def test_a_second_initialize_begins_when_the_first_has_ended(contract: Contract) -> None:
    harness = GatedHarness(contract)
    scheduler = harness.scheduler()
    first = await harness.begin(scheduler, harness.task("one"))
    second = await harness.begin(scheduler, harness.task("two"))
    held = harness.event_names(*INITIALIZATIONS)

    harness.gate.door.set()
    await asyncio.gather(first, second)

    started, again, completed, _ = INITIALIZATIONS
    assert held == [started]
    assert harness.event_names(*INITIALIZATIONS) == [started, completed, again, completed]
    assert set(harness.store.records) == {"two"}


@clause("concurrent.initialize-allowed")
async def test_equal_lists_at_once_share_one_initialisation(contract: Contract) -> None:
    harness = GatedHarness(contract, "11:00:30")
    scheduler, report = harness.scheduler(), harness.task()
    calls = [await harness.begin(scheduler, report) for _ in range(3)]

    harness.gate.door.set()
    await asyncio.gather(*calls)
    await harness.settle()

    started, _, completed, _ = INITIALIZATIONS
    assert harness.event_names(*INITIALIZATIONS) == [started, completed]
    assert harness.starts() == times("11:00:30")


@clause("concurrent.initialize-allowed")
async def test_equal_lists_at_once_share_one_failure(contract: Contract) -> None:
    harness = GatedHarness(contract)
    harness.disk.fail_next(error=disk_full())
    scheduler, report = harness.scheduler(), harness.task()
    calls = [await harness.begin(scheduler, report) for _ in range(2)]

    harness.gate.door.set()
    first, second = await asyncio.gather(*calls, return_exceptions=True)

    assert isinstance(first, KronError)
    assert second is first


@clause("concurrent.initialize-allowed")
async def test_unequal_lists_at_once_follow_one_another(contract: Contract) -> None:
    harness = GatedHarness(contract)
    scheduler = harness.scheduler()
    first = await harness.begin(scheduler, harness.task("one"))
    second = await harness.begin(scheduler, harness.task("two"))

    harness.gate.door.set()
    await asyncio.gather(first, second)

    started, again, completed, _ = INITIALIZATIONS
    assert harness.event_names(*INITIALIZATIONS) == [started, completed, again, completed]
    assert set(harness.store.records) == {"two"}


@clause("concurrent.initialize-first-wins")
async def test_an_initialize_beside_another_is_refused_and_changes_nothing(contract: Contract) -> None:
    harness = GatedHarness(contract)
    scheduler = harness.scheduler()
    first = await harness.begin(scheduler, harness.task("one"))

    second = await harness.begin(scheduler, harness.task("two"))

    refusal = second.exception()
    assert isinstance(refusal, SchedulerAlreadyActiveError)
    assert refusal.message == "Cannot initialize scheduler: scheduler is already initializing"
    assert refusal.details == {"currentState": "initializing"}
    harness.gate.door.set()
    await first
    started, _, completed, _ = INITIALIZATIONS
    assert harness.event_names(*INITIALIZATIONS) == [started, completed]
    assert set(harness.store.records) == {"one"}


# --- stop beside initialize


@clause("concurrent.stop-during-initialize")
async def test_a_stop_during_initialize_lets_both_return_and_nothing_start(contract: Contract) -> None:
    harness = GatedHarness(contract, "11:00:30")
    scheduler = harness.scheduler()
    initializing = await harness.begin(scheduler, harness.task())
    stopping = await harness.call(asyncio.ensure_future(scheduler.stop()))

    harness.gate.door.set()
    await asyncio.gather(initializing, stopping)
    await harness.until("13:30")

    assert harness.began == []
    assert harness.event_names("SchedulerInitializationCompleted", "SchedulerStopped") == [
        "SchedulerInitializationCompleted",
        "SchedulerStopped",
    ]


@clause("concurrent.stop-waits-for-initialize")
async def test_a_stop_returns_after_the_initialize_that_was_at_work(contract: Contract) -> None:
    harness = GatedHarness(contract)
    scheduler = harness.scheduler()
    returned: list[str] = []
    initializing = await harness.begin(scheduler, harness.task())
    initializing.add_done_callback(lambda _: returned.append("initialize"))
    stopping = await harness.call(asyncio.ensure_future(scheduler.stop()))
    stopping.add_done_callback(lambda _: returned.append("stop"))
    held = (initializing.done(), stopping.done())

    harness.gate.door.set()
    await harness.settle()

    assert held == (False, False)
    assert returned == ["initialize", "stop"]


@clause("concurrent.stop-waits-for-initialize")
async def test_a_stop_does_not_raise_the_error_of_the_initialize_that_it_waited_for(contract: Contract) -> None:
    harness = GatedHarness(contract)
    harness.disk.fail_next(error=disk_full())
    scheduler = harness.scheduler()
    initializing = await harness.begin(scheduler, harness.task(takes=HOUR))
    stopping = await harness.call(asyncio.ensure_future(scheduler.stop()))

    harness.gate.door.set()
    failure, stopped = await asyncio.gather(initializing, stopping, return_exceptions=True)

    assert isinstance(failure, KronError)
    assert stopped is None
