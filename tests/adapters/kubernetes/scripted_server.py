"""ScriptedServer: an API server on loopback that answers from a script and records its requests."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from contextlib import asynccontextmanager
from typing import Any, NamedTuple, TypeVar

from aiohttp import web

from kron.adapters.kubernetes.client import ApiClient
from kron.adapters.kubernetes.credentials import Credential, RequestAuth, StaticCredential
from kron.adapters.kubernetes.kubeconfig import ClusterConfig

Step = Callable[[web.Request], Awaitable[web.StreamResponse]]
Answer = TypeVar("Answer")
ANONYMOUS = StaticCredential(RequestAuth(None, None))


class ReceivedRequest(NamedTuple):
    """A request as the server saw it."""

    method: str
    path: str
    query: dict[str, str]
    headers: dict[str, str]
    body: Any


class ScriptedServer:
    """Answers one request after the other by its script; what is asked beyond it waits for ever, or has one answer."""

    def __init__(self, *script: Step, then: Step | None = None) -> None:
        self.script = [*script]
        self.then = then
        self.asked: list[ReceivedRequest] = []
        self.left = asyncio.Event()  # a client went away in the middle of an answer
        self.idle = asyncio.Event()  # a request came that the script does not answer
        self.url = ""

    async def answer(self, request: web.Request) -> web.StreamResponse:
        """Take the next step of the script."""
        text = await request.text()
        body = json.loads(text) if text else None
        self.asked.append(
            ReceivedRequest(request.method, request.path, dict(request.query), dict(request.headers), body)
        )
        try:
            if step := self.script.pop(0) if self.script else self.then:
                return await step(request)
            self.idle.set()
            return await hang(request)
        except asyncio.CancelledError:
            self.left.set()
            raise


@asynccontextmanager
async def serving(*script: Step, then: Step | None = None, ssl: Any = None) -> AsyncIterator[ScriptedServer]:
    """Run a server as long as the block."""
    server = ScriptedServer(*script, then=then)
    app = web.Application()
    app.router.add_route("*", "/{path:.*}", server.answer)
    runner = web.AppRunner(app, access_log=None, handler_cancellation=True, shutdown_timeout=0.01)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0, ssl_context=ssl)
    await site.start()
    server.url = f"{'https' if ssl else 'http'}://127.0.0.1:{runner.addresses[0][1]}"
    try:
        yield server
    finally:
        await runner.cleanup()


@asynccontextmanager
async def asking(
    where: ScriptedServer | ClusterConfig | str, credential: Credential = ANONYMOUS, **options: Any
) -> AsyncIterator[ApiClient]:
    """Have a session with a server, an address, or whatever an access names, as long as the block."""
    if not isinstance(where, ClusterConfig):
        where = ClusterConfig(where.url if isinstance(where, ScriptedServer) else where, credential)
    api = ApiClient(where, **options)
    try:
        yield api
    finally:
        await api.close()


def live(play: Coroutine[Any, Any, Answer]) -> Answer:
    """Run a test's story; one that hangs fails."""

    async def bounded() -> Answer:
        async with asyncio.timeout(120):
            return await play

    return asyncio.run(bounded())


async def hang(_: web.Request) -> web.StreamResponse:
    """Never answer."""
    await asyncio.Event().wait()
    raise AssertionError


async def cut(request: web.Request) -> web.StreamResponse:
    """End the connection instead of answering."""
    assert request.transport is not None
    request.transport.abort()
    return web.Response()


def say(document: Any, code: int = 200, **headers: str) -> Step:
    """Answer with a document."""

    async def step(_: web.Request) -> web.StreamResponse:
        return web.json_response(document, status=code, headers=headers)

    return step


def status(code: int, reason: str = "", message: str = "", **details: Any) -> dict[str, Any]:
    """Return what a server says no with."""
    return {"kind": "Status", "code": code, "reason": reason, "message": message, "details": details}


def refuse(code: int, reason: str = "", message: str = "", **headers: str) -> Step:
    """Say no."""
    return say(status(code, reason, message), code, **headers)


def page(*items: dict[str, Any], version: str = "100", more: str = "") -> Step:
    """Answer with a page of a list."""
    return say({"metadata": {"resourceVersion": version, **({"continue": more} if more else {})}, "items": [*items]})


def stream(*lines: bytes | tuple[str, dict[str, Any]], end: str = "clean") -> Step:
    """Answer with the lines of a watch, and then end it, cut it or fall silent."""

    async def step(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse()
        await response.prepare(request)
        for line in lines:
            await response.write(line if isinstance(line, bytes) else event(*line))
        if end == "silent":
            return await hang(request)
        return response if end == "clean" else await cut(request)

    return step


def event(kind: str, document: dict[str, Any]) -> bytes:
    """Return a line of a watch."""
    return json.dumps({"type": kind, "object": document}).encode() + b"\n"


def thing(name: str, version: str = "1", namespace: str = "ns", **more: Any) -> dict[str, Any]:
    """Return an object."""
    return {"metadata": {"namespace": namespace, "name": name, "uid": name, "resourceVersion": version}, **more}
