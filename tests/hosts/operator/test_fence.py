"""An error that one KronJob or one Job causes, wherever it comes from, sets that one aside and no other."""

import dataclasses
from typing import Any

from kron.hosts.operator.world import World
from tests.hosts.operator.cluster import Cluster
from tests.hosts.operator.replica import MINUTE, SECOND, Replica, at_noon, live


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


def broken(world: World, method: str, calls: int) -> None:
    """Let a method of the schedule of ns/a raise an error after some calls."""
    seen = world.kronjobs["ns", "a"]
    assert seen.work is not None
    timing: Any = BrokenTiming(seen.work.timing, method, calls)
    seen.work = dataclasses.replace(seen.work, timing=timing, text=seen.work.definition)


def two() -> Cluster:
    cluster = at_noon()
    for name in ("a", "b"):
        cluster.kronjob(name, "* * * * *", policy={"concurrency": "allow"})
    return cluster


def periods(cluster: Cluster, name: str) -> list[str]:
    owners = [(job["metadata"]["ownerReferences"][0]["name"], at) for at, job in cluster.made]
    return [f"{at:%H:%M:%S}" for owner, at in owners if owner == name]


def test_a_kronjob_that_cannot_be_declared_is_set_aside_until_its_spec_is_changed() -> None:
    async def story() -> None:
        cluster = two()
        replica = Replica(cluster)
        await replica.sync()
        broken(replica.world, "next", 0)
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

    live(story())


def test_a_kronjob_that_raises_in_the_loop_is_set_aside_and_the_loop_turns() -> None:
    async def story() -> None:
        cluster = two()
        replica = Replica(cluster)
        await replica.sync()
        broken(replica.world, "next", 2)
        await replica.lead()
        await cluster.clock.advance(2 * MINUTE + SECOND)

        assert periods(cluster, "b") == ["12:01:00", "12:02:00"]
        assert cluster.conditions("a")["SchedulingError"] == ("True", "InternalError")
        assert replica.numbers.set_aside == ["kronjobs"]
        assert replica.lines("bug") == []
        await replica.stop()

    live(story())


def test_of_changes_that_come_together_the_one_that_raises_is_set_aside() -> None:
    async def story() -> None:
        cluster = two()
        cluster.kronjob("a", "* * * * *", window={"duration": "1h"})
        replica = Replica(cluster)
        await replica.sync()
        broken(replica.world, "between", 0)
        await replica.lead()
        await cluster.clock.advance(10 * SECOND)
        for name in ("a", "b"):
            cluster.kronjob(name, "*/2 * * * *", policy={"concurrency": "allow"})
        await cluster.clock.advance(2 * MINUTE)

        assert periods(cluster, "b") == ["12:02:00"]
        assert cluster.conditions("a")["SchedulingError"] == ("True", "InternalError")
        assert replica.numbers.set_aside == ["kronjobs"]
        await replica.stop()

    live(story())
