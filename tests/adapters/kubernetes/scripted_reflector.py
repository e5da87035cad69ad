"""A view that remembers, and a reflector that never waits for time, over a server that answers by a script."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

from kron.adapters.kubernetes.client import ApiClient
from kron.adapters.kubernetes.reflector import Key, Reflector
from kron.adapters.kubernetes.resources import JOBS
from kron.adapters.kubernetes.responses import Backoff
from kron.errors import ApiError
from tests.adapters.kubernetes.scripted_server import ScriptedServer, Step, asking, live, serving


class Versions:
    """A view that keeps the version of each object, and remembers what it was told."""

    def __init__(self) -> None:
        self.known: dict[str, str] = {}
        self.told: list[str] = []
        self.problems: list[str] = []

    def keep(self, document: dict[str, Any]) -> str:
        return str(document["metadata"]["resourceVersion"])

    def replace(self, kept: dict[Key, str], _version: str) -> tuple[None, ...]:
        self.known = {name: version for (_, name), version in kept.items()}
        self.told.append("replace")
        return ()

    def put(self, key: Key, kept: str) -> None:
        self.known[key[1]] = kept
        self.told.append(f"put {key[1]}")

    def remove(self, key: Key, kept: str) -> None:
        self.told.append(f"remove {key[1]} as it was at {kept}, of {self.known.pop(key[1])}")

    def problem(self, error: ApiError) -> None:
        self.problems.append(error.name)


@dataclass
class ScriptedReflector:
    """A server, the view of it, and what was told of restarts and of waiting."""

    server: ScriptedServer
    api: ApiClient
    view: Versions = field(default_factory=Versions)
    causes: list[str] = field(default_factory=list)
    waits: list[float] = field(default_factory=list)
    now: float = 0.0

    def __post_init__(self) -> None:
        backoff = Backoff(first=1, longest=5, chance=lambda: 1.0, pause=self._pause)
        self.reflector = Reflector(
            self.api, JOBS, "ns", self.view, selector="a=b", backoff=backoff, chance=lambda: 0.5, monotonic=self._time
        )
        self.reflector.on_restart = self.causes.append

    def _time(self) -> float:
        return self.now

    async def _pause(self, seconds: float) -> None:
        self.waits.append(seconds)

    def lasting(self, seconds: float, step: Step) -> Step:
        """Return the step, which takes that long."""

        async def slow(request: web.Request) -> web.StreamResponse:
            self.now += seconds
            return await step(request)

        return slow

    def queries(self, *keys: str) -> list[tuple[str | None, ...]]:
        """Return what the server was asked, one row a request."""
        return [tuple(asked.query.get(key) for key in keys) for asked in self.server.asked]


@asynccontextmanager
async def reflecting(*script: Step, **options: Any) -> AsyncIterator[ScriptedReflector]:
    """Reflect a server, without waiting for time, as long as the block."""
    async with serving(*script) as server, asking(server, **options) as api:
        world = ScriptedReflector(server, api)
        task = asyncio.create_task(world.reflector.run())
        try:
            yield world
        finally:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task


def after(*script: Step, **options: Any) -> ScriptedReflector:
    """Return the world when the script has been played and the server is asked for more."""

    async def play() -> ScriptedReflector:
        async with reflecting(*script, **options) as world:
            await world.server.idle.wait()
            return world

    return live(play())
