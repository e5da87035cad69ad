"""ProbeServer: health, readiness and metrics of an operator over HTTP."""

import math
from collections.abc import Callable
from typing import Any

from kron.web.connections import ConnectionLimits
from kron.web.listener import HttpServer, bind

_TEXT = b"text/plain; charset=utf-8"
_NUMBERS = b"text/plain; version=0.0.4; charset=utf-8"
ProbeHandler = Callable[[], tuple[int, bytes, bytes]]
_FRESH = 1.0  # seconds for which the metrics are not rendered again: there is no token, and rendering takes long
# Connections at a time: in each turn of the loop every one may ask once, and Jobs wait meanwhile. There is no token.
_LIMITS = ConnectionLimits(most=16, for_token=0, for_client=8)


class ProbeServer:
    """Binds its address at once, so that a start fails before anything else."""

    def __init__(self, address: str) -> None:
        self._door = bind(address)
        self._server: HttpServer | None = None

    @property
    def address(self) -> str:
        """Where it listens, with the real port."""
        return self._door.name

    async def open(
        self,
        is_healthy: Callable[[], bool],
        is_ready: Callable[[], bool],
        render: Callable[[], bytes],
        monotonic: Callable[[], float],
    ) -> None:
        """Begin to answer."""
        numbers = CachedMetrics(render, monotonic)
        answers: dict[str, ProbeHandler] = {
            "/healthz": lambda: _word(is_healthy()),
            "/readyz": lambda: _word(is_ready()),
            "/metrics": lambda: (200, numbers(), _NUMBERS),
        }

        async def app(scope: Any, _receive: Any, send: Any) -> None:
            answer = answers.get(scope["path"])
            code, body, kind = (404, b"not found\n", _TEXT) if answer is None else answer()
            if scope["method"] not in ("GET", "HEAD"):
                code, body, kind = 405, b"GET or HEAD\n", _TEXT
            length = str(len(body)).encode()
            headers = [(b"content-type", kind), (b"content-length", length), (b"cache-control", b"no-store")]
            await send({"type": "http.response.start", "status": code, "headers": headers})
            await send({"type": "http.response.body", "body": b"" if scope["method"] == "HEAD" else body})

        self._server = HttpServer(self._door, app, limits=_LIMITS)
        await self._server.open()

    async def close(self) -> None:
        """Stop, and close the address."""
        if self._server is not None:
            await self._server.close()
        self._door.close()


class CachedMetrics:
    """Metrics, rendered at most once a second."""

    def __init__(self, make: Callable[[], bytes], monotonic: Callable[[], float]) -> None:
        self._make, self._monotonic = make, monotonic
        self._text, self._until = b"", -math.inf

    def __call__(self) -> bytes:
        """Return the text as it was within the last second."""
        now = self._monotonic()
        if now >= self._until:
            self._text, self._until = self._make(), now + _FRESH
        return self._text


def _word(good: bool) -> tuple[int, bytes, bytes]:  # noqa: FBT001  # its only input
    return (200, b"ok\n", _TEXT) if good else (503, b"not yet\n", _TEXT)
