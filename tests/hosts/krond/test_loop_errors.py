"""What nobody catches is told as an event, and not more than once a second."""

import asyncio

from kron.engine.emitter import Emitter
from kron.hosts.krond.events import LoopErrors
from kron.rules.events import Event


def test_errors_that_nobody_catches_are_told_together() -> None:
    told: list[Event] = []

    async def live() -> None:
        loop, enough = asyncio.get_running_loop(), asyncio.Event()

        def tell(event: Event) -> None:
            told.append(event)
            if len(told) == 2:
                enough.set()

        loop.set_exception_handler(LoopErrors(Emitter(tell)))
        for number in range(30):
            loop.call_soon(int, f"x{number}")
        async with asyncio.timeout(60):
            await enough.wait()

    asyncio.run(live())

    assert [each.fields["times"] for each in told] == [1, 29]
    assert "invalid literal for int() with base 10: 'x29'" in str(told[1].fields["error"])
    assert str(told[0].fields["trace"]).startswith("Traceback")


def test_an_error_without_an_exception_is_told_as_well() -> None:
    told: list[Event] = []

    async def live() -> None:
        loop = asyncio.get_running_loop()
        LoopErrors(Emitter(told.append))(loop, {"message": "a task was destroyed"})

    asyncio.run(live())

    assert [each.fields["error"] for each in told] == ["a task was destroyed"]
