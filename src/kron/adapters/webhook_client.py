"""WebhookClient: HTTP requests of hooks and pings, of which only success or the reason of a failure counts.

httpx2 is imported at the first call: a krond whose jobs have no address to call spends no memory on it.
"""

import asyncio
import os
import socket
import ssl
from base64 import b64encode
from collections.abc import Callable
from concurrent.futures import Future
from functools import cache, partial
from http import HTTPStatus
from threading import Thread
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import SplitResult, unquote, urljoin, urlsplit

from kron._version import __version__
from kron.errors import display_text

if TYPE_CHECKING:
    import httpx2

_MOST_REDIRECTS = 5
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_HEADERS = (("User-Agent", f"krond/{__version__}"), ("Connection", "close"), ("Accept-Encoding", "identity"))

Resolve = Callable[..., list[Any]]  # as socket.getaddrinfo


class WebhookRequest(NamedTuple):
    """What to ask for."""

    method: str
    url: str
    body: bytes = b""
    headers: tuple[tuple[str, str], ...] = ()


class WebhookClient:
    """Calls from an event loop of its own, so that imports, names and TLS handshakes hold up no other loop.

    A call uses neither proxies nor cookies, and reads only the head of an answer. Redirects stay on their host.
    """

    def __init__(self, limit: float, resolve: Resolve = socket.getaddrinfo) -> None:
        self._limit, self._resolve = limit, resolve  # seconds for a request with all its redirects
        self._loop: asyncio.AbstractEventLoop | None = None

    async def call(self, request: WebhookRequest) -> str:
        """Return why it failed, empty if it did not."""
        try:
            if self._loop is None:
                runner = asyncio.Runner(loop_factory=partial(_LookupLoop, self._resolve))
                loop = runner.get_loop()
                Thread(target=_serve, args=(runner,), name="kron hooks", daemon=True).start()
                self._loop = loop
            return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(self._call(request), self._loop))
        except RuntimeError as error:  # there is no room for another thread
            return str(error)

    def close(self) -> None:
        """Cancel the calls under way, and let the loop end."""
        if self._loop is not None:
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._loop = None

    async def _call(self, request: WebhookRequest) -> str:
        try:
            import httpx2
        except ModuleNotFoundError:
            return "it needs one more package: pip install 'kron-scheduler[hooks]'"
        try:
            async with (
                asyncio.timeout(self._limit),
                httpx2.AsyncHTTPTransport(verify=_context(), trust_env=False) as transport,
            ):
                return await _follow(request, transport)
        except TimeoutError:
            return f"no answer within {self._limit:g} s"
        except httpx2.InvalidURL:  # its text would show what may be secret
            return "its address is not valid"
        except Exception as error:  # whatever it is, the queue waits for an answer
            return _reason(error)


def _serve(runner: asyncio.Runner) -> None:
    with runner:
        runner.get_loop().run_forever()


async def _follow(request: WebhookRequest, transport: "httpx2.AsyncBaseTransport") -> str:
    for _ in range(_MOST_REDIRECTS + 1):
        status, location = await _send(request, transport)
        if status not in _REDIRECTS or not location:
            return "" if 200 <= status < 300 else f"it answered {status}"
        here, there = urlsplit(request.url), urlsplit(urljoin(request.url, location))
        if refusal := _refusal(here, there):
            return refusal
        request = request._replace(url=there.geturl())
        if status == HTTPStatus.SEE_OTHER:
            request = request._replace(method="GET", body=b"")
    return f"it redirected more than {_MOST_REDIRECTS} times"


async def _send(request: WebhookRequest, transport: "httpx2.AsyncBaseTransport") -> tuple[int, str]:
    """Return the status of an answer, and the address that it names instead; the rest is not read."""
    import httpx2

    headers = [*_HEADERS, *_credentials(urlsplit(request.url)), *request.headers]
    answer = await transport.handle_async_request(
        httpx2.Request(request.method, request.url, headers=headers, content=request.body or None)
    )
    await answer.aclose()
    return answer.status_code, answer.headers.get("Location", "")


@cache
def _context() -> ssl.SSLContext:
    return ssl.create_default_context()  # the certificates of the host, not those of a package


def _credentials(parts: SplitResult) -> list[tuple[str, str]]:
    if parts.username is None:
        return []
    pair = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
    return [("Authorization", f"Basic {b64encode(pair.encode()).decode()}")]


def _refusal(here: SplitResult, there: SplitResult) -> str:
    if there.scheme not in ("http", "https") or (here.scheme, there.scheme) == ("https", "http"):
        return "it redirected to an address that is not safe"
    if here.hostname != there.hostname:
        return f"it redirected to another host, {display_text(there.hostname or 'none')}"
    return ""


def _reason(error: BaseException) -> str:
    """Return what the operating system says, which the library wraps, or else what the library says."""
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, BaseExceptionGroup):  # one error for each address of a host
            cause = cause.exceptions[-1]
        elif isinstance(cause, ConnectionError) and cause.errno:
            return os.strerror(cause.errno)
        elif isinstance(cause, OSError) and cause.strerror:
            return display_text(cause.strerror)
        else:
            cause = cause.__cause__ or cause.__context__
    return display_text(str(error) or type(error).__name__)


class _LookupLoop(asyncio.SelectorEventLoop):
    """An event loop whose threads look names up and nothing else, and end with the process: a resolver may hang."""

    def __init__(self, resolve: Resolve) -> None:
        super().__init__()
        self._resolve = resolve

    async def getaddrinfo(self, *args: Any, **kwargs: Any) -> Any:
        found: Future[list[Any]] = Future()

        def look_up() -> None:
            found.set_running_or_notify_cancel()  # from now on a timeout does not cancel it
            try:
                addresses = self._resolve(*args, **kwargs)
            except BaseException as error:
                found.set_exception(error)
            else:
                found.set_result(addresses)

        Thread(target=look_up, name="kron hook name", daemon=True).start()
        return await asyncio.wrap_future(found)
