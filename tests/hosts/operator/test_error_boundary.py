"""An error that one KronJob or one Job causes sets that one aside and no other."""

import dataclasses
import io
from typing import Any

from kron.adapters.kubernetes.cache import ClusterCache
from kron.adapters.kubernetes.client import Resource
from kron.adapters.kubernetes.namespace_backoff import ErrorBoundary
from kron.errors import ApiError
from kron.hosts.operator.log import OperatorLog
from kron.rules.job_spec import JobSpec
from tests.hosts.operator.fake_cluster import FakeCluster, refused
from tests.hosts.operator.replica import MINUTE, SECOND, Replica, at_noon


class Broken:
    """Something with a bug: one of its methods raises an error from its so many-th call on."""

    def __init__(self, whole: Any, method: str, calls: int) -> None:
        self._whole, self._method, self._calls = whole, method, calls

    def __getattr__(self, name: str) -> Any:
        if name == self._method:
            self._calls -= 1
            if self._calls < 0:
                raise RuntimeError("a bug")
        return getattr(self._whole, name)


class BrokenTiming:
    """A timing whose schedule has a bug."""

    def __init__(self, timing: Any, method: str, calls: int) -> None:
        self._timing, self.schedule = timing, Broken(timing.schedule, method, calls)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._timing, name)


def broken(cache: ClusterCache, method: str, calls: int) -> None:
    """Let a method of the schedule of ns/a raise an error after some calls."""
    seen = cache.kronjobs.objects["ns", "a"]
    assert isinstance(seen.spec, JobSpec)
    timing: Any = BrokenTiming(seen.spec.timing, method, calls)
    seen.spec = dataclasses.replace(seen.spec, timing=timing, text=seen.spec.definition)


def two() -> FakeCluster:
    cluster = at_noon()
    for name in ("a", "b"):
        cluster.kronjob(name, "* * * * *", policy={"concurrency": "allow"})
    return cluster


def periods(cluster: FakeCluster, name: str) -> list[str]:
    owners = [(job["metadata"]["ownerReferences"][0]["name"], at) for at, job in cluster.made]
    return [f"{at:%H:%M:%S}" for owner, at in owners if owner == name]


async def test_a_kronjob_that_cannot_be_declared_is_set_aside_until_its_spec_is_changed() -> None:
    cluster = two()
    replica = Replica(cluster)
    await replica.sync()
    broken(replica.cache, "next", 0)
    await replica.lead()
    await cluster.clock.advance(MINUTE + SECOND)

    assert periods(cluster, "b") == ["12:01:00"]
    assert periods(cluster, "a") == []
    assert cluster.conditions("a")["SchedulingError"] == ("True", "InternalError")
    (line,) = replica.lines("set aside")
    assert (line["resource"], line["namespace"], line["name"]) == ("kronjobs", "ns", "a")
    assert replica.numbers.set_aside == ["kronjobs"]

    cluster.kronjob("a", "*/1 * * * *", policy={"concurrency": "allow"})
    await cluster.clock.advance(MINUTE)

    assert periods(cluster, "a") == ["12:02:00"]
    assert cluster.conditions("a")["SchedulingError"] == ("False", "AsExpected")
    await replica.stop()


async def test_a_kronjob_that_raises_in_the_loop_is_set_aside_and_the_loop_turns() -> None:
    cluster = two()
    replica = Replica(cluster)
    await replica.sync()
    broken(replica.cache, "next", 2)
    await replica.lead()
    await cluster.clock.advance(2 * MINUTE + SECOND)

    assert periods(cluster, "b") == ["12:01:00", "12:02:00"]
    assert cluster.conditions("a")["SchedulingError"] == ("True", "InternalError")
    assert replica.numbers.set_aside == ["kronjobs"]
    assert replica.lines("bug") == []
    await replica.stop()


async def test_of_changes_that_come_together_the_one_that_raises_is_set_aside() -> None:
    cluster = two()
    cluster.kronjob("a", "* * * * *", window={"duration": "1h"})
    replica = Replica(cluster)
    await replica.sync()
    broken(replica.cache, "between", 0)
    await replica.lead()
    await cluster.clock.advance(10 * SECOND)
    for name in ("a", "b"):
        cluster.kronjob(name, "*/2 * * * *", policy={"concurrency": "allow"})
    await cluster.clock.advance(2 * MINUTE)

    assert periods(cluster, "b") == ["12:02:00"]
    assert cluster.conditions("a")["SchedulingError"] == ("True", "InternalError")
    assert replica.numbers.set_aside == ["kronjobs"]
    await replica.stop()


class Unreadable(dict[str, object]):
    """A spec that raises when it is read, as a bug of Kron would."""

    def items(self) -> Any:
        raise ZeroDivisionError("no items")

    def __deepcopy__(self, _: object) -> "Unreadable":
        return self


async def test_a_kronjob_whose_spec_cannot_be_read_says_so_in_its_status_and_starts_nothing() -> None:
    cluster = two()
    log, set_aside = OperatorLog(io.StringIO(), cluster.clock.now), list[str]()
    boundary = ErrorBoundary(log.write_set_aside, set_aside.append, cluster.clock.monotonic)
    replica = await Replica(cluster, boundary).lead()
    found = cluster.objects["kronjobs", "ns", "a"]
    found |= {"metadata": {**found["metadata"], "generation": 2}, "spec": Unreadable(found["spec"])}
    replica.cache.kronjobs.objects["ns", "a"].resource_version = ""  # what comes is not known
    replica.cache.kronjobs.take(found)

    await cluster.clock.advance(MINUTE + SECOND)

    assert (periods(cluster, "a"), periods(cluster, "b")) == ([], ["12:01:00"])
    conditions = {each["type"]: each for each in cluster.status("a")["conditions"]}
    assert conditions["InvalidSpec"]["status"] == "True"
    assert conditions["InvalidSpec"]["message"].startswith("spec: cannot be read: ")
    assert set_aside == ["kronjobs"]
    await replica.stop()


def over_quota(verb: str, resource: Resource) -> ApiError | None:
    """Refuse every Job, as a quota does."""
    is_creation = (verb, resource.plural) == ("create", "jobs")
    return refused(403, "Forbidden", message="exceeded quota") if is_creation else None


async def test_a_job_that_raises_while_its_namespace_is_probed_holds_up_none_of_the_namespace() -> None:
    cluster = at_noon()
    schedules = {"c": "1 * * * *", "d": "1 * * * *", "e": "1 * * * *", "a": "2 * * * *", "b": "3 * * * *"}
    for name, schedule in schedules.items():
        cluster.kronjob(name, schedule, policy={"deadline": "10m"})
    replica = await Replica(cluster).lead()
    cluster.before = over_quota
    await cluster.clock.advance(MINUTE + 55 * SECOND)  # the namespace rests
    seen = replica.cache.kronjobs.objects["ns", "a"]
    object.__setattr__(seen.spec, "payload", Broken(seen.kronjob, "read_template", 0))
    await cluster.clock.advance(MINUTE)
    assert replica.lines("bug")  # it was the next one to try
    cluster.before = None

    await cluster.clock.advance(4 * MINUTE)

    assert [len(periods(cluster, name)) for name in "abcde"] == [0, 1, 1, 1, 1]
    await replica.stop()
