"""Monitor: what is judged while it happens is what happened."""

import asyncio
from collections.abc import Sequence

from kron import Scheduler
from kron.adapters.virtual_clock import VirtualClock
from kron.hosts.monitor import Monitor
from kron.hosts.recorder import Recorder, Tap
from kron.rules.event import Event
from kron.theory.trace import Header, Position
from tests.hosts.test_recorder import HOUR, MINUTE, NOON, fail, task


def test_runs_of_a_step_can_be_taken_together_and_failures_come_between_them_in_their_order() -> None:
    tasks = [
        task("a"), task("b"), task("c", callback=fail, delay=HOUR), task("d"), task("e", callback=fail, delay=HOUR)
    ]  # fmt: skip

    def record(*, together: bool) -> list[Position]:
        positions: list[Position] = []

        def take_runs(t: int, event: str, names: Sequence[str]) -> None:
            positions.extend(Position(t, event, {"task": name}) for name in names)

        async def live() -> None:
            clock = VirtualClock(NOON - MINUTE)
            recorder = Recorder(clock.now, positions.append, take_runs if together else None)
            scheduler = Scheduler(clock=clock, timezone="UTC", sink=Tap(lambda _: None, recorder))
            await scheduler.initialize(tasks)
            await clock.advance(3 * HOUR)
            await scheduler.stop()

        asyncio.run(live())
        return positions

    found = record(together=True)

    assert found == record(together=False)
    assert len(found) == 2 + 3 * 2 * len(tasks) + 2


def test_a_violation_is_told_as_an_event_with_its_blame() -> None:
    told: list[Event] = []
    monitor = Monitor(Header("declarative"), told.append)

    monitor.take(Position(0, "RunStart", {"task": "report"}))
    monitor.take(Position(1, "RunStart", {"task": "report"}))
    monitor.flush()

    assert [event.fields["property"] for event in told] == ["S1", "T2"]
    assert {event.fields["blame"] for event in told} == {"scheduler"}
    assert monitor.violations == 2
