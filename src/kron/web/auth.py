"""Access to the pages: a token, sessions in cookies, the Host header, and the headers of every response."""

import secrets
from collections.abc import Callable, Iterator, MutableMapping
from dataclasses import dataclass, field
from hashlib import sha256
from time import monotonic
from typing import Any
from urllib.parse import parse_qsl, quote, urlencode

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from kron.web.connections import trust_client

_MOST_SESSIONS = 100  # sessions; for one more the oldest ends
_LASTING = 12 * 3600.0  # seconds
_LONGEST = 64  # characters of a value that can be one


class Sessions:
    """The sessions of one program, in memory. A cookie is not the token: browsers send it to every port of a host."""

    def __init__(
        self, *, most: int = _MOST_SESSIONS, lasting: float = _LASTING, monotonic: Callable[[], float] = monotonic
    ) -> None:
        """`lasting`: seconds from the beginning of a session to its end."""
        self._most, self._lasting, self._monotonic = most, lasting, monotonic
        self._ends: dict[bytes, float] = {}  # by digest, oldest first

    def begin(self) -> str:
        """Return the value of a new session."""
        value = secrets.token_urlsafe(32)
        self._ends[_digest(value)] = self._monotonic() + self._lasting
        if len(self._ends) > self._most:
            del self._ends[next(iter(self._ends))]
        return value

    def has(self, value: str) -> bool:
        """Whether a value is that of a session. The time this takes does not depend on how much of it is right."""
        return len(value) <= _LONGEST and self._monotonic() < self._ends.get(_digest(value), 0.0)


def _digest(value: str) -> bytes:
    return sha256(value.encode(errors="replace")).digest()


_POLICY = (
    "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
)
_HEADERS = {
    "content-security-policy": _POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "x-frame-options": "DENY",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}
_UNAUTHORIZED = (
    "{product} needs its token. {hint}open this address once with ?token=TOKEN appended, "
    "or send `Authorization: Bearer TOKEN`.\n"
)
_MISDIRECTED = "{product} is not served under this host name\n"
_FAILED = "internal error; the events of {product} have the reason\n"
_LONGEST_COOKIE = 8 * 1024  # characters of a header: it has the cookies of all services of the host
_MOST_FIELDS = 100  # of an address with a token in it


@dataclass(frozen=True, slots=True)
class AccessRules:
    """Who may read the pages."""

    product: str  # as responses call it
    accepts_host: Callable[[str], bool]  # whether a Host header means us
    token: str | None  # None: every client that can connect may read
    cookie: str  # the name of the cookie: browsers keep one jar for all ports of a host
    hint: str = ""  # where the token is found, for an answer that asks for it: a line
    open_paths: frozenset[str] = frozenset()  # below the prefix: for these no token is needed
    sessions: Sessions = field(default_factory=Sessions)  # their values are in the cookies, the token is not


class AccessMiddleware:
    """Wraps an application. `refused` gets the address of a refused client, `failed` a path and what it raised."""

    def __init__(
        self,
        app: ASGIApp,
        access: AccessRules,
        refused: Callable[[str], object],
        failed: Callable[[str, Exception], object],
    ) -> None:
        self._app, self._access, self._refused, self._failed = app, access, refused, failed

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        assert scope["type"] == "http"
        begun = False

        async def send_guarded(message: MutableMapping[str, Any]) -> None:
            nonlocal begun
            if message["type"] == "http.response.start":
                begun = True
                headers = MutableHeaders(scope=message)
                for name, value in _HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        answer = self._answer(scope)
        try:
            await (answer or self._app)(scope, receive, send_guarded)
        except Exception as error:
            self._failed(str(scope["path"]), error)
            if not begun:
                await PlainTextResponse(self._say(_FAILED), 500, {"connection": "close"})(scope, receive, send_guarded)

    def _answer(self, scope: Scope) -> Response | None:
        """Return the refusal, or the redirect that begins a session; None if the client may read."""
        headers = Headers(scope=scope)
        if not self._access.accepts_host(headers.get("host", "")):
            return PlainTextResponse(self._say(_MISDIRECTED), 421, {"connection": "close"})
        if self._access.token is None:
            return None
        if self._has_token(headers):
            trust_client(scope)
            return None
        if _path_below_prefix(scope) in self._access.open_paths:
            return None
        if scope["method"] in ("GET", "HEAD") and (welcome := self._welcome(scope)) is not None:
            trust_client(scope)
            return welcome
        client = scope.get("client")
        self._refused(client[0] if client else "")
        return PlainTextResponse(self._say(_UNAUTHORIZED), 401, {"www-authenticate": "Bearer", "connection": "close"})

    def _has_token(self, headers: Headers) -> bool:
        scheme, _, given = headers.get("authorization", "").partition(" ")
        if given and scheme.lower() == "bearer":
            return self._is_token(given.strip())
        return any(map(self._access.sessions.has, _cookies(headers, self._access.cookie)))

    def _welcome(self, scope: Scope) -> Response | None:
        """Return a redirect to the address without the token, if the address has the right one."""
        try:
            text = scope["query_string"].decode("latin-1")
            asked = parse_qsl(text, keep_blank_values=True, max_num_fields=_MOST_FIELDS)
        except ValueError:
            return None
        if not any(name == "token" and self._is_token(value) for name, value in asked):
            return None
        rest = urlencode([(name, value) for name, value in asked if name != "token"])
        # One slash: with two, a browser would take what follows for the name of a host.
        root = str(scope.get("root_path", ""))
        path = root + "/" + quote(_path_below_prefix(scope).lstrip("/\\"))
        answer = RedirectResponse(f"{path}?{rest}" if rest else path, 303)
        value = self._access.sessions.begin()
        answer.set_cookie(self._access.cookie, value, httponly=True, samesite="strict", path=root or "/")
        return answer

    def _say(self, text: str) -> str:
        return text.format(product=self._access.product, hint=self._access.hint)

    def _is_token(self, given: str) -> bool:
        """Whether it is the token. The time this takes does not depend on how much of it is right."""
        assert self._access.token is not None
        return secrets.compare_digest(given.encode(), self._access.token.encode())


def _path_below_prefix(scope: Scope) -> str:
    path, root = str(scope["path"]), str(scope.get("root_path", ""))
    return path.removeprefix(root) if path.startswith(f"{root}/") else path


def _cookies(headers: Headers, name: str) -> Iterator[str]:
    """Yield the values of all cookies of a name, also of other services."""
    # http.cookies takes seconds for a header of backslashes, and clients without a token may send one.
    for header in headers.getlist("cookie"):
        for each in header.split(";") if len(header) <= _LONGEST_COOKIE else ():
            key, _, value = each.partition("=")
            if key.strip() == name:
                yield value.strip()
