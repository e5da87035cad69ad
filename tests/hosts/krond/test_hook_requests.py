"""HttpCaller: one request, and what of all that servers do counts as an answer."""

import asyncio
import socket
from http.server import BaseHTTPRequestHandler

import pytest

from kron.hosts.krond.hook_delivery import HttpCaller, HttpRequest
from tests.hosts.krond.hook_target import Target, listening, status

LONG = 30.0  # seconds: nothing here takes as long


def call(request: HttpRequest, limit: float = LONG) -> str:
    return asyncio.run(HttpCaller(limit).call(request))


def test_a_request_carries_its_method_body_and_headers() -> None:
    with listening() as target:
        assert call(HttpRequest("POST", f"{target.url}/a?b=c", b"row", (("X-Kron-Event", "failure"),))) == ""

        asked = target.take()
    assert asked[:3] == ("POST", "/a?b=c", "row")
    assert asked.headers["X-Kron-Event"] == "failure"
    assert asked.headers["User-Agent"].startswith("krond/")


@pytest.mark.parametrize("code", [400, 404, 500, 503, 304])
def test_an_answer_that_is_no_success_is_a_failure(code: int) -> None:
    with listening(status(code)) as target:
        assert call(HttpRequest("GET", target.url)) == f"it answered {code}"


@pytest.mark.parametrize(
    ("code", "method", "body"), [(301, "POST", "row"), (303, "GET", ""), (307, "POST", "row"), (308, "POST", "row")]
)
def test_a_redirect_on_the_same_host_is_followed(code: int, method: str, body: str) -> None:
    with listening(status(code, "/there?x=1")) as target:
        assert call(HttpRequest("POST", f"{target.url}/here", b"row")) == ""

        target.take()
        assert target.take()[:3] == (method, "/there?x=1", body)


def test_a_redirect_to_another_host_is_not_followed() -> None:
    with listening() as other, listening(status(302, other.url.replace("127.0.0.1", "localhost"))) as target:
        assert call(HttpRequest("GET", target.url)) == "it redirected to another host, localhost"

        assert other.asked.empty()


def test_a_redirect_to_something_that_is_no_web_address_is_not_followed() -> None:
    with listening(status(302, "file:///etc/passwd")) as target:
        assert call(HttpRequest("GET", target.url)) == "it redirected to an address that is not safe"


def test_redirects_in_a_circle_come_to_an_end() -> None:
    with listening(*[status(302, "/again")] * 10) as target:
        assert call(HttpRequest("GET", target.url)) == "it redirected more than 5 times"

        assert target.asked.qsize() == 6


@pytest.mark.parametrize("answer", [Target.say_nothing, Target.drip], ids=["says nothing", "never comes to an end"])
def test_an_answer_that_does_not_come_in_time_is_a_failure(answer: object) -> None:
    with listening(lambda handler: answer(target, handler)) as target:  # type: ignore[operator]  # one of the two
        assert call(HttpRequest("GET", target.url), limit=0.2) == "no answer within 0.2 s"


def test_nobody_there_is_a_failure_that_says_so() -> None:
    with socket.socket() as nobody:
        nobody.bind(("127.0.0.1", 0))

        assert call(HttpRequest("GET", f"http://127.0.0.1:{nobody.getsockname()[1]}")) == "Connection refused"


def test_something_that_is_no_web_server_is_a_failure() -> None:
    def nonsense(handler: BaseHTTPRequestHandler) -> None:
        handler.wfile.write(b"\0\1\2 nonsense\r\n\r\n")

    with listening(nonsense) as target:
        assert call(HttpRequest("GET", target.url)) != ""


def test_a_name_and_a_password_in_the_address_are_shown_to_the_server() -> None:
    with listening() as target:
        assert call(HttpRequest("GET", target.url.replace("//", "//me:secret@"))) == ""

        assert target.take().headers["Authorization"] == "Basic bWU6c2VjcmV0"


def test_whatever_goes_wrong_with_a_call_is_said_and_leaves_room_for_the_next() -> None:
    wrong: object = 3

    async def calls() -> set[str]:
        caller, url = HttpCaller(LONG), "http://{}:{}".format(*server.getsockname())
        return {await caller.call(HttpRequest("POST", url, wrong)) for _ in range(100)}  # type: ignore[arg-type]

    with socket.create_server(("127.0.0.1", 0), backlog=128) as server:
        said = asyncio.run(calls())

    assert len(said) == 1
    assert "int" in said.pop()
