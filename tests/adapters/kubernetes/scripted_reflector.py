"""ScriptedReflector: a reflector with a recording store, a clock without waits, and a scripted API server."""

import asyncio
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

from kron.adapters.kubernetes.cache import Key, ResourceStore
from kron.adapters.kubernetes.client import JOBS, ApiClient
from kron.adapters.kubernetes.reflector import Reflector
from kron.adapters.kubernetes.responses import Backoff
from tests.adapters.kubernetes.scripted_server import ScriptedServer, Step, asking, live, serving
from tests.hosts.operator.fake_cluster import STRICT


@dataclass(frozen=True)
class Thing:
    """What the store keeps of an object."""

    namespace: str
    name: str
    uid: str
    resource_version: str


def parse_thing(document: Mapping[str, Any], _before: Thing | None = None) -> Thing:
    metadata = document["metadata"]
    return Thing(metadata["namespace"], metadata["name"], metadata["uid"], str(metadata["resourceVersion"]))


class Versions(ResourceStore[Thing]):
    """A store that remembers what happened to it."""

    def __init__(self) -> None:
        super().__init__("things", parse_thing, STRICT)
        self.calls: list[str] = []
        self.on_change = self._note

    @property
    def known(self) -> dict[str, str]:
        return {each.name: each.resource_version for each in self.objects.values()}

    def replace(self, found: Mapping[Key, Thing | None], version: str, namespace: str) -> Iterator[None]:
        before = len(self.calls)
        yield from super().replace(found, version, namespace)
        self.calls[before:] = ["replace"]

    def _note(self, before: Thing | None, after: Thing | None) -> None:
        if after is not None:
            self.calls.append(f"put {after.name}")
        elif before is not None:
            self.calls.append(f"remove {before.name}, as it was at {before.resource_version}")


@dataclass
class ScriptedReflector:
    """A server, the store of its objects, and the restarts and waits that the reflector reported."""

    server: ScriptedServer
    api: ApiClient
    store: Versions = field(default_factory=Versions)
    problems: list[str] = field(default_factory=list)
    causes: list[str] = field(default_factory=list)
    waits: list[float] = field(default_factory=list)
    now: float = 0.0

    def __post_init__(self) -> None:
        backoff = Backoff(first=1, longest=5, chance=lambda: 1.0, pause=self._pause)
        self.reflector = Reflector(
            self.api,
            JOBS,
            "ns",
            self.store,
            selector="a=b",
            on_error=lambda error: self.problems.append(error.name),
            on_restart=self.causes.append,
            backoff=backoff,
            chance=lambda: 0.5,
            monotonic=self._time,
        )

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
        scripted = ScriptedReflector(server, api)
        task = asyncio.create_task(scripted.reflector.run())
        try:
            yield scripted
        finally:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task


def after(*script: Step, **options: Any) -> ScriptedReflector:
    """Return the reflector after the script has been played and the server gets another request."""

    async def play() -> ScriptedReflector:
        async with reflecting(*script, **options) as scripted:
            await scripted.server.idle.wait()
            return scripted

    return live(play())
