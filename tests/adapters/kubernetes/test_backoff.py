"""Tests of Backoff: the delays and their reset."""

import asyncio

import pytest

from kron.adapters.kubernetes.responses import Backoff


@pytest.mark.parametrize(("chance", "seconds"), [(0.0, 1.0), (0.5, 1.5), (1.0, 2.0)])
def test_a_wait_is_drawn_between_half_of_it_and_all(chance: float, seconds: float) -> None:
    waits: list[float] = []

    async def pause(seconds: float) -> None:
        waits.append(seconds)

    asyncio.run(Backoff(first=2, chance=lambda: chance, pause=pause).wait())

    assert waits == [seconds]
