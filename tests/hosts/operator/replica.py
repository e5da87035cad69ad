"""A replica on a virtual clock: its cache of a cluster, and its leader session."""

import asyncio
import io
import json
from collections.abc import Coroutine
from datetime import UTC, datetime, timedelta
from typing import Any

from kron.adapters.kubernetes.cache import ClusterCache
from kron.adapters.kubernetes.namespace_backoff import ErrorBoundary
from kron.adapters.prometheus import OperatorGauges, OperatorMetrics
from kron.adapters.virtual_clock import VirtualClock
from kron.hosts.operator.leader_session import LeaderSession
from kron.hosts.operator.log import OperatorLog
from kron.instant import Instant
from tests.hosts.operator.fake_cluster import STRICT, FakeCluster

NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)
SECOND, MINUTE, HOUR = timedelta(seconds=1), timedelta(minutes=1), timedelta(hours=1)


class RecordedMetrics(OperatorMetrics):
    """The metrics that tests ask for."""

    def __init__(self) -> None:
        super().__init__(lambda: OperatorGauges(False, {}, 0, 0, 0.0))  # noqa: FBT003  # by the order of its fields
        self.lateness: list[float] = []
        self.outcomes: list[tuple[str, str]] = []
        self.conflicts = 0
        self.set_aside: list[str] = []

    def on_outcome(self, outcome: str, reason: str, number: int) -> None:
        self.outcomes += [(outcome, reason)] * number

    def on_lateness(self, seconds: float) -> None:
        self.lateness.append(seconds)

    def on_conflict(self) -> None:
        self.conflicts += 1

    def on_set_aside(self, resource: str) -> None:
        self.set_aside.append(resource)


class Replica:
    """One process. It leads as long as `leads` says so."""

    def __init__(self, cluster: FakeCluster, boundary: ErrorBoundary = STRICT) -> None:
        self.cluster, self.clock = cluster, cluster.clock
        self.numbers = RecordedMetrics()
        self.leads = True
        self.cache = ClusterCache(self.clock.now, boundary)
        self._stream = io.StringIO()
        self.session: LeaderSession | None = None
        self._armed: Instant | None = None

    async def sync(self) -> None:
        """See everything."""
        self.cluster.show(self.cache)
        self._armed = self.clock.now()

    async def lead(self) -> "Replica":
        """Start a leader session, and settle."""
        if self._armed is None:
            await self.sync()
        assert self._armed is not None
        log = OperatorLog(self._stream, self.clock.now)
        self.session = LeaderSession(
            self.cluster,
            self.cache,
            self.clock,
            log,
            self.numbers,
            may_write=lambda: self.leads,
            refresh=self._refresh,
            slack=30 * SECOND,
            workers=16,
            life="life",
        )
        await self.session.start(self._armed)
        await self.clock.advance(timedelta())
        return self

    async def _refresh(self) -> None:
        """Do nothing: every change is delivered at once."""

    async def stop(self) -> None:
        """Stop the leader session; what is under way is finished."""
        assert self.session is not None
        session, self.session = self.session, None
        await session.stop()

    async def crash(self) -> None:
        """Be gone, without another word to the cluster."""
        self.leads = False
        self.cluster.hide(self.cache)
        if self.session is not None:
            await self.stop()

    def lines(self, event: str) -> list[dict[str, Any]]:
        """Return the log lines of an event."""
        found = [json.loads(line) for line in self._stream.getvalue().splitlines()]
        return [line for line in found if line["event"] == event]


def live(story: Coroutine[Any, Any, None]) -> None:
    """Tell a story."""
    asyncio.run(story)


def at_noon() -> FakeCluster:
    return FakeCluster(VirtualClock(NOON))
