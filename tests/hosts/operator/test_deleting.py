"""Jobs are records: the operator deletes no Job whose period the status does not list yet."""

from typing import Any

import pytest

from kron.instant import format_instant
from tests.hosts.operator.fake_cluster import FakeCluster
from tests.hosts.operator.replica import HOUR, MINUTE, SECOND, Replica, at_noon
from tests.hosts.operator.test_faults import UNREACHABLE

TIDIED: dict[str, Any] = {"schedule": "0 13 * * *", "successfulJobsHistoryLimit": 0}
REPLACED: dict[str, Any] = {"schedule": "0,1 13 * * *"}


@pytest.mark.parametrize("spec", [TIDIED, REPLACED], ids=["old", "replaced"])
async def test_a_job_is_not_deleted_before_its_period_is_listed(spec: dict[str, Any]) -> None:
    cluster = at_noon()
    cluster.kronjob(policy={"deadline": "10m", "concurrency": "replace"}, **spec)
    first = await Replica(cluster).lead()
    await cluster.clock.advance(SECOND)
    cluster.before = lambda _verb, resource: UNREACHABLE if resource.subresource == "status" else None
    await cluster.clock.advance(HOUR)
    if spec is TIDIED:
        cluster.finish_all()
    await cluster.clock.advance(MINUTE)
    assert len(cluster.names()) == 1
    await first.crash()
    cluster.before = None

    await Replica(cluster).lead()
    await cluster.clock.advance(MINUTE)

    periods = [period for period, _ in cluster.created()]
    assert len(periods) == len(set(periods))
    assert cluster.outcomes()[0] == ("13:00", "executed", "")
    assert cluster.names() == ([] if spec is TIDIED else cluster.names()[-1:])


async def test_a_clean_up_that_is_refused_is_tried_again_later_each_time_however_many_jobs_wait() -> None:
    cluster = at_noon()
    cluster.kronjob("a", "* * * * *", policy={"concurrency": "allow"}, successfulJobsHistoryLimit=0)
    await Replica(cluster).lead()
    await cluster.clock.advance(5 * MINUTE)
    cluster.before = lambda verb, _resource: UNREACHABLE if verb == "delete" else None
    cluster.finish_all()
    cluster.requests.clear()
    await cluster.clock.advance(50 * SECOND)
    tries = [name for verb, _, name in cluster.requests if verb == "delete"]
    cluster.before = None
    await cluster.clock.advance(6 * SECOND)

    assert 5 < len(tries) < 20  # 0.5 s, 1 s, 2 s, 4 s, and then each 5 s
    assert cluster.names() == []


def leave(cluster: FakeCluster, *, is_counted: bool) -> None:
    """Ask for the deletion of the KronJob, which a finalizer keeps."""
    key = ("kronjobs", "ns", "a")
    metadata = {**cluster.objects[key]["metadata"], "deletionTimestamp": format_instant(cluster.clock.now())}
    metadata["generation"] += is_counted
    cluster._put(key, {**cluster.objects[key], "metadata": metadata})


@pytest.mark.parametrize("is_counted", [True, False], ids=["another generation", "the same generation"])
async def test_a_kronjob_that_is_being_deleted_and_kept_by_a_finalizer_starts_nothing(*, is_counted: bool) -> None:
    cluster = at_noon()
    cluster.kronjob("a", "* * * * *", policy={"concurrency": "allow", "deadline": "1h"})
    await Replica(cluster).lead()
    await cluster.clock.advance(MINUTE)
    leave(cluster, is_counted=is_counted)

    await cluster.clock.advance(5 * MINUTE)

    assert cluster.created() == [("12:01", "12:01:00")]


async def test_a_job_that_could_not_be_created_is_given_up_when_its_kronjob_is_deleted() -> None:
    cluster = at_noon()
    cluster.kronjob("a", "0 * * * *", policy={"deadline": "1h"})
    await Replica(cluster).lead()
    cluster.before = lambda verb, _resource: UNREACHABLE if verb == "create" else None
    await cluster.clock.advance(HOUR + SECOND)
    leave(cluster, is_counted=True)
    cluster.before = None
    await cluster.clock.advance(MINUTE)

    assert cluster.made == []


async def test_a_kronjob_that_a_new_leader_finds_in_deletion_starts_nothing() -> None:
    cluster = at_noon()
    cluster.kronjob("a", "* * * * *")
    leave(cluster, is_counted=True)
    await Replica(cluster).lead()

    await cluster.clock.advance(5 * MINUTE)

    assert cluster.made == []
