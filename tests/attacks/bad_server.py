"""A proxy between a controller and a cluster that answers some requests with invalid responses."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import datetime, timedelta
from io import StringIO
from typing import Any

from aiohttp import web

from kron.adapters.virtual_clock import VirtualClock
from kron.hosts.operator.controller import Controller, OperatorConfig
from kron.hosts.operator.log import OperatorLog
from tests.adapters.kubernetes.scripted_server import Step, asking, event, hang, page, say, serving
from tests.hosts.operator.replica import NOON

KINDS = {"kronjobs": "KronJob", "jobs": "Job", "leases": "Lease", "events": "Event"}
_TURNS = 3_000  # of a millisecond, in each of which the clock of the controller goes on by a second
_SECOND = timedelta(seconds=1)


def kronjob(name: str, version: str = "90") -> dict[str, Any]:
    """Return a KronJob that was due a moment ago."""
    metadata = {"namespace": "good", "name": name, "uid": f"uid-{name}", "resourceVersion": version, "generation": 1}
    created = {"creationTimestamp": "2026-03-02T11:50:00Z"}
    spec = {"schedule": "* * * * *", "policy": {"deadline": "1h"}, "jobTemplate": {"spec": {"template": {}}}}
    return {"metadata": metadata | created, "spec": spec}


class BadServer:
    """Answers the first requests of one kind with what a test says, and all others as a server does.

    Until all bad answers were given there is no KronJob: the Job of the only one shows that the controller survived.
    """

    def __init__(self, request: str, *bad: Step) -> None:
        self._request, self._bad = request, list(bad)
        self._over = asyncio.Event()
        if request.partition(" ")[0] not in ("list", "watch"):  # a request that comes because there is one
            self._over.set()
        self.made: list[str] = []  # KronJobs whose Jobs were created
        self.given = 0  # bad answers

    @property
    def has_shown_it(self) -> bool:
        """Whether a Job was created although all bad answers were given."""
        return bool(self.made) and not self._bad

    async def answer(self, request: web.Request) -> web.StreamResponse:
        """Answer one request."""
        plural, name = _asked(request)
        verb = "watch" if "watch" in request.query else _verb(request.method, name)
        if self._bad and self._request == f"{verb} {plural}":
            self.given += 1
            step = self._bad.pop(0)
            if not self._bad:
                self._over.set()
            return await step(request)
        body = json.loads(await request.text() or "null")
        if verb == "watch":
            response = web.StreamResponse()
            await response.prepare(request)
            if plural == "kronjobs":
                await self._over.wait()
                await response.write(event("ADDED", kronjob("victim", "101")))
            return await hang(request)
        if verb == "list":
            return await page(*([kronjob("victim")] if plural == "kronjobs" and self._over.is_set() else []))(request)
        if verb == "get":
            return await say({"kind": "Status", "code": 404}, 404)(request)
        if verb == "create" and plural == "jobs":
            self.made.append(body["metadata"]["ownerReferences"][0]["name"])
        found = kronjob(name, "91") | {"status": body["status"]} if verb == "patch" and plural == "kronjobs" else body
        found["metadata"] = {"uid": f"uid-{name}", "resourceVersion": "91", "name": name, **found["metadata"]}
        return await say(found)(request)


def _asked(request: web.Request) -> tuple[str, str]:
    """Return which resource is asked for, and which object of it, if one is."""
    parts = request.path.split("/")
    plural = next(part for part in parts if part in KINDS)
    rest = parts[parts.index(plural) + 1 :]
    return plural, rest[0] if rest else ""


def _verb(method: str, name: str) -> str:
    verbs = {"POST": "create", "PATCH": "patch", "PUT": "update", "DELETE": "delete"}
    return verbs.get(method, "get" if name else "list")


class Operator:
    """A controller that asks a server over HTTP, on a virtual clock."""

    def __init__(self, controller: Controller, life: "asyncio.Task[None]", clock: VirtualClock, log: StringIO) -> None:
        self.controller, self.life, self.clock, self._log = controller, life, clock, log

    async def until_made(self, server: BadServer) -> None:
        """Wait until the Job of the good KronJob is created, or the controller has ended."""
        for _ in range(_TURNS):
            if server.has_shown_it or self.life.done():
                return
            await self.clock.advance(_SECOND)
            await asyncio.sleep(0.001)  # noqa: TID251  # the wire is real

    def lines(self, event: str) -> list[dict[str, Any]]:
        """Return the log lines of an event."""
        found = [json.loads(line) for line in self._log.getvalue().splitlines()]
        return [line for line in found if line["event"] == event]


@asynccontextmanager
async def operating(server: BadServer, *, leader_elect: bool = False) -> AsyncIterator[Operator]:
    """Run a controller against a server as long as the block, and see that it ends as one that is asked to."""
    clock, log, asked = VirtualClock(_after(NOON)), StringIO(), asyncio.Event()

    async def pause(seconds: float) -> None:
        await clock.sleep(timedelta(seconds=seconds / 50))  # that it waits is enough

    async with serving(then=server.answer) as place, asking(place) as api:
        options = OperatorConfig(leader_elect=leader_elect, lease_namespace="kron-system")
        controller = Controller(api, clock, OperatorLog(log, clock.now), options, pause=pause)
        life = asyncio.create_task(controller.run(asked))
        yield Operator(controller, life, clock, log)
        asked.set()
        while not life.done():
            await clock.advance(_SECOND)
            await asyncio.sleep(0.001)  # noqa: TID251  # the wire is real
        await life


def _after(at: datetime) -> datetime:
    return at + timedelta(seconds=30)
