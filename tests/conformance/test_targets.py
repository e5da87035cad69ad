"""Real-time targets, limits on resources, and invariants over a scheduler's lifetime."""

import asyncio
import gc
from collections import Counter
from collections.abc import Sequence
from datetime import timedelta

import pytest

from kron import Scheduler
from kron.engine.ports import Refusal, TaskBatch
from kron.rules.contract import Contract
from kron.rules.events import Event
from kron.testing import MemoryTaskLedger, VirtualClock, crash
from tests.conformance.citing import clause
from tests.conformance.contract_harness import HOUR, MINUTE, SECOND, ContractHarness, at, times

DAY = 24 * HOUR


class SlowLedger(MemoryTaskLedger):
    """A store whose disk takes its time for every write."""

    def __init__(self, clock: VirtualClock, takes: timedelta) -> None:
        super().__init__()
        self._clock, self._takes = clock, takes

    async def append(self, batch: TaskBatch) -> Sequence[Refusal]:
        self._clock.freeze(self._takes)
        return await super().append(batch)


async def initialized(harness: ContractHarness, scheduler: Scheduler, *tasks: object) -> None:
    """Initialise a scheduler whose disk is slow."""
    await scheduler.initialize(list(tasks))  # type: ignore[arg-type] # registrations
    await harness.settle()


# --- R1 and R2 --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("number", [1, 2000])
@clause("target.start")
async def test_with_a_slow_disk_all_that_is_due_starts_within_a_minute_of_its_boundary(
    contract: Contract, number: int
) -> None:
    harness = ContractHarness(contract, "10:58:00")
    ledger = SlowLedger(harness.clock, 5 * SECOND)
    scheduler = Scheduler(
        ledger=ledger, contract=contract.name, clock=harness.clock, sink=harness.events.append, timezone="UTC"
    )
    await initialized(harness, scheduler, *(harness.task(f"task {each}") for each in range(number)))

    await harness.until("11:01")

    late = [moment - at("11:00") for _, moment in harness.began]
    assert len(late) == number
    assert timedelta() <= min(late) <= max(late) <= MINUTE


@clause("target.start")
async def test_a_task_that_still_ran_at_its_boundary_starts_within_a_minute_of_its_end(contract: Contract) -> None:
    harness = ContractHarness(contract, "10:59:30")
    await harness.start(harness.task(cron="0,5 * * * *", takes=7 * MINUTE))

    await harness.until("11:10")

    assert harness.starts() == times("11:00", "11:07")


@pytest.mark.slow
@clause("target.grows", "target.deviations")
async def test_a_start_is_reported_as_late_after_a_minute_and_with_a_longer_list_after_more(contract: Contract) -> None:
    late = {number: await _reported(contract, number, seconds) for number, seconds in ((1, 59), (2, 90), (12_000, 70))}
    much = await _reported(contract, 12_000, 80)

    assert late == {1: [], 2: [90.0], 12_000: []}
    assert much == [80.0]


async def _reported(contract: Contract, number: int, seconds: int) -> list[object]:
    """Return how late a start is reported that its limit delays by so many seconds, in a list of so many tasks."""
    events: list[Event] = []
    harness = ContractHarness(contract, "10:59:30")
    scheduler = Scheduler(
        contract=contract.name, clock=harness.clock, sink=events.append, timezone="UTC", max_concurrent_runs=1
    )
    others = [harness.task(f"task {each}", "0 3 * * *") for each in range(number - 2)]
    both = [harness.task("first", takes=seconds * SECOND), harness.task("second")][: max(1, min(2, number))]
    await scheduler.initialize([*both, *others])
    await harness.until("11:05")
    return [event.fields["lateness"] for event in events if event.name == "StartDelayed"]


@pytest.mark.parametrize("down", [SECOND, 20 * MINUTE, 3 * DAY], ids=str)
@clause("target.recovery")
async def test_with_a_slow_disk_a_run_that_was_cut_off_starts_within_a_minute_of_the_restart(
    contract: Contract, down: timedelta
) -> None:
    harness = ContractHarness(contract, "10:59:00")
    ledger = SlowLedger(harness.clock, 5 * SECOND)
    terms = {"ledger": ledger, "contract": contract.name, "clock": harness.clock, "timezone": "UTC"}
    scheduler = Scheduler(**terms, sink=harness.events.append)  # type: ignore[arg-type]
    await initialized(harness, scheduler, harness.task(takes=HOUR))
    await harness.until("11:30")
    await crash(scheduler)
    await harness.clock.advance(down)
    back = harness.clock.now()

    await initialized(harness, Scheduler(**terms, sink=harness.events.append), harness.task())  # type: ignore[arg-type]
    await harness.clock.advance(MINUTE)

    first, second = harness.starts()[:2]
    assert first == at("11:00:05")
    assert second - back <= MINUTE


# --- P15 to P17 -------------------------------------------------------------------------------------------------------


async def one_day(harness: ContractHarness) -> list[timedelta]:
    """Let a day pass with tasks of several kinds; return how late the start for each due instant of a task is."""
    begin, quick = harness.clock.now(), harness.task("quick", "0,20,40 * * * *", takes=9 * MINUTE)
    await harness.start(
        quick,
        harness.task("failing", "7 * * * *", fails=10**6, retry=20 * MINUTE),
        harness.task("endless", "* * * * *", takes=50 * MINUTE),
        harness.task("hourly", "30 * * * *"),
    )
    await harness.clock.advance(DAY)
    hours = [begin.replace(minute=0, second=0) + HOUR * each for each in range(25)]
    due = {
        "quick": [hour + MINUTE * minute for hour in hours for minute in (0, 20, 40)],
        "failing": [hour + 7 * MINUTE for hour in hours],
        "hourly": [hour + 30 * MINUTE for hour in hours],
    }
    found = {name: harness.starts(name) for name in due}
    return [
        min((start - instant for start in found[name] if start >= instant), default=DAY)
        for name, instants in due.items()
        for instant in instants
        if begin < instant <= begin + DAY - HOUR
    ]


@clause("trace.starts-for-ever")
async def test_every_due_instant_of_one_day_has_its_start(contract: Contract) -> None:
    harness = ContractHarness(contract, "10:59:30")

    late = await one_day(harness)

    assert len(late) > 100
    assert max(late) <= MINUTE
    assert len(harness.starts("endless")) >= 24 * 60 // 50 - 1


@clause("trace.recovers")
async def test_after_a_crash_every_due_instant_of_one_day_has_its_start(contract: Contract) -> None:
    harness = ContractHarness(contract, "04:59:30")
    scheduler = await harness.start(harness.task("quick", "0,20,40 * * * *", takes=9 * MINUTE), harness.task("hourly"))
    await harness.until("06:10")
    await crash(scheduler)
    await harness.until("10:50:30")
    harness.began.clear()

    late = await one_day(harness)

    assert len(late) > 100
    assert max(late) <= MINUTE


@clause("trace.stop-terminates")
async def test_whenever_a_stop_is_called_it_returns_when_the_last_run_has_ended(contract: Contract) -> None:
    for moment in ("10:59:45", "11:00", "11:03", "11:20", "12:05"):
        harness = ContractHarness(contract, "10:59:30")
        scheduler = await harness.start(harness.task(takes=10 * MINUTE), harness.task("failing", "2 * * * *", fails=9))
        await harness.until(moment)
        runs = len(harness.began) > len(harness.ended)

        stopping = asyncio.create_task(scheduler.stop())
        await harness.clock.advance(10 * MINUTE if runs else timedelta())

        assert stopping.done(), moment
        assert len(harness.began) == len(harness.ended), moment
        began = len(harness.began)
        await harness.clock.advance(3 * HOUR)
        assert len(harness.began) == began, moment


# --- limits -----------------------------------------------------------------------------------------------------------


@clause("resources.most-runs")
async def test_no_more_tasks_run_at_once_than_the_limit_and_none_is_left_out(contract: Contract) -> None:
    harness, most = ContractHarness(contract, "10:59:30"), []
    tasks = [harness.task(f"task {each}", takes=(each + 1) * MINUTE) for each in range(7)]
    scheduler = Scheduler(contract=contract.name, clock=harness.clock, timezone="UTC", max_concurrent_runs=2)
    await scheduler.initialize(tasks)

    for _ in range(40):
        await harness.clock.advance(MINUTE)
        most.append(len(harness.began) - len(harness.ended))

    assert max(most) == 2
    assert sorted(name for name, _ in harness.ended) == sorted(name for name, *_ in tasks)


@clause("resources.timeout")
async def test_a_run_that_exceeds_the_limit_is_cancelled_fails_and_is_tried_again(contract: Contract) -> None:
    harness, events = ContractHarness(contract, "10:59:30"), list[Event]()
    scheduler = Scheduler(
        contract=contract.name, clock=harness.clock, timezone="UTC", run_timeout=10 * MINUTE, sink=events.append
    )
    await scheduler.initialize([harness.task(takes=HOUR, retry=5 * MINUTE), harness.task("short", takes=9 * MINUTE)])

    await harness.until("11:20")

    assert harness.starts() == times("11:00", "11:15")
    assert [name for name, _ in harness.ended] == ["short"]
    [failed] = [event for event in events if event.name == "TaskRunFailed"]
    assert (failed.fields["duration"], failed.fields["taskName"]) == (600.0, "report")


@pytest.mark.slow
@clause("resources.no-leaks")
async def test_hundreds_of_polls_and_runs_leave_no_objects_behind(contract: Contract) -> None:
    clock = VirtualClock(at("10:59:30"))
    polls = Counter[str]()

    def count(event: Event) -> None:
        polls[event.name] += 1

    async def work() -> None: ...

    async def fail() -> None:
        raise ValueError("no")

    scheduler = Scheduler(
        ledger=LedgerWithoutHistory(), contract=contract.name, clock=clock, sink=count, timezone="UTC"
    )
    await scheduler.initialize([("good", "* * * * *", work, MINUTE), ("bad", "0 * * * *", fail, 7 * MINUTE)])
    await clock.advance(6 * HOUR)
    before = _objects()

    await clock.advance(DAY / 2)

    assert polls["PollCompleted"] > 12 * 60
    assert _objects() - before < 100


class LedgerWithoutHistory(MemoryTaskLedger):
    """A store without a history, which would grow until it is full."""

    def append_now(self, batch: TaskBatch) -> Sequence[Refusal]:
        refused = super().append_now(batch)
        self.history.clear()
        return refused


def _objects() -> int:
    gc.collect()
    return len(gc.get_objects())
