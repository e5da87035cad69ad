"""Tests of watch: each line is an event, and each way a stream can end is distinguished."""

import asyncio
from contextlib import aclosing
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from kron.adapters.kubernetes.client import JOBS
from kron.adapters.kubernetes.responses import iter_lines
from kron.errors import ApiError, ApiRefusedError, ApiUnreachableError
from tests.adapters.kubernetes.scripted_server import Step, asking, event, live, refuse, serving, status, stream, thing

Seen = tuple[list[tuple[str, dict[str, Any]]], ApiError | None]


def watched(step: Step, **options: Any) -> Seen:
    """Return what a watch yields, and what ends it."""

    async def play() -> Seen:
        found: list[tuple[str, dict[str, Any]]] = []
        async with serving(step) as server, asking(server, **options) as api:
            try:
                async with aclosing(api.watch(JOBS, "ns", "7")) as events:
                    async for kind, document in events:
                        found.append((kind, document))
            except ApiError as error:
                return found, error
        return found, None

    return live(play())


async def test_a_watch_asks_for_bookmarks_from_a_version_on_and_for_a_time() -> None:
    async with serving(stream()) as server, asking(server) as api:
        async with aclosing(api.watch(JOBS, "ns", "7", selector="a=b", seconds=301.7)) as events:
            assert [found async for found in events] == []
        result = server.asked[0].query

    assert result == {
        "watch": "1", "allowWatchBookmarks": "true", "resourceVersion": "7", "timeoutSeconds": "301",
        "labelSelector": "a=b",
    }  # fmt: skip


def test_each_line_is_an_event_until_the_server_ends_it() -> None:
    lines = [("ADDED", thing("a", "8")), ("BOOKMARK", thing("", "9"))]

    assert watched(stream(*lines)) == (lines, None)


def test_a_line_may_be_longer_than_any_buffer() -> None:
    lines = [("ADDED", thing("a", "8", status={"long": "x" * 1_000_000})), ("DELETED", thing("a", "9"))]

    assert watched(stream(*lines)) == (lines, None)


def test_a_line_may_come_in_pieces_and_two_at_once() -> None:
    text = event("ADDED", thing("a", "8")) + event("ADDED", thing("b", "9"))

    found, error = watched(stream(text[:10], text[10:30], text[30:]))

    assert ([document["metadata"]["name"] for _, document in found], error) == (["a", "b"], None)


def test_an_error_among_the_lines_is_a_refusal() -> None:
    found, error = watched(stream(("ADDED", thing("a")), ("ERROR", status(410, "Expired", "too old"))))

    assert len(found) == 1
    assert isinstance(error, ApiRefusedError)
    assert (error.code, error.reason, error.message) == (410, "Expired", "too old")


def test_a_watch_may_be_refused() -> None:
    _, error = watched(refuse(403, "Forbidden", "no rights"))

    assert isinstance(error, ApiRefusedError)
    assert (error.code, error.message) == (403, "no rights")


NO_EVENTS = {"text": b"hello\n", "JSON": b'"x"\n', "half": b'{"type":"ADDED"}\n', "cut": b'{"type":"ADDED","object":{'}


@pytest.mark.parametrize("rest", NO_EVENTS.values(), ids=NO_EVENTS.keys())
def test_an_invalid_event_is_a_broken_connection(rest: bytes) -> None:
    found, error = watched(stream(("ADDED", thing("a")), rest, end="cut"))

    assert len(found) == 1
    assert isinstance(error, ApiUnreachableError)


def test_a_broken_connection_is_reported() -> None:
    found, error = watched(stream(("ADDED", thing("a")), end="cut"))

    assert len(found) == 1
    assert isinstance(error, ApiUnreachableError)


def test_a_connection_that_falls_silent_ends_the_watch() -> None:
    found, error = watched(stream(("ADDED", thing("a")), end="silent"), silence=1.0)

    assert (len(found), error) == (1, None)


async def test_a_server_that_does_not_even_agree_to_be_watched_is_given_up() -> None:
    async with serving() as server, asking(server, timeout=0.05) as api:
        with pytest.raises(ApiUnreachableError):
            await anext(api.watch(JOBS, "ns", "7"))


async def test_a_watch_outlasts_what_a_request_may_take() -> None:
    async with serving(stream(end="silent")) as server, asking(server, timeout=1.0, silence=1.5) as api:
        result = [found async for found in api.watch(JOBS, "ns", "7")]

    assert result == []


async def test_a_closed_watch_leaves_no_connection() -> None:
    async with serving(stream(("ADDED", thing("a")), end="silent")) as server, asking(server) as api:
        async with aclosing(api.watch(JOBS, "ns", "7")) as events:
            await anext(events)
        await server.left.wait()


async def test_a_cancelled_watch_leaves_no_connection() -> None:
    opened = asyncio.Event()

    async def listen() -> None:
        async with aclosing(api.watch(JOBS, "ns", "7", on_open=opened.set)) as events:
            await anext(events)

    async with serving(stream(end="silent")) as server, asking(server) as api:
        task = asyncio.create_task(listen())
        await opened.wait()
        task.cancel()
        await server.left.wait()
        await asyncio.gather(task, return_exceptions=True)


@settings(max_examples=30)
@given(st.lists(st.binary().filter(lambda part: b"\n" not in part)), st.data())
def test_lines_are_the_same_however_they_are_cut(parts: list[bytes], data: st.DataObject) -> None:
    text = b"".join(part + b"\n" for part in parts)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)))))
    pieces = [text[start:end] for start, end in zip([0, *cuts], [*cuts, len(text)], strict=True)]

    async def play() -> list[bytes]:
        async def chunks() -> Any:
            for piece in pieces:
                yield piece

        return [line async for line in iter_lines(chunks())]

    assert asyncio.run(play()) == [part for part in parts if part]
