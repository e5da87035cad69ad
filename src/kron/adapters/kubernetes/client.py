"""Client of an API server: requests and watches, one try each, over keep-alive sockets."""

import asyncio
import json
import os
import socket
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from http import HTTPStatus
from typing import Any, Literal, NamedTuple, Protocol
from urllib.parse import quote
from weakref import WeakSet

import aiohttp
from yarl import URL

from kron._version import __version__
from kron.adapters.kubernetes.credentials import CredentialError
from kron.adapters.kubernetes.kubeconfig import ClusterConfig
from kron.adapters.kubernetes.responses import (
    MAX_RESPONSE_BYTES,
    JsonReader,
    check,
    clock_skew,
    decode_error,
    decode_watch_event,
    is_too_much,
    iter_lines,
    sleep,
)
from kron.errors import AnswerTooLongError, ApiMalformedError, ApiUnreachableError
from kron.kronjob.kronjob import GROUP, PLURAL, VERSION

_OPTIONS = (
    (socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1),
    (socket.IPPROTO_TCP, socket.TCP_KEEPIDLE, 15),  # seconds of silence, then
    (socket.IPPROTO_TCP, socket.TCP_KEEPINTVL, 5),  # a question every so many seconds,
    (socket.IPPROTO_TCP, socket.TCP_KEEPCNT, 3),  # and after so many without an answer the end
    (socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, 30_000),  # milliseconds for what was sent to be acknowledged
)
Verb = Literal["create", "get", "list", "patch", "update", "delete"]
Document = dict[str, Any]
_METHODS = {
    "get": "GET", "list": "GET", "watch": "GET",
    "create": "POST", "patch": "PATCH", "update": "PUT", "delete": "DELETE",
}  # fmt: skip
_TYPES = {"patch": "application/merge-patch+json"}
_SILENCE = 150.0  # seconds without a byte after which a watch ends: bookmarks come each minute, the first after two
_LONGEST_REFUSAL = 1 << 20  # bytes of a refusal that are read; what is shown of it is far less
_FAREWELL, _FAREWELLS = 0.01, 100  # seconds, and how often: a server that lives answers at once, a dead one never
_LEVEL, _LEVELS = 3, {"watch": 4, "list": 5}  # of the fields of a spec, by what an object is wrapped in
_encode = json.JSONEncoder(separators=(",", ":")).encode  # made once, not for every request
_FAILURES = (aiohttp.ClientError, OSError, ValueError)  # those of TLS and of time are among them


class Resource(NamedTuple):
    """A kind of object, or one part of it that is written by itself; the group "" is the cluster's core."""

    group: str
    version: str
    plural: str
    subresource: str = ""

    def path(self, namespace: str, name: str = "") -> str:
        """Return the path of an object or, without a name, of all; the namespace "" is the whole cluster."""
        path = f"/apis/{self.group}/{self.version}" if self.group else f"/api/{self.version}"
        if namespace:
            path += f"/namespaces/{quote(namespace, safe='')}"
        path += f"/{self.plural}"
        if name:
            path += f"/{quote(name, safe='')}"
        return f"{path}/{self.subresource}" if self.subresource else path

    @property
    def label(self) -> str:
        """What numbers and messages call it."""
        return f"{self.plural}/{self.subresource}" if self.subresource else self.plural


KRONJOBS = Resource(GROUP, VERSION, PLURAL)
JOBS = Resource("batch", "v1", "jobs")
EVENTS = Resource("", "v1", "events")
LEASES = Resource("coordination.k8s.io", "v1", "leases")
KRONJOB_STATUS = KRONJOBS._replace(subresource="status")


def keepalive_socket(address: Any) -> socket.socket:
    """Return a socket for an address as `getaddrinfo` tells it."""
    family, kind, protocol, *_ = address
    made = socket.socket(family, kind, protocol)
    for level, option, value in _OPTIONS:
        made.setsockopt(level, option, value)
    return made


class ApiClient:
    """A session with one server. Nothing is tried twice here: the caller knows whether a second try is safe."""

    def __init__(
        self,
        access: ClusterConfig,
        *,
        timeout: float = 30.0,
        silence: float = _SILENCE,
        wall: Callable[[], float] = time.time,
    ) -> None:
        self.server, self.namespace = access.server, access.namespace
        self.clock_skew = 0.0  # seconds by which our clock was ahead of the server's when we last compared
        self.on_response: Callable[[str, str, int], object] | None = None  # verb, resource, code; 0 is no answer
        self._access = access
        self._timeout = timeout
        self._limits = aiohttp.ClientTimeout(total=None, sock_read=silence)
        self._wall = wall
        self._date: str | None = None  # the last one of the server
        self._reader = JsonReader()
        self._sockets: WeakSet[socket.socket] = WeakSet()
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=0, socket_factory=self._socket),
            cookie_jar=aiohttp.DummyCookieJar(),
            headers={"Accept": "application/json", "User-Agent": f"kron/{__version__}"},
        )
        # Otherwise a request whose connection breaks is sent again behind our back, though it may have had its effect.
        self._session._retry_connection = False

    async def request(
        self,
        verb: Verb,
        resource: Resource,
        namespace: str,
        name: str = "",
        body: Document | None = None,
        query: Mapping[str, str] | None = None,
        *,
        timeout: float | None = None,
        longest: int | None = None,
    ) -> Document:
        """Return the server's document, or raise ApiRefusedError or ApiUnreachableError; `patch` merges.

        Of an answer with more than `longest` bytes the rest is not read: AnswerTooLongError. So is an answer of at most
        that many bytes that takes too long to be read; without `longest` it is read in parts.
        """
        data = None if body is None else _encode(body).encode()
        url = self._url(resource.path(namespace, name), query or {})
        limit = self._timeout if timeout is None else timeout
        async with self._asked(verb, resource, url, data, limit=limit) as response:
            most = min(MAX_RESPONSE_BYTES, longest or MAX_RESPONSE_BYTES)
            text = await _read(response, most + 1)
            if len(text) > most or (longest is not None and is_too_much(text)):
                raise AnswerTooLongError(server=self.server, longest=most)
            try:
                return check(verb, await self._reader.read(text, _LEVELS.get(verb, _LEVEL)))
            except ValueError as error:
                raise ApiMalformedError(server=self.server, reason=str(error)) from error

    async def watch(
        self,
        resource: Resource,
        namespace: str,
        since: str,
        *,
        selector: str = "",
        seconds: float = 300.0,
        on_open: Callable[[], object] | None = None,
    ) -> AsyncGenerator[tuple[str, Document], None]:
        """Yield (ADDED | MODIFIED | DELETED | BOOKMARK, object) until the server ends it after so many seconds.

        It also ends when nothing was heard for long: a quiet server and a dead one look the same. What the server says
        of an error is raised as ApiRefusedError (410: `since` is too old), a line that is no event as
        ApiMalformedError, a connection that breaks as ApiUnreachableError. `on_open` hears that the server has agreed
        to be watched.
        """
        query = {"watch": "1", "allowWatchBookmarks": "true", "resourceVersion": since}
        query |= {"timeoutSeconds": str(max(1, int(seconds)))} | ({"labelSelector": selector} if selector else {})
        url = self._url(resource.path(namespace), query)
        async with self._asked("watch", resource, url, None, limit=None) as response:
            if on_open is not None:
                on_open()
            with suppress(TimeoutError):  # it fell silent: whether the server is still there, the next request tells
                async for line in self._lines(response):
                    try:
                        found = decode_watch_event(await self._reader.read(line, _LEVELS["watch"]))
                    except ValueError as error:
                        raise ApiMalformedError(server=self.server, reason=str(error)) from error
                    yield found

    async def _lines(self, response: aiohttp.ClientResponse) -> AsyncIterator[bytes]:
        try:
            async for line in iter_lines(response.content.iter_any()):
                yield line
        except OverflowError as error:
            raise AnswerTooLongError(server=self.server, longest=MAX_RESPONSE_BYTES) from error

    async def close(self) -> None:
        """End all connections, and return when they have ended: the last words of TLS outlast their session."""
        await self._session.close()
        for _ in range(_FAREWELLS):
            if all(made.fileno() < 0 for made in self._sockets):
                return
            await sleep(_FAREWELL)

    @asynccontextmanager
    async def _asked(
        self, verb: str, resource: Resource, url: URL, data: bytes | None, *, limit: float | None
    ) -> AsyncIterator[aiohttp.ClientResponse]:
        """Ask, and turn whatever goes wrong until the block ends into an ApiError; without a limit, it may go on."""
        try:
            async with asyncio.timeout(limit):
                async with asyncio.timeout(self._timeout if limit is None else None):
                    response = await self._request(verb, resource, url, data)
                try:
                    self._note(verb, resource, response.status)
                    self._compare_clocks(response.headers.get("Date"))
                    if response.status == HTTPStatus.UNAUTHORIZED:
                        self._access.credential.invalidate()
                    if response.status >= HTTPStatus.MULTIPLE_CHOICES:
                        text = await _read(response, _LONGEST_REFUSAL)
                        said = await self._read_refusal(text)
                        raise decode_error(response.status, response.reason, response.headers, said, text)
                    yield response
                finally:
                    response.release()
        except (*_FAILURES, CredentialError) as error:
            raise self._unreachable(_told(error)) from error

    async def _read_refusal(self, text: bytes) -> object:
        """Return the body of a refusal, None if it is no JSON: a proxy on the way may refuse, too."""
        with suppress(ValueError):
            return await self._reader.read(text, _LEVEL)
        return None

    async def _request(self, verb: str, resource: Resource, url: URL, data: bytes | None) -> aiohttp.ClientResponse:
        """Return an answer whose body is still to come; that there was none is noted, too."""
        try:
            proof = await self._access.credential.authenticate()
            headers = {} if data is None else {"Content-Type": _TYPES.get(verb, "application/json")}
            if proof.authorization is not None:
                headers["Authorization"] = proof.authorization
            return await self._session.request(
                _METHODS[verb],
                url,
                data=data,
                headers=headers,
                ssl=proof.tls if proof.tls is not None else True,
                proxy=self._access.proxy,
                server_hostname=self._access.server_name if proof.tls is not None else None,
                allow_redirects=False,
                timeout=self._limits,
            )
        except BaseException:
            self._note(verb, resource, 0)
            raise

    def _socket(self, address: Any) -> socket.socket:
        made = keepalive_socket(address)
        self._sockets.add(made)
        return made

    def _note(self, verb: str, resource: Resource, code: int) -> None:
        if self.on_response is not None:
            self.on_response(verb, resource.label, code)

    def _compare_clocks(self, date: str | None) -> None:
        """Compare once for each second of the server, since its header has no parts of one."""
        if date != self._date:
            self._date = date
            skew = clock_skew(date, self._wall())
            self.clock_skew = self.clock_skew if skew is None else skew

    def _url(self, path: str, query: Mapping[str, str]) -> URL:
        return URL(f"{self._access.server}{path}", encoded=True).with_query(query)

    def _unreachable(self, reason: str) -> ApiUnreachableError:
        return ApiUnreachableError(server=self._access.server, reason=reason)


async def _read(response: aiohttp.ClientResponse, longest: int) -> bytes:
    """Return the body of an answer, at most so many bytes of it."""
    parts, left = [], longest
    async for chunk in response.content.iter_any():
        parts.append(chunk[:left])
        left -= len(chunk)
        if left <= 0:
            response.close()  # its connection goes with it: what is left of the answer would have to be read
            break
    return b"".join(parts)


def _told(error: BaseException) -> str:
    if isinstance(error, TimeoutError):
        return "no answer in time"
    if isinstance(error, aiohttp.ClientConnectorError) and not isinstance(error, aiohttp.ClientSSLError):
        number = error.os_error.errno or 0  # its own text tells where things lie in memory; below 0 are those of names
        if number > 0:
            return os.strerror(number)
        return error.strerror or str(error.os_error) or type(error.os_error).__name__
    return str(error) or type(error).__name__


class ResourceClient(Protocol):
    """Asks an API server."""

    async def request(
        self,
        verb: Verb,
        resource: Resource,
        namespace: str,
        name: str = "",
        body: Document | None = None,
        query: Mapping[str, str] | None = None,
    ) -> Document:
        """Return the server's document, or raise ApiRefusedError or ApiUnreachableError; nothing is tried twice."""
