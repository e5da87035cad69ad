"""Tests of the recorder: a scheduler's events become a trace that the theory can judge."""

import asyncio
from collections.abc import Callable, Coroutine
from datetime import timedelta
from typing import Any

import pytest

from kron import Scheduler
from kron.errors import KronError
from kron.hosts.library.scheduler import observe
from kron.instant import parse_instant
from kron.rules.events import Event
from kron.testing import FaultyLedger, MemoryTaskLedger, VirtualClock, crash
from kron.theory.formula import TruthValue
from kron.theory.trace_format import TraceEvent, TraceHeader
from kron.trace.monitor import OnlineMonitor
from kron.trace.recorder import TraceRecorder

NOON = parse_instant("2026-03-02T12:00:00Z")
SECOND, MINUTE, HOUR = timedelta(seconds=1), timedelta(minutes=1), timedelta(hours=1)


async def work() -> None: ...


async def fail() -> None:
    raise ValueError("no")


def task(name: str = "report", cron: str = "0 * * * *", callback: object = work, delay: timedelta = MINUTE) -> Any:
    return (name, cron, callback, delay)


class RecordedScheduler:
    """A scheduler with a recorder, on a virtual clock that begins at half past eleven."""

    def __init__(self, ledger: Any = None, contract: str = "declarative") -> None:
        self.clock = VirtualClock(NOON - HOUR / 2)
        self.ledger = ledger or MemoryTaskLedger()
        self.positions: list[TraceEvent] = []
        self.emitted: list[Event] = []
        self.monitor = OnlineMonitor(TraceHeader(contract), self.emitted.append)
        self.contract = contract
        self.scheduler = self.another()

    def another(self) -> Scheduler:
        """Return another scheduler on the same ledger, recorded into the same trace."""
        last = self.positions[-1].time_ms if self.positions else None
        recorder = TraceRecorder(self.clock.now, self.take, last=last)
        self.scheduler = Scheduler(
            ledger=self.ledger,
            clock=self.clock,
            timezone="UTC",
            contract=self.contract,
            sink=self.emitted.append,
        )
        observe(self.scheduler, recorder)
        return self.scheduler

    def take(self, position: TraceEvent) -> None:
        self.positions.append(position)
        self.monitor.emit(position)

    @property
    def events(self) -> list[str]:
        return [position.kind for position in self.positions]


def lived(story: Callable[[RecordedScheduler], Coroutine[Any, Any, None]], **keywords: Any) -> RecordedScheduler:
    """Return the scheduler, with its trace, after a story."""

    async def live() -> RecordedScheduler:
        recorded = RecordedScheduler(**keywords)
        await story(recorded)
        return recorded

    return asyncio.run(live())


async def test_a_run_is_a_start_at_its_instant_and_an_end() -> None:
    recorded = RecordedScheduler()
    await recorded.scheduler.initialize([task()])
    await recorded.clock.advance(HOUR)
    await recorded.scheduler.stop()

    assert recorded.events == ["InitStart", "InitSuccess", "RunStart", "RunSuccess", "StopStart", "StopEnd"]
    assert recorded.positions[2] == TraceEvent(1772452800000, "RunStart", {"task": "report"})
    assert recorded.monitor.report().verdict is TruthValue.HOLDS


async def test_the_first_position_has_the_list() -> None:
    recorded = RecordedScheduler()
    await recorded.scheduler.initialize([task(delay=timedelta(milliseconds=1500))])

    fields = recorded.positions[0].fields

    assert fields["registrations"] == [{"name": "report", "cron": "0 * * * *", "retryDelayMs": 1500}]
    assert "valid" not in fields


async def test_a_failure_says_what_was_raised() -> None:
    recorded = RecordedScheduler()
    await recorded.scheduler.initialize([task(callback=fail, delay=HOUR)])
    await recorded.clock.advance(HOUR)

    assert recorded.positions[3].fields == {"task": "report", "error": "ValueError: no"}


@pytest.mark.parametrize(
    ("registrations", "expressible"),
    [
        ([task(cron="61 * * * *")], True),
        ([task(), task()], True),
        ([task(callback=print)], False),
        ([("report", "0 * * * *")], False),
        (7, False),
    ],
    ids=["cron", "duplicate", "callback", "shape", "no list"],
)
async def test_a_list_that_is_refused_fails_and_is_invalid_to_the_judge_too(
    registrations: Any,
    expressible: bool,  # noqa: FBT001
) -> None:
    recorded = RecordedScheduler()
    with pytest.raises(KronError):
        await recorded.scheduler.initialize(registrations)

    assert recorded.events == ["InitStart", "InitFailure"]
    assert ("valid" in recorded.positions[0].fields) is not expressible
    assert recorded.monitor.report().verdict is TruthValue.HOLDS


async def test_a_failing_disk_is_the_fault_of_the_environment() -> None:
    ledger = FaultyLedger(MemoryTaskLedger())
    ledger.fail_next()

    recorded = RecordedScheduler(ledger=ledger)
    with pytest.raises(KronError):
        await recorded.scheduler.initialize([task()])

    assert recorded.positions[1].fields["cause"] == "environment"
    assert recorded.monitor.report().verdict is TruthValue.HOLDS


async def test_time_in_which_nothing_can_be_recorded_does_not_count() -> None:
    ledger = FaultyLedger(MemoryTaskLedger())

    recorded = RecordedScheduler(ledger=ledger)
    await recorded.scheduler.initialize([task()])
    ledger.fail_next(8)
    await recorded.clock.advance(HOUR)
    await recorded.scheduler.stop()

    assert recorded.events[2:6] == ["Freeze", "Thaw", "RunStart", "RunSuccess"]
    assert recorded.monitor.report().verdict is TruthValue.HOLDS


async def test_a_crash_and_what_follows_is_sound() -> None:
    never = asyncio.Event

    async def hang() -> None:
        await never().wait()

    recorded = RecordedScheduler()
    await recorded.scheduler.initialize([task(callback=hang)])
    await recorded.clock.advance(HOUR)
    await crash(recorded.scheduler)
    recorded.take(TraceEvent(recorded.positions[-1].time_ms, "UnexpectedShutdown"))
    await recorded.another().initialize([task()])
    await recorded.clock.advance(MINUTE)
    await recorded.scheduler.stop()

    assert recorded.events[2:7] == ["RunStart", "UnexpectedShutdown", "InitStart", "InitSuccess", "RunStart"]
    assert recorded.monitor.report().verdict is TruthValue.HOLDS


async def test_an_end_that_could_not_be_recorded_has_not_happened() -> None:
    ledger = FaultyLedger(MemoryTaskLedger())

    async def slow() -> None:
        ledger.fail_next(100)

    recorded = RecordedScheduler(ledger=ledger)
    await recorded.scheduler.initialize([task(callback=slow)])
    await recorded.clock.advance(HOUR / 2)
    with pytest.raises(KronError):
        await recorded.scheduler.stop()

    assert "RunSuccess" not in recorded.events
    assert recorded.events[-1] == "UnexpectedShutdown"
    assert recorded.monitor.report().verdict is TruthValue.HOLDS


async def test_a_reload_is_an_initialisation() -> None:
    recorded = RecordedScheduler(contract="polling")
    await recorded.scheduler.initialize([task()])
    await recorded.scheduler.initialize([task(), task("another")])
    await recorded.scheduler.stop()

    assert recorded.events == ["InitStart", "InitSuccess"] * 2 + ["StopStart", "StopEnd"]
    assert recorded.monitor.report().verdict is TruthValue.HOLDS


def test_a_trace_is_recorded_whatever_the_sink_wants() -> None:
    class Quiet:
        def __init__(self) -> None:
            self.names: list[str] = []

        def wants(self, level: str) -> bool:
            return level == "WARNING"

        def __call__(self, event: Event) -> None:
            self.names.append(event.name)

    quiet, positions = Quiet(), list[TraceEvent]()

    async def live() -> None:
        clock = VirtualClock(NOON - MINUTE)
        recorder = TraceRecorder(clock.now, positions.append)
        scheduler = Scheduler(clock=clock, timezone="UTC", sink=quiet)
        observe(scheduler, recorder)
        await scheduler.initialize([task(callback=fail, delay=HOUR)])
        await clock.advance(MINUTE)
        await scheduler.stop()

    asyncio.run(live())

    assert quiet.names == ["TaskRunFailed"]
    assert len(positions) == 6


def test_a_trace_that_begins_in_the_middle_of_a_ledgers_life_is_sound() -> None:
    ledger = MemoryTaskLedger()

    async def first(recorded: RecordedScheduler) -> None:
        await recorded.scheduler.initialize([task(), task("failing", callback=fail, delay=3 * HOUR)])
        await recorded.clock.advance(HOUR)
        await crash(recorded.scheduler)

    async def second(recorded: RecordedScheduler) -> None:
        await recorded.clock.advance(5 * HOUR)
        await recorded.scheduler.initialize([task(), task("failing", delay=3 * HOUR)])
        await recorded.clock.advance(2 * HOUR)
        await recorded.scheduler.stop()

    lived(first, ledger=ledger)
    recorded = lived(second, ledger=ledger)

    assert recorded.events[2:4] == ["RunStart", "RunStart"]
    assert recorded.monitor.report().verdict is TruthValue.HOLDS


def test_a_call_that_follows_a_list_given_up_goes_on_when_ends_of_that_list_are_lost() -> None:
    positions: list[TraceEvent] = []
    recorder = TraceRecorder(lambda: NOON, positions.append)

    recorder.on_initialize([task()])
    recorder.on_lost([])
    recorder.on_initialized(NOON, {})
    recorder.on_lost([])

    events = ["InitStart", "UnexpectedShutdown", "InitStart", "InitSuccess", "UnexpectedShutdown"]
    assert [position.kind for position in positions] == events
