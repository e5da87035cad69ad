"""Which periods and which Jobs belong to a KronJob."""

from kron.decision.decide import decide
from kron.errors import ApiRefusedError
from tests.hosts.operator.controller_process import ControllerProcess
from tests.hosts.operator.replica import HOUR, MINUTE, NOON, SECOND, Replica, at_noon
from tests.hosts.operator.test_faults import jobs_fail
from tests.hosts.operator.test_races import the_job


async def test_a_kronjob_made_while_no_operator_ran_owns_what_was_chosen_since() -> None:
    cluster = at_noon()
    cluster.kronjob(policy={"deadline": "90m"})
    await cluster.clock.advance(2 * HOUR + MINUTE)

    await Replica(cluster).lead()
    await cluster.clock.advance(SECOND)

    assert cluster.created() == [("14:00", "14:01:00")]
    assert cluster.outcomes() == [("13:00", "skipped", "Superseded"), ("14:00", "executed", "")]


async def test_a_template_edited_while_no_operator_ran_is_no_change_of_definition() -> None:
    cluster = at_noon()
    cluster.kronjob(window={"duration": "1h"})
    first = await Replica(cluster).lead()
    await cluster.clock.advance(HOUR + SECOND)
    cluster.finish_all()
    coming = cluster.status()["nextChosenTime"]
    await first.crash()
    cluster.kronjob(window={"duration": "1h"}, jobTemplate={"spec": {"template": {"x": 2}}})

    await Replica(cluster).lead()
    await cluster.clock.advance(HOUR)

    assert "DefinitionChanged" not in cluster.events()
    assert cluster.made[-1][1]["metadata"]["annotations"]["kron.io/chosen-time"] == coming
    assert cluster.made[-1][1]["spec"] == {"template": {"x": 2}}


async def test_the_next_is_the_smallest_chosen_second_and_not_the_next_nominal_time() -> None:
    cluster = at_noon()
    cluster.kronjob(schedule="* * * * *", window={"duration": "1h"})
    replica = await Replica(cluster).lead()
    kronjob = replica.cache.kronjobs.objects["ns", "a"].kronjob
    assert kronjob is not None
    chosen = [decide(kronjob.timing, NOON + MINUTE * number).chosen_time for number in range(-60, 60)]

    expected = min(at for at in chosen if at is not None and at > NOON)

    assert cluster.status()["nextChosenTime"] == f"{expected:%Y-%m-%dT%H:%M:%SZ}"


async def test_a_job_with_our_annotations_is_the_run_of_its_period_with_any_owner() -> None:
    cluster = at_noon()
    cluster.kronjob()
    metadata = (await the_job())["metadata"]
    await Replica(cluster).lead()

    cluster.job(metadata["name"], annotations=metadata["annotations"], labels=metadata["labels"])
    await cluster.clock.advance(2 * HOUR)

    assert cluster.created() == [("14:00", "14:00:00")]
    assert cluster.outcomes() == [("13:00", "executed", ""), ("14:00", "executed", "")]


async def test_a_foreign_job_blocks_no_kronjob() -> None:
    cluster = at_noon()
    cluster.kronjob()
    await Replica(cluster).lead()

    cluster.job("by-hand", labels={"app.kubernetes.io/managed-by": "kron-operator"})
    await cluster.clock.advance(HOUR)

    assert cluster.outcomes() == [("13:00", "executed", "")]
    assert "by-hand" not in [each["name"] for each in cluster.status()["active"]]


async def test_a_lowered_limit_removes_what_is_beyond_it() -> None:
    cluster = at_noon()
    cluster.kronjob(policy={"concurrency": "allow"})
    await Replica(cluster).lead()
    await cluster.clock.advance(3 * HOUR)
    cluster.finish_all()
    await cluster.clock.advance(SECOND)
    assert len(cluster.names()) == 3

    cluster.kronjob(policy={"concurrency": "allow"}, successfulJobsHistoryLimit=1)
    await cluster.clock.advance(SECOND)

    assert len(cluster.names()) == 1


async def test_a_replacing_job_is_created_when_the_replaced_one_is_gone_however_late() -> None:
    cluster = at_noon()
    cluster.kronjob(schedule="1,2 12 * * *", policy={"concurrency": "replace"})
    process = ControllerProcess(cluster)
    await cluster.clock.advance(MINUTE)
    (first,) = cluster.names()
    cluster.lingers = True
    await cluster.clock.advance(MINUTE + SECOND)
    process.wire.cut()  # that one request was not answered is no reason either
    await cluster.clock.advance(2 * SECOND)
    process.wire.mend()
    await cluster.clock.advance(2 * MINUTE)
    assert len(cluster.made) == 1

    cluster.delete("jobs", first)
    await cluster.clock.advance(SECOND)

    assert cluster.outcomes() == [("12:01", "executed", ""), ("12:02", "executed", "")]
    await process.stop()


async def test_a_server_that_asks_for_time_gets_it() -> None:
    cluster = at_noon()
    cluster.kronjob()
    await Replica(cluster).lead()
    cluster.before = jobs_fail(
        ApiRefusedError(code=429, reason="TooManyRequests", message="", retry_after=4.0, causes=())
    )

    await cluster.clock.advance(HOUR + 3 * SECOND)
    assert sum(request[:2] == ("create", "jobs") for request in cluster.requests) == 1
    await cluster.clock.advance(2 * SECOND)

    assert sum(request[:2] == ("create", "jobs") for request in cluster.requests) == 2
