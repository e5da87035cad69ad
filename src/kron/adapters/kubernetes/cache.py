"""World: the KronJobs and Jobs of a cluster as far as they were seen, and who is told when they change."""

from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

from kron.adapters.kubernetes.error_boundary import ErrorBoundary
from kron.errors import ApiError
from kron.instant import Instant
from kron.kronjob.snapshot import (
    ChildJob,
    Key,
    KronJobSnapshot,
    is_suspended,
    parse_job,
    parse_snapshot,
    unreadable_kronjob,
)
from kron.rules.override import DefinitionChange, compare_definition

PART = 300  # Jobs, or other objects, that are looked at before the loop has another turn
_REMEMBERED = 10_000  # objects that are gone: more than can be gone while an answer is under way


class Onlooker(Protocol):
    """Who is told what changes, after it has changed."""

    def on_kronjob(self, before: KronJobSnapshot | None, after: KronJobSnapshot | None, /) -> None:
        """A KronJob is new, different or gone."""

    def on_job(self, before: ChildJob | None, after: ChildJob | None, /) -> None:
        """A Job is new, different or gone."""


class World:
    """What was seen last. Whoever writes something puts the server's answer here, too, and need not wait for it."""

    def __init__(self, now: Callable[[], Instant]) -> None:
        self._now = now
        self.kronjobs: dict[Key, KronJobSnapshot] = {}
        self.jobs: dict[Key, ChildJob] = {}
        self._owned: dict[str, set[Key]] = {}  # Jobs, by the uid of their KronJob
        self._named: dict[str, set[Key]] = {}  # Jobs, by the identity in their annotations
        self._gone: OrderedDict[str, str] = OrderedDict()  # by uid: the version at which an object was gone
        self.onlooker: Onlooker | None = None

    def jobs_of(self, seen: KronJobSnapshot) -> list[ChildJob]:
        """Return the Jobs that a KronJob owns; in another namespace nobody does, whatever is written there."""
        return [self.jobs[key] for key in self._owned.get(seen.uid, ()) if key[0] == seen.namespace]

    def jobs_named(self, identity: str) -> list[ChildJob]:
        """Return the Jobs that say they are of an identity, whoever owns them."""
        return [self.jobs[key] for key in self._named.get(identity, ())]

    # --- KronJobs -----------------------------------------------------------------------------------------------------

    def see_kronjob(self, document: Mapping[str, Any]) -> KronJobSnapshot:
        """Return what is kept of a document, with what is known of the time before.

        Nearly all that a watch tells was known by the answer to a write already.
        """
        metadata = document["metadata"]
        before = self.kronjobs.get((metadata["namespace"], metadata["name"]))
        if before is not None and _is_known(metadata, before):
            return before
        after = parse_snapshot(document, before)
        if before is None or before.uid != after.uid or before.generation == after.generation:
            return after
        now = self._now()
        changed = compare_definition(before.definition, after.definition) is not DefinitionChange.SAME
        resumed = is_suspended(before) and not is_suspended(after)
        return replace(
            after,
            defined_at=now if changed else before.defined_at,
            resumed_at=now if resumed else before.resumed_at,
        )

    def put_kronjob(self, after: KronJobSnapshot) -> None:
        """Take a KronJob as it is now; what is older than what is known is left."""
        key = after.namespace, after.name
        before = self.kronjobs.get(key)
        if before is after or self._is_past(after, before):
            return
        self.kronjobs[key] = after
        if self.onlooker is not None:
            self.onlooker.on_kronjob(before, after)

    def remove_kronjob(self, key: Key, version: str) -> None:
        """Take note that at a version a KronJob was gone."""
        before = self.kronjobs.get(key)
        if before is not None and self._is_lost(before, version):
            del self.kronjobs[key]
            if self.onlooker is not None:
                self.onlooker.on_kronjob(before, None)

    # --- Jobs ---------------------------------------------------------------------------------------------------------

    def see_job(self, document: Mapping[str, Any]) -> ChildJob:
        """Return what is kept of a document; what is known is not read again."""
        metadata = document["metadata"]
        before = self.jobs.get((metadata["namespace"], metadata["name"]))
        return before if before is not None and _is_known(metadata, before) else parse_job(document)

    def put_job(self, after: ChildJob) -> None:
        """Take a Job as it is now; what is older than what is known is left."""
        key = after.namespace, after.name
        before = self.jobs.get(key)
        if before is after or self._is_past(after, before):
            return
        if before is not None and before.uid != after.uid:  # it was deleted and another one created, both unseen
            del self.jobs[key]
            self._forget(key, before)
            if self.onlooker is not None:
                self.onlooker.on_job(before, None)
            before = None
        if before is not None:
            self._forget(key, before)
        self.jobs[key] = after
        self._owned.setdefault(after.owner, set()).add(key)
        self._named.setdefault(after.identity, set()).add(key)
        if self.onlooker is not None and before != after:
            self.onlooker.on_job(before, after)

    def remove_job(self, key: Key, version: str) -> None:
        """Take note that at a version a Job was gone."""
        before = self.jobs.get(key)
        if before is not None and self._is_lost(before, version):
            del self.jobs[key]
            self._forget(key, before)
            if self.onlooker is not None:
                self.onlooker.on_job(before, None)

    def _forget(self, key: Key, job: ChildJob) -> None:
        for index, name in ((self._owned, job.owner), (self._named, job.identity)):
            index[name].discard(key)
            if not index[name]:
                del index[name]

    # --- what is older than what is known -----------------------------------------------------------------------------

    def _is_past(self, after: KronJobSnapshot | ChildJob, before: KronJobSnapshot | ChildJob | None) -> bool:
        """Whether it was so before what is known: the answer to a write may come after what the watch told since."""
        known = (self._gone.get(after.uid, ""), "" if before is None else before.resource_version)
        return any(_is_older(after.resource_version, each) for each in known)

    def _is_lost(self, before: KronJobSnapshot | ChildJob, version: str) -> bool:
        """Return whether it is this one that was gone at a version, and not one before it; remember that."""
        if _is_older(version, before.resource_version):
            return False
        self._gone[before.uid] = version
        if len(self._gone) > _REMEMBERED:
            self._gone.popitem(last=False)
        return True


def _is_known(metadata: Mapping[str, Any], seen: KronJobSnapshot | ChildJob) -> bool:
    """Whether it is the version of an object that was seen last."""
    return (
        seen.resource_version != ""
        and metadata.get("resourceVersion") == seen.resource_version
        and metadata["uid"] == seen.uid
    )


def _is_older(version: str, known: str) -> bool:
    """Whether one version of an object came before another; versions that are no numbers tell nothing."""
    return version.isdecimal() and known.isdecimal() and int(version) < int(known)


# --- what the reflectors hand over ------------------------------------------------------------------------------------

Tell = Callable[[str, ApiError], object]
_Seen = TypeVar("_Seen", bound=KronJobSnapshot | ChildJob)


class Kind(NamedTuple, Generic[_Seen]):
    """What a world does with the objects of one kind."""

    name: str
    known: Mapping[Key, _Seen]
    see: Callable[[Mapping[str, Any]], _Seen]
    put: Callable[[_Seen], object]
    remove: Callable[[Key, str], object]  # at which version
    salvage: Callable[[Mapping[str, Any], str], _Seen] | None = None  # what is kept of one that cannot be read


class View(Generic[_Seen]):
    """Takes the objects of one kind, of one namespace or of all."""

    def __init__(self, kind: Kind[_Seen], namespace: str, tell: Tell, fence: ErrorBoundary) -> None:
        self._kind, self._namespace, self._tell, self._fence = kind, namespace, tell, fence

    def keep(self, document: dict[str, Any]) -> _Seen | None:
        """Return what is kept of a document, None if not even its metadata can be read: then what was known stays."""
        metadata = document["metadata"]
        errors = list[str]()
        with self._fence.around(self._kind.name, metadata.get("namespace", ""), metadata["name"], then=errors.append):
            return self._kind.see(document)
        with suppress(Exception):  # which is logged and counted already
            return None if self._kind.salvage is None else self._kind.salvage(document, errors[0])
        return None

    def replace(self, kept: dict[Key, _Seen | None], version: str) -> Iterator[None]:
        """Take a whole list, as it was at a version, in parts; what is known to be younger is not missing in it."""
        for number, key in enumerate(_gone(self._kind.known, kept, self._namespace, version), 1):
            self._remove(key, version)
            if number % PART == 0:
                yield
        for number, (key, seen) in enumerate(kept.items(), 1):
            self.put(key, seen)
            if number % PART == 0:
                yield

    def put(self, key: Key, kept: _Seen | None) -> None:
        """Take one."""
        if kept is not None:
            with self._fence.around(self._kind.name, *key):
                self._kind.put(kept)

    def remove(self, key: Key, kept: _Seen | None) -> None:
        """Take note that one is gone."""
        self._remove(key, "" if kept is None else kept.resource_version)

    def _remove(self, key: Key, version: str) -> None:
        with self._fence.around(self._kind.name, *key):
            self._kind.remove(key, version)

    def problem(self, error: ApiError) -> None:
        """Tell that they cannot be seen."""
        self._tell(self._kind.name, error)


def kronjob_view(world: World, namespace: str, tell: Tell, fence: ErrorBoundary) -> View[KronJobSnapshot]:
    """Return who takes the KronJobs of a namespace, or of all."""
    kind = Kind(
        "kronjobs",
        world.kronjobs,
        world.see_kronjob,
        world.put_kronjob,
        world.remove_kronjob,
        unreadable_kronjob,
    )
    return View(kind, namespace, tell, fence)


def job_view(world: World, namespace: str, tell: Tell, fence: ErrorBoundary) -> View[ChildJob]:
    """Return who takes the Jobs of a namespace, or of all."""
    return View(Kind("jobs", world.jobs, world.see_job, world.put_job, world.remove_job), namespace, tell, fence)


def _gone(
    known: Mapping[Key, KronJobSnapshot | ChildJob], kept: Mapping[Key, object], namespace: str, version: str
) -> list[Key]:
    return [
        key
        for key, seen in known.items()
        if key not in kept and namespace in ("", key[0]) and not _is_older(version, seen.resource_version)
    ]
