"""Listening: whether an operator is well, whether it is ready, and its numbers, over HTTP."""

from collections.abc import Callable
from typing import Any

from kron.hosts.listener.door import open_door
from kron.hosts.listener.server import Server

_TEXT = b"text/plain; charset=utf-8"
_NUMBERS = b"text/plain; version=0.0.4; charset=utf-8"
Answer = Callable[[], tuple[int, bytes, bytes]]


class Listening:
    """Takes its address at once, so that a start fails before anything else."""

    def __init__(self, address: str) -> None:
        self._door = open_door(address)
        self._server: Server | None = None

    @property
    def address(self) -> str:
        """Where it listens, with the real port."""
        return self._door.name

    async def open(
        self, is_healthy: Callable[[], bool], is_ready: Callable[[], bool], render: Callable[[], bytes]
    ) -> None:
        """Begin to answer."""
        answers: dict[str, Answer] = {
            "/healthz": lambda: _word(is_healthy()),
            "/readyz": lambda: _word(is_ready()),
            "/metrics": lambda: (200, render(), _NUMBERS),
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

        self._server = Server(self._door, app)
        await self._server.open()

    async def close(self) -> None:
        """Answer nobody any more."""
        if self._server is not None:
            await self._server.close()
        self._door.close()


def _word(good: bool) -> tuple[int, bytes, bytes]:  # noqa: FBT001  # the answer to the only question
    return (200, b"ok\n", _TEXT) if good else (503, b"not yet\n", _TEXT)
