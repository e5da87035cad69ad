"""Tests of the Kubernetes client: the requests it sends, and how it handles every kind of answer."""

import asyncio
import socket
from typing import Any

import pytest
from aiohttp import web

from kron.adapters.kubernetes.client import JOBS, KRONJOB_STATUS, Verb
from kron.adapters.kubernetes.credentials import RequestAuth, StaticCredential, tls_context
from kron.adapters.kubernetes.kubeconfig import ClusterConfig
from kron.errors import AnswerTooLongError, ApiError, ApiRefusedError, ApiUnreachableError
from tests.adapters.kubernetes.scripted_server import (
    ANONYMOUS,
    ReceivedRequest,
    Step,
    asking,
    cut,
    hang,
    live,
    refuse,
    say,
    serving,
    status,
    thing,
)


def asked(verb: Verb, *, body: Any = None, query: Any = None) -> ReceivedRequest:
    """Return what the server sees of a request."""

    async def play() -> ReceivedRequest:
        async with (
            serving(say(thing("mail"))) as server,
            asking(server, StaticCredential(RequestAuth("Bearer me", None))) as api,
        ):
            await api.request(verb, JOBS, "ns", "" if verb in ("create", "list") else "mail", body, query)
            return server.asked[0]

    return live(play())


def answered(*script: Step, **options: Any) -> dict[str, Any] | ApiError:
    """Return what becomes of a request that is answered by the script."""

    async def play() -> dict[str, Any] | ApiError:
        async with serving(*script) as server, asking(server, **options) as api:
            try:
                return await api.request("get", JOBS, "ns", "mail")
            except ApiError as error:
                return error
            finally:
                assert len(server.asked) == 1, "nothing is tried twice"

    return live(play())


def refused(*script: Step) -> ApiRefusedError:
    found = answered(*script)
    assert isinstance(found, ApiRefusedError)
    return found


@pytest.mark.parametrize(
    ("verb", "method", "path"),
    [
        ("create", "POST", "/apis/batch/v1/namespaces/ns/jobs"),
        ("get", "GET", "/apis/batch/v1/namespaces/ns/jobs/mail"),
        ("list", "GET", "/apis/batch/v1/namespaces/ns/jobs"),
        ("update", "PUT", "/apis/batch/v1/namespaces/ns/jobs/mail"),
        ("patch", "PATCH", "/apis/batch/v1/namespaces/ns/jobs/mail"),
        ("delete", "DELETE", "/apis/batch/v1/namespaces/ns/jobs/mail"),
    ],
)
def test_a_verb_is_a_method_on_a_path(verb: Verb, method: str, path: str) -> None:
    assert asked(verb)[:2] == (method, path)


@pytest.mark.parametrize(
    ("verb", "kind"), [("create", "application/json"), ("patch", "application/merge-patch+json")], ids=str
)
def test_a_document_is_sent_as_json(verb: Verb, kind: str) -> None:
    seen = asked(verb, body={"spec": {"é": [1]}})

    assert (seen.body, seen.headers["Content-Type"]) == ({"spec": {"é": [1]}}, kind)


def test_a_query_arrives_as_it_was_meant() -> None:
    assert asked("list", query={"labelSelector": "a in (b,c)&d", "limit": "5"}).query == {
        "labelSelector": "a in (b,c)&d", "limit": "5",
    }  # fmt: skip


def test_a_request_says_who_asks() -> None:
    assert asked("get").headers["Authorization"] == "Bearer me"


def test_the_answer_is_the_document() -> None:
    assert answered(say(thing("mail", spec={}))) == thing("mail", spec={})


def test_a_refusal_says_what_the_server_said() -> None:
    body = status(403, "Forbidden", "ns is going away", causes=[{"reason": "NamespaceTerminating", "field": "x"}])

    error = refused(say(body, 403))

    assert (error.code, error.reason, error.message, error.causes, error.retry_after) == (
        403, "Forbidden", "ns is going away", ("NamespaceTerminating",), None,
    )  # fmt: skip


@pytest.mark.parametrize(
    "step",
    [
        say(status(429), 429, **{"Retry-After": "7"}),
        say(status(429, retryAfterSeconds=7), 429),
    ],
    ids=["header", "document"],
)
def test_a_refusal_says_when_to_come_back(step: Step) -> None:
    assert refused(step).retry_after == 7


def test_a_date_to_come_back_at_is_no_number_of_seconds() -> None:
    assert refused(refuse(503, **{"Retry-After": "Wed, 21 Oct 2026 07:28:00 GMT"})).retry_after is None


def test_a_refusal_by_a_proxy_is_reported_in_its_words() -> None:
    async def step(_: web.Request) -> web.StreamResponse:
        return web.Response(status=502, text="<h1>no upstream</h1>\n")

    error = refused(step)

    assert (error.code, error.reason, error.message) == (502, "Bad Gateway", "<h1>no upstream</h1>")


def test_a_refusal_without_words_has_its_code() -> None:
    async def step(_: web.Request) -> web.StreamResponse:
        return web.Response(status=500)

    assert refused(step).message == "HTTP 500 Internal Server Error"


def test_a_redirection_is_not_followed() -> None:
    assert refused(refuse(307, Location="/elsewhere")).code == 307


async def not_json(_: web.Request) -> web.StreamResponse:
    return web.Response(text="hello")


@pytest.mark.parametrize("step", [cut, not_json, say([1])], ids=["cut", "not JSON", "no document"])
def test_an_invalid_answer_counts_as_an_unreachable_server(step: Step) -> None:
    assert isinstance(answered(step), ApiUnreachableError)


def test_an_answer_that_does_not_come_in_time_is_none() -> None:
    found = answered(hang, timeout=0.05)

    assert isinstance(found, ApiUnreachableError)
    assert found.message.endswith("no answer in time")


async def test_a_request_may_have_a_time_of_its_own() -> None:
    async with serving() as server, asking(server) as api:
        with pytest.raises(ApiUnreachableError):
            await api.request("get", JOBS, "ns", "mail", timeout=0.05)


def test_a_rejected_credential_is_reported_as_such() -> None:
    found = refused(refuse(401, "Unauthorized", "Unauthorized"))

    assert found.message == "Unauthorized: the token or certificate has expired, or is of another cluster"


async def test_a_server_that_does_not_listen_is_unreachable() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        address = f"http://127.0.0.1:{taken.getsockname()[1]}"
        async with asking(address) as api:
            with pytest.raises(ApiUnreachableError) as caught:
                await api.request("get", JOBS, "ns", "mail")
    assert caught.value.message == f"API server {address}: Connection refused"


async def test_a_server_that_cuts_the_tls_handshake_is_reported_as_unreachable() -> None:
    async def cut_off(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(1)
        writer.transport.abort()

    server = await asyncio.start_server(cut_off, "127.0.0.1", 0)
    address = f"https://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    async with (
        server,
        asking(ClusterConfig(address, StaticCredential(RequestAuth(None, tls_context(is_verified=False))))) as api,
    ):
        with pytest.raises(ApiUnreachableError) as caught:
            await api.request("get", JOBS, "ns", "mail")

    assert caught.value.message.removeprefix(f"API server {address}: ") == "ConnectionResetError"


async def test_a_server_behind_a_proxy_is_asked_through_it() -> None:
    async with serving(say(thing("mail"))) as proxy:
        async with asking(ClusterConfig("http://cluster.invalid:6443", ANONYMOUS, proxy=proxy.url)) as api:
            await api.request("get", JOBS, "ns", "mail")
        found = proxy.asked[0].headers["Host"]

    assert found == "cluster.invalid:6443"


async def test_every_answer_and_every_timeout_is_reported() -> None:
    responses: list[tuple[str, str, int]] = []
    async with serving(say(thing("mail")), refuse(409), cut) as server, asking(server) as api:
        api.on_response = lambda verb, resource, code: responses.append((verb, resource, code))
        await api.request("patch", KRONJOB_STATUS, "ns", "mail", {})
        for _ in range(2):
            with pytest.raises(ApiError):
                await api.request("create", JOBS, "ns", body={})

    assert responses == [("patch", "kronjobs/status", 200), ("create", "jobs", 409), ("create", "jobs", 0)]


async def test_the_server_s_clock_is_compared_with_ours() -> None:
    date = {"Date": "Sun, 01 Mar 2026 12:00:00 GMT"}
    async with serving(say(thing("mail"), 200, **date)) as server, asking(server, wall=lambda: 1772366409.5) as api:
        await api.request("get", JOBS, "ns", "mail")
        found = api.clock_skew

    assert found == 9.5


async def test_a_server_without_a_date_leaves_the_known_clock_skew() -> None:
    first = say(thing("mail"), 200, Date="Sun, 01 Mar 2026 12:00:00 GMT")
    async with (
        serving(first, say(thing("mail"), 200, Date="soon")) as server,
        asking(server, wall=lambda: 1772366409.5) as api,
    ):
        for _ in range(2):
            await api.request("get", JOBS, "ns", "mail")
        found = api.clock_skew

    assert found == 9.5


async def test_a_proof_that_is_not_accepted_is_not_used_again() -> None:
    class Renewing:
        number = 1

        async def authenticate(self) -> RequestAuth:
            return RequestAuth(f"Bearer {self.number}", None)

        def invalidate(self) -> None:
            self.number += 1

    async with serving(refuse(401), say(thing("mail"))) as server, asking(server, Renewing()) as api:
        with pytest.raises(ApiRefusedError):
            await api.request("get", JOBS, "ns", "mail")
        await api.request("get", JOBS, "ns", "mail")
        found = [seen.headers["Authorization"] for seen in server.asked]

    assert found == ["Bearer 1", "Bearer 2"]


async def test_a_request_that_is_cancelled_leaves_no_connection() -> None:
    async with serving() as server, asking(server) as api:
        task = asyncio.create_task(api.request("get", JOBS, "ns", "mail"))
        await server.idle.wait()
        task.cancel()
        await server.left.wait()
        assert (await asyncio.gather(task, return_exceptions=True))[0].__class__ is asyncio.CancelledError


@pytest.mark.parametrize(("longest", "is_read"), [(1_000, False), (2_000_000, True), (None, True)])
async def test_of_an_answer_that_is_too_long_the_rest_is_not_read(longest: int | None, *, is_read: bool) -> None:
    document = {"note": 1_000_000 * "x"}
    async with serving(say(document), say({})) as server, asking(server) as api:
        try:
            found = await api.request("list", JOBS, "ns", longest=longest) == document
        except AnswerTooLongError:
            found = False
        assert await api.request("list", JOBS, "ns", longest=longest) == {}  # the next request has its own answer

    assert found is is_read
