"""Tests of LoopShare: long calculations take turns, and the loop is free for as long as each part took."""

import asyncio

from kron.adapters.kubernetes.responses import LoopShare


async def test_after_each_part_the_loop_is_free_for_as_long_as_it_took() -> None:
    seconds, paused = iter([1.0, 1.25, 10.0, 10.5]), list[float]()

    async def pause(time: float) -> None:
        paused.append(time)

    share = LoopShare(lambda: next(seconds), pause)
    for _ in range(2):
        async with share.part():
            """What takes long."""

    assert paused == [0.25, 0.5]


async def test_a_part_that_was_frozen_is_followed_by_a_short_pause() -> None:
    seconds, paused = iter([0.0, 60.0]), list[float]()

    async def pause(time: float) -> None:
        paused.append(time)

    async with LoopShare(lambda: next(seconds), pause).part():
        """What takes long."""

    assert paused == [1.0]


async def test_parts_of_different_calculations_take_turns() -> None:
    parts = list[str]()

    async def calculate(share: LoopShare, name: str) -> None:
        for _ in range(3):
            async with share.part():
                parts.append(name)

    share = LoopShare(lambda: 0.0)
    await asyncio.gather(calculate(share, "a"), calculate(share, "b"))

    assert "".join(parts) == "ababab"


async def test_after_a_part_that_fails_another_one_has_its_turn() -> None:
    async def fail(share: LoopShare) -> None:
        async with share.part():
            raise ValueError("a bug")

    share = LoopShare(lambda: 0.0)
    failed = await asyncio.gather(fail(share), return_exceptions=True)
    async with asyncio.timeout(5), share.part():
        found = isinstance(failed[0], ValueError)

    assert found
