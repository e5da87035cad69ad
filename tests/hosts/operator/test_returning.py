"""A new leader finds statuses, Jobs and definitions of an earlier leader."""

from tests.hosts.operator.replica import HOUR, MINUTE, SECOND, Replica, at_noon
from tests.hosts.operator.test_faults import UNREACHABLE


async def test_an_old_job_whose_period_is_no_longer_listed_changes_nothing() -> None:
    cluster = at_noon()
    cluster.kronjob(schedule="* * * * *")
    first = await Replica(cluster).lead()
    await cluster.clock.advance(MINUTE)
    cluster.finish_all(succeeded=False)  # it is kept, as the last one that failed
    for _ in range(15):
        await cluster.clock.advance(MINUTE)
        cluster.finish_all()
    await cluster.clock.advance(SECOND)
    await first.crash()
    before = cluster.status()

    await Replica(cluster).lead()
    await cluster.clock.advance(SECOND)

    assert cluster.status() == before
    assert "Missed" not in cluster.events()


async def test_a_period_that_the_new_definition_runs_is_not_closed_by_an_unobserved_change() -> None:
    cluster = at_noon()
    cluster.kronjob(schedule="30 12 * * *", window={"duration": "3h"})
    first = await Replica(cluster).lead()
    await cluster.clock.advance(31 * MINUTE)
    await first.crash()
    cluster.kronjob(schedule="30 12 * * *", window={"duration": "3h"}, seed={"salt": "other"})

    await Replica(cluster).lead()
    await cluster.clock.advance(3 * HOUR)

    assert cluster.outcomes() == [("12:30", "executed", "")]


async def test_a_job_that_succeeded_without_a_leader_is_reported() -> None:
    cluster = at_noon()
    cluster.kronjob()
    first = await Replica(cluster).lead()
    await cluster.clock.advance(HOUR + MINUTE)
    await first.crash()
    cluster.finish_all()

    await Replica(cluster).lead()
    await cluster.clock.advance(SECOND)

    assert cluster.status()["lastSuccessfulTime"] == "2026-03-02T13:01:00Z"
    assert cluster.events().count("SawCompletedJob") == 1


async def test_the_reported_end_of_a_job_is_not_reported_again_by_the_next_leader() -> None:
    cluster = at_noon()
    cluster.kronjob()
    first = await Replica(cluster).lead()
    await cluster.clock.advance(HOUR)
    cluster.finish_all()
    await cluster.clock.advance(SECOND)
    await first.crash()

    await Replica(cluster).lead()
    await cluster.clock.advance(SECOND)

    assert cluster.events().count("SawCompletedJob") == 1


async def test_a_replica_that_leads_again_goes_on_where_it_was() -> None:
    cluster = at_noon()
    cluster.kronjob()
    replica = await Replica(cluster).lead()
    await cluster.clock.advance(HOUR)
    await replica.stop()
    await cluster.clock.advance(MINUTE)

    await replica.lead()
    await cluster.clock.advance(HOUR)

    assert cluster.created() == [("13:00", "13:00:00")]
    assert cluster.outcomes() == [("13:00", "executed", ""), ("14:00", "skipped", "ConcurrencyForbid")]


async def test_a_template_that_became_wrong_without_a_leader_closes_open_periods() -> None:
    cluster = at_noon()
    cluster.kronjob(schedule="30 12 * * *", window={"duration": "3h"})
    first = await Replica(cluster).lead()
    await cluster.clock.advance(31 * MINUTE)
    await first.crash()
    wrong = {"metadata": {"labels": "none"}, "spec": {}}
    cluster.kronjob(schedule="30 12 * * *", window={"duration": "3h"}, jobTemplate=wrong)

    await Replica(cluster).lead()
    await cluster.clock.advance(SECOND)

    assert cluster.conditions()["Ready"] == ("False", "InvalidSpec")
    assert cluster.outcomes() == [("12:30", "skipped", "DefinitionChanged")]


async def test_a_template_that_was_repaired_while_another_led_makes_up_for_nothing() -> None:
    cluster = at_noon()
    first = await Replica(cluster).lead()
    standby = Replica(cluster)
    await standby.sync()
    cluster.kronjob(policy={"deadline": "3h"})
    await cluster.clock.advance(SECOND)
    cluster.kronjob(schedule="5 * * * *", policy={"deadline": "3h"})  # the standby has seen another definition once
    await cluster.clock.advance(SECOND)
    cluster.kronjob(schedule="5 * * * *", policy={"deadline": "3h"}, jobTemplate={"metadata": 1, "spec": {}})
    await cluster.clock.advance(2 * HOUR)
    await first.crash()
    cluster.kronjob(schedule="5 * * * *", policy={"deadline": "3h"})
    await cluster.clock.advance(SECOND)

    await standby.lead()
    await cluster.clock.advance(MINUTE)

    assert cluster.made == []


async def test_an_executed_unlisted_period_is_not_closed_by_an_unobserved_change() -> None:
    cluster = at_noon()
    cluster.kronjob()
    first = await Replica(cluster).lead()
    await cluster.clock.advance(SECOND)
    cluster.before = lambda _verb, resource: UNREACHABLE if resource.subresource == "status" else None
    await cluster.clock.advance(HOUR)
    await first.crash()
    cluster.before = None
    cluster.kronjob(schedule="30 * * * *")

    await Replica(cluster).lead()
    await cluster.clock.advance(SECOND)

    assert cluster.outcomes() == [("13:00", "executed", "")]
