"""The client on a real server: list and watch survive its faults, and one replica leads."""

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator, Mapping
from contextlib import asynccontextmanager, suppress
from typing import Any

import pytest

from kron.adapters.kubernetes.cache import Key, ResourceStore
from kron.adapters.kubernetes.client import KRONJOBS, ApiClient
from kron.adapters.kubernetes.kubeconfig import load_cluster_config
from kron.adapters.kubernetes.leader_election import LeaderElector
from kron.adapters.kubernetes.reflector import PAGE, Reflector
from kron.errors import ApiError, ApiRefusedError
from tests.adapters.kubernetes.scripted_reflector import Thing, parse_thing
from tests.cluster.client import Refused
from tests.cluster.plane import ControlPlane
from tests.cluster.wait import wait_until
from tests.hosts.operator.fake_cluster import STRICT
from tests.kronjob.kronjob_documents import document

pytestmark = pytest.mark.cluster

_PATIENCE = 60.0  # seconds, on a busy machine


class Names(ResourceStore[Thing]):
    """A store that knows which objects there are."""

    def __init__(self) -> None:
        super().__init__("kronjobs", parse_thing, STRICT)
        self.lists: list[str] = []
        self.problems: list[ApiError] = []
        self.changed = asyncio.Event()
        self.on_change = lambda _before, _after: self.changed.set()

    @property
    def known(self) -> set[str]:
        return {each.name for each in self.objects.values()}

    def replace(self, found: Mapping[Key, Thing | None], version: str, namespace: str) -> Iterator[None]:
        yield from super().replace(found, version, namespace)
        self.lists.append(version)
        self.changed.set()

    def on_error(self, error: ApiError) -> None:
        self.problems.append(error)
        self.changed.set()

    async def until(self, condition: Callable[[], bool]) -> None:
        """Return when the condition holds; each change is looked at."""
        while not condition():
            self.changed.clear()
            await self.changed.wait()


class RestartableReflector:
    """A reflector of one namespace, which can be stopped and started."""

    def __init__(self, api: ApiClient, namespace: str) -> None:
        self.store = Names()
        self.causes: list[str] = []
        self.reflector = Reflector(
            api, KRONJOBS, namespace, self.store, on_error=self.store.on_error, on_restart=self.causes.append
        )
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        self._task = asyncio.create_task(self.reflector.run())

    async def stop(self) -> None:
        assert self._task is not None
        self._task.cancel()
        with suppress(asyncio.CancelledError):
            await self._task


def kubeconfig(plane: ControlPlane, namespace: str) -> str:
    """Return the kubeconfig of a ServiceAccount that may do everything in its namespace."""
    group = "rbac.authorization.k8s.io"
    binding = {
        "apiVersion": f"{group}/v1", "kind": "RoleBinding", "metadata": {"name": "all", "namespace": namespace},
        "subjects": [{"kind": "ServiceAccount", "name": "default", "namespace": namespace}],
        "roleRef": {"apiGroup": group, "kind": "ClusterRole", "name": "cluster-admin"},
    }  # fmt: skip
    plane.admin.create(binding)
    return str(plane.kubeconfig(plane.token(namespace, "default"), namespace))


@asynccontextmanager
async def reflecting(plane: ControlPlane, namespace: str) -> AsyncIterator[RestartableReflector]:
    """Reflect the KronJobs of a namespace as long as the block."""
    api = ApiClient(load_cluster_config(kubeconfig(plane, namespace), None, home=False))
    reflector = RestartableReflector(api, namespace)
    reflector.start()
    try:
        yield reflector
    finally:
        await reflector.stop()
        await api.close()


def live(play: Coroutine[Any, Any, None]) -> None:
    asyncio.run(asyncio.wait_for(play, _PATIENCE))


def make(plane: ControlPlane, namespace: str, *names: str) -> None:
    for name in names:
        plane.admin.create(document(name, namespace))


def test_a_list_of_several_pages_and_every_change_after_it_are_seen(plane: ControlPlane, namespace: str) -> None:
    first = {f"k{number}" for number in range(PAGE + 20)}
    make(plane, namespace, *first)

    async def play() -> None:
        async with reflecting(plane, namespace) as reflector:
            await reflector.store.until(lambda: reflector.store.known == first)
            make(plane, namespace, "late")
            plane.admin.delete("KronJob", namespace, "k0")
            await reflector.store.until(lambda: reflector.store.known == {*first, "late"} - {"k0"})
            assert len(reflector.store.lists) == 1

    live(play())


def test_what_happened_while_a_killed_server_was_away_is_seen_when_it_is_back(
    plane: ControlPlane, namespace: str
) -> None:
    make(plane, namespace, "before")

    async def play() -> None:
        async with reflecting(plane, namespace) as reflector:
            await reflector.store.until(lambda: reflector.store.known == {"before"})
            plane.kill_api_server()
            await reflector.store.until(lambda: bool(reflector.store.problems))
            assert reflector.causes[0] == "broken"
            plane.start_api_server()
            wait_until(lambda: not is_refused(make, plane, namespace, "after"), what="the CRD served again")
            await reflector.store.until(lambda: reflector.store.known == {"before", "after"})

    live(play())


def test_after_a_compaction_a_new_list_finds_deleted_objects(plane: ControlPlane, namespace: str) -> None:
    make(plane, namespace, "stays", "goes")

    async def play() -> None:
        async with reflecting(plane, namespace) as reflector:
            await reflector.store.until(lambda: reflector.store.known == {"stays", "goes"})
            await reflector.stop()
            plane.admin.delete("KronJob", namespace, "goes")
            plane.kill_api_server()
            plane.compact()
            plane.start_api_server()
            reflector.start()
            await reflector.store.until(lambda: reflector.store.known == {"stays"})
            assert (reflector.causes[-1], len(reflector.store.lists)) == ("expired", 2)

    live(play())


def test_a_refusal_is_reported_and_retried_until_it_ends(plane: ControlPlane, namespace: str) -> None:
    make(plane, namespace, "k")

    async def play() -> None:
        async with reflecting(plane, namespace) as reflector:
            await reflector.store.until(lambda: reflector.store.known == {"k"})
            plane.admin.delete("RoleBinding", namespace, "all")
            await reflector.stop()
            reflector.start()
            await reflector.store.until(lambda: bool(reflector.store.problems))
            refused = reflector.store.problems[0]
            assert isinstance(refused, ApiRefusedError)
            assert (refused.code, refused.reason) == (403, "Forbidden")
            assert "cannot watch resource" in refused.message

    live(play())


def test_of_two_replicas_one_leads_and_the_other_follows_at_once(plane: ControlPlane, namespace: str) -> None:
    async def play() -> None:
        api = ApiClient(load_cluster_config(kubeconfig(plane, namespace), None, home=False))
        changed = asyncio.Event()
        pair = [
            LeaderElector(
                api, namespace, "kron", name, retry_period=0.1, on_change=lambda _: changed.set(), on_problem=print
            )
            for name in ("one", "two")
        ]
        tasks = [asyncio.create_task(each.run()) for each in pair]
        await changed.wait()
        first, second = sorted(pair, key=lambda each: not each.is_leader())
        assert (first.is_leader(), second.is_leader()) == (True, False)

        await first.release()
        changed.clear()
        await changed.wait()

        assert (first.is_leader(), second.is_leader()) == (False, True)
        assert plane.admin.get("Lease", namespace, "kron")["spec"]["leaseTransitions"] == 1
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await api.close()

    live(play())


def is_refused(ask: Callable[..., object], *words: Any) -> bool:
    try:
        ask(*words)
    except (Refused, OSError):
        return True
    return False
