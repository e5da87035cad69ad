"""A whole operator: its readiness, its leadership, and its requests while idle."""

from tests.hosts.operator.controller_process import ControllerProcess
from tests.hosts.operator.replica import MINUTE, NOON, SECOND, at_noon

AT_ONE_PAST = "1 12 * * *"


async def test_the_operator_is_ready_when_all_caches_have_synced() -> None:
    cluster = at_noon()
    cluster.kronjob()
    process = ControllerProcess(cluster)
    process.wire.cut("jobs")
    await cluster.clock.advance(SECOND)
    assert not process.controller.is_ready()

    process.wire.mend()
    await cluster.clock.advance(10 * SECOND)

    assert process.controller.is_ready()
    await process.stop()


async def test_without_any_watch_for_a_minute_it_is_not_ready_until_there_is_one() -> None:
    cluster = at_noon()
    process = ControllerProcess(cluster)
    await cluster.clock.advance(SECOND)

    process.wire.cut()
    await cluster.clock.advance(59 * SECOND)
    assert process.controller.is_ready()
    await cluster.clock.advance(SECOND)
    assert not process.controller.is_ready()
    assert process.controller.is_healthy()

    process.wire.mend()
    await cluster.clock.advance(10 * SECOND)
    assert process.controller.is_ready()
    await process.stop()


async def test_with_one_of_its_watches_it_is_ready() -> None:
    cluster = at_noon()
    process = ControllerProcess(cluster)
    await cluster.clock.advance(SECOND)

    process.wire.cut("jobs")
    await cluster.clock.advance(5 * MINUTE)

    assert process.controller.is_ready()
    await process.stop()


async def test_while_nothing_is_due_it_asks_for_nothing_but_its_lease() -> None:
    cluster = at_noon()
    cluster.kronjob("daily", AT_ONE_PAST)
    cluster.kronjob("held", policy={"suspend": True})
    cluster.kronjob("wrong", timeZone="Mars/Olympus")
    cluster.kronjob("never", AT_ONE_PAST, constraints={"avoid": ["between=12:01-12:01"]})
    process = ControllerProcess(cluster)
    await cluster.clock.advance(MINUTE + 10 * SECOND)
    cluster.finish_all()
    await cluster.clock.advance(10 * SECOND)
    cluster.requests.clear()

    await cluster.clock.advance(MINUTE)

    assert {(verb, label) for verb, label, _ in cluster.requests} == {("update", "leases")}
    assert len(cluster.requests) == 30
    await process.stop()


async def test_a_standby_leads_within_one_retry_period_after_a_leader_was_stopped() -> None:
    cluster = at_noon()
    cluster.kronjob(schedule=AT_ONE_PAST)
    first = ControllerProcess(cluster)
    await cluster.clock.advance(SECOND)
    second = ControllerProcess(cluster)
    await cluster.clock.advance_to(NOON + 58 * SECOND)
    assert (first.number("kron_operator_leader"), second.number("kron_operator_leader")) == (1, 0)

    await first.stop()
    await cluster.clock.advance(2 * SECOND)

    assert second.number("kron_operator_leader") == 1
    assert cluster.created() == [("12:01", "12:01:00")]
    assert first.events()[-1] == "stopped"
    await second.stop()


async def test_a_standby_follows_a_leader_that_was_killed_when_its_lease_is_old_and_misses_nothing() -> None:
    cluster = at_noon()
    cluster.kronjob(schedule=AT_ONE_PAST)
    first = ControllerProcess(cluster)
    await cluster.clock.advance(SECOND)
    second = ControllerProcess(cluster)
    await cluster.clock.advance_to(NOON + 57 * SECOND)

    first.kill()
    await cluster.clock.advance(13 * SECOND)
    assert second.number("kron_operator_leader") == 0
    await cluster.clock.advance(6 * SECOND)

    assert second.number("kron_operator_leader") == 1
    assert cluster.outcomes() == [("12:01", "executed", "")]
    await second.stop()


async def test_a_leader_that_cannot_renew_stands_by_and_leads_again_when_it_can() -> None:
    cluster = at_noon()
    cluster.kronjob(schedule=AT_ONE_PAST)
    process = ControllerProcess(cluster)
    await cluster.clock.advance(59 * SECOND)

    process.wire.cut()
    await cluster.clock.advance(12 * SECOND)
    assert process.events()[-1] == "standing by"
    assert process.number("kron_operator_leader") == 0
    process.wire.mend()
    await cluster.clock.advance(10 * SECOND)

    assert process.events().count("leading") == 2
    assert cluster.outcomes() == [("12:01", "executed", "")]
    await process.stop()


async def test_changes_before_a_watch_expired_are_seen_in_a_new_list() -> None:
    cluster = at_noon()
    for name in ("a", "b", "c"):
        cluster.kronjob(name, "1-3 12 * * *")
    process = ControllerProcess(cluster)
    await cluster.clock.advance(MINUTE + SECOND)

    process.wire.cut("kronjobs", "jobs")
    await cluster.clock.advance(SECOND)
    cluster.finish_all()
    cluster.delete("kronjobs", "b")
    cluster.kronjob("c", schedule="3 12 * * *")
    process.wire.mend()
    process.wire.forget()
    await cluster.clock.advance(MINUTE)

    assert cluster.created()[3:] == [("12:02", "12:02:00")]
    assert process.number('kron_kronjobs{state="scheduled"}') == 2
    assert process.number('kron_watch_restarts_total{cause="expired",resource="jobs"}') == 1
    await process.stop()


async def test_a_leader_without_a_synced_cache_waits_for_it() -> None:
    cluster = at_noon()
    cluster.kronjob(schedule=AT_ONE_PAST, policy={"deadline": "5m"}, successfulJobsHistoryLimit=0)
    first = ControllerProcess(cluster)
    await cluster.clock.advance(SECOND)
    second = ControllerProcess(cluster)
    await cluster.clock.advance(SECOND)
    second.wire.cut("watch kronjobs", "watch jobs")
    await cluster.clock.advance(MINUTE)
    cluster.finish_all()
    await cluster.clock.advance(SECOND)
    assert cluster.names() == []
    await first.stop()
    await cluster.clock.advance(10 * SECOND)

    second.wire.mend()
    await cluster.clock.advance(10 * SECOND)

    assert second.number("kron_operator_leader") == 1
    assert cluster.created() == [("12:01", "12:01:00")]
    await second.stop()
