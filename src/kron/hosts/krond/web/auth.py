"""Access to the pages: the token file, sessions in cookies, the Host header, and the headers of every answer."""

import errno
import os
import secrets
import stat
from collections.abc import Callable, Iterator, MutableMapping
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from time import monotonic
from typing import Any, NamedTuple
from urllib.parse import parse_qsl, quote, urlencode

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from kron.errors import ListenError
from kron.web.connections import trust_client

_SHORTEST = 16  # characters of a token that somebody else has made
_MOST = 4096  # bytes of a file that can be one


class Token(NamedTuple):
    """A text, and whether it was made just now."""

    text: str
    is_new: bool


def read_token(path: Path) -> Token:
    """Return the token of a file, made if there is none; one that others may read or write is refused."""
    try:
        opened = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
    except FileNotFoundError:
        return _make(path)
    except OSError as error:
        reason = "is a link" if error.errno == errno.ELOOP else error.strerror or str(error)
        raise _failure(path, reason) from error
    found = os.fstat(opened)
    if not stat.S_ISREG(found.st_mode):
        os.close(opened)
        raise _failure(path, "is not a file")
    with os.fdopen(opened, "rb") as file:
        if found.st_uid not in (0, os.geteuid()):
            raise _failure(path, f"belongs to uid {found.st_uid}", "let it belong to root, or to who runs krond")
        if found.st_mode & 0o027:
            raise _failure(path, f"has mode {stat.S_IMODE(found.st_mode):04o}", f"chmod 600 {path}")
        text = file.read(_MOST).decode("ascii", "replace").strip()
    if len(text) < _SHORTEST or not all("!" <= character <= "~" for character in text):
        raise _failure(path, f"is no token of at least {_SHORTEST} characters", "remove it, and krond makes one")
    return Token(text, is_new=False)


def _make(path: Path) -> Token:
    """Make a token that is there as a whole or not at all, whenever the power fails."""
    text = secrets.token_urlsafe(32)
    beside = path.with_name(f"{path.name}.{secrets.token_hex(4)}")
    try:
        made = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        with os.fdopen(made, "w") as file:
            file.write(f"{text}\n")
            file.flush()
            os.fsync(made)
        beside.rename(path)
    except OSError as error:
        beside.unlink(missing_ok=True)
        raise _failure(path, f"cannot be made: {error.strerror}") from error
    return Token(text, is_new=True)


def _failure(path: Path, reason: str, fix: str = "") -> ListenError:
    return ListenError(address=f"with token {path}", reason=reason, fix=fix)


_MOST_SESSIONS = 100  # sessions; for one more the oldest ends
_LASTING = 12 * 3600.0  # seconds
_LONGEST = 64  # characters of a value that can be one


class Sessions:
    """The sessions of one krond, in memory: they end with it, and so with its token.

    A cookie must not be the token. Browsers send it to every port of a host, also to the services of other users.
    """

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
        """Whether a value is that of a session; how long that takes does not tell how much of it is right."""
        return len(value) <= _LONGEST and self._monotonic() < self._ends.get(_digest(value), 0.0)


def _digest(value: str) -> bytes:
    return sha256(value.encode(errors="replace")).digest()


OPEN_TO_ALL = frozenset({"/healthz"})
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
    "krond wants its token. It is in the file `token` of krond's state directory, unless `token_file` names another;\n"
    "open this address once with ?token=TOKEN behind it, or send `Authorization: Bearer TOKEN`.\n"
)
_MISDIRECTED = "krond does not answer to this name of its host\n"
_FAILED = "krond could not answer this; its events say why\n"
_LONGEST_COOKIE = 8 * 1024  # characters of a header: it has the cookies of all services of the host
_MOST_FIELDS = 100  # of an address with a token in it


@dataclass(frozen=True, slots=True)
class AccessRules:
    """Who may come in."""

    knows: Callable[[str], bool]  # whether a Host header means us
    token: str | None  # None: whoever has come this far may come in
    cookie: str  # the name of the cookie: browsers keep one jar for all ports of a host
    sessions: Sessions = field(default_factory=Sessions)  # their values are in the cookies, the token is not


class AccessMiddleware:
    """Wraps an application. `refused` is told where somebody came from, `failed` what a page raised."""

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
                await PlainTextResponse(_FAILED, 500, {"connection": "close"})(scope, receive, send_guarded)

    def _answer(self, scope: Scope) -> Response | None:
        """Return what is said at the gate already, None for who may come in."""
        headers = Headers(scope=scope)
        if not self._access.knows(headers.get("host", "")):
            return PlainTextResponse(_MISDIRECTED, 421, {"connection": "close"})
        if self._access.token is None:
            return None
        if self._has_token(headers):
            trust_client(scope)
            return None
        if scope["path"] in OPEN_TO_ALL:
            return None
        if scope["method"] in ("GET", "HEAD") and (welcome := self._welcome(scope)) is not None:
            trust_client(scope)
            return welcome
        client = scope.get("client")
        self._refused(client[0] if client else "")
        return PlainTextResponse(_UNAUTHORIZED, 401, {"www-authenticate": "Bearer", "connection": "close"})

    def _has_token(self, headers: Headers) -> bool:
        scheme, _, given = headers.get("authorization", "").partition(" ")
        if given and scheme.lower() == "bearer":
            return self._is_token(given.strip())
        return any(map(self._access.sessions.has, _cookies(headers, self._access.cookie)))

    def _welcome(self, scope: Scope) -> Response | None:
        """Return the way to the page without the token in its address, for who has the right one there."""
        try:
            text = scope["query_string"].decode("latin-1")
            asked = parse_qsl(text, keep_blank_values=True, max_num_fields=_MOST_FIELDS)
        except ValueError:
            return None
        if not any(name == "token" and self._is_token(value) for name, value in asked):
            return None
        rest = urlencode([(name, value) for name, value in asked if name != "token"])
        # One slash: with two, a browser would take what follows for the name of a host.
        path = "/" + quote(scope["path"].lstrip("/\\"))
        answer = RedirectResponse(f"{path}?{rest}" if rest else path, 303)
        value = self._access.sessions.begin()
        answer.set_cookie(self._access.cookie, value, httponly=True, samesite="strict", path="/")
        return answer

    def _is_token(self, given: str) -> bool:
        """Whether it is the token; how long that takes does not tell how much of it is right."""
        assert self._access.token is not None
        return secrets.compare_digest(given.encode(), self._access.token.encode())


def _cookies(headers: Headers, name: str) -> Iterator[str]:
    """Yield the values of the cookies of a name, as they were set: another service may have set one, too.

    http.cookies takes seconds for a header of backslashes, and this is done for clients without a token.
    """
    for header in headers.getlist("cookie"):
        for each in header.split(";") if len(header) <= _LONGEST_COOKIE else ():
            key, _, value = each.partition("=")
            if key.strip() == name:
                yield value.strip()
