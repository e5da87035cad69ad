"""A whole controller on a virtual clock, and its connection to a cluster."""

import asyncio
import copy
import io
import json
from collections.abc import AsyncGenerator, Callable
from datetime import timedelta
from typing import Any, cast

from kron.adapters.kubernetes.client import ApiClient, Document, Resource, Verb
from kron.errors import ApiRefusedError, ApiUnreachableError
from kron.hosts.operator.controller import Controller, OperatorConfig
from kron.hosts.operator.log import OperatorLog
from tests.hosts.operator.fake_cluster import FakeCluster, refused

OPTIONS = OperatorConfig(lease_namespace="kron-system")


class ApiConnection:
    """What a process sees of the API: lists and watches, too. It may be cut, for all or for some requests."""

    def __init__(self, cluster: FakeCluster) -> None:
        self._cluster = cluster
        self.clock_skew = 0.0
        self.namespace = None
        self.server = "https://test"
        self.on_response: Callable[[str, str, int], object] | None = None
        self._cut: frozenset[str] | None = frozenset()  # "jobs", "watch jobs"; None: all
        self._watching: list[tuple[str, asyncio.Event]] = []
        self._silent = ""
        self.is_lagging = False  # whether watches are open, and tell nothing yet
        self._oldest = 0  # the version from which on changes are known
        cluster.watchers.append(self._wake)

    def cut(self, *requests: str) -> None:
        """Stop answering all requests, or some, and cut open connections."""
        self._cut = frozenset(requests) or None
        self._wake()

    def mend(self) -> None:
        """Answer again."""
        self._cut = frozenset()

    def silence(self, verb: str) -> None:
        """Never answer requests of a kind, and do not refuse them, either."""
        self._silent = verb

    def forget(self) -> None:
        """Let the past be too long ago to be watched from."""
        self._oldest = int(self._cluster.history[-1][0])

    async def request(
        self,
        verb: Verb,
        resource: Resource,
        namespace: str,
        name: str = "",
        body: Document | None = None,
        query: dict[str, str] | None = None,
        *,
        timeout: float | None = None,  # noqa: ARG002  # it answers at once or not at all
        longest: int | None = None,  # noqa: ARG002  # nor is an answer too long
    ) -> Document:
        try:
            self._check(verb, resource)
            if verb == self._silent:
                await asyncio.get_running_loop().create_future()
            answer = await self._cluster.request(verb, resource, namespace, name, body, query)
        except ApiRefusedError as error:
            self._note(verb, resource, error.code)
            raise
        self._note(verb, resource, 200)
        return answer

    async def watch(
        self, resource: Resource, _namespace: str, since: str, *, on_open: Callable[[], object], **_: Any
    ) -> AsyncGenerator[tuple[str, Document], None]:
        self._check("watch", resource)
        self._cluster.requests.append(("watch", resource.label, ""))
        if int(since) < self._oldest:
            raise refused(410, "Expired")
        news, known = asyncio.Event(), int(since)
        self._watching.append((resource.label, news))
        on_open()
        try:
            while True:
                news.clear()
                for version, plural, kind, document in () if self.is_lagging else self._cluster.history:
                    if version > known and plural == resource.plural:
                        known = version
                        yield kind, copy.deepcopy(document)
                await news.wait()
                self._check("watch", resource)
        finally:
            self._watching.remove((resource.label, news))

    def _check(self, verb: str, resource: Resource) -> None:
        if self._cut is None or self._cut & {resource.label, f"{verb} {resource.label}"}:
            self._note(verb, resource, 0)
            raise ApiUnreachableError(server="https://test", reason="cut")

    def _note(self, verb: str, resource: Resource, code: int) -> None:
        if self.on_response is not None:
            self.on_response(verb, resource.label, code)

    def _wake(self) -> None:
        for _, news in self._watching:
            news.set()


class ControllerProcess:
    """One process, from its start until it is stopped or killed."""

    def __init__(self, cluster: FakeCluster, options: OperatorConfig = OPTIONS) -> None:
        self.wire = ApiConnection(cluster)
        self._clock, self._stream = cluster.clock, io.StringIO()
        log = OperatorLog(self._stream, self._clock.now)
        self.controller = Controller(cast("ApiClient", self.wire), self._clock, log, options, pause=self._pause)
        self._asked = asyncio.Event()
        self._life = asyncio.create_task(self.controller.run(self._asked))

    async def _pause(self, seconds: float) -> None:
        await self._clock.sleep(timedelta(seconds=seconds))

    async def stop(self) -> None:
        """Be asked to stop, as by SIGTERM."""
        self._asked.set()
        await self._life

    def kill(self) -> None:
        """Vanish: requests of this process no longer reach the server."""
        self.wire.cut()

    def events(self) -> list[str]:
        """Return the names of its log lines."""
        return [json.loads(line)["event"] for line in self._stream.getvalue().splitlines()]

    def number(self, line: str) -> float:
        """Return what its metrics say."""
        found = [each for each in self.controller.metrics.render().decode().splitlines() if each.startswith(f"{line} ")]
        return float(found[0].rpartition(" ")[2])
