"""Controller: one replica: its watches, the election, and the leader session while it leads."""

import asyncio
import secrets
import socket
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from typing import TypeAlias

from kron.adapters.kubernetes.cache import ClusterCache, ResourceStore, T
from kron.adapters.kubernetes.client import JOBS, KRONJOBS, ApiClient, Resource
from kron.adapters.kubernetes.leader_election import LeaderElector
from kron.adapters.kubernetes.namespace_backoff import ErrorBoundary
from kron.adapters.kubernetes.reflector import Reflector
from kron.adapters.kubernetes.responses import Backoff, Sleep, sleep
from kron.adapters.prometheus import OperatorGauges, OperatorMetrics
from kron.engine.clock_watch import WakeUp
from kron.engine.ports import Clock
from kron.errors import ApiError
from kron.hosts.operator.leader_session import LeaderSession
from kron.hosts.operator.log import INFO, WARNING, ApiErrorLog, LoggingClient, OperatorLog
from kron.instant import SECOND, Instant
from kron.kronjob.kronjob import OPERATOR_NAME
from kron.kronjob.snapshot import ChildJob, KronJobSnapshot
from kron.rules.outage import Plan, freeze

_SELECTOR = f"app.kubernetes.io/managed-by={OPERATOR_NAME}"
_BLIND = 60.0  # seconds without any watch after which it is not ready
_SKEWED = 5.0  # seconds
_OFTEN = SECOND / 5  # between two looks whether a session can start
_SEEING_AGAIN = 5.0  # seconds for listing everything after a freeze: a server that cannot answer holds nothing up


_AnyReflector: TypeAlias = Reflector[KronJobSnapshot] | Reflector[ChildJob]


@dataclass(frozen=True, slots=True)
class OperatorConfig:
    """What the command line says."""

    namespaces: Sequence[str] = ()  # none: all
    leader_elect: bool = True
    lease_namespace: str = ""
    lease_name: str = OPERATOR_NAME
    lease_duration: timedelta = timedelta(seconds=15)
    renew_deadline: timedelta = timedelta(seconds=10)
    retry_period: timedelta = timedelta(seconds=2)
    slack: timedelta = timedelta(seconds=30)
    workers: int = 16


class Controller:
    """One replica, from its first look at the cluster until it is asked to stop."""

    def __init__(
        self, api: ApiClient, clock: Clock, log: OperatorLog, options: OperatorConfig, *, pause: Sleep = sleep
    ) -> None:
        """`pause` is how it waits before it asks the server again."""
        self._api, self._clock, self._log, self._options = api, clock, log, options
        self.identity = f"{socket.gethostname()}_{secrets.token_hex(4)}"
        self.metrics = OperatorMetrics(self._present)
        api.on_response = self._on_answer
        self._problems = ApiErrorLog(log, clock.monotonic)
        boundary = ErrorBoundary(log.write_set_aside, self.metrics.on_set_aside, clock.monotonic)
        self._cache = ClusterCache(clock.now, boundary)
        self._reflectors: list[_AnyReflector] = []
        for namespace in options.namespaces or ("",):
            self._reflectors.append(self._reflector(KRONJOBS, namespace, self._cache.kronjobs, "", pause))
            self._reflectors.append(self._reflector(JOBS, namespace, self._cache.jobs, _SELECTOR, pause))
        self._election = self._elect(pause) if options.leader_elect else None
        self._session: LeaderSession | None = None
        self._synced_at: Instant | None = None  # since when all is seen, and it could act on it
        self._is_behind = False  # whether it stood still, and may not know yet what happened meanwhile
        self._pause = pause
        self._wake = WakeUp()

    # --- its life -----------------------------------------------------------------------------------------------------

    async def run(self, stop_requested: asyncio.Event) -> None:
        """Work until it is asked to stop; then give the lease back."""
        loop = asyncio.get_running_loop()
        tasks: list[asyncio.Task[None]] = [loop.create_task(reflector.run()) for reflector in self._reflectors]
        if self._election is not None:
            tasks.append(loop.create_task(self._election.run()))
        tasks.append(loop.create_task(self._run_sessions()))
        stop = loop.create_task(_wait_for(stop_requested))
        done, _ = await asyncio.wait([stop, *tasks], return_when=asyncio.FIRST_COMPLETED)
        stop.cancel()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await self._stop_session()
        if self._election is not None:
            await self._election.release()
        for task in done - {stop}:
            task.result()  # nothing but a bug ends them
        self._log.write(INFO, "stopped")

    async def _run_sessions(self) -> None:
        """Start a session when it leads and sees everything, and stop it when it does not lead any longer."""
        while True:
            self._wake.clear()
            if self._synced_at is None and all(reflector.has_synced for reflector in self._reflectors):
                self._synced_at = self._clock.now()
                counts = {"kronjobs": len(self._cache.kronjobs.objects), "jobs": len(self._cache.jobs.objects)}
                self._log.write(INFO, "synced", **counts)
            leads = self._may_write()
            if leads and self._synced_at is not None and self._session is None and self._is_watching_all():
                await self._catch_up()
                await self._start_session(self._synced_at)
            elif not leads and self._session is not None:
                await self._stop_session()
            await self._wait()

    async def _wait(self) -> None:
        """Wait until something has changed, and look again now and then in any case: a lease runs out by itself."""
        is_waiting = self._synced_at is None or (self._session is None and self._may_write())
        at = self._clock.now() + (_OFTEN if is_waiting else SECOND)
        await self._clock.wait_until(at, self._wake)
        if freeze(Plan(at, at), now := self._clock.now(), now - at, self._options.slack) is not None:
            self._is_behind = True
            self._synced_at = None if self._synced_at is None else now  # what came meanwhile came without it
        if abs(self._api.clock_skew) > _SKEWED and self._problems.should_log("skew"):
            self._log.write(WARNING, "clock skew", seconds=round(self._api.clock_skew, 3))

    async def _catch_up(self) -> None:
        """Know what happened while it stood still, as far as the server says it in time."""
        if self._is_behind:
            self._is_behind = False
            await self._refresh()

    async def _refresh(self) -> None:
        """List everything, until that has succeeded or has taken long enough."""
        seeing: asyncio.Future[object] = asyncio.ensure_future(self._refresh_all())
        patience: asyncio.Future[object] = asyncio.ensure_future(self._pause(_SEEING_AGAIN))
        try:
            await asyncio.wait([seeing, patience], return_when=asyncio.FIRST_COMPLETED)
        finally:
            seeing.cancel()
            patience.cancel()
            await asyncio.gather(seeing, patience, return_exceptions=True)

    async def _refresh_all(self) -> object:
        return await asyncio.gather(*map(self._refresh_one, self._reflectors))

    async def _refresh_one(self, reflector: "_AnyReflector") -> None:
        backoff = Backoff(pause=self._pause)
        while True:
            try:
                await reflector.refresh()
            except ApiError:  # the reflector itself says so when its watch breaks
                await backoff.wait()
            else:
                return

    async def _start_session(self, armed: Instant) -> None:
        self._session = LeaderSession(
            LoggingClient(self._api, self._problems),
            self._cache,
            self._clock,
            self._log,
            self.metrics,
            may_write=self._may_write,
            refresh=self._refresh,
            slack=self._options.slack,
            workers=self._options.workers,
            life=self.identity,
        )
        await self._session.start(armed)
        self._log.write(INFO, "leading", identity=self.identity)

    async def _stop_session(self) -> None:
        if self._session is not None:
            session, self._session = self._session, None
            await session.stop()
            self._log.write(INFO, "standing by", identity=self.identity)

    def _reflector(
        self, resource: Resource, namespace: str, store: ResourceStore[T], selector: str, pause: Sleep
    ) -> Reflector[T]:
        return Reflector(
            self._api,
            resource,
            namespace,
            store,
            selector=selector,
            on_error=partial(self._problems.log_watch_error, resource.label),
            on_restart=partial(self.metrics.on_restart, resource.label),
            backoff=Backoff(pause=pause),
            monotonic=self._clock.monotonic,
        )

    def _elect(self, pause: Sleep) -> LeaderElector:
        options = self._options
        return LeaderElector(
            self._api,
            options.lease_namespace,
            options.lease_name,
            self.identity,
            lease_duration=options.lease_duration.total_seconds(),
            renew_deadline=options.renew_deadline.total_seconds(),
            retry_period=options.retry_period.total_seconds(),
            on_change=lambda _leads: self._wake.set(),
            on_problem=partial(self._problems.log_watch_error, "leases"),
            monotonic=self._clock.monotonic,
            pause=pause,
        )

    def _may_write(self) -> bool:
        return self._election is None or self._election.is_leader()

    def _is_watching_all(self) -> bool:
        """Whether all watches are open: what happened while one was not is known before anything is written again."""
        return all(reflector.is_watching for reflector in self._reflectors)

    # --- what it shows ------------------------------------------------------------------------------------------------

    def is_healthy(self) -> bool:
        """Whether its loops do their work; without an API they do, too."""
        return self._session is None or self._session.is_alive

    def is_ready(self) -> bool:
        """Whether it has seen everything, and does not look at an old picture."""
        latest = max(reflector.last_contact for reflector in self._reflectors)
        return self._synced_at is not None and self._clock.monotonic() - latest < _BLIND

    def _present(self) -> OperatorGauges:
        states = Counter(_state(seen) for seen in self._cache.kronjobs.objects.values())
        active = sum(job.is_active for job in self._cache.jobs.objects.values())
        depth = 0 if self._session is None else len(self._session.queue)
        return OperatorGauges(self._session is not None, states, active, depth, self._api.clock_skew)

    def _on_answer(self, verb: str, resource: str, code: int) -> None:
        self.metrics.on_answer(verb, resource, code)
        if self._session is not None and verb != "watch":
            self._session.queue.on_answer(code)


async def _wait_for(event: asyncio.Event) -> None:
    await event.wait()


def _state(seen: KronJobSnapshot) -> str:
    if seen.kronjob is None:
        return "invalid"
    return "suspended" if seen.kronjob.policy.suspend else "scheduled"
