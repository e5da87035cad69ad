"""A clock that was days ahead and is corrected: each task runs again from its next time, with one event."""

import asyncio
from collections.abc import Callable, Coroutine, Mapping, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from kron import Scheduler
from kron.adapters.sqlite.task_ledger import SqliteTaskLedger
from kron.engine.ports import Refusal, TaskBatch, TaskLedger
from kron.hosts.library.scheduler import observe
from kron.instant import Instant, format_instant, parse_instant
from kron.rules.events import Event
from kron.rules.task_record import TaskRecord
from kron.testing import FaultyLedger, MemoryTaskLedger, VirtualClock, crash
from kron.theory.checker import Checker
from kron.theory.trace_format import TraceHeader
from kron.trace.recorder import TraceRecorder
from tests.calls import on_a_loop
from tests.theory.traces import violated

NOON = parse_instant("2026-03-02T12:00:30Z")
HOUR, DAY, MINUTE, SECOND = timedelta(hours=1), timedelta(days=1), timedelta(minutes=1), timedelta(seconds=1)
AHEAD = 3 * DAY


class RestartableScheduler:
    """A clock, a ledger that outlives its schedulers, and what was observed."""

    def __init__(self, ledger: Callable[[], TaskLedger]) -> None:
        self.clock = VirtualClock(NOON)
        self._ledger = ledger
        self.disk = FaultyLedger(ledger())
        self.events: list[Event] = []
        self.starts: list[Instant] = []
        self.scheduler = self.new_scheduler()

    def new_scheduler(self, contract: str = "declarative") -> Scheduler:
        self.disk = FaultyLedger(self._ledger())
        self.scheduler = Scheduler(
            ledger=self.disk, clock=self.clock, sink=self.events.append, timezone="UTC", contract=contract
        )
        return self.scheduler

    async def start(self, cron: str = "0 * * * *", *, fails: bool = False, delay: timedelta = 5 * MINUTE) -> None:
        async def report() -> None:
            self.starts.append(self.clock.now())
            if fails:
                raise ValueError("no report")

        await self.scheduler.initialize([("report", cron, report, delay)])
        await self.settle()

    async def settle(self) -> None:
        await self.clock.advance(timedelta(0))

    @property
    def clamps(self) -> list[dict[str, object]]:
        return [dict(event.fields) for event in self.events if event.name == "BaselineClamped"]


def clamp_of(baseline: Instant, to: Instant) -> dict[str, object]:
    return {"taskName": "report", "baseline": format_instant(baseline), "clampedTo": format_instant(to)}


def hours(*values: int) -> list[Instant]:
    return [parse_instant(f"2026-03-02T{hour}:00:00Z") for hour in values]


@pytest.fixture(params=["memory", "sqlite"])
def world(request: pytest.FixtureRequest, tmp_path: Path) -> RestartableScheduler:
    memory = MemoryTaskLedger()
    return RestartableScheduler(
        lambda: memory if request.param == "memory" else SqliteTaskLedger(tmp_path / "tasks.db")
    )


async def run_ahead(world: RestartableScheduler, cron: str = "0 * * * *", *, fails: bool = False) -> Instant:
    """Live for an hour or two with a clock that is days ahead, stop, and correct it; return when the last run began."""
    world.clock.jump(AHEAD)
    await world.start(cron, fails=fails)
    await world.clock.advance(HOUR)
    last = world.starts[-1]
    await world.scheduler.stop()
    world.clock.jump(-AHEAD)
    world.starts.clear()
    world.new_scheduler()
    return last


@on_a_loop
async def test_a_task_whose_last_start_is_days_ahead_runs_again_at_its_next_time(world: RestartableScheduler) -> None:
    last = await run_ahead(world)  # it is 13:00:30 now

    await world.start()
    await world.clock.advance(2 * HOUR)

    assert world.starts == hours(14, 15)
    assert world.clamps == [clamp_of(last, NOON + HOUR)]
    assert next(event for event in world.events if event.name == "BaselineClamped").level == "WARNING"
    await world.scheduler.stop()


@on_a_loop
async def test_a_clamp_that_was_recorded_is_not_told_again_by_the_next_start(world: RestartableScheduler) -> None:
    await run_ahead(world)
    await world.start()
    await crash(world.scheduler)

    world.new_scheduler()
    await world.start()

    assert len(world.clamps) == 1
    assert (await world.disk.load())["report"].last_attempt == NOON + HOUR
    await world.scheduler.stop()


@on_a_loop
async def test_a_clamp_that_could_not_be_recorded_is_left_to_the_next_start(world: RestartableScheduler) -> None:
    last = await run_ahead(world)
    world.disk.fail_next()
    with pytest.raises(Exception, match="no space left"):
        await world.start()
    assert world.clamps == []
    await world.clock.advance(MINUTE)

    await world.start()

    assert world.clamps == [clamp_of(last, NOON + HOUR + MINUTE)]
    await world.scheduler.stop()


@on_a_loop
async def test_a_task_that_was_registered_days_ahead_and_never_ran_counts_as_registered_now(
    world: RestartableScheduler,
) -> None:
    world.clock.jump(AHEAD)
    await world.start("0 9 * * *")
    came = world.clock.now()
    await world.scheduler.stop()
    world.clock.jump(-AHEAD)
    world.new_scheduler()

    await world.start("0 9 * * *")
    await world.clock.advance(DAY)

    assert world.starts == [parse_instant("2026-03-03T09:00:00Z")]
    assert world.clamps == [clamp_of(came, NOON)]
    await world.scheduler.stop()


@on_a_loop
async def test_a_start_half_an_hour_ahead_is_waited_for_as_before(world: RestartableScheduler) -> None:
    await world.start("0,45 * * * *")
    await world.clock.advance(HOUR)
    await world.scheduler.stop()
    world.starts.clear()
    world.clock.jump(-HOUR / 2)  # 12:30:30, after a start at 13:00

    world.new_scheduler()
    await world.start("0,45 * * * *")
    await world.clock.advance(HOUR + 20 * MINUTE)

    assert world.clamps == []
    assert world.starts == [parse_instant("2026-03-02T13:45:00Z")]
    await world.scheduler.stop()


@on_a_loop
async def test_an_interrupted_run_of_days_ahead_restarts_at_once(world: RestartableScheduler) -> None:
    world.clock.jump(AHEAD)
    await world.start()
    await world.clock.advance(HOUR)
    await world.scheduler.stop()
    world.clock.jump(-AHEAD)
    record = (await load(world))["report"]

    await remember(world, record._replace(running_since=record.last_attempt, scheduler="another"))
    world.starts.clear()
    world.new_scheduler()
    await world.start()

    assert world.starts == [NOON + HOUR]
    assert len(world.clamps) == 1
    await world.scheduler.stop()


async def load(world: RestartableScheduler) -> Mapping[str, TaskRecord]:
    ledger = world._ledger()
    await ledger.open()
    try:
        return await ledger.load()
    finally:
        await ledger.close()


async def remember(world: RestartableScheduler, record: TaskRecord) -> None:
    ledger = world._ledger()
    await ledger.open()
    await ledger.load()
    await ledger.append(TaskBatch(records=[record]))
    await ledger.close()


# --- while it runs ----------------------------------------------------------------------------------------------------


@on_a_loop
async def test_a_running_scheduler_whose_clock_is_corrected_goes_on_at_the_next_time(
    world: RestartableScheduler,
) -> None:
    world.clock.jump(AHEAD)
    await world.start()
    await world.clock.advance(HOUR)
    last = world.starts[-1]
    world.starts.clear()

    world.clock.jump(-AHEAD)  # 13:00:30
    await world.clock.advance(2 * HOUR)

    assert world.starts == hours(14, 15)
    assert world.clamps == [clamp_of(last, NOON + HOUR)]
    await world.scheduler.stop()


@on_a_loop
async def test_a_retry_of_days_ahead_waits_its_delay_from_the_correction(world: RestartableScheduler) -> None:
    world.clock.jump(AHEAD)
    await world.start(fails=True, delay=2 * HOUR)
    await world.clock.advance(HOUR)
    world.starts.clear()

    world.clock.jump(-AHEAD)  # 13:00:30; the schedule comes first
    await world.clock.advance(HOUR - 31 * SECOND)
    assert world.starts == []
    (record,) = (await world.disk.load()).values()
    assert record.retry_until == NOON + 3 * HOUR
    await world.scheduler.stop()


@on_a_loop
async def test_two_corrections_that_are_more_than_an_hour_together_clamp_once(world: RestartableScheduler) -> None:
    await world.start("0 * * * *")
    await world.clock.advance(2 * HOUR)  # a start at 14:00
    world.starts.clear()
    for _ in range(2):
        world.clock.jump(-40 * MINUTE)
        await world.settle()

    await world.clock.advance(HOUR)

    assert len(world.clamps) == 1
    assert world.starts == hours(13)
    await world.scheduler.stop()


@on_a_loop
async def test_a_clamp_whose_record_fails_counts_from_the_correction_and_is_told_when_it_is_durable(
    world: RestartableScheduler,
) -> None:
    world.clock.jump(AHEAD)
    await world.start()
    await world.clock.advance(HOUR)
    last = world.starts.pop()
    world.disk.fail_next(2)

    world.clock.jump(-AHEAD)
    await world.settle()
    assert world.clamps == []
    await world.clock.advance(MINUTE)

    assert world.clamps == [clamp_of(last, NOON + HOUR)]
    assert (await world.disk.load())["report"].last_attempt == NOON + HOUR
    await world.scheduler.stop()


@on_a_loop
async def test_an_end_of_days_ahead_that_is_settled_after_the_correction_counts_as_now(
    world: RestartableScheduler,
) -> None:
    async def fails() -> None:
        await world.clock.sleep(MINUTE)
        raise ValueError("no report")

    await world.scheduler.initialize([("report", "0 * * * *", fails, 5 * MINUTE)])
    await world.clock.advance(HOUR - 15 * SECOND)  # 13:00:15
    world.clock.jump(AHEAD)
    await world.clock.advance(30 * SECOND)
    world.disk.fail_next(3)
    await world.clock.advance(30 * SECOND)  # it has ended, and that could not be recorded
    world.clock.jump(-AHEAD)

    await world.clock.advance(MINUTE)

    retry = (await world.disk.load())["report"].retry_until
    assert retry is not None
    assert timedelta(0) < retry - world.clock.now() <= 5 * MINUTE
    await world.scheduler.stop()


@on_a_loop
async def test_a_start_that_is_not_far_ahead_is_not_repeated_because_its_failure_is(
    world: RestartableScheduler,
) -> None:
    async def fails() -> None:
        world.starts.append(world.clock.now())
        await world.clock.sleep(50 * MINUTE)
        raise ValueError("no report")

    await world.scheduler.initialize([("report", "0 * * * *", fails, 5 * HOUR)])
    await world.clock.advance(HOUR - 30 * SECOND)  # it starts at 12:00:30 and, owed again, at 13:00
    await world.clock.advance(51 * MINUTE)
    world.starts.clear()

    world.clock.jump(-53 * MINUTE - 20 * MINUTE)  # 12:38, with a start at 13:00 and a failure at 13:50
    await world.clock.advance(HOUR)

    assert world.starts == []
    await world.scheduler.stop()


class SlowLedger(MemoryTaskLedger):
    """A ledger that lets something happen in the middle of its next append."""

    meanwhile: Callable[[], Coroutine[Any, Any, None]] | None = None

    async def append(self, batch: TaskBatch) -> Sequence[Refusal]:
        meanwhile, self.meanwhile = self.meanwhile, None
        if meanwhile is not None:
            await meanwhile()
        return await super().append(batch)


@on_a_loop
async def test_a_trace_says_that_the_clock_was_set_back_where_its_baselines_are_clamped() -> None:
    clock, ledger, checker = VirtualClock(NOON + AHEAD), SlowLedger(), Checker(TraceHeader("polling"))
    scheduler = Scheduler(ledger=ledger, clock=clock, timezone="UTC", contract="polling")
    observe(scheduler, TraceRecorder(clock.now, checker.read))

    async def report() -> None: ...

    registrations = [("report", "0 * * * *", report, MINUTE), ("daily", "30 12 * * *", report, MINUTE)]
    await scheduler.initialize(registrations)
    await clock.advance(15 * MINUTE)
    calls: list[asyncio.Task[None]] = []

    async def correct() -> None:
        """Set the clock back and ask for the list again, while a start is being recorded, until it is 14:00."""
        clock.jump(hours(14)[0] - SECOND - clock.now())
        calls.append(asyncio.ensure_future(scheduler.initialize(registrations)))
        await asyncio.sleep(0)  # noqa: TID251  # a turn, no time
        clock.delay(2 * SECOND)

    ledger.meanwhile = correct
    await clock.advance(30 * MINUTE)
    await asyncio.gather(*calls)
    await clock.advance(2 * HOUR)

    assert violated(checker.report()) == set()
    await scheduler.stop()
