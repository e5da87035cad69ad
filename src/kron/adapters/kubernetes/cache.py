"""ClusterCache: the KronJobs and Jobs of a cluster as they were last seen, and how they are found."""

from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from typing import Any, Generic, Protocol, TypeAlias, TypeVar

from kron.adapters.kubernetes.client import JOBS, KRONJOBS
from kron.adapters.kubernetes.namespace_backoff import ErrorBoundary
from kron.instant import Instant
from kron.kronjob.snapshot import ChildJob, KronJobSnapshot, parse_job, parse_snapshot, unreadable_kronjob

Key: TypeAlias = tuple[str, str]  # namespace, name
PART = 300  # objects that are looked at before the loop has another turn
_REMEMBERED = 10_000  # objects that are gone: more than can be gone while an answer is under way
_OWNER, _IDENTITY = "owner", "identity"


class ApiObject(Protocol):
    """What a store has to know of an object."""

    @property
    def namespace(self) -> str:
        """Its namespace; empty if its kind has none."""

    @property
    def name(self) -> str:
        """Its name."""

    @property
    def uid(self) -> str:
        """What no other object has, also of the same name."""

    @property
    def resource_version(self) -> str:
        """Which state of it this is."""


T = TypeVar("T", bound=ApiObject)


class ResourceStore(Generic[T]):
    """Lists, watches and answers come in any order: a state that is older than the known one is left.

    An object that cannot be read is logged, and stays as it was.
    """

    def __init__(
        self,
        resource: str,
        parse: Callable[[Mapping[str, Any], T | None], T],
        boundary: ErrorBoundary,
        *,
        salvage: Callable[[Mapping[str, Any], str], T] | None = None,
        indexers: Mapping[str, Callable[[T], str]] | None = None,
    ) -> None:
        """`parse` gets a document and what is known of the object.

        `salvage` returns what is kept of a document that raises an error, whose text it gets. `indexers` return the
        values by which objects are found.
        """
        self.objects: dict[Key, T] = {}
        self.on_change: Callable[[T | None, T | None], object] | None = None
        """Gets each object that is new, different or gone, as it was before and as it is, after the change."""
        self._resource, self._parse, self._boundary, self._salvage = resource, parse, boundary, salvage
        self._indexers = indexers or {}
        self._indexes: dict[str, dict[str, set[Key]]] = {name: {} for name in self._indexers}
        self._gone: OrderedDict[str, str] = OrderedDict()  # by uid: the version at which an object was gone

    def by_index(self, indexer: str, value: str) -> list[T]:
        """Return the objects of which an indexer says this."""
        return [self.objects[key] for key in self._indexes[indexer].get(value, ())]

    def parse(self, document: Mapping[str, Any]) -> T | None:
        """Return what is kept of a document; None: not even its metadata can be read.

        Nearly all that a watch sends was known by the answer to a write already, and is not read again.
        """
        metadata, errors = document["metadata"], list[str]()
        key = metadata.get("namespace", ""), metadata["name"]
        with self._boundary.around(self._resource, *key, then=errors.append):
            before = self.objects.get(key)
            if before is not None and _is_known(metadata, before):
                return before
            return self._parse(document, before)
        with suppress(Exception):  # which is logged and counted already
            return None if self._salvage is None else self._salvage(document, errors[0])
        return None

    def take(self, document: Mapping[str, Any]) -> None:
        """Take an object as a document says that it is now."""
        if (after := self.parse(document)) is not None:
            self.put(after)

    def put(self, after: T) -> None:
        """Take an object as it is now."""
        key = after.namespace, after.name
        with self._boundary.around(self._resource, *key):
            before = self.objects.get(key)
            if before is after or self._is_past(after, before):
                return
            if before is not None and before.uid != after.uid:  # it was deleted, and another one created, both unseen
                self._drop(key, before)
                before = None
            if before is not None:
                self._unindex(key, before)
            self.objects[key] = after
            for name, indexer in self._indexers.items():
                self._indexes[name].setdefault(indexer(after), set()).add(key)
            if before != after:
                self._report(before, after)

    def remove(self, key: Key, version: str) -> None:
        """Take note that at a version an object was gone."""
        with self._boundary.around(self._resource, *key):
            before = self.objects.get(key)
            if before is None or _is_older(version, before.resource_version):
                return  # it is another one than was gone
            self._gone[before.uid] = version
            if len(self._gone) > _REMEMBERED:
                self._gone.popitem(last=False)
            self._drop(key, before)

    def replace(self, found: Mapping[Key, T | None], version: str, namespace: str) -> Iterator[None]:
        """Take all objects of a namespace, or of all, as they were at a version; None: one that cannot be read.

        What is known to be younger is not missing. It is done in parts, one for each step of the iterator.
        """
        missing = [
            key
            for key, known in self.objects.items()
            if key not in found and namespace in ("", key[0]) and not _is_older(version, known.resource_version)
        ]
        for number, key in enumerate(missing, 1):
            self.remove(key, version)
            if number % PART == 0:
                yield
        for number, each in enumerate(found.values(), 1):
            if each is not None:
                self.put(each)
            if number % PART == 0:
                yield

    def _drop(self, key: Key, before: T) -> None:
        del self.objects[key]
        self._unindex(key, before)
        self._report(before, None)

    def _unindex(self, key: Key, before: T) -> None:
        for name, indexer in self._indexers.items():
            index, value = self._indexes[name], indexer(before)
            index[value].discard(key)
            if not index[value]:
                del index[value]

    def _report(self, before: T | None, after: T | None) -> None:
        if self.on_change is not None:
            self.on_change(before, after)

    def _is_past(self, after: T, before: T | None) -> bool:
        """Whether it was so before what is known: the answer to a write may come after what the watch sent since."""
        known = (self._gone.get(after.uid, ""), "" if before is None else before.resource_version)
        return any(_is_older(after.resource_version, each) for each in known)


def _is_known(metadata: Mapping[str, Any], known: ApiObject) -> bool:
    """Whether it is the version of an object that was seen last."""
    version = known.resource_version
    return version != "" and metadata.get("resourceVersion") == version and metadata["uid"] == known.uid


def _is_older(version: str, known: str) -> bool:
    """Whether one version of an object came before another; versions that are no numbers cannot be compared."""
    return version.isdecimal() and known.isdecimal() and int(version) < int(known)


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
