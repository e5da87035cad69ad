"""LeaderElector: one of several replicas leads, by a Lease that its holder renews and others may take when it is old.

Clocks of different hosts are never compared: a replica measures by its own for how long it has seen no change.
"""

import math
import time
from collections.abc import Callable
from datetime import UTC, datetime
from http import HTTPStatus
from typing import Any

from kron.adapters.kubernetes.client import LEASES, ApiClient
from kron.adapters.kubernetes.responses import Sleep, sleep
from kron.errors import ApiError, ApiRefusedError


class LeaderElector:
    """The elector of one replica. It keeps the lease that it read last, because a write must name the version read."""

    def __init__(
        self,
        api: ApiClient,
        namespace: str,
        name: str,
        identity: str,
        *,
        lease_duration: float = 15.0,
        renew_deadline: float = 10.0,
        retry_period: float = 2.0,
        on_change: Callable[[bool], object],
        on_problem: Callable[[ApiError], object],
        monotonic: Callable[[], float] = time.monotonic,
        wall: Callable[[], float] = time.time,
        pause: Sleep = sleep,
    ) -> None:
        self._api = api
        self._namespace = namespace
        self._name = name
        self._identity = identity
        self._lease_duration = lease_duration
        self._renew_deadline = renew_deadline
        self._retry_period = retry_period
        self._on_change = on_change
        self._on_problem = on_problem
        self._monotonic = monotonic
        self._wall = wall
        self._pause = pause
        self._held: dict[str, Any] | None = None  # the lease as we wrote it last, if it may still be ours
        self._seen: dict[str, Any] | None = None  # what the lease said when it was read last
        self._seen_at = -math.inf
        self._renewed_at = -math.inf  # when the last renewal that succeeded was sent: the server has it no earlier
        self._was_leading = False
        self._is_over = False

    def is_leader(self) -> bool:
        """Return whether this replica leads now; becomes False by itself when renewing fails for too long."""
        return self._remaining() > 0

    async def run(self) -> None:
        """Take the lease when it is free, and renew it, until cancelled or released, whatever the server answers."""
        while not self._is_over:
            began = self._monotonic()
            try:
                await self._try_acquire_or_renew()
            except ApiError as error:
                self._on_problem(error)
            self._tell()
            rest = max(0.0, self._retry_period - (self._monotonic() - began))
            await self._pause(min(rest, self._remaining()) if self.is_leader() else rest)
            self._tell()

    async def release(self) -> None:
        """Stop leading for good, and say so in the lease, so that another need not wait until it is old."""
        self._is_over = True
        self._renewed_at = -math.inf
        self._tell()
        try:
            if self._held is not None and await self._write(self._held, holder=""):
                return
            lease = await self._read()
            if lease is not None and _spec(lease).get("holderIdentity") == self._identity:
                await self._write(lease, holder="")
        except ApiError as error:  # it grows old by itself
            self._on_problem(error)

    async def _try_acquire_or_renew(self) -> None:
        if self._held is not None and await self._renew(self._held):
            return
        lease = await self._read()
        if lease is None:
            lease = {"apiVersion": f"{LEASES.group}/{LEASES.version}", "kind": "Lease"}
            lease["metadata"] = {"namespace": self._namespace, "name": self._name}
        elif not self._is_free(_spec(lease)):
            return
        await self._renew(lease)

    async def _renew(self, lease: dict[str, Any]) -> bool:
        """Return whether the lease is ours now; if not, another replica has written it."""
        if self._is_over:
            return False
        sent = self._monotonic()
        self._held = await self._write(lease, holder=self._identity)
        if self._held is None or self._is_over:
            return False
        self._renewed_at = sent
        return True

    def _is_free(self, spec: dict[str, Any]) -> bool:
        """Return whether the lease may be taken: it has no holder, or was not renewed for its duration."""
        if spec != self._seen:
            self._seen, self._seen_at = spec, self._monotonic()
        if spec.get("holderIdentity") in (None, "", self._identity):
            return True
        theirs = spec.get("leaseDurationSeconds")
        duration = theirs if isinstance(theirs, int) and theirs > 0 else self._lease_duration
        return self._monotonic() - self._seen_at >= duration

    async def _read(self) -> dict[str, Any] | None:
        try:
            return await self._api.request("get", LEASES, self._namespace, self._name, timeout=self._request_timeout())
        except ApiRefusedError as error:
            if error.code == HTTPStatus.NOT_FOUND:
                return None
            raise

    async def _write(self, lease: dict[str, Any], *, holder: str) -> dict[str, Any] | None:
        """Return the lease as the server has it, or None if it is no longer the one that we have read."""
        body = {**lease, "spec": self._renewed(_spec(lease), holder)}
        is_new = "resourceVersion" not in lease["metadata"]
        try:
            if is_new:
                return await self._api.request(
                    "create", LEASES, self._namespace, body=body, timeout=self._request_timeout()
                )
            return await self._api.request(
                "update", LEASES, self._namespace, self._name, body=body, timeout=self._request_timeout()
            )
        except ApiRefusedError as error:
            if error.code == HTTPStatus.CONFLICT or (error.code == HTTPStatus.NOT_FOUND and not is_new):
                return None
            raise

    def _renewed(self, spec: dict[str, Any], holder: str) -> dict[str, Any]:
        now = datetime.fromtimestamp(self._wall(), UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
        renewed = {**spec, "holderIdentity": holder, "renewTime": now}
        renewed["leaseDurationSeconds"] = math.ceil(self._lease_duration)
        if holder and holder != spec.get("holderIdentity"):
            renewed["acquireTime"] = now
            count = spec.get("leaseTransitions")
            renewed["leaseTransitions"] = count + 1 if isinstance(count, int) else 0
        return renewed

    def _remaining(self) -> float:
        """Return the seconds for which we lead without another renewal."""
        return max(0.0, self._renew_deadline - (self._monotonic() - self._renewed_at))

    def _request_timeout(self) -> float:
        """Return the seconds that a request may take: two of them fit into the deadline, and none outlasts it."""
        half = self._renew_deadline / 2
        return min(half, self._remaining()) if self.is_leader() else half

    def _tell(self) -> None:
        if self.is_leader() != self._was_leading:
            self._was_leading = not self._was_leading
            self._on_change(self._was_leading)


def _spec(lease: dict[str, Any]) -> dict[str, Any]:
    found = lease.get("spec")
    return found if isinstance(found, dict) else {}
