"""Watch events and answers that arrive in the wrong order."""

import asyncio
from typing import Any

from kron.adapters.kubernetes.cache import ClusterCache
from kron.adapters.kubernetes.client import JOBS, Resource
from tests.hosts.operator.fake_cluster import FakeCluster
from tests.hosts.operator.replica import HOUR, MINUTE, SECOND, Replica, at_noon


def vanish_after(cluster: FakeCluster, verb: str, label: str) -> None:
    """Let what is written be deleted, and its deletion be seen, before the answer to the writing comes."""

    def vanish(done: str, resource: Resource) -> None:
        if (done, resource.label) == (verb, label):
            cluster.after = None
            cluster.delete(resource.plural, cluster.names(resource.plural)[0])

    cluster.after = vanish


async def test_a_kronjob_that_is_gone_does_not_come_back_with_the_answer_to_a_write() -> None:
    cluster = at_noon()
    cluster.kronjob()
    replica = await Replica(cluster).lead()
    vanish_after(cluster, "patch", "kronjobs/status")

    await cluster.clock.advance(2 * HOUR)

    assert replica.cache.kronjobs.objects == {}
    assert len(cluster.made) == 1


async def test_a_kronjob_made_again_is_not_replaced_by_the_answer_to_a_write_of_the_one_before() -> None:
    cluster = at_noon()
    cluster.kronjob()
    replica = await Replica(cluster).lead()

    def remake(_verb: str, resource: Resource) -> None:
        if resource.subresource == "status":
            cluster.after = None
            cluster.delete("kronjobs", "a")
            cluster.kronjob(schedule="30 * * * *")

    cluster.after = remake
    await cluster.clock.advance(2 * HOUR)

    assert replica.cache.kronjobs.objects["ns", "a"].uid == cluster.objects["kronjobs", "ns", "a"]["metadata"]["uid"]
    assert cluster.created()[-1] == ("13:30", "13:30:00")


async def test_a_job_that_is_seen_before_the_answer_to_its_creation_is_written_down_once() -> None:
    cluster = at_noon()
    cluster.kronjob()
    await Replica(cluster).lead()
    cluster.takes["jobs"] = SECOND
    await cluster.clock.advance(HOUR - MINUTE)
    before = len(cluster.requests)

    await cluster.clock.advance(2 * MINUTE)

    written = [each[:2] for each in cluster.requests[before:] if each[1] != "events"]
    assert written == [("create", "jobs"), ("patch", "kronjobs/status")]
    assert cluster.status()["activeJobs"] == len(cluster.status()["handledPeriods"]) == 1


async def test_a_job_that_is_gone_before_the_answer_to_its_creation_is_over() -> None:
    cluster = at_noon()
    cluster.kronjob()
    replica = await Replica(cluster).lead()
    vanish_after(cluster, "create", "jobs")

    await cluster.clock.advance(HOUR)
    assert replica.cache.jobs.objects == {}
    await cluster.clock.advance(HOUR)

    assert cluster.outcomes() == [("13:00", "executed", ""), ("14:00", "executed", "")]


async def test_a_job_that_another_leader_made_while_ours_was_judged_is_waited_for_once() -> None:
    cluster = at_noon()
    cluster.kronjob()
    replica = await Replica(cluster).lead()
    body = await the_job()

    async def be_quicker() -> None:
        await cluster.clock.sleep(HOUR)
        cluster.tell_at_once(replica.cache, JOBS, body)

    other = asyncio.create_task(be_quicker())
    await cluster.clock.advance(HOUR)
    await other
    cluster.finish_all()
    await cluster.clock.advance(HOUR)

    assert cluster.outcomes() == [("13:00", "executed", ""), ("14:00", "executed", "")]


async def test_a_copy_of_a_job_that_runs_is_active_as_long_as_it_runs_and_no_longer() -> None:
    cluster = at_noon()
    cluster.kronjob()
    await Replica(cluster).lead()
    await cluster.clock.advance(HOUR)
    (original,) = cluster.names()
    metadata = cluster.objects["jobs", "ns", original]["metadata"]
    cluster.job("copy", **{key: metadata[key] for key in ("annotations", "labels", "ownerReferences")})
    await cluster.clock.advance(SECOND)

    cluster.finish(original)
    await cluster.clock.advance(HOUR)
    cluster.finish("copy")
    await cluster.clock.advance(HOUR)

    reasons = [(outcome, reason) for _, outcome, reason in cluster.outcomes()]
    assert reasons == [("executed", ""), ("skipped", "ConcurrencyForbid"), ("executed", "")]


async def test_periods_handled_by_another_replica_are_learnt_also_with_another_spec() -> None:
    cluster = at_noon()
    cluster.kronjob()
    replica = await Replica(cluster).lead()
    await cluster.clock.advance(SECOND)
    cluster.hide(replica.cache)
    entry = {"periodID": "2026-03-02T13:00:00Z", "outcome": "skipped", "reason": "ConcurrencyForbid"}
    cluster.status()["handledPeriods"] = [entry]
    cluster.kronjob(successfulJobsHistoryLimit=7)

    cluster.show(replica.cache)
    await cluster.clock.advance(HOUR + MINUTE)

    assert cluster.made == []
    assert cluster.outcomes() == [("13:00", "skipped", "ConcurrencyForbid")]


async def the_job() -> dict[str, Any]:
    """Return the Job of 13:00 as another client would create it."""
    cluster = at_noon()
    cluster.kronjob()
    await Replica(cluster).lead()
    await cluster.clock.advance(HOUR)
    return cluster.made[0][1]


def made_again(cluster: FakeCluster, cache: ClusterCache, name: str) -> None:
    """Delete a Job and create another one of its name without an owner; the cache sees the second only."""
    cluster.hide(cache)
    cluster.delete("jobs", name)
    cluster.job(name)
    cluster.show(cache)


async def test_a_job_that_is_deleted_and_created_again_unseen_does_not_hold_up_the_next_period() -> None:
    cluster = at_noon()
    cluster.kronjob("a", "* * * * *", policy={"concurrency": "forbid"})
    replica = await Replica(cluster).lead()
    await cluster.clock.advance(MINUTE)
    made_again(cluster, replica.cache, cluster.names()[0])

    await cluster.clock.advance(MINUTE)

    assert cluster.created() == [("12:01", "12:01:00"), ("12:02", "12:02:00")]


async def test_a_job_that_is_deleted_and_created_again_before_the_answer_holds_up_nothing() -> None:
    cluster = at_noon()
    cluster.kronjob("a", "* * * * *", policy={"concurrency": "forbid"})
    replica = await Replica(cluster).lead()

    def remake(verb: str, resource: Resource) -> None:
        if (verb, resource.label) == ("create", "jobs"):
            cluster.after = None
            made_again(cluster, replica.cache, cluster.names()[0])

    cluster.after = remake
    await cluster.clock.advance(2 * MINUTE)

    assert cluster.created() == [("12:01", "12:01:00"), ("12:02", "12:02:00")]


async def test_a_job_that_comes_while_the_declaration_of_its_kronjob_is_recorded_is_adopted() -> None:
    cluster = at_noon()
    cluster.kronjob("b", "0 * * * *", window={"duration": "1h"}, seed={"salt": "x"})
    replica = await Replica(cluster).lead()
    await cluster.clock.advance(MINUTE)
    session, body = replica.session, await the_job()
    assert session is not None

    cluster.kronjob("b", "30 * * * *")  # closes the period that has begun, which takes the ledger a turn
    cluster.kronjob("a", "0 * * * *")
    body["metadata"]["ownerReferences"][0]["uid"] = cluster.objects["kronjobs", "ns", "a"]["metadata"]["uid"]
    while session._ledger.record("ns/a") is None:
        await asyncio.sleep(0)  # noqa: TID251  # a turn, no time
    assert "ns/a" not in session.planner.jobs
    cluster.tell_at_once(replica.cache, JOBS, body)
    await cluster.clock.advance(SECOND)

    assert [each["name"] for each in cluster.status("a")["active"]] == [body["metadata"]["name"]]
    assert cluster.status("a")["nextPeriodID"] == "2026-03-02T14:00:00Z"
    assert session.planner.jobs["ns/a"].active
    await replica.stop()
