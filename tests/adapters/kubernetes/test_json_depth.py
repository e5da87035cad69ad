"""Tests of the JSON depth limit: values nested too deeply are dropped, and the rest is kept."""

import asyncio
import json
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from kron.adapters.kubernetes.responses import MAX_JSON_DEPTH, JsonReader, decode_json, read_in_parts
from kron.kronjob.spec_fields import MAX_SPEC_BYTES, exceeds_max_depth
from tests.adapters.kubernetes.scripted_server import live

VALUES = st.recursive(
    st.none() | st.booleans() | st.text(), lambda deeper: st.lists(deeper) | st.dictionaries(st.text(), deeper)
)


def buried(levels: int, **beside: Any) -> bytes:
    """Return a text with an object that has so many levels, and with others beside it."""
    deep = '{"a":[' * (levels // 2) + '"}]\\\\"' + "]}" * (levels // 2)
    return f'{{"before": {json.dumps(beside)}, "deep": {deep}, "after": {json.dumps(beside)}}}'.encode()


@pytest.mark.parametrize("levels", [2_000, 9_998])
def test_json_deeper_than_the_library_reads_is_cut_and_still_too_deep(levels: int) -> None:
    found = decode_json(buried(levels))

    assert exceeds_max_depth(found["deep"])


@pytest.mark.slow
@settings(max_examples=15)
@given(VALUES)
def test_siblings_of_a_dropped_value_are_untouched(value: Any) -> None:
    found = decode_json(buried(2 * MAX_JSON_DEPTH + 10_000, value=value))

    assert found["before"] == found["after"] == {"value": value}


def test_invalid_json_is_reported_however_deep_it_is() -> None:
    with pytest.raises(ValueError, match="Expecting"):
        decode_json(b"[" * 100_000)


def wide(length: int) -> bytes:
    """Return the line of a watch about a KronJob whose template is a list of so many lists."""
    about = {"name": "a", "namespace": "ns", "uid": "u", "resourceVersion": "7"}
    line = {"type": "ADDED", "object": {"metadata": about, "spec": {"schedule": "* * * * *", "jobTemplate": "HOLE"}}}
    return json.dumps(line).encode().replace(b'"HOLE"', b'{"spec": [' + b",".join([b"[]"] * length) + b"]}")


def test_a_field_of_very_many_lists_is_read_as_a_text_of_its_length_and_the_others_are_read() -> None:
    found = decode_json(wide(400_000), level=4)["object"]

    assert found["metadata"]["name"] == "a"
    assert found["spec"] == {"schedule": "* * * * *", "jobTemplate": " " * (3 * 400_000 + 11)}


def test_a_spec_of_the_largest_size_is_read_as_it_is() -> None:
    text = wide(MAX_SPEC_BYTES // 3 - 100)

    assert decode_json(text, level=4) == json.loads(text)


def test_lists_and_levels_without_an_end_are_looked_at_in_parts_of_few_tokens() -> None:
    for text in (wide(400_000), b"[" * 650_000 + b"]" * 650_000):
        parts = sum(1 for _ in read_in_parts(text, 4))

        assert parts >= 2 * 400_000 // 20_000


class CountingClock:
    """A clock on which everything takes a second, and what is done in which order."""

    def __init__(self) -> None:
        self.now = 0.0
        self.done: list[str] = []

    def monotonic(self) -> float:
        self.now += 1.0
        return self.now

    async def pause(self, seconds: float) -> None:
        self.done.append(f"free for {seconds:g} s")
        await asyncio.sleep(0)  # noqa: TID251  # a turn, no time


def test_after_each_part_of_a_long_text_the_loop_is_free_for_as_long_as_the_part_took() -> None:
    turns = CountingClock()
    text = b"[" * 30_000 + b"]" * 30_000 + b" " * 100_000

    live(JsonReader(monotonic=turns.monotonic, pause=turns.pause).read(text, 4))

    assert turns.done == ["free for 1 s"] * (1 + 60_000 // 20_000 + 1 + 1)


async def test_long_texts_are_read_one_at_a_time_and_short_ones_at_once() -> None:
    turns = CountingClock()
    reader = JsonReader(monotonic=turns.monotonic, pause=turns.pause)

    async def read(name: str, length: int) -> None:
        await reader.read(b"[" * 1_500 + b" " * length + b"]" * 1_500, 4)
        turns.done.append(name)

    await asyncio.gather(read("first", 100_000), read("second", 100_000), read("short", 0))

    free = ["free for 1 s"] * 3
    assert turns.done == [free[0], "short", *free[1:], "first", *free, "second"]


async def test_invalid_json_frees_the_turn_of_the_next() -> None:
    reader = JsonReader(pause=CountingClock().pause)
    with pytest.raises(ValueError, match="Expecting"):
        await reader.read(b" " * 100_000, 4)
    found: int = await reader.read(b" " * 100_000 + b"3", 4)

    assert found == 3
