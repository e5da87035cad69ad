"""Tests of Reflector: the store converges to the server's objects, and every restart is reported."""

import asyncio
from typing import Any, cast

import pytest

from kron.adapters.kubernetes.client import JOBS, ApiClient
from kron.adapters.kubernetes.reflector import LONGEST_PAGE, Reflector
from kron.errors import ApiMalformedError
from tests.adapters.kubernetes.scripted_reflector import Versions, after, reflecting
from tests.adapters.kubernetes.scripted_server import Step, cut, live, page, refuse, say, status, stream, thing

GONE = ("ERROR", status(410, "Expired"))


def test_a_list_comes_in_pages_and_is_handed_over_once() -> None:
    scripted = after(
        page(thing("a", "1"), thing("b", "2"), more="x"), page(thing("c", "3"), more="y"), page(thing("d", "4"))
    )

    assert scripted.store.calls == ["replace"]
    assert scripted.store.known == {"a": "1", "b": "2", "c": "3", "d": "4"}
    assert scripted.queries("limit", "continue", "labelSelector")[:3] == [
        ("500", None, "a=b"), ("500", "x", "a=b"), ("500", "y", "a=b"),
    ]  # fmt: skip


async def test_nothing_is_synced_before_the_last_page() -> None:
    async with reflecting(page(thing("a", "1"), more="x")) as scripted:
        await scripted.server.idle.wait()
        found = scripted.reflector.has_synced, scripted.store.calls

    assert found == (False, [])


def test_a_list_is_watched_from_its_version_on_for_a_drawn_time() -> None:
    scripted = after(page(version="42"))

    assert scripted.queries("watch", "resourceVersion", "timeoutSeconds", "labelSelector")[1] == (
        "1",
        "42",
        "450",
        "a=b",
    )
    assert scripted.reflector.has_synced


def test_changes_reach_the_store() -> None:
    changes = stream(
        ("ADDED", thing("b", "101")), ("MODIFIED", thing("a", "102")), ("DELETED", thing("b", "103")), end="silent"
    )
    scripted = after(page(thing("a", "1")), changes, silence=1.0)

    assert scripted.store.calls == ["replace", "put b", "put a", "remove b, as it was at 101"]
    assert scripted.store.known == {"a": "102"}


def test_after_a_clean_end_it_goes_on_from_the_last_version() -> None:
    scripted = after(page(version="100"), stream(("ADDED", thing("a", "101"))))

    assert scripted.queries("watch", "resourceVersion")[2] == ("1", "101")
    assert (scripted.causes, scripted.problems) == (["closed"], [])


def test_a_bookmark_moves_the_version_without_a_change() -> None:
    scripted = after(page(version="100"), stream(("BOOKMARK", thing("", "150"))))

    assert scripted.queries("resourceVersion")[2] == ("150",)
    assert scripted.store.calls == ["replace"]


def test_a_broken_connection_is_watched_again_from_the_last_version() -> None:
    scripted = after(page(), stream(("ADDED", thing("a", "101")), end="cut"), stream(("ADDED", thing("b", "102"))))

    assert scripted.queries("watch", "resourceVersion")[2] == ("1", "101")
    assert scripted.store.known == {"a": "101", "b": "102"}
    assert (scripted.causes[0], scripted.problems) == ("broken", [])


def test_a_watch_that_falls_silent_is_begun_again_from_the_last_version() -> None:
    scripted = after(page(), stream(("ADDED", thing("a", "101")), end="silent"), silence=1.0)

    assert scripted.queries("watch", "resourceVersion")[2] == ("1", "101")
    assert (scripted.causes, scripted.problems) == (["closed"], [])


async def test_a_server_that_hangs_is_reported_when_the_next_watch_fails_too() -> None:
    async with reflecting(page(), stream(end="silent"), silence=1.0, timeout=1.0) as scripted:
        while "broken" not in scripted.causes:
            await asyncio.wait([asyncio.get_running_loop().create_future()], timeout=0.01)
        found = scripted.causes[:2], scripted.problems[:1]

    assert found == (["closed", "broken"], ["ApiUnreachableError"])


@pytest.mark.parametrize("gone", [stream(GONE), refuse(410, "Gone")], ids=["in the stream", "at once"])
def test_a_version_that_is_too_old_means_a_new_list(gone: Step) -> None:
    scripted = after(page(thing("a", "1")), gone, page(thing("b", "2"), version="200"))

    assert scripted.store.known == {"b": "2"}
    assert scripted.queries("watch", "resourceVersion")[3] == ("1", "200")
    assert (scripted.causes, scripted.problems) == (["expired"], [])


def test_a_broken_connection_whose_version_is_gone_meanwhile_means_a_new_list() -> None:
    scripted = after(page(thing("a", "1")), stream(end="cut"), refuse(410), page(thing("b", "2")))

    assert scripted.store.known == {"b": "2"}
    assert scripted.causes == ["broken", "expired"]


def test_a_page_that_is_no_longer_there_means_a_list_from_its_beginning() -> None:
    scripted = after(page(thing("a", "1"), more="x"), refuse(410, "Expired"), page(thing("b", "2")))

    assert scripted.store.calls == ["replace"]
    assert scripted.store.known == {"b": "2"}
    assert scripted.queries("continue")[2] == (None,)
    assert scripted.causes == ["expired"]


def test_the_store_keeps_what_it_has_until_the_new_list_is_complete() -> None:
    scripted = after(page(thing("a", "1")), stream(GONE), page(thing("b", "2"), more="x"))

    assert scripted.store.known == {"a": "1"}


@pytest.mark.parametrize("code", [401, 403, 404, 429, 500, 503])
def test_a_refused_list_is_reported_and_retried(code: int) -> None:
    scripted = after(refuse(code), page(thing("a", "1")))

    assert scripted.store.known == {"a": "1"}
    assert (scripted.causes, scripted.problems) == (["refused"], ["ApiRefusedError"])


def test_an_unanswered_list_is_reported_and_retried() -> None:
    scripted = after(cut, page(thing("a", "1")))

    assert scripted.store.known == {"a": "1"}
    assert (scripted.causes, scripted.problems) == (["broken"], ["ApiUnreachableError"])


def test_a_refused_watch_is_reported_and_retried_without_a_new_list() -> None:
    scripted = after(page(version="100"), refuse(500), stream(("ADDED", thing("a", "101"))))

    assert scripted.store.calls == ["replace", "put a"]
    assert (scripted.causes[0], scripted.problems) == ("refused", ["ApiRefusedError"])


def test_each_failure_waits_longer_but_never_longer_than_the_longest() -> None:
    scripted = after(*[refuse(500)] * 5)

    assert scripted.waits == [1, 2, 4, 5, 5]


def test_a_change_does_not_end_the_longer_waiting_if_the_watch_breaks_at_once() -> None:
    broken = stream(("ADDED", thing("a", "101")), end="cut")
    scripted = after(refuse(500), refuse(500), page(), broken, broken, refuse(500))

    assert scripted.waits == [1, 2, 4, 5, 5]


async def test_a_watch_that_lasted_ends_the_longer_waiting_though_it_breaks() -> None:
    async with reflecting(refuse(500), refuse(500), page()) as scripted:
        scripted.server.script += [
            scripted.lasting(5, stream(("ADDED", thing("a", "101")), end="cut")),
            refuse(500),
        ]
        await scripted.server.idle.wait()
        found = scripted.waits

    assert found == [1, 2, 1, 2]


def test_lists_alone_do_not_end_the_longer_waiting() -> None:
    scripted = after(page(), stream(GONE), page(), stream(GONE), page(), stream(GONE))

    assert scripted.waits == [1, 2, 4]


async def test_a_watch_that_lasted_resets_the_backoff_though_it_had_no_events() -> None:
    async with reflecting(refuse(500), refuse(500), page()) as scripted:
        scripted.server.script += [scripted.lasting(5, stream()), refuse(500)]
        await scripted.server.idle.wait()
        found = scripted.waits

    assert found == [1, 2, 1, 2]


def test_a_server_that_asks_for_time_gets_it_within_reason() -> None:
    scripted = after(refuse(429, **{"Retry-After": "9"}), refuse(429, **{"Retry-After": "86400"}))

    assert scripted.waits == [9, 60]


async def test_each_page_is_a_sign_of_life() -> None:
    async with reflecting() as scripted:
        scripted.server.script += [scripted.lasting(3, page(more="x"))]
        await scripted.server.idle.wait()
        found = scripted.reflector.last_contact

    assert found == 3


async def test_an_open_watch_is_a_sign_of_life_and_a_closed_one_was() -> None:
    async with reflecting(page(), stream(("ADDED", thing("a", "101")), end="silent"), silence=0.2) as scripted:
        while "put a" not in scripted.store.calls:
            await asyncio.sleep(0)  # noqa: TID251  # a turn, no time
        scripted.now = 7.0
        alive = [scripted.reflector.last_contact]
        await scripted.server.idle.wait()
        scripted.now = 9.0
        found = [*alive, scripted.reflector.last_contact]

    assert found == [7.0, 7.0]


async def test_a_cancelled_reflector_leaves_no_connection() -> None:
    async with reflecting(page(), stream(end="silent")) as scripted:
        while len(scripted.server.asked) < 2:
            await asyncio.sleep(0)  # noqa: TID251  # a turn, no time
    await scripted.server.left.wait()


def test_a_line_that_is_no_event_means_a_longer_waiting_and_a_new_list() -> None:
    scripted = after(
        page(thing("a", "1")), stream(b"{}\n"), page(thing("b", "2"), version="200"), stream(b"[]\n"), page()
    )

    assert scripted.queries("watch", "resourceVersion")[3] == ("1", "200")
    assert scripted.waits == [1, 2]
    assert (scripted.causes, scripted.problems) == (["broken"] * 2, ["ApiMalformedError"] * 2)


def test_a_list_of_large_objects_comes_in_smaller_pages() -> None:
    large = say({"items": [thing("a", "1", spec="x" * LONGEST_PAGE)], "metadata": {}})
    scripted = after(
        page(thing("b", "2"), more="x"), large, large, page(thing("c", "3"), more="y"), page(thing("d", "4"))
    )

    assert scripted.queries("limit", "continue")[:5] == [
        ("500", None), ("500", "x"), ("62", "x"), ("7", "x"), ("14", "y"),
    ]  # fmt: skip
    assert scripted.store.known == {"b": "2", "c": "3", "d": "4"}


def fail(cause: object) -> None:
    raise AssertionError(cause)


class EndlessApi:
    """An API whose lists have no end."""

    server = "https://test"

    def __init__(self) -> None:
        self.asked = 0

    async def request(self, *_: object, **__: object) -> dict[str, Any]:
        self.asked += 1
        return {"metadata": {"continue": "x"}, "items": [thing("a", "1")]}


def test_a_list_without_an_end_is_given_up() -> None:
    api = EndlessApi()

    with pytest.raises(ApiMalformedError, match="its list has more than 1,000,000 objects"):
        live(Reflector(cast("ApiClient", api), JOBS, "ns", Versions(), on_error=fail, on_restart=fail).refresh())

    assert api.asked == 2_000
