"""Uncaught errors of the loop are reported as events, at most once a second."""

import asyncio

from kron.engine.emitter import Emitter
from kron.hosts.krond.events import LoopErrors
from kron.rules.events import Event


def test_uncaught_errors_are_reported_together() -> None:
    events: list[Event] = []

    async def live() -> None:
        loop, enough = asyncio.get_running_loop(), asyncio.Event()

        def record(event: Event) -> None:
            events.append(event)
            if len(events) == 2:
                enough.set()

        loop.set_exception_handler(LoopErrors(Emitter(record)))
        for number in range(30):
            loop.call_soon(int, f"x{number}")
        async with asyncio.timeout(60):
            await enough.wait()

    asyncio.run(live())

    assert [each.fields["times"] for each in events] == [1, 29]
    assert "invalid literal for int() with base 10: 'x29'" in str(events[1].fields["error"])
    assert str(events[0].fields["trace"]).startswith("Traceback")


def test_an_error_without_an_exception_is_reported_as_well() -> None:
    events: list[Event] = []

    async def live() -> None:
        loop = asyncio.get_running_loop()
        LoopErrors(Emitter(events.append))(loop, {"message": "a task was destroyed"})

    asyncio.run(live())

    assert [each.fields["error"] for each in events] == ["a task was destroyed"]
