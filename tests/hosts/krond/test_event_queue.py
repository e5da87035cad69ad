"""Tests of EventQueue: events are handed over in order, with their own time, and after pending starts."""

import asyncio
from datetime import UTC, datetime, timedelta

from kron.adapters.virtual_clock import VirtualClock
from kron.hosts.krond.events import EventQueue
from kron.instant import Instant
from kron.rules.events import Event, make_event

NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)


async def turns(number: int = 3) -> None:
    for _ in range(number):
        await asyncio.sleep(0)  # noqa: TID251  # a turn, no time


def test_calls_are_made_in_their_order_once_the_loop_has_a_turn() -> None:
    async def live() -> tuple[list[int], list[int]]:
        made: list[int] = []
        notify = EventQueue(lambda: NOON)
        for number in range(5):
            notify(made.append, number)
        at_once = [*made]
        await turns()
        return at_once, made

    assert asyncio.run(live()) == ([], [0, 1, 2, 3, 4])


def test_a_call_that_fails_does_not_silence_the_others() -> None:
    async def live() -> tuple[list[int], list[str]]:
        made: list[int] = []
        failed: list[str] = []
        asyncio.get_running_loop().set_exception_handler(lambda _, said: failed.append(str(said["exception"])))
        notify = EventQueue(lambda: NOON)
        notify(int, "no number")
        notify(made.append, 1)
        await turns()
        notify(made.append, 2)
        await turns()
        return made, failed

    made, failed = asyncio.run(live())

    assert made == [1, 2]
    assert len(failed) == 1


def test_no_event_is_handed_over_while_a_start_is_pending() -> None:
    async def live() -> list[int]:
        made: list[int] = []
        notify = EventQueue(lambda: NOON)
        notify.hold_while(lambda: True)
        notify(made.append, 1)
        await turns()
        return made

    assert asyncio.run(live()) == []


def test_a_burst_that_does_not_end_holds_it_up_for_a_second_only() -> None:
    async def live() -> bool:
        is_called = asyncio.Event()
        clock = VirtualClock(NOON)
        notify = EventQueue(clock.now)
        notify.hold_while(lambda: True)
        notify(is_called.set)
        await clock.advance(timedelta(seconds=1))
        async with asyncio.timeout(60):
            return await is_called.wait()

    assert asyncio.run(live())


def test_an_event_handed_over_late_has_the_time_at_which_it_happened() -> None:
    async def live() -> list[Instant]:
        times: list[Instant] = []
        clock = VirtualClock(NOON)
        notify = EventQueue(clock.now)
        notify(lambda: times.append(notify.now()))
        await clock.advance(timedelta(minutes=1))
        notify.flush()
        times.append(notify.now())
        return times

    assert asyncio.run(live()) == [NOON, NOON + timedelta(minutes=1)]


def test_a_failing_sink_gets_the_next_events() -> None:
    names: list[str] = []

    def sink(each: Event) -> None:
        names.append(each.name)
        raise ValueError(each.name)

    notify = EventQueue(lambda: NOON)
    for name in ("KrondReady", "KrondDraining"):
        fields: dict[str, object] = {"pid": 1, "jobs": 1, "state": ""} if name == "KrondReady" else {"active": 0}
        notify.sink(sink)(make_event(name, **fields))
    notify.flush()

    assert names == ["KrondReady", "KrondDraining"]


def test_no_more_than_a_bounded_number_ever_waits() -> None:
    made: list[int] = []
    notify = EventQueue(lambda: NOON)
    notify.hold_while(lambda: True)

    for number in range(20_001):
        notify(made.append, number)

    assert made == [*range(20_001)]
