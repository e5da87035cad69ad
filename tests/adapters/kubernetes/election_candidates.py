"""ElectionCandidates: replicas that compete for a lease, with a clock and turns that the test controls."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any

from aiohttp import web

from kron.adapters.kubernetes.client import ApiClient
from kron.adapters.kubernetes.kubeconfig import ClusterConfig
from kron.adapters.kubernetes.leader_election import LeaderElector
from kron.errors import ApiError
from tests.adapters.kubernetes.scripted_server import ANONYMOUS, Step, cut, say, serving, status

PATH = "/apis/coordination.k8s.io/v1/namespaces/kron-system/leases"
NOON = 1772366400.25  # 2026-03-01T12:00:00.250000Z


class Leases:
    """What a server does with one lease: it refuses to write what the writer has not seen."""

    def __init__(self) -> None:
        self.lease: dict[str, Any] | None = None
        self.version = 0
        self.verbs: list[str] = []
        self.instead: list[Step] = []  # answers that come in the place of the next ones
        self.loses_answers = False  # writes take effect, but their answers are lost

    @property
    def spec(self) -> dict[str, Any]:
        """What the lease says."""
        assert self.lease is not None
        found: dict[str, Any] = self.lease["spec"]
        return found

    def edit(self, **spec: Any) -> None:
        """Write as another holder."""
        self.version += 1
        self.lease = {"metadata": {"name": "kron", "resourceVersion": str(self.version)}, "spec": spec}

    async def answer(self, request: web.Request) -> web.StreamResponse:
        """Do what is asked."""
        self.verbs.append(request.method)
        if self.instead:
            return await self.instead.pop(0)(request)
        if request.method == "GET":
            assert request.path == f"{PATH}/kron"
            return await (say(self.lease) if self.lease else say(status(404), 404))(request)
        body = await request.json()
        assert (request.path, body["metadata"]["name"]) == (
            PATH if request.method == "POST" else f"{PATH}/kron",
            "kron",
        )
        if request.method == "PUT" and self.lease is None:
            return await say(status(404), 404)(request)
        if body["metadata"].get("resourceVersion") != (self.lease and self.lease["metadata"]["resourceVersion"]):
            return await say(status(409, "Conflict"), 409)(request)
        self.edit(**body["spec"])
        return await (cut if self.loses_answers else say(self.lease))(request)


class TimedApi(ApiClient):
    """Remembers the seconds that each request was given."""

    limits: list[float | None]

    async def request(self, *args: Any, timeout: float | None = None, **options: Any) -> dict[str, Any]:
        self.limits.append(timeout)
        return await super().request(*args, timeout=timeout, **options)


class Candidate:
    """One replica, which waits for `turn` before its next attempt."""

    def __init__(self, election: "ElectionCandidates", api: ApiClient, name: str) -> None:
        self.changes: list[bool] = []
        self.problems: list[ApiError] = []
        self.pauses: list[float] = []
        self._world = election
        self._go = asyncio.Event()
        self.paused = asyncio.Event()
        self.election = LeaderElector(
            api, "kron-system", "kron", name, on_change=self.changes.append, on_problem=self.problems.append,
            monotonic=lambda: election.now, wall=lambda: NOON + election.now, pause=self._pause,
        )  # fmt: skip
        self.task = asyncio.create_task(self.election.run())

    async def _pause(self, seconds: float) -> None:
        self.pauses.append(seconds)
        self.paused.set()
        await self._go.wait()
        self._go.clear()

    async def turn(self, after: float = 0.0) -> bool:
        """Let time pass, let the candidate have its turn, and return whether it leads."""
        await self.paused.wait()
        self.paused.clear()
        self._world.now += after
        self._go.set()
        await self.paused.wait()
        return self.leads

    async def last_turn(self) -> None:
        """Let the candidate go on, and return when it has ended by itself."""
        self._go.set()
        await self.task

    @property
    def leads(self) -> bool:
        """Whether it may write now."""
        return self.election.is_leader()


class ElectionCandidates:
    """The lease, the time and the candidates."""

    def __init__(self, api: TimedApi, leases: Leases) -> None:
        self.now = 0.0
        self.leases = leases
        self.limits = api.limits = []
        self._api = api
        self._candidates: list[Candidate] = []

    async def candidate(self, name: str) -> Candidate:
        """Return a new candidate after its first turn."""
        made = Candidate(self, self._api, name)
        self._candidates.append(made)
        await made.paused.wait()
        return made

    async def end(self) -> None:
        """End all candidates, as a crash would."""
        for candidate in self._candidates:
            candidate.task.cancel()
            with suppress(asyncio.CancelledError):
                await candidate.task


@asynccontextmanager
async def electing(**spec: Any) -> AsyncIterator[ElectionCandidates]:
    """Have a server with a lease that says so, or with none."""
    leases = Leases()
    if spec:
        leases.edit(**spec)
    async with serving(then=leases.answer) as server:
        api = TimedApi(ClusterConfig(server.url, ANONYMOUS))
        election = ElectionCandidates(api, leases)
        try:
            yield election
        finally:
            await election.end()
            await api.close()
