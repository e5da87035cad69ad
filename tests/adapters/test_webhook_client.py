"""Tests of WebhookClient: one request, and which responses count as success."""

import asyncio
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from http.server import BaseHTTPRequestHandler
from threading import Event

import pytest

from kron.adapters.webhook_client import Resolve, WebhookClient, WebhookRequest
from tests.hosts.krond.hook_target import Target, listening, status

LONG = 30.0  # seconds: nothing here takes as long


def call(request: WebhookRequest, limit: float = LONG, resolve: Resolve = socket.getaddrinfo) -> str:
    client = WebhookClient(limit, resolve)
    try:
        return asyncio.run(client.call(request))
    finally:
        client.close()


def test_a_request_carries_its_method_body_and_headers() -> None:
    with listening() as target:
        assert call(WebhookRequest("POST", f"{target.url}/a?b=c", b"row", (("X-Kron-Event", "failure"),))) == ""

        asked = target.take()
    assert asked[:3] == ("POST", "/a?b=c", "row")
    assert asked.headers["X-Kron-Event"] == "failure"
    assert asked.headers["User-Agent"].startswith("krond/")


@pytest.mark.parametrize("code", [400, 404, 500, 503, 304])
def test_an_answer_that_is_no_success_is_a_failure(code: int) -> None:
    with listening(status(code)) as target:
        assert call(WebhookRequest("GET", target.url)) == f"it answered {code}"


@pytest.mark.parametrize(
    ("code", "method", "body"), [(301, "POST", "row"), (303, "GET", ""), (307, "POST", "row"), (308, "POST", "row")]
)
def test_a_redirect_on_the_same_host_is_followed(code: int, method: str, body: str) -> None:
    with listening(status(code, "/there?x=1")) as target:
        assert call(WebhookRequest("POST", f"{target.url}/here", b"row")) == ""

        target.take()
        assert target.take()[:3] == (method, "/there?x=1", body)


def test_a_redirect_to_another_host_is_not_followed() -> None:
    with listening() as other, listening(status(302, other.url.replace("127.0.0.1", "localhost"))) as target:
        assert call(WebhookRequest("GET", target.url)) == "it redirected to another host, localhost"

        assert other.asked.empty()


def test_a_redirect_to_something_that_is_no_web_address_is_not_followed() -> None:
    with listening(status(302, "file:///etc/passwd")) as target:
        assert call(WebhookRequest("GET", target.url)) == "it redirected to an address that is not safe"


def test_redirects_in_a_circle_come_to_an_end() -> None:
    with listening(*[status(302, "/again")] * 10) as target:
        assert call(WebhookRequest("GET", target.url)) == "it redirected more than 5 times"

        assert target.asked.qsize() == 6


@pytest.mark.parametrize("answer", [Target.say_nothing, Target.drip], ids=["says nothing", "never comes to an end"])
def test_an_answer_that_does_not_come_in_time_is_a_failure(answer: object) -> None:
    with listening(lambda handler: answer(target, handler)) as target:  # type: ignore[operator]  # one of the two
        assert call(WebhookRequest("GET", target.url), limit=0.2) == "no answer within 0.2 s"


def test_a_port_without_a_listener_is_a_failure_that_says_so() -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))

        assert call(WebhookRequest("GET", f"http://127.0.0.1:{unused.getsockname()[1]}")) == "Connection refused"


def test_something_that_is_no_web_server_is_a_failure() -> None:
    def nonsense(handler: BaseHTTPRequestHandler) -> None:
        handler.wfile.write(b"\0\1\2 nonsense\r\n\r\n")

    with listening(nonsense) as target:
        assert call(WebhookRequest("GET", target.url)) != ""


def test_a_name_and_a_password_in_the_address_are_shown_to_the_server() -> None:
    with listening() as target:
        assert call(WebhookRequest("GET", target.url.replace("//", "//me:secret@"))) == ""

        assert target.take().headers["Authorization"] == "Basic bWU6c2VjcmV0"


@pytest.mark.parametrize("said", [3, object()], ids=["a number", "an object"])
def test_an_error_that_no_case_expects_is_the_reason(said: object) -> None:
    with listening() as target:
        assert type(said).__name__ in call(WebhookRequest("POST", target.url, said))  # type: ignore[arg-type]


def test_one_client_makes_many_calls_at_a_time() -> None:
    async def calls(client: WebhookClient, url: str) -> set[str]:
        return set(await asyncio.gather(*(client.call(WebhookRequest("GET", url)) for _ in range(16))))

    with listening() as target:
        client = WebhookClient(LONG)
        said = asyncio.run(calls(client, target.url))
        client.close()

        assert target.asked.qsize() == 16
    assert said == {""}


def test_a_cookie_of_a_redirect_is_not_sent_on() -> None:
    def with_cookie(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(307)
        handler.send_header("Set-Cookie", "a=b; Path=/")
        handler.send_header("Location", "/there")
        handler.send_header("Content-Length", "0")
        handler.end_headers()

    with listening(with_cookie) as target:
        assert call(WebhookRequest("GET", target.url)) == ""

        target.take()
        assert "Cookie" not in target.take().headers


def test_proxies_of_the_environment_are_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")

    with listening() as target:
        assert call(WebhookRequest("GET", target.url)) == ""


def test_a_body_without_end_is_not_read() -> None:
    def endless(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(200)
        handler.end_headers()
        with suppress(OSError):  # the client has gone
            while True:
                handler.wfile.write(b"x" * 65536)

    with listening(endless) as target:
        assert call(WebhookRequest("GET", target.url)) == ""


def test_a_head_without_end_is_a_failure_of_bounded_length() -> None:
    def endless(handler: BaseHTTPRequestHandler) -> None:
        handler.wfile.write(b"HTTP/1.1 200 OK\r\nX: ")
        with suppress(OSError):
            while True:
                handler.wfile.write(b"x" * 65536)

    with listening(endless) as target:
        reason = call(WebhookRequest("GET", target.url))

    assert reason not in ("", f"no answer within {LONG:g} s")
    assert len(reason) <= 201


def test_an_answer_that_is_not_http_is_cut_and_escaped() -> None:
    def nonsense(handler: BaseHTTPRequestHandler) -> None:
        handler.wfile.write(b"\x1b[2J" * 1000 + b"\r\n\r\n")

    with listening(nonsense) as target:
        reason = call(WebhookRequest("GET", target.url))

    assert reason.isprintable()
    assert len(reason) <= 201


@pytest.mark.parametrize("name", ["X-Kron\r\nX-Other", "X-Kron: a\r\nX-Other"])
def test_a_header_cannot_bring_another(name: str) -> None:
    with listening() as target:
        assert call(WebhookRequest("GET", target.url, headers=((name, "b"),))) != ""
        assert call(WebhookRequest("GET", target.url, headers=(("X-Kron", "a\r\nX-Other: b"),))) != ""

        assert target.asked.empty()


@pytest.mark.parametrize("tail", ["/a\r\nX-Other: b", "/a HTTP/1.1\r\n\r\nDELETE /b", ":secret", "\x00secret"])
def test_an_address_cannot_bring_a_header_and_its_secret_is_not_in_the_reason(tail: str) -> None:
    with listening() as target:
        reason = call(WebhookRequest("GET", target.url.replace("//", "//me:hidden@") + tail))

        seen = [*target.asked.queue]
    assert not any({"X-Other"} & each.headers.keys() or each.method == "DELETE" for each in seen)
    assert "hidden" not in reason
    assert "secret" not in reason


def test_the_next_address_of_a_host_is_tried_while_the_first_does_not_answer() -> None:
    with listening() as target, deaf(target.url) as address:
        port = int(target.url.rpartition(":")[2])

        def resolve(*_: object, **__: object) -> list[object]:
            tcp = (socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP, "")
            return [(*tcp, (address, port)), (*tcp, ("127.0.0.1", port))]

        assert call(WebhookRequest("GET", f"http://monitor.example:{port}"), resolve=resolve) == ""


def test_a_host_that_has_no_name_says_so() -> None:
    def resolve(*_: object, **__: object) -> list[object]:
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    assert call(WebhookRequest("GET", "http://nowhere.example"), resolve=resolve) == "Name or service not known"


def test_a_resolver_that_hangs_costs_its_call_the_limit_and_no_other_call_anything() -> None:
    over = Event()

    def resolve(host: object, *rest: object, **more: object) -> list[object]:
        if "hangs" in str(host):
            over.wait()
        return [*socket.getaddrinfo("127.0.0.1", *rest, **more)]  # type: ignore[arg-type]

    async def calls(client: WebhookClient, port: str) -> list[str]:
        hanging = [client.call(WebhookRequest("GET", "http://hangs.example")) for _ in range(40)]
        return await asyncio.gather(*hanging, client.call(WebhookRequest("GET", f"http://there.example:{port}")))

    with listening() as target:
        client = WebhookClient(2.0, resolve)
        *hung, found = asyncio.run(calls(client, target.url.rpartition(":")[2]))
        client.close()
    over.set()

    assert set(hung) == {"no answer within 2 s"}
    assert found == ""


def test_a_server_without_valid_tls_is_a_failure() -> None:
    with listening() as target:
        assert call(WebhookRequest("GET", target.url.replace("http:", "https:"))) != ""

        assert target.asked.empty()


def test_the_library_is_imported_at_the_first_call() -> None:
    code = "import sys; from kron.hosts.krond import hook_delivery; print({'httpx2', 'anyio', 'h11'} & {*sys.modules})"

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"


@contextmanager
def deaf(url: str) -> Iterator[str]:
    """Yield an address whose port is that of a URL, and which answers no attempt to connect: its queue is full."""
    address, port = "127.0.0.2", int(url.rpartition(":")[2])
    with socket.create_server((address, port), backlog=0), ExitStack() as stack:
        for _ in range(4):
            waiting = stack.enter_context(socket.socket())
            waiting.settimeout(0)
            waiting.connect_ex((address, port))
        yield address
