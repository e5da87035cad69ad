"""FakeCluster: it stores objects like an API server, delivers changes one turn later, and fails on request."""

import asyncio
import copy
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from functools import partial
from typing import Any

from kron.adapters.kubernetes.cache import ClusterCache
from kron.adapters.kubernetes.client import Document, Resource, Verb
from kron.adapters.kubernetes.namespace_backoff import ErrorBoundary
from kron.adapters.virtual_clock import VirtualClock
from kron.errors import ApiError, ApiRefusedError
from kron.instant import format_instant
from kron.kronjob.spec_fields import SPEC, apply_defaults

Fault = Callable[[Verb, Resource], ApiError | None]
Key = tuple[str, str, str]  # plural, namespace, name


def refused(code: int, reason: str, *, message: str = "", causes: tuple[str, ...] = ()) -> ApiRefusedError:
    return ApiRefusedError(code=code, reason=reason, message=message or reason, causes=causes)


class FakeCluster:
    """Objects by kind, namespace and name, and every write that was tried."""

    def __init__(self, clock: VirtualClock) -> None:
        self.clock = clock
        self.objects: dict[Key, Document] = {}
        self.made: list[tuple[datetime, Document]] = []  # every Job that was ever created, and when
        self.requests: list[tuple[str, str, str]] = []  # verb, resource, name
        self.before: Fault | None = None  # nothing is done, and this is the answer
        self.after: Fault | None = None  # it is done, and this is the answer
        self.lingers = False  # a deleted object stays until `remove` is called
        self.takes: dict[str, timedelta] = {}  # how long an answer takes, by resource
        self._version = 100
        self._caches: list[ClusterCache] = []
        self.history: list[tuple[int, str, str, Document]] = []  # version, plural, kind of change, object
        self.watchers: list[Callable[[], object]] = []  # who hears that there is more of it

    # --- what a test does ---------------------------------------------------------------------------------------------

    def kronjob(self, name: str = "a", schedule: str = "0 * * * *", *, namespace: str = "ns", **spec: Any) -> None:
        """Create a KronJob, or change the spec of one that is there."""
        given = {"schedule": schedule, "jobTemplate": {"spec": {"template": {}}}, **spec}
        key = ("kronjobs", namespace, name)
        before = self.objects.get(key)
        stated = apply_defaults(SPEC, given)
        if before is None:
            metadata = {"name": name, "namespace": namespace, "generation": 1, **self._birth()}
            self._put(key, {"metadata": metadata, "spec": stated})
        elif before["spec"] != stated:
            metadata = {**before["metadata"], "generation": before["metadata"]["generation"] + 1}
            self._put(key, {**before, "metadata": metadata, "spec": stated})

    def delete(self, plural: str, name: str, *, namespace: str = "ns") -> None:
        """Remove an object as people do, and what it owns."""
        gone = self.objects[plural, namespace, name]
        self._remove((plural, namespace, name))
        for key, each in list(self.objects.items()):
            owners = each["metadata"].get("ownerReferences") or ()
            if any(owner["uid"] == gone["metadata"]["uid"] for owner in owners):
                self._remove(key)

    def job(self, name: str, *, namespace: str = "ns", **metadata: Any) -> None:
        """Create a Job without an owner."""
        self._put(
            ("jobs", namespace, name), {"metadata": {"name": name, "namespace": namespace, **self._birth(), **metadata}}
        )

    def finish(self, name: str, *, succeeded: bool = True, namespace: str = "ns") -> None:
        """Let a Job be over."""
        key = ("jobs", namespace, name)
        condition = {"type": "Complete" if succeeded else "Failed", "status": "True"}
        condition["lastTransitionTime"] = format_instant(self.clock.now().replace(microsecond=0))
        self._put(key, {**self.objects[key], "status": {"conditions": [condition]}})

    def finish_all(self, *, succeeded: bool = True) -> None:
        for plural, namespace, name in list(self.objects):
            if plural == "jobs" and "status" not in self.objects[plural, namespace, name]:
                self.finish(name, succeeded=succeeded, namespace=namespace)

    def show(self, cache: ClusterCache) -> None:
        """Let a cache see everything, and every change from now on."""
        version = str(self._version)
        stores: dict[str, Any] = {"kronjobs": cache.kronjobs, "jobs": cache.jobs}
        for plural, store in stores.items():
            found = {(n, m): copy.deepcopy(each) for (kind, n, m), each in self.objects.items() if kind == plural}
            for _ in store.replace({key: store.parse(each) for key, each in found.items()}, version, ""):
                """In one turn."""
        self._caches.append(cache)

    def hide(self, cache: ClusterCache) -> None:
        """Let a cache see no change from now on."""
        self._caches.remove(cache)

    def tell_at_once(self, cache: ClusterCache, resource: Resource, body: Document) -> None:
        """Create an object, and let a cache see it before another task gets a turn."""
        namespace, name = body["metadata"]["namespace"], body["metadata"]["name"]
        created = self._do("create", resource, namespace, name, copy.deepcopy(body), {})
        self._deliver(cache, (resource.plural, namespace, name), copy.deepcopy(created), is_gone=False)

    # --- what a test asks ---------------------------------------------------------------------------------------------

    def names(self, plural: str = "jobs") -> list[str]:
        return [name for kind, _, name in self.objects if kind == plural]

    def status(self, name: str = "a", *, namespace: str = "ns") -> Document:
        found: Document = self.objects["kronjobs", namespace, name].get("status", {})
        return found

    def outcomes(self, name: str = "a") -> list[tuple[str, str, str]]:
        """Return period, outcome and reason of each entry; the time of day is enough to tell periods apart."""
        found = self.status(name).get("handledPeriods", [])
        return [(each["periodID"][11:16], each["outcome"], each["reason"]) for each in found]

    def conditions(self, name: str = "a") -> dict[str, tuple[str, str]]:
        return {each["type"]: (each["status"], each["reason"]) for each in self.status(name)["conditions"]}

    def events(self) -> list[str]:
        return [each["reason"] for (kind, _, _), each in self.objects.items() if kind == "events"]

    def created(self) -> list[tuple[str, str]]:
        """Return period and time of creation of every Job that was ever created, as times of day."""
        return [(_period(job)[11:16], f"{at:%H:%M:%S}") for at, job in self.made]

    # --- the API ------------------------------------------------------------------------------------------------------

    async def request(
        self,
        verb: Verb,
        resource: Resource,
        namespace: str,
        name: str = "",
        body: Document | None = None,
        query: Mapping[str, str] | None = None,
    ) -> Document:
        await asyncio.sleep(0)  # noqa: TID251  # a turn, no time
        self.requests.append((verb, resource.label, name or ((body or {}).get("metadata") or {}).get("name", "")))
        if self.before is not None and (error := self.before(verb, resource)) is not None:
            raise error
        answer = self._do(verb, resource, namespace, name, copy.deepcopy(body or {}), query or {})
        if self.after is not None and (error := self.after(verb, resource)) is not None:
            raise error
        await self.clock.sleep(self.takes.get(resource.label, timedelta()))
        return copy.deepcopy(answer)

    def _do(
        self, verb: Verb, resource: Resource, namespace: str, name: str, body: Document, query: Mapping[str, str]
    ) -> Document:
        key = (resource.plural, namespace, name or body.get("metadata", {}).get("name", ""))
        if verb == "list":
            wanted = query.get("fieldSelector", "").removeprefix("metadata.name=")
            rows = [(each, name) for (kind, _, name), each in self.objects.items() if kind == resource.plural]
            found = [each for each, name in rows if wanted in ("", name)]
            return {"metadata": {"resourceVersion": str(self._version)}, "items": found}
        if verb == "create":
            if key in self.objects:
                raise refused(409, "AlreadyExists")
            body["metadata"] |= self._birth()
            if resource.plural == "jobs":
                self.made.append((self.clock.now(), body))
            return self._put(key, body)
        if key not in self.objects:
            raise refused(404, "NotFound")
        if verb == "get":
            return self.objects[key]
        if verb == "delete":
            if body.get("preconditions", {}).get("uid") not in (None, self.objects[key]["metadata"]["uid"]):
                raise refused(409, "Conflict")
            if self.lingers:
                leaving = {**self.objects[key]["metadata"], "deletionTimestamp": format_instant(self.clock.now())}
                return self._put(key, {**self.objects[key], "metadata": leaving})
            return self._remove(key)
        if verb == "update":
            self._check_version(key, body)
            return self._put(key, body)
        assert verb == "patch", verb
        return self._patch(key, resource, body)

    def _patch(self, key: Key, resource: Resource, body: Document) -> Document:
        before = self.objects[key]
        self._check_version(key, body)
        if resource.subresource:
            status = {**before.get("status", {}), **body["status"]}
            status = {field: value for field, value in status.items() if value is not None}
            return self._put(key, {**before, "status": status})
        return self._put(key, {**before, **{field: value for field, value in body.items() if field != "metadata"}})

    def _check_version(self, key: Key, body: Document) -> None:
        asked = body.get("metadata", {}).get("resourceVersion")
        if asked not in (None, self.objects[key]["metadata"]["resourceVersion"]):
            raise refused(409, "Conflict")

    def _birth(self) -> Document:
        self._version += 1
        created = format_instant(self.clock.now().replace(microsecond=0))
        return {"uid": f"uid-{self._version}", "creationTimestamp": created}

    def _put(self, key: Key, document: Document) -> Document:
        self._version += 1
        document = {**document, "metadata": {**document["metadata"], "resourceVersion": str(self._version)}}
        kind = "MODIFIED" if key in self.objects else "ADDED"
        self.objects[key] = document
        self.history.append((self._version, key[0], kind, document))
        self._tell(key, document, is_gone=False)
        return document

    def _remove(self, key: Key) -> Document:
        gone = self.objects.pop(key)
        self._version += 1
        gone = {**gone, "metadata": {**gone["metadata"], "resourceVersion": str(self._version)}}
        self.history.append((self._version, key[0], "DELETED", gone))
        self._tell(key, gone, is_gone=True)
        return gone

    def _tell(self, key: Key, document: Document, *, is_gone: bool) -> None:
        for hear in self.watchers:
            asyncio.get_running_loop().call_soon(hear)
        for cache in self._caches:
            asyncio.get_running_loop().call_soon(
                partial(self._deliver, cache, key, copy.deepcopy(document), is_gone=is_gone)
            )

    def _deliver(self, cache: ClusterCache, key: Key, document: Document, *, is_gone: bool) -> None:
        if cache not in self._caches or key[0] == "events":
            return
        store: Any = cache.kronjobs if key[0] == "kronjobs" else cache.jobs
        if is_gone:
            store.remove(key[1:], document["metadata"]["resourceVersion"])
        else:
            store.take(document)


def _period(job: Document) -> str:
    found: str = job["metadata"]["annotations"]["kron.io/period-id"]
    return found


def _refuse_error(resource: str, *error: str) -> None:
    """Fail: in these tests no object may cause an error."""
    raise AssertionError(f"one of {resource} was set aside: {error}")


STRICT = ErrorBoundary(_refuse_error, _refuse_error, lambda: 0.0)
