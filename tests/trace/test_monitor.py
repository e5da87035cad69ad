"""Tests of OnlineMonitor: it judges during the run as the checker does afterwards."""

import asyncio
from collections.abc import Sequence

from kron import Scheduler
from kron.adapters.virtual_clock import VirtualClock
from kron.hosts.library.scheduler import observe
from kron.rules.events import Event
from kron.theory.trace_format import TraceEvent, TraceHeader
from kron.trace.monitor import OnlineMonitor
from kron.trace.recorder import TraceRecorder
from tests.trace.test_recorder import HOUR, MINUTE, NOON, fail, task


def test_runs_of_a_step_can_be_taken_together_and_failures_come_between_them_in_their_order() -> None:
    tasks = [
        task("a"), task("b"), task("c", callback=fail, delay=HOUR), task("d"), task("e", callback=fail, delay=HOUR)
    ]  # fmt: skip

    def record(*, together: bool) -> list[TraceEvent]:
        positions: list[TraceEvent] = []

        def take_runs(t: int, event: str, names: Sequence[str]) -> None:
            positions.extend(TraceEvent(t, event, {"task": name}) for name in names)

        async def live() -> None:
            clock = VirtualClock(NOON - MINUTE)
            recorder = TraceRecorder(clock.now, positions.append, take_runs if together else None)
            scheduler = Scheduler(clock=clock, timezone="UTC", sink=lambda _: None)
            observe(scheduler, recorder)
            await scheduler.initialize(tasks)
            await clock.advance(3 * HOUR)
            await scheduler.stop()

        asyncio.run(live())
        return positions

    found = record(together=True)

    assert found == record(together=False)
    assert len(found) == 2 + 3 * 2 * len(tasks) + 2


def test_a_violation_is_an_event_with_its_blame() -> None:
    violations: list[Event] = []
    monitor = OnlineMonitor(TraceHeader("declarative"), violations.append)

    monitor.emit(TraceEvent(0, "RunStart", {"task": "report"}))
    monitor.emit(TraceEvent(1, "RunStart", {"task": "report"}))
    monitor.flush()

    assert [event.fields["property"] for event in violations] == ["S1", "T2"]
    assert {event.fields["blame"] for event in violations} == {"scheduler"}
    assert monitor.violations == 2
