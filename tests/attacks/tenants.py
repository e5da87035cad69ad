"""Tenants: a cluster with several namespaces, of which one attacks, on the virtual clock."""

from collections import Counter
from collections.abc import Mapping
from datetime import datetime, timedelta

from kron.adapters.kubernetes.client import Document, Resource, Verb
from kron.adapters.virtual_clock import VirtualClock
from tests.hosts.operator.fake_cluster import FakeCluster, refused
from tests.hosts.operator.replica import MINUTE, NOON

GREEDY, VICTIM = "greedy", "victim"


class Tenants(FakeCluster):
    """A cluster whose answers depend on the namespace: Jobs may be refused there, and take their time."""

    def __init__(self) -> None:
        super().__init__(VirtualClock(NOON - MINUTE))
        self.over_quota: set[str] = set()
        self.denied: set[str] = set()  # names of KronJobs whose Jobs an admission webhook denies
        self.slow: dict[str, timedelta] = {}  # how long the creation of a Job takes, by namespace
        self.tried: Counter[str] = Counter()  # creations of Jobs, by namespace

    async def request(
        self,
        verb: Verb,
        resource: Resource,
        namespace: str,
        name: str = "",
        body: Document | None = None,
        query: Mapping[str, str] | None = None,
    ) -> Document:
        if (verb, resource.label) == ("create", "jobs"):
            self.tried[namespace] += 1
            await self.clock.sleep(self.slow.get(namespace, timedelta()))
            owner = (body or {})["metadata"]["ownerReferences"][0]["name"]
            if owner in self.denied:
                raise refused(403, "Forbidden", message='admission webhook "w" denied the request: no')
            if namespace in self.over_quota:
                await self.clock.sleep(self.takes.get("jobs", timedelta()))
                raise refused(403, "Forbidden", message="exceeded quota: none")
        return await super().request(verb, resource, namespace, name, body, query)

    def made_at(self, namespace: str) -> list[datetime]:
        """Return when the Jobs of a namespace were created."""
        return [at for at, job in self.made if job["metadata"]["namespace"] == namespace]
