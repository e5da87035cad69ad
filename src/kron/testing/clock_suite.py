"""CLOCK_SUITE: what every clock must do, as functions that take a clock and a way to let time pass by it.

    @pytest.mark.parametrize("check", CLOCK_SUITE, ids=lambda check: check.__name__)
    def test_my_clock(check):
        clock = MyClock()
        asyncio.run(check(clock, clock.advance))

The second argument is a coroutine function that takes a `timedelta`. When it returns, at least so much time has passed.
For a real clock, pass a function that sleeps. No check fails because a busy machine is late.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from datetime import UTC, timedelta
from typing import Any

from kron.engine.clock_watch import WakeUp
from kron.engine.ports import Clock
from kron.instant import ZERO, Instant

LetPass = Callable[[timedelta], Coroutine[Any, Any, object]]
ClockCheck = Callable[[Clock, LetPass], Coroutine[Any, Any, None]]

_WHILE = timedelta(milliseconds=20)
_LITTLE = timedelta(milliseconds=5)  # a wait may end so much early, and the two times may differ by it
_DAY = timedelta(days=1)  # longer than any check lasts
_TURNS = 50
_WORK = 0.01  # seconds that a thread takes for something
_PATIENCE = 60.0  # seconds until a wait that does not end is an error


@asynccontextmanager
async def _waiting(clock: Clock, deadline: Instant | None, wake: WakeUp) -> AsyncIterator["asyncio.Task[None]"]:
    """Wait beside the check, until it ends at the latest."""
    task = asyncio.create_task(clock.wait_until(deadline, wake))
    await _give_turns()
    try:
        yield task
    finally:
        task.cancel()
        await asyncio.wait([task])


async def _give_turns() -> None:
    for _ in range(_TURNS):
        await asyncio.sleep(0)  # noqa: TID251  # a turn, no time


async def the_present_is_an_instant(clock: Clock, _: LetPass) -> None:
    """It is in UTC."""
    assert clock.now().tzinfo is UTC


async def the_longest_sleep_is_a_span_or_there_is_none(clock: Clock, _: LetPass) -> None:
    """A span of zero would be no sleep at all."""
    assert clock.max_sleep is None or clock.max_sleep > ZERO


async def monotonic_time_does_not_go_back(clock: Clock, let_pass: LetPass) -> None:
    """Neither between two readings nor while time passes."""
    readings = [clock.monotonic() for _ in range(100)]
    await let_pass(_WHILE)
    readings += [clock.monotonic() for _ in range(100)]

    assert readings == sorted(readings)


async def wall_and_monotonic_time_count_what_passes(clock: Clock, let_pass: LetPass) -> None:
    """Both count at least what has passed."""
    wall, monotonic = clock.now(), clock.monotonic()

    await let_pass(_WHILE)

    assert clock.now() - wall >= _WHILE - _LITTLE
    assert clock.monotonic() - monotonic >= (_WHILE - _LITTLE).total_seconds()


async def a_wait_ends_at_its_deadline_and_not_before(clock: Clock, let_pass: LetPass) -> None:
    """It may end a little early, and late."""
    deadline, ended = clock.now() + _WHILE, list[Instant]()

    async def wait() -> None:
        await clock.wait_until(deadline, WakeUp())
        ended.append(clock.now())

    waiting = asyncio.create_task(wait())
    await _give_turns()
    await let_pass(_WHILE)
    await asyncio.wait_for(waiting, _PATIENCE)

    assert ended[0] >= deadline - _LITTLE


async def a_deadline_that_has_passed_ends_a_wait_at_once(clock: Clock, _: LetPass) -> None:
    """The present is such a deadline, too."""
    for deadline in (clock.now() - _DAY, clock.now()):
        async with asyncio.timeout(_PATIENCE):
            await clock.wait_until(deadline, WakeUp())


async def a_wake_up_ends_a_wait_long_before_its_deadline(clock: Clock, _: LetPass) -> None:
    """No time has to pass for it."""
    wake, deadline = WakeUp(), clock.now() + _DAY
    async with _waiting(clock, deadline, wake) as waiting:
        assert not waiting.done()
        wake.set()
        await asyncio.wait_for(waiting, _PATIENCE)

    assert clock.now() < deadline


async def a_wait_without_a_deadline_ends_with_a_wake_up_alone(clock: Clock, let_pass: LetPass) -> None:
    """However much time passes."""
    wake = WakeUp()
    async with _waiting(clock, None, wake) as waiting:
        await let_pass(_WHILE)
        assert not waiting.done()
        wake.set()
        await asyncio.wait_for(waiting, _PATIENCE)


async def a_wake_up_that_is_set_already_ends_a_wait_at_once(clock: Clock, _: LetPass) -> None:
    """With a deadline and without one; once it is cleared, it ends none."""
    wake = WakeUp()
    wake.set()
    for deadline in (None, clock.now() + _DAY):
        async with asyncio.timeout(_PATIENCE):
            await clock.wait_until(deadline, wake)
    wake.clear()

    async with _waiting(clock, None, wake) as waiting:
        assert not waiting.done()


async def others_get_a_turn_in_a_wait_that_ends_at_once(clock: Clock, _: LetPass) -> None:
    """Else a loop that has something to do each time would hold them up."""
    wake = WakeUp()
    wake.set()
    for deadline, each in ((clock.now() - _DAY, WakeUp()), (None, wake), (clock.now() + _DAY, wake)):
        turns: list[str] = []
        asyncio.get_running_loop().call_soon(turns.append, "other")

        async with asyncio.timeout(_PATIENCE):
            await clock.wait_until(deadline, each)

        assert turns == ["other"]


async def a_virtual_clock_stands_still_while_something_else_is_waited_for(clock: Clock, let_pass: LetPass) -> None:
    """Until the last of several waits is over; by a real clock, no day passes meanwhile."""
    before = clock.now()
    with clock.busy():
        with clock.busy():
            passing = asyncio.create_task(let_pass(_DAY))
            await asyncio.to_thread(time.sleep, _WORK)
        await asyncio.to_thread(time.sleep, _WORK)

        assert clock.now() - before < _DAY
    passing.cancel()
    await asyncio.wait([passing])


async def a_watched_wait_counts_no_more_than_it_took(clock: Clock, let_pass: LetPass) -> None:
    """And what is counted stays counted."""
    begun, counted = clock.monotonic(), [clock.stood_still()]
    for watched in (True, False, True):
        with clock.busy(watched=watched):
            await _give_turns()
        await let_pass(_WHILE)
        counted.append(clock.stood_still())

    assert counted == sorted(counted)
    assert ZERO <= counted[-1] - counted[0] <= timedelta(seconds=clock.monotonic() - begun)


CLOCK_SUITE: tuple[ClockCheck, ...] = (
    the_present_is_an_instant,
    the_longest_sleep_is_a_span_or_there_is_none,
    monotonic_time_does_not_go_back,
    wall_and_monotonic_time_count_what_passes,
    a_wait_ends_at_its_deadline_and_not_before,
    a_deadline_that_has_passed_ends_a_wait_at_once,
    a_wake_up_ends_a_wait_long_before_its_deadline,
    a_wait_without_a_deadline_ends_with_a_wake_up_alone,
    a_wake_up_that_is_set_already_ends_a_wait_at_once,
    others_get_a_turn_in_a_wait_that_ends_at_once,
    a_virtual_clock_stands_still_while_something_else_is_waited_for,
    a_watched_wait_counts_no_more_than_it_took,
)
