"""A server, or a proxy before it, sends invalid responses: the operator survives and creates Jobs as before."""

import json
from contextlib import suppress
from typing import Any

import pytest
from aiohttp import web
from hypothesis import given, settings, strategies as st

from kron.adapters.kubernetes.responses import check, clock_skew, decode_error, decode_watch_event
from kron.errors import ApiRefusedError
from tests.adapters.kubernetes.scripted_server import Step, cut, say, status, stream, thing
from tests.attacks.bad_server import BadServer, operating

Json = Any
_NO_OBJECTS: list[Json] = [
    None, [], {}, "x", 3, True,
    {"metadata": None}, {"metadata": []}, {"metadata": {}}, {"metadata": {"resourceVersion": "7"}},
    {"metadata": {"name": None, "resourceVersion": "7"}}, {"metadata": {"name": ["a"], "resourceVersion": "7"}},
    {"metadata": {"name": "a", "namespace": 3, "resourceVersion": "7"}},
    {"metadata": {"name": "a" * 2_000, "resourceVersion": "7"}},
    {"metadata": {"name": "a", "namespace": "ns", "resourceVersion": 7}},
    {"metadata": {"name": "a", "namespace": "ns", "resourceVersion": "9" * 5_000}},
]  # fmt: skip
_ODD_OBJECTS: list[Json] = [  # whose names can be read, and nothing else
    thing("odd", "101"),
    {"metadata": {"name": "odd", "namespace": "ns", "resourceVersion": "101", "uid": []}},
    {"metadata": {**thing("odd", "101")["metadata"], "uid": "u", "generation": "x"}, "spec": [], "status": []},
    {"metadata": {**thing("odd", "101")["metadata"], "uid": "u", "generation": 1, "creationTimestamp": 7}, "spec": 3},
    {
        "metadata": {
            **thing("odd", "101")["metadata"], "uid": "u", "annotations": [1], "ownerReferences": [3],
            "creationTimestamp": "2026-03-02T11:50:00Z",
        },
        "spec": {"schedule": float("nan")},
        "status": {"conditions": [3, {"type": []}], "handledPeriods": [{"count": 1e999}]},
    },
]  # fmt: skip
_LINES = [
    b"\n", b"null\n", b"[]\n", b"{}\n", b"3\n", b'"ADDED"\n', b"{\n", b"\xff\xfe\n", b"\x00\n", b"NaN\n",
    b'{"type": "ADDED"}\n', b'{"type": "ADDED", "object": 3}\n', b'{"type": 3, "object": {}}\n',
    b'{"type": [], "object": {}}\n', b'{"type": "SOON", "object": {}}\n', b'{"object": {}}\n',
    b'{"type": "BOOKMARK", "object": {}}\n', b'{"type": "BOOKMARK", "object": {"metadata": {"resourceVersion": {}}}}\n',
    b"[" * 20_000 + b"\n", b'{"type": "ADDED", "object": ' + b'{"a":' * 5_000 + b"\n", b"9" * 5_000 + b"\n",
    b'{"type": "ERROR", "object": {}}\n', b'{"type": "ERROR", "object": {"code": "x"}}\n',
    b'{"type": "ERROR", "object": {"code": 1e999}}\n', b'{"type": "ERROR", "object": {"code": [410]}}\n',
    b'{"type": "ERROR", "object": {"code": 410, "details": [3]}}\n',
    b'{"type": "ERROR", "object": {"code": 500, "details": {"causes": [3, null]}}}\n',
]  # fmt: skip
_STATUSES: list[Json] = [
    [], 3, None, {}, status(403) | {"details": [1]}, status(403) | {"details": "x"}, status(403, causes=3),
    status(403, causes=[3, None, [], {"reason": 3}]), status(429, retryAfterSeconds=10**400),
    status(429, retryAfterSeconds="nan"), status(429, retryAfterSeconds=[3]), {"reason": [], "message": {"a": 1}},
    {"message": "x" * 2_000_000},
]  # fmt: skip
_DATES = [
    "Sun, 01 Mar 100000000000000000000 12:00:00 GMT", "Sun, 01 Mar 99999 12:00:00 GMT",
    "Sun, 01 Mar 0001 00:00:00 -0000", "Mon, 01 Jan 0001 00:00:00 +2359",
    "Fri, 31 Dec 9999 23:59:59 -2359", "Sun, 99 Mar 2026 99:99:99 GMT", "x", "",
    "Sun, 01 Mar 2026 12:00:00 +9999999999", "0 0 0 0 0 0", "-1",
]  # fmt: skip


def watch(kind: str, document: Json) -> Step:
    return stream(json.dumps({"type": kind, "object": document}).encode() + b"\n")


def raw(body: bytes, code: int = 200, **headers: str) -> Step:
    async def step(_: web.Request) -> web.StreamResponse:
        return web.Response(body=body, status=code, headers=headers)

    return step


async def after_bad(request: str, *bad: Step, leader_elect: bool = False) -> set[str]:
    """Return the KronJobs whose Jobs are created after so many bad answers."""
    server = BadServer(request, *bad)
    async with operating(server, leader_elect=leader_elect) as operator:
        await operator.until_made(server)
        assert not operator.life.done(), f"{request}: bad answer {server.given} has ended the controller"
        assert server.given == len(bad)
        return set(server.made)


async def test_a_line_of_a_watch_that_is_no_event_ends_that_watch_and_nothing_else() -> None:
    lines = [raw(line) for line in _LINES]
    lines += [watch("ADDED" if number % 2 else "DELETED", each) for number, each in enumerate(_NO_OBJECTS)]

    assert await after_bad("watch kronjobs", *lines) == {"victim"}


@pytest.mark.parametrize("plural", ["kronjobs", "jobs"])
async def test_an_object_of_the_wrong_shape_is_set_aside_alone(plural: str) -> None:
    lines = [watch(kind, each) for each in _ODD_OBJECTS for kind in ("ADDED", "DELETED")]
    server = BadServer(f"watch {plural}", *lines)
    async with operating(server) as operator:
        await operator.until_made(server)
        found = set(server.made), [(line["namespace"], line["name"]) for line in operator.lines("set aside")]

    assert found == ({"victim"}, [("ns", "odd")])  # a line a minute is enough
    assert await after_bad(f"list {plural}", cut, say({"items": _ODD_OBJECTS})) == {"victim"}


async def test_a_page_of_the_wrong_shape_is_asked_for_again() -> None:
    pages: list[Json] = [None, [], 3, {"items": 3}, {"items": {}}, {"items": [3]}, {"items": [[]]}, {"metadata": []}]
    pages += [{"metadata": {"continue": 3}}, {"metadata": {"continue": ["x"]}}, {"metadata": {"resourceVersion": 3}}]
    pages += [{"items": [thing("good"), each]} for each in _NO_OBJECTS]
    steps = [say(each) for each in pages] + [raw(b"{"), raw(b""), raw(b"\xff"), raw(b"[" * 20_000), cut]

    assert await after_bad("list jobs", *steps) == {"victim"}


@pytest.mark.parametrize("request_", ["create jobs", "patch kronjobs", "create events"])
async def test_an_answer_to_a_write_that_is_no_object_is_no_answer(request_: str) -> None:
    steps = [cut, say([]), say({}), raw(b"{"), say({"metadata": {"name": 3}}), raw(b""), say(_ODD_OBJECTS[0])]

    assert await after_bad(request_, *steps[: 4 if request_ == "create events" else None]) == {"victim"}


@pytest.mark.parametrize("request_", ["watch jobs", "create jobs"])
async def test_a_refusal_whose_details_have_the_wrong_shape_is_a_refusal(request_: str) -> None:
    steps = [say(each, 403) for each in _STATUSES] + [raw(b"\xff", 500), raw(b"[" * 20_000, 503)]

    assert await after_bad(request_, *steps) == {"victim"}


async def test_a_date_that_no_clock_shows_is_not_compared() -> None:
    steps = [say({}, 500, Date=date) for date in _DATES]
    steps += [say({}, 429, **{"Retry-After": each}) for each in ("1e999", "nan", "-5", "9" * 400, "soon")]

    assert await after_bad("list jobs", *steps) == {"victim"}


@pytest.mark.parametrize("request_", ["get leases", "create leases"])
async def test_a_lease_of_the_wrong_shape_does_not_end_the_election(request_: str) -> None:
    about = {"metadata": {"name": "kron-operator", "namespace": "kron-system", "resourceVersion": "7"}}
    steps = [say(each) for each in _NO_OBJECTS]
    durations: list[Json] = ["x", []]
    held: list[Json] = [{"holderIdentity": "b", "leaseDurationSeconds": each} for each in durations]
    free = {"holderIdentity": "", "leaseTransitions": "x"}
    specs = [*held, free] if request_ == "get leases" else [3]
    steps += [say({**about, "spec": each}) for each in specs]

    assert await after_bad(request_, *steps, leader_elect=True) == {"victim"}


# --- what is read of an answer ----------------------------------------------------------------------------------------

_LEAF: st.SearchStrategy[Json] = st.sampled_from(
    [None, True, 3, 10**400, 1e999, float("nan"), "", "7", "ADDED", "9" * 5_000, [], [3], [[]], {}, {"a": 1}]
)


def parts(**inner: st.SearchStrategy[Json]) -> st.SearchStrategy[Json]:
    """Return objects that have some of these fields, and sometimes something else in their place."""
    return st.fixed_dictionaries({}, optional=inner) | _LEAF


_ABOUT = parts(**dict.fromkeys(("name", "namespace", "resourceVersion", "continue"), _LEAF))
_DETAILS = parts(causes=_LEAF | st.lists(parts(reason=_LEAF), max_size=2), retryAfterSeconds=_LEAF)
_OBJECT = parts(metadata=_ABOUT, code=_LEAF, details=_DETAILS, reason=_LEAF, message=_LEAF)
_PAGE = parts(metadata=_ABOUT, items=_LEAF | st.lists(_OBJECT, max_size=2))
_EVENT = parts(type=st.sampled_from(["ADDED", "DELETED", "BOOKMARK", "ERROR", 3]), object=_OBJECT)


@settings(max_examples=40, deadline=None)
@given(_EVENT, _PAGE, _OBJECT, st.text(max_size=10))
def test_any_answer_is_read_or_refused_as_invalid(line: Json, page: Json, found: Json, text: str) -> None:
    with suppress(ValueError, ApiRefusedError):
        decode_watch_event(json.loads(json.dumps(line)))
    for verb, answer in (("list", page), ("get", found), ("delete", found)):
        with suppress(ValueError):
            check(verb, answer)

    assert isinstance(decode_error(403, None, {"Retry-After": text}, json.dumps(found).encode()), ApiRefusedError)
    assert isinstance(decode_error(403, None, None, found), ApiRefusedError)
    assert isinstance(clock_skew(text, 0.0), float | None)
