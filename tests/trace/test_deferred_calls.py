"""Tests of DeferredCalls: each call is made, in order, and callers do not wait."""

import asyncio

import pytest

from kron.trace.monitor import DeferredCalls


def test_items_come_in_their_order_when_the_loop_has_a_turn() -> None:
    async def live() -> tuple[list[int], list[int]]:
        taken: list[int] = []
        deferred = DeferredCalls()
        for item in range(5):
            deferred(1, taken.append, item)
        at_once = [*taken]
        await asyncio.sleep(0)  # noqa: TID251  # a turn, no time
        return at_once, taken

    assert asyncio.run(live()) == ([], [0, 1, 2, 3, 4])


def test_one_turn_hands_on_only_so_many() -> None:
    async def live() -> list[int]:
        taken: list[int] = []
        deferred = DeferredCalls()
        for item in range(1_000):
            deferred(1, taken.append, item)
        counts = []
        for _ in range(5):
            await asyncio.sleep(0)  # noqa: TID251  # a turn, no time
            counts.append(len(taken))
        return counts

    assert asyncio.run(live()) == [250, 500, 750, 1_000, 1_000]


def test_a_heavy_call_takes_the_place_of_as_many_light_ones() -> None:
    async def live() -> list[int]:
        taken: list[int] = []
        deferred = DeferredCalls()
        for item in range(4):
            deferred(200, taken.append, item)
        counts = []
        for _ in range(3):
            await asyncio.sleep(0)  # noqa: TID251  # a turn, no time
            counts.append(len(taken))
        return counts

    assert asyncio.run(live()) == [2, 4, 4]


def test_flush_hands_on_all_that_wait_also_without_a_loop() -> None:
    taken: list[int] = []
    deferred = DeferredCalls()

    deferred(1, taken.append, 1)
    deferred(1, taken.append, 2)
    deferred.flush()

    assert taken == [1, 2]


@pytest.mark.parametrize("items", [20_001, 50_000])
def test_no_more_than_a_bounded_number_ever_waits(items: int) -> None:
    async def live() -> int:
        taken: list[int] = []
        deferred = DeferredCalls()
        for item in range(items):
            deferred(1, taken.append, item)
        return items - len(taken)

    assert asyncio.run(live()) <= 20_000
