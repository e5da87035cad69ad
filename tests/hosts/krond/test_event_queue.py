"""Telling: in order, with the time of what happened, and after what waits to be started."""

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
        telling = EventQueue(lambda: NOON)
        for number in range(5):
            telling(made.append, number)
        at_once = [*made]
        await turns()
        return at_once, made

    assert asyncio.run(live()) == ([], [0, 1, 2, 3, 4])


def test_a_call_that_fails_does_not_silence_the_others() -> None:
    async def live() -> tuple[list[int], list[str]]:
        made: list[int] = []
        failed: list[str] = []
        asyncio.get_running_loop().set_exception_handler(lambda _, said: failed.append(str(said["exception"])))
        telling = EventQueue(lambda: NOON)
        telling(int, "no number")
        telling(made.append, 1)
        await turns()
        telling(made.append, 2)
        await turns()
        return made, failed

    made, failed = asyncio.run(live())

    assert made == [1, 2]
    assert len(failed) == 1


def test_nothing_is_told_while_something_waits_to_be_started() -> None:
    async def live() -> list[int]:
        made: list[int] = []
        telling = EventQueue(lambda: NOON)
        telling.hold_while(lambda: True)
        telling(made.append, 1)
        await turns()
        return made

    assert asyncio.run(live()) == []


def test_a_burst_that_does_not_end_holds_it_up_for_a_second_only() -> None:
    async def live() -> bool:
        told = asyncio.Event()
        clock = VirtualClock(NOON)
        telling = EventQueue(clock.now)
        telling.hold_while(lambda: True)
        telling(told.set)
        await clock.advance(timedelta(seconds=1))
        async with asyncio.timeout(60):
            return await told.wait()

    assert asyncio.run(live())


def test_what_is_told_late_has_the_time_at_which_it_happened() -> None:
    async def live() -> list[Instant]:
        times: list[Instant] = []
        clock = VirtualClock(NOON)
        telling = EventQueue(clock.now)
        telling(lambda: times.append(telling.now()))
        await clock.advance(timedelta(minutes=1))
        telling.flush()
        times.append(telling.now())
        return times

    assert asyncio.run(live()) == [NOON, NOON + timedelta(minutes=1)]


def test_a_sink_that_fails_keeps_nobody_from_being_told() -> None:
    told: list[str] = []

    def sink(each: Event) -> None:
        told.append(each.name)
        raise ValueError(each.name)

    telling = EventQueue(lambda: NOON)
    for name in ("KrondReady", "KrondDraining"):
        fields: dict[str, object] = {"pid": 1, "jobs": 1, "state": ""} if name == "KrondReady" else {"active": 0}
        telling.sink(sink)(make_event(name, **fields))
    telling.flush()

    assert told == ["KrondReady", "KrondDraining"]


def test_no_more_than_a_bounded_number_ever_waits() -> None:
    made: list[int] = []
    telling = EventQueue(lambda: NOON)
    telling.hold_while(lambda: True)

    for number in range(20_001):
        telling(made.append, number)

    assert made == [*range(20_001)]
