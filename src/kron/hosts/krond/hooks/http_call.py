"""HttpCaller: one HTTP request in a thread of its own; whatever the other side does, it is over in time."""

import asyncio
import http.client
import socket
import ssl
import threading
from base64 import b64encode
from contextlib import suppress
from functools import cache
from typing import NamedTuple
from urllib.parse import SplitResult, unquote, urljoin, urlsplit

from kron._version import __version__

_MOST_REDIRECTS = 5
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_MOST_THREADS = 64  # also those whose time is over, but which still wait for the name of a host


class Request(NamedTuple):
    """What to ask for."""

    method: str
    url: str
    body: bytes = b""
    headers: tuple[tuple[str, str], ...] = ()


class HttpCaller:
    """Proxies and cookies mean nothing to it, answers no more than their status. Redirects stay on their host."""

    def __init__(self, limit: float) -> None:
        self._limit = limit  # seconds for a request with all its redirects
        self._too_late = f"no answer within {limit:g} s"
        self._threads = 0

    async def call(self, request: Request) -> str:
        """Return why it failed, empty if it did not."""
        if self._threads >= _MOST_THREADS:
            return "too many earlier calls still wait"
        exchange, done = _Exchange(request, self._limit), asyncio.get_running_loop().create_future()
        try:
            threading.Thread(target=self._work, args=(exchange, done), name="kron hook", daemon=True).start()
        except RuntimeError as error:
            return str(error)
        self._threads += 1
        try:
            async with asyncio.timeout(self._limit):
                return await asyncio.shield(done)
        except TimeoutError:
            return self._too_late
        finally:
            exchange.cut()

    def _work(self, exchange: "_Exchange", done: "asyncio.Future[str]") -> None:
        try:
            found = exchange.run()
        except TimeoutError:  # of a single step: it has the same limit as all together
            found = self._too_late
        except Exception as error:  # whatever it is, somebody waits
            found = _text(error)
        with suppress(RuntimeError):  # the loop is closed: nobody waits any more
            done.get_loop().call_soon_threadsafe(self._finish, done, found)

    def _finish(self, done: "asyncio.Future[str]", found: str) -> None:
        self._threads -= 1
        if not done.done():
            done.set_result(found)


class _Exchange:
    """A request with its redirects. `cut` ends it from another thread."""

    def __init__(self, request: Request, limit: float) -> None:
        self._request, self._limit = request, limit
        self._connection: http.client.HTTPConnection | None = None
        self._is_cut = False

    def run(self) -> str:
        request = self._request
        for _ in range(_MOST_REDIRECTS + 1):
            status, location = self._ask(request)
            if status not in _REDIRECTS or not location:
                return "" if 200 <= status < 300 else f"it answered {status}"
            here, there = urlsplit(request.url), urlsplit(urljoin(request.url, location))
            if refusal := _refusal(here, there):
                return refusal
            request = request._replace(url=there.geturl())
            if status == http.HTTPStatus.SEE_OTHER:
                request = request._replace(method="GET", body=b"")
        return f"it redirected more than {_MOST_REDIRECTS} times"

    def cut(self) -> None:
        """End it."""
        self._is_cut = True
        connection = self._connection
        sock = None if connection is None else connection.sock
        if sock is not None:
            with suppress(OSError):
                sock.shutdown(socket.SHUT_RDWR)

    def _ask(self, request: Request) -> tuple[int, str]:
        parts = urlsplit(request.url)
        connection = self._connection = _connection(parts, self._limit)
        try:
            connection.connect()
            if self._is_cut:
                raise TimeoutError("it took too long")
            path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
            headers = {"User-Agent": f"krond/{__version__}", "Connection": "close", **_credentials(parts)}
            connection.request(request.method, path, request.body or None, headers | dict(request.headers))
            answer = connection.getresponse()
            return answer.status, answer.getheader("Location") or ""
        finally:
            connection.close()


def _connection(parts: SplitResult, limit: float) -> http.client.HTTPConnection:
    host = parts.hostname or ""
    if parts.scheme == "https":
        return http.client.HTTPSConnection(host, parts.port, timeout=limit, context=_context())
    return http.client.HTTPConnection(host, parts.port, timeout=limit)


@cache
def _context() -> ssl.SSLContext:
    return ssl.create_default_context()


def _credentials(parts: SplitResult) -> dict[str, str]:
    if parts.username is None:
        return {}
    pair = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
    return {"Authorization": f"Basic {b64encode(pair.encode()).decode()}"}


def _refusal(here: SplitResult, there: SplitResult) -> str:
    if there.scheme not in ("http", "https") or (here.scheme, there.scheme) == ("https", "http"):
        return "it redirected to an address that is not safe"
    if here.hostname != there.hostname:
        return f"it redirected to another host, {there.hostname}"
    return ""


def _text(error: Exception) -> str:
    reason = getattr(error, "strerror", None) or str(error)
    return reason or type(error).__name__
