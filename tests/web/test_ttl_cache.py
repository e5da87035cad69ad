"""Tests of the TTL cache: one answer for all requests within a moment."""

import asyncio

import pytest

from kron.web.app import TtlCache


class NumberedResponses:
    """Makes numbered responses, and fails while `fails` is set."""

    def __init__(self) -> None:
        self.made = 0
        self.fails = False

    async def __call__(self) -> bytes:
        self.made += 1
        if self.fails:
            raise ValueError("no")
        return b"%d" % self.made


async def test_all_who_ask_at_once_get_one_answer() -> None:
    kept, make = TtlCache(60), NumberedResponses()

    assert set(await asyncio.gather(*(kept.get("key", make) for _ in range(50)))) == {b"1"}


async def test_a_stale_answer_is_computed_again() -> None:
    kept, make = TtlCache(0), NumberedResponses()

    assert [await kept.get("key", make) for _ in range(2)] == [b"1", b"2"]


async def test_each_key_has_its_own_answer() -> None:
    kept, make = TtlCache(60), NumberedResponses()

    assert [await kept.get(key, make) for key in ("a", "b", "a")] == [b"1", b"2", b"1"]


async def test_a_failure_is_cached_for_a_while_if_wanted() -> None:
    kept, make = TtlCache(60, failures=60), NumberedResponses()
    make.fails = True

    for _ in range(3):
        with pytest.raises(ValueError):
            await kept.get("key", make)
    assert make.made == 1


async def test_a_failed_computation_is_tried_again_by_the_next_request() -> None:
    kept, make = TtlCache(60), NumberedResponses()

    make.fails = True
    with pytest.raises(ValueError):
        await kept.get("key", make)
    make.fails = False

    assert (await kept.get("key", make)) == b"2"
