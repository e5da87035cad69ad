"""ClusterCache: the KronJobs and Jobs of a cluster as they were last seen, and how they are found."""

from collections.abc import Callable

from kron.adapters.kubernetes.error_boundary import ErrorBoundary
from kron.adapters.kubernetes.resource_store import ResourceStore
from kron.adapters.kubernetes.resources import JOBS, KRONJOBS
from kron.instant import Instant
from kron.kronjob.snapshot import ChildJob, KronJobSnapshot, parse_job, parse_snapshot, unreadable_kronjob

_OWNER, _IDENTITY = "owner", "identity"


class ClusterCache:
    """What was seen last. A writer puts the server's answer here, too, and need not wait for the watch."""

    def __init__(self, now: Callable[[], Instant], boundary: ErrorBoundary) -> None:
        self.kronjobs: ResourceStore[KronJobSnapshot] = ResourceStore(
            KRONJOBS.plural,
            lambda document, before: parse_snapshot(document, before, now()),
            boundary,
            salvage=unreadable_kronjob,
        )
        self.jobs: ResourceStore[ChildJob] = ResourceStore(
            JOBS.plural,
            lambda document, _before: parse_job(document),
            boundary,
            indexers={_OWNER: lambda job: job.owner, _IDENTITY: lambda job: job.identity},
        )

    def kronjob(self, identity: str) -> KronJobSnapshot | None:
        """Return the KronJob of an identity as it is now, None if there is none."""
        namespace, _, name = identity.partition("/")
        return self.kronjobs.objects.get((namespace, name))

    def owned_jobs(self, kronjob: KronJobSnapshot) -> list[ChildJob]:
        """Return the Jobs that a KronJob owns; in another namespace it owns none, whatever is written there."""
        return [job for job in self.jobs.by_index(_OWNER, kronjob.uid) if job.namespace == kronjob.namespace]

    def jobs_by_identity(self, identity: str) -> list[ChildJob]:
        """Return the Jobs that say they are of an identity, with any owner."""
        return self.jobs.by_index(_IDENTITY, identity)
