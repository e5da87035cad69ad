"""Authentication of the page: who is admitted, and the security headers, over a real socket."""

from collections.abc import Iterator

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from kron.web.auth import AccessMiddleware, AccessRules
from tests.web.served import Place, served

TOKEN = "a-token-of-43-characters-or-so"
OPEN = frozenset({"/healthz"})
BEARER = f"Authorization: Bearer {TOKEN}"


class WatchedGate:
    """A gate in front of one page and one that fails, and the errors it reported."""

    def __init__(self, token: str | None = TOKEN) -> None:
        self.refused: list[str] = []
        self.failed: list[tuple[str, str]] = []
        site = Starlette(routes=[Route("/healthz", self._page), Route("/page", self._page), Route("/bad", self._bad)])
        access = AccessRules("krond", lambda host: host in ("localhost", "me"), token, "cookie-name", open_paths=OPEN)
        self.app = AccessMiddleware(
            site, access, self.refused.append, lambda path, error: self.failed.append((path, str(error)))
        )
        self.place: Place

    async def _page(self, request: Request) -> Response:
        return PlainTextResponse(f"page {request.url.query}")

    async def _bad(self, _: Request) -> Response:
        raise ZeroDivisionError("surprise")


@pytest.fixture(scope="module")
def shared() -> Iterator[WatchedGate]:
    watched = WatchedGate()
    with served(watched.app) as place:
        watched.place = place
        yield watched


@pytest.fixture
def gate(shared: WatchedGate) -> WatchedGate:
    shared.refused.clear()
    shared.failed.clear()
    return shared


def test_health_is_for_everybody_and_a_page_is_not(gate: WatchedGate) -> None:
    assert gate.place.ask("/healthz").status == 200
    found = gate.place.ask("/page")

    assert (found.status, found.headers["www-authenticate"]) == (401, "bearer")
    assert TOKEN not in str(found)
    assert gate.refused == ["127.0.0.1"]


@pytest.mark.parametrize(
    "header",
    [BEARER, f"authorization: bearer  {TOKEN}"],
    ids=["bearer", "in other letters"],
)
def test_a_request_with_the_token_is_admitted(gate: WatchedGate, header: str) -> None:
    assert gate.place.ask("/page", header).status == 200
    assert gate.refused == []


@pytest.mark.parametrize(
    "header",
    [
        f"{BEARER}x",
        BEARER[:-1],
        f"Authorization: Basic {TOKEN}",
        "Authorization: Bearer",
        f"Authorization: Bearer {TOKEN} {TOKEN}",
        "Authorization: Bearer \xe4\xf6\xfc",
        f"Cookie: token={TOKEN}",
        f"Cookie: cookie-name={TOKEN}",
        "Cookie: cookie-name=",
        'Cookie: ="; \\',
    ],
)
def test_a_request_with_another_token_is_refused(gate: WatchedGate, header: str) -> None:
    assert gate.place.ask("/page", header).status == 401
    assert len(gate.refused) == 1


def session(gate: WatchedGate) -> str:
    """Show the token once, and return the cookie as a browser sends it."""
    return gate.place.ask(f"/page?token={TOKEN}").headers["set-cookie"].partition(";")[0]


def test_a_token_in_the_address_becomes_a_session_and_leaves_the_address(gate: WatchedGate) -> None:
    found = gate.place.ask(f"/page?a=1&token={TOKEN}&b=%20")

    assert (found.status, found.headers["location"]) == (303, "/page?a=1&b=+")
    cookie, _, rules = found.headers["set-cookie"].partition("; ")
    assert cookie.startswith("cookie-name=")
    assert TOKEN not in cookie
    assert rules == "HttpOnly; Path=/; SameSite=strict"


@pytest.mark.parametrize("before", ["", "a=b; ", "cookie-name=forged; ", 'a="b; ', "\\; ", "a; ;; "])
def test_the_cookie_of_a_session_opens_the_page_whatever_other_cookies_there_are(
    gate: WatchedGate, before: str
) -> None:
    assert gate.place.ask("/page", f"Cookie: {before}{session(gate)}").status == 200


def test_a_header_of_cookies_is_read_up_to_8_kib(gate: WatchedGate) -> None:
    cookie = session(gate)
    longest = f"a={'x' * (8192 - len(cookie) - 4)}; {cookie}"

    assert gate.place.ask("/page", f"Cookie: {longest}").status == 200
    assert gate.place.ask("/page", f"Cookie: x{longest}").status == 401


def test_an_address_with_too_many_fields_is_not_searched_for_a_token(gate: WatchedGate) -> None:
    assert gate.place.ask(f"/page?{'a=1&' * 99}token={TOKEN}").status == 303
    assert gate.place.ask(f"/page?{'a=1&' * 100}token={TOKEN}").status == 401


@pytest.mark.parametrize("path", ["//evil.example/", "///evil.example/", "/%5Cevil.example/", "/%2F/evil.example/"])
def test_the_way_on_never_leads_to_another_host(gate: WatchedGate, path: str) -> None:
    found = gate.place.ask(f"{path}?token={TOKEN}")

    assert (found.status, found.headers["location"]) == (303, "/evil.example/")


def test_a_wrong_token_in_the_address_or_one_with_a_post_is_refused(gate: WatchedGate) -> None:
    assert gate.place.ask("/page?token=wrong").status == 401
    assert gate.place.ask(f"/page?token={TOKEN}", method="POST").status == 401


@pytest.mark.parametrize("path", ["/page", "/healthz", f"/page?token={TOKEN}"])
def test_a_request_for_a_foreign_name_is_misdirected(gate: WatchedGate, path: str) -> None:
    assert gate.place.ask(path, BEARER, host="evil.example").status == 421


@pytest.mark.parametrize("path", ["/healthz", "/page", "/nothing", "/bad", "/page?token=x"])
def test_every_answer_has_the_strict_security_headers(gate: WatchedGate, path: str) -> None:
    headers = gate.place.ask(path, BEARER).headers

    assert headers["content-security-policy"].startswith("default-src 'none'")
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "no-referrer"
    assert headers["x-frame-options"] == "deny"
    assert headers["cache-control"] == "no-store"


def test_a_page_that_fails_says_so_and_keeps_the_rest_to_itself(gate: WatchedGate) -> None:
    found = gate.place.ask("/bad", BEARER)

    assert found.status == 500
    assert "surprise" not in found.body
    assert gate.failed == [("/bad", "surprise")]
    assert gate.place.ask("/page", BEARER).status == 200


def test_without_a_token_everybody_who_came_this_far_may_come_in() -> None:
    with served(WatchedGate(token=None).app) as place:
        assert place.ask("/page?token=mine").body == "page token=mine"
