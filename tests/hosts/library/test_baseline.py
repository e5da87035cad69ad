"""A clock that was days ahead is corrected: each task runs again from its next time, with one event."""

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
def harness(request: pytest.FixtureRequest, tmp_path: Path) -> RestartableScheduler:
    memory = MemoryTaskLedger()
    return RestartableScheduler(
        lambda: memory if request.param == "memory" else SqliteTaskLedger(tmp_path / "tasks.db")
    )


async def run_ahead(harness: RestartableScheduler, cron: str = "0 * * * *", *, fails: bool = False) -> Instant:
    """Live for an hour or two with a clock that is days ahead, stop, and correct it; return when the last run began."""
    harness.clock.jump(AHEAD)
    await harness.start(cron, fails=fails)
    await harness.clock.advance(HOUR)
    last = harness.starts[-1]
    await harness.scheduler.stop()
    harness.clock.jump(-AHEAD)
    harness.starts.clear()
    harness.new_scheduler()
    return last


async def test_a_task_whose_last_start_is_days_ahead_runs_again_at_its_next_time(harness: RestartableScheduler) -> None:
    last = await run_ahead(harness)  # it is 13:00:30 now

    await harness.start()
    await harness.clock.advance(2 * HOUR)

    assert harness.starts == hours(14, 15)
    assert harness.clamps == [clamp_of(last, NOON + HOUR)]
    assert next(event for event in harness.events if event.name == "BaselineClamped").level == "WARNING"
    await harness.scheduler.stop()


async def test_a_recorded_clamp_is_not_reported_again_by_the_next_start(harness: RestartableScheduler) -> None:
    await run_ahead(harness)
    await harness.start()
    await crash(harness.scheduler)

    harness.new_scheduler()
    await harness.start()

    assert len(harness.clamps) == 1
    assert (await harness.disk.load())["report"].last_attempt == NOON + HOUR
    await harness.scheduler.stop()


async def test_a_clamp_that_could_not_be_recorded_is_left_to_the_next_start(harness: RestartableScheduler) -> None:
    last = await run_ahead(harness)
    harness.disk.fail_next()
    with pytest.raises(Exception, match="no space left"):
        await harness.start()
    assert harness.clamps == []
    await harness.clock.advance(MINUTE)

    await harness.start()

    assert harness.clamps == [clamp_of(last, NOON + HOUR + MINUTE)]
    await harness.scheduler.stop()


async def test_a_task_that_was_registered_days_ahead_and_never_ran_counts_as_registered_now(
    harness: RestartableScheduler,
) -> None:
    harness.clock.jump(AHEAD)
    await harness.start("0 9 * * *")
    came = harness.clock.now()
    await harness.scheduler.stop()
    harness.clock.jump(-AHEAD)
    harness.new_scheduler()

    await harness.start("0 9 * * *")
    await harness.clock.advance(DAY)

    assert harness.starts == [parse_instant("2026-03-03T09:00:00Z")]
    assert harness.clamps == [clamp_of(came, NOON)]
    await harness.scheduler.stop()


async def test_a_start_half_an_hour_ahead_is_waited_for_as_before(harness: RestartableScheduler) -> None:
    await harness.start("0,45 * * * *")
    await harness.clock.advance(HOUR)
    await harness.scheduler.stop()
    harness.starts.clear()
    harness.clock.jump(-HOUR / 2)  # 12:30:30, after a start at 13:00

    harness.new_scheduler()
    await harness.start("0,45 * * * *")
    await harness.clock.advance(HOUR + 20 * MINUTE)

    assert harness.clamps == []
    assert harness.starts == [parse_instant("2026-03-02T13:45:00Z")]
    await harness.scheduler.stop()


async def test_an_interrupted_run_of_days_ahead_restarts_at_once(harness: RestartableScheduler) -> None:
    harness.clock.jump(AHEAD)
    await harness.start()
    await harness.clock.advance(HOUR)
    await harness.scheduler.stop()
    harness.clock.jump(-AHEAD)
    record = (await load(harness))["report"]

    await remember(harness, record._replace(running_since=record.last_attempt, scheduler="another"))
    harness.starts.clear()
    harness.new_scheduler()
    await harness.start()

    assert harness.starts == [NOON + HOUR]
    assert len(harness.clamps) == 1
    await harness.scheduler.stop()


async def load(harness: RestartableScheduler) -> Mapping[str, TaskRecord]:
    ledger = harness._ledger()
    await ledger.open()
    try:
        return await ledger.load()
    finally:
        await ledger.close()


async def remember(harness: RestartableScheduler, record: TaskRecord) -> None:
    ledger = harness._ledger()
    await ledger.open()
    await ledger.load()
    await ledger.append(TaskBatch(records=[record]))
    await ledger.close()


# --- while it runs ----------------------------------------------------------------------------------------------------


async def test_a_running_scheduler_whose_clock_is_corrected_goes_on_at_the_next_time(
    harness: RestartableScheduler,
) -> None:
    harness.clock.jump(AHEAD)
    await harness.start()
    await harness.clock.advance(HOUR)
    last = harness.starts[-1]
    harness.starts.clear()

    harness.clock.jump(-AHEAD)  # 13:00:30
    await harness.clock.advance(2 * HOUR)

    assert harness.starts == hours(14, 15)
    assert harness.clamps == [clamp_of(last, NOON + HOUR)]
    await harness.scheduler.stop()


async def test_a_retry_of_days_ahead_waits_its_delay_from_the_correction(harness: RestartableScheduler) -> None:
    harness.clock.jump(AHEAD)
    await harness.start(fails=True, delay=2 * HOUR)
    await harness.clock.advance(HOUR)
    harness.starts.clear()

    harness.clock.jump(-AHEAD)  # 13:00:30; the schedule comes first
    await harness.clock.advance(HOUR - 31 * SECOND)
    assert harness.starts == []
    (record,) = (await harness.disk.load()).values()
    assert record.retry_until == NOON + 3 * HOUR
    await harness.scheduler.stop()


async def test_two_corrections_that_are_more_than_an_hour_together_clamp_once(harness: RestartableScheduler) -> None:
    await harness.start("0 * * * *")
    await harness.clock.advance(2 * HOUR)  # a start at 14:00
    harness.starts.clear()
    for _ in range(2):
        harness.clock.jump(-40 * MINUTE)
        await harness.settle()

    await harness.clock.advance(HOUR)

    assert len(harness.clamps) == 1
    assert harness.starts == hours(13)
    await harness.scheduler.stop()


async def test_a_clamp_whose_record_fails_counts_from_the_correction_and_is_reported_when_durable(
    harness: RestartableScheduler,
) -> None:
    harness.clock.jump(AHEAD)
    await harness.start()
    await harness.clock.advance(HOUR)
    last = harness.starts.pop()
    harness.disk.fail_next(2)

    harness.clock.jump(-AHEAD)
    await harness.settle()
    assert harness.clamps == []
    await harness.clock.advance(MINUTE)

    assert harness.clamps == [clamp_of(last, NOON + HOUR)]
    assert (await harness.disk.load())["report"].last_attempt == NOON + HOUR
    await harness.scheduler.stop()


async def test_an_end_of_days_ahead_that_is_settled_after_the_correction_counts_as_now(
    harness: RestartableScheduler,
) -> None:
    async def fails() -> None:
        await harness.clock.sleep(MINUTE)
        raise ValueError("no report")

    await harness.scheduler.initialize([("report", "0 * * * *", fails, 5 * MINUTE)])
    await harness.clock.advance(HOUR - 15 * SECOND)  # 13:00:15
    harness.clock.jump(AHEAD)
    await harness.clock.advance(30 * SECOND)
    harness.disk.fail_next(3)
    await harness.clock.advance(30 * SECOND)  # it has ended, and that could not be recorded
    harness.clock.jump(-AHEAD)

    await harness.clock.advance(MINUTE)

    retry = (await harness.disk.load())["report"].retry_until
    assert retry is not None
    assert timedelta(0) < retry - harness.clock.now() <= 5 * MINUTE
    await harness.scheduler.stop()


async def test_a_start_that_is_not_far_ahead_is_not_repeated_because_its_failure_is(
    harness: RestartableScheduler,
) -> None:
    async def fails() -> None:
        harness.starts.append(harness.clock.now())
        await harness.clock.sleep(50 * MINUTE)
        raise ValueError("no report")

    await harness.scheduler.initialize([("report", "0 * * * *", fails, 5 * HOUR)])
    await harness.clock.advance(HOUR - 30 * SECOND)  # it starts at 12:00:30 and, owed again, at 13:00
    await harness.clock.advance(51 * MINUTE)
    harness.starts.clear()

    harness.clock.jump(-53 * MINUTE - 20 * MINUTE)  # 12:38, with a start at 13:00 and a failure at 13:50
    await harness.clock.advance(HOUR)

    assert harness.starts == []
    await harness.scheduler.stop()


class SlowLedger(MemoryTaskLedger):
    """A ledger that lets something happen in the middle of its next append."""

    meanwhile: Callable[[], Coroutine[Any, Any, None]] | None = None

    async def append(self, batch: TaskBatch) -> Sequence[Refusal]:
        meanwhile, self.meanwhile = self.meanwhile, None
        if meanwhile is not None:
            await meanwhile()
        return await super().append(batch)


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
