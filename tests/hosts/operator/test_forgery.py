"""Only the Job with a period's own name and namespace is its run; other Jobs are ignored."""

from typing import Any

import pytest

from kron.instant import parse_instant
from kron.kronjob.kronjob import job_name
from tests.hosts.operator.fake_cluster import FakeCluster
from tests.hosts.operator.replica import HOUR, MINUTE, Replica, at_noon, live

ONE = "2026-03-02T13:00:00Z"
OWN = job_name("ns/a", parse_instant(ONE))
NOTES = {"kron.io/identity": "ns/a", "kron.io/period-id": ONE, "kron.io/chosen-time": ONE}


def made_beside(namespace: str, name: str, *, is_first: bool) -> int:
    """Return how many Jobs are created for a period beside one that says it is its Job, seen first or later."""
    made = []

    async def story() -> None:
        cluster = at_noon()
        cluster.kronjob()
        if is_first:
            cluster.job(name, namespace=namespace, annotations=NOTES)
        await Replica(cluster).lead()
        if not is_first:
            cluster.job(name, namespace=namespace, annotations=NOTES)
        await cluster.clock.advance(HOUR + MINUTE)
        assert cluster.outcomes() == [("13:00", "executed", "")]
        made.append(len(cluster.made))

    live(story())
    return made[0]


@pytest.mark.parametrize("is_first", [True, False])
@pytest.mark.parametrize(("namespace", "name"), [("evil", OWN), ("ns", "copy")])
def test_a_job_of_another_namespace_cannot_take_a_period(namespace: str, name: str, *, is_first: bool) -> None:
    assert made_beside(namespace, name, is_first=is_first) == 1


@pytest.mark.parametrize("is_first", [True, False])
def test_a_job_of_its_name_in_its_namespace_is_its_execution(*, is_first: bool) -> None:
    assert made_beside("ns", OWN, is_first=is_first) == 0


def owned(cluster: FakeCluster) -> dict[str, Any]:
    """Return metadata that say that a Job is of the KronJob, and of an earlier period."""
    uid = cluster.objects["kronjobs", "ns", "a"]["metadata"]["uid"]
    past = {**NOTES, "kron.io/period-id": "2026-03-02T12:00:00Z"}
    return {"annotations": past, "ownerReferences": [{"kind": "KronJob", "uid": uid, "controller": True}]}


@pytest.mark.parametrize("is_first", [True, False])
@pytest.mark.parametrize(
    ("namespace", "outcome"), [("evil", ("13:00", "executed", "")), ("ns", ("13:00", "skipped", "ConcurrencyForbid"))]
)
async def test_a_copy_with_our_owner_reference_is_active_in_its_namespace_and_nowhere_else(
    namespace: str, outcome: tuple[str, str, str], *, is_first: bool
) -> None:
    cluster = at_noon()
    cluster.kronjob()
    if is_first:
        cluster.job("copy", namespace=namespace, **owned(cluster))
    await Replica(cluster).lead()
    if not is_first:
        cluster.job("copy", namespace=namespace, **owned(cluster))
    await cluster.clock.advance(HOUR + MINUTE)

    assert cluster.outcomes() == [outcome]
    assert "copy" not in [each["name"] for each in cluster.status()["active"]] or namespace == "ns"


async def test_a_succeeded_job_of_another_namespace_changes_nothing() -> None:
    cluster = at_noon()
    cluster.kronjob(successfulJobsHistoryLimit=0)
    await Replica(cluster).lead()
    cluster.job("copy", namespace="evil", **owned(cluster))
    cluster.finish("copy", namespace="evil")
    await cluster.clock.advance(MINUTE)

    assert "lastSuccessfulTime" not in cluster.status()
    assert "SawCompletedJob" not in cluster.events()
    assert ("jobs", "evil", "copy") in cluster.objects
