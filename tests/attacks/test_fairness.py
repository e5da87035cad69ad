"""One tenant overloads the operator, and another tenant's Job is created in its second."""

import asyncio
from collections.abc import Callable, Coroutine
from datetime import timedelta
from http.client import HTTPConnection
from typing import Any

from kron.decision.decide import decide
from kron.hosts.operator.controller import OperatorConfig
from kron.web.probes import ProbeServer
from tests.attacks.documents import RARELY_ALLOWED
from tests.attacks.tenants import GREEDY, VICTIM, Tenants
from tests.attacks.turns import longest_turn
from tests.calls import counted
from tests.hosts.operator.controller_process import ControllerProcess
from tests.hosts.operator.replica import MINUTE, NOON, SECOND, Replica

BOUND = 2 * SECOND  # later than without the attack
LONGEST_TURN = 0.5  # seconds of processor time; a fifth of it on a machine that is neither slow nor busy
DUE = NOON
MANY = 40
Attack = Callable[[Tenants], Coroutine[Any, Any, None]]


async def lead(cluster: Tenants, number: int = MANY, **spec: Any) -> ControllerProcess:
    """Have a controller with many KronJobs of one tenant and one of another, all due at the same second."""
    for each in range(number):
        cluster.kronjob(f"a{each}", namespace=GREEDY, **spec)
    cluster.kronjob("b", namespace=VICTIM)
    process = ControllerProcess(cluster, OperatorConfig(workers=8, leader_elect=False))
    await cluster.clock.advance(30 * SECOND)
    return process


def lateness(cluster: Tenants) -> timedelta:
    (at,) = cluster.made_at(VICTIM)
    return at - DUE


def status_of(cluster: Tenants, name: str) -> tuple[str, str, str]:
    """Return what a greedy KronJob's status says of its last creation."""
    conditions = {each["type"]: each for each in cluster.status(name, namespace=GREEDY)["conditions"]}
    found = conditions["SchedulingError"]
    return found["status"], found["reason"], found["message"]


async def test_many_kronjobs_over_quota_get_one_probe_at_a_time_and_delay_no_other_tenant() -> None:
    cluster = Tenants()
    cluster.over_quota, cluster.takes = {GREEDY}, {"jobs": SECOND / 5, "kronjobs/status": SECOND / 5}
    process = await lead(cluster, policy={"deadline": "1h"})

    await cluster.clock.advance(4 * MINUTE)

    assert lateness(cluster) <= BOUND
    conditions = [status_of(cluster, f"a{each}") for each in range(MANY)]
    assert conditions == MANY * [("True", "FailedCreate", "exceeded quota: none")]
    assert cluster.tried[GREEDY] < 40  # the first ones together, and a dozen probes; of 40 each would try 40 times
    await process.stop()


async def test_kronjobs_that_a_webhook_denies_hold_up_none_of_their_namespace() -> None:
    cluster = Tenants()
    cluster.denied = {f"a{each}" for each in range(1, 5)}
    process = await lead(cluster, 5, schedule="* * * * *", policy={"deadline": "10s", "concurrency": "allow"})

    await cluster.clock.advance_to(DUE + 4 * MINUTE + 30 * SECOND)

    made = [f"{at:%H:%M:%S}" for at in cluster.made_at(GREEDY)]
    assert made == [f"12:0{minute}:00" for minute in range(5)]
    assert cluster.tried[GREEDY] < 5 + 4 * 40
    await process.stop()


async def test_a_tenant_over_quota_starts_again_soon_after_a_job_of_it_has_ended() -> None:
    cluster = Tenants()
    process = await lead(cluster, 1, schedule="*/2 * * * *", policy={"deadline": "1h", "concurrency": "allow"})
    await cluster.clock.advance(MINUTE)
    (job,) = [name for plural, namespace, name in cluster.objects if (plural, namespace) == ("jobs", GREEDY)]
    cluster.over_quota = {GREEDY}
    await cluster.clock.advance(7 * MINUTE)
    assert len(cluster.made_at(GREEDY)) == 1

    cluster.over_quota = set()
    cluster.finish(job, namespace=GREEDY)
    await cluster.clock.advance(10 * SECOND)

    assert len(cluster.made_at(GREEDY)) == 4  # all that waited
    await process.stop()


async def test_edits_of_many_kronjobs_do_not_delay_the_job_of_another_tenant() -> None:
    cluster = Tenants()
    process = await lead(cluster)
    cluster.takes = {"kronjobs/status": 4 * SECOND / 5}

    for second in range(56, 64):
        await cluster.clock.advance(DUE - MINUTE + second * SECOND - cluster.clock.now())
        for each in range(MANY):
            cluster.kronjob(f"a{each}", f"{second} 0 1 1 *", namespace=GREEDY)
    await cluster.clock.advance(MINUTE)

    assert lateness(cluster) <= BOUND
    await process.stop()


def edit_costly(cluster: Tenants, number: int, salt: int) -> None:
    """Have so many KronJobs of one tenant with a new definition each, of which a thousand periods are to be decided."""
    for each in range(number):
        cluster.kronjob(f"a{each}", namespace=GREEDY, **RARELY_ALLOWED._replace(salt=salt).spec())


def test_costly_kronjobs_that_are_edited_while_an_edit_is_prepared_do_not_hold_the_loop() -> None:
    async def story() -> None:
        cluster = Tenants()
        edit_costly(cluster, 5, salt=1)
        replica = await Replica(cluster).lead()

        for salt in range(2, 6):
            edit_costly(cluster, 5, salt)
            for _ in range(20):
                await asyncio.sleep(0)  # noqa: TID251  # a turn, no time
        await cluster.clock.advance(SECOND)

        observed = {cluster.status(f"a{each}", namespace=GREEDY)["observedGeneration"] for each in range(5)}
        assert observed == {5}
        await replica.stop()

    assert longest_turn(story) < LONGEST_TURN


async def test_an_edit_of_one_tenant_waits_for_a_part_of_the_costly_edits_of_another() -> None:
    cluster = Tenants()
    edit_costly(cluster, 5, salt=1)
    cluster.kronjob("b", namespace=VICTIM)
    replica = await Replica(cluster).lead()
    await cluster.clock.advance(SECOND)

    with counted(decide) as calls:
        edit_costly(cluster, 5, salt=2)
        cluster.kronjob("b", "30 * * * *", namespace=VICTIM)
        while cluster.status("b", namespace=VICTIM)["observedGeneration"] != 2:
            await asyncio.sleep(0)  # noqa: TID251  # a turn, no time

    assert calls["decide"] < 1_000  # of the five thousand and more that the costly edits take
    await replica.stop()


async def test_the_loop_has_a_turn_between_the_parts_that_are_computed_for_different_kronjobs() -> None:
    cluster = Tenants()
    edit_costly(cluster, 5, salt=1)
    replica = await Replica(cluster).lead()
    most = 0

    with counted(decide) as calls:
        edit_costly(cluster, 5, salt=2)
        for _ in range(500):
            before = calls["decide"]
            await asyncio.sleep(0)  # noqa: TID251  # a turn, no time
            most = max(most, calls["decide"] - before)

    assert calls["decide"] > 5 * 960  # the periods of a window of sixteen hours, of each of them
    assert most < 600  # a part is 140; an edit, a status and the first look for some other statuses
    await replica.stop()


async def test_a_burst_of_one_tenant_does_not_delay_the_job_of_another_tenant() -> None:
    cluster = Tenants()
    cluster.takes = {"jobs": SECOND / 2}
    process = await lead(cluster)

    await cluster.clock.advance(MINUTE)

    assert len(cluster.made_at(GREEDY)) == MANY
    assert lateness(cluster) <= BOUND
    await process.stop()


async def test_creations_that_take_long_in_one_namespace_leave_workers_for_others() -> None:
    cluster = Tenants()
    cluster.slow = {GREEDY: 10 * SECOND}
    process = await lead(cluster)

    await cluster.clock.advance(2 * MINUTE)  # all are created by then

    assert lateness(cluster) <= BOUND
    await process.stop()


async def test_a_flood_of_metrics_is_answered_from_one_text_a_second() -> None:
    counted, now = [0], [0.0]

    def render() -> bytes:
        counted[0] += 1
        return f"kron_operator_leader {counted[0]}\n".encode()

    listening = ProbeServer("127.0.0.1:0")
    await listening.open(lambda: True, lambda: True, render, lambda: now[0])
    try:
        first = await asyncio.to_thread(flood, listening.address, 200)
        now[0] = 1.0
        second = await asyncio.to_thread(flood, listening.address, 1)
    finally:
        await listening.close()

    assert (first, second) == ({"kron_operator_leader 1\n"}, {"kron_operator_leader 2\n"})


def flood(address: str, number: int) -> set[str]:
    """Return the answers to so many requests."""
    connection = HTTPConnection(address, timeout=30)
    found = set()
    for _ in range(number):
        connection.request("GET", "/metrics")
        found.add(connection.getresponse().read().decode("ascii"))
    connection.close()
    return found
