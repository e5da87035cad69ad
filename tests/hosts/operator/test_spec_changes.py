"""Tests of SpecChanges: edits, deletions and errors while other changes are prepared."""

import asyncio
from collections.abc import Callable, Iterable
from dataclasses import replace
from datetime import timedelta
from itertools import count
from typing import Any

from kron.decision.decide import decide
from kron.decision.timing import Timing
from kron.hosts.operator.spec_changes import SpecChange, SpecChanges
from kron.instant import Instant, parse_instant
from kron.rules.periods import HandledPeriods
from tests.attacks.documents import RARELY_ALLOWED
from tests.attacks.turns import longest_turn
from tests.calls import counted
from tests.hosts.operator.replica import MINUTE, NOON, SECOND, Replica, at_noon

DAY = timedelta(days=1)
LONGEST_TURN = 0.5  # seconds of processor time; a fifth of it on a machine that is neither slow nor busy


def costly(salt: int, **policy: Any) -> dict[str, Any]:
    spec = RARELY_ALLOWED._replace(salt=salt).spec()
    return {**spec, "policy": {**spec["policy"], **policy}}


def salts(replica: Replica) -> dict[str, int]:
    """Return the length of the salt of each spec that the engine has."""
    assert replica.session is not None
    timings = {identity: job.work.timing for identity, job in replica.session.planner.jobs.items()}
    return {identity: len(each.seed.salt) for identity, each in timings.items() if each is not None}


async def until(is_so: Callable[[], bool]) -> None:
    """Give the loop turns until something is so."""
    for _ in range(20_000):
        if is_so():
            return
        await asyncio.sleep(0)  # noqa: TID251  # a turn, no time
    raise AssertionError("it never came so far")


async def test_a_status_that_is_written_while_an_edit_waits_has_the_generation_that_is_in_force() -> None:
    cluster = at_noon()
    cluster.kronjob(**costly(1))
    replica = await Replica(cluster).lead()
    await cluster.clock.advance(SECOND)
    session = replica.session
    assert session is not None
    written = set[tuple[int, str]]()

    cluster.kronjob(**costly(2))
    await until(lambda: (seen := session._declared("ns/a")) is not None and seen.generation == 2)
    session._ledger.write_status("ns/a")  # as the end of a Job does
    while salts(replica) != {"ns/a": 2}:
        await asyncio.sleep(0)  # noqa: TID251  # a turn, no time
        written.add((cluster.status()["observedGeneration"], cluster.status()["definitionHash"]))
    await cluster.clock.advance(SECOND)
    written.add((cluster.status()["observedGeneration"], cluster.status()["definitionHash"]))

    assert sorted(generation for generation, _ in written) == [1, 2]
    await replica.stop()


async def test_an_edit_of_an_edit_that_waits_is_the_one_that_is_declared() -> None:
    cluster = at_noon()
    cluster.kronjob(**costly(1))
    replica = await Replica(cluster).lead()
    await cluster.clock.advance(SECOND)

    for salt in range(2, 6):
        cluster.kronjob(**costly(salt))
        await asyncio.sleep(0)  # noqa: TID251  # a turn, no time
        await asyncio.sleep(0)  # noqa: TID251
    assert salts(replica) == {"ns/a": 1}
    await cluster.clock.advance(SECOND)

    assert salts(replica) == {"ns/a": 5}
    assert cluster.events().count("DefinitionChanged") == 1
    await replica.stop()


async def test_nothing_is_decided_for_a_kronjob_that_is_deleted() -> None:
    cluster = at_noon()
    cluster.kronjob(**costly(1))
    replica = await Replica(cluster).lead()
    await cluster.clock.advance(SECOND)

    with counted(decide) as calls:
        cluster.delete("kronjobs", "a")
        await until(lambda: not salts(replica))

    assert calls["decide"] == 0
    await replica.stop()


async def test_a_kronjob_that_is_created_again_while_its_edit_is_prepared_is_a_new_one() -> None:
    cluster = at_noon()
    cluster.kronjob(**costly(1))
    replica = await Replica(cluster).lead()
    await cluster.clock.advance(SECOND)

    cluster.kronjob(**costly(2))
    await asyncio.sleep(0)  # noqa: TID251  # a turn, no time
    cluster.delete("kronjobs", "a")
    cluster.kronjob(**costly(3))
    await cluster.clock.advance(SECOND)

    assert salts(replica) == {"ns/a": 3}
    assert cluster.status()["observedGeneration"] == 1
    await replica.stop()


def test_kronjobs_that_were_suspended_for_days_are_edited_in_parts() -> None:
    async def story() -> None:
        cluster = at_noon()
        for name in "ab":
            cluster.kronjob(name, **costly(1, suspend=True))
        replica = await Replica(cluster).lead()
        await cluster.clock.advance(SECOND)
        await cluster.clock.advance(3 * DAY)

        for name in "ab":
            cluster.kronjob(name, **costly(2, suspend=True))
        await cluster.clock.advance(SECOND)

        assert salts(replica) == {"ns/a": 2, "ns/b": 2}
        await replica.stop()

    assert longest_turn(story) < LONGEST_TURN


def test_kronjobs_whose_next_run_waits_for_a_job_that_does_not_go_are_edited_in_parts() -> None:
    async def story() -> None:
        cluster = at_noon()
        cluster.lingers = True
        for each in range(6):
            cluster.kronjob(f"a{each}", "* * * * *", policy={"concurrency": "replace", "deadline": "1h"})
        replica = await Replica(cluster).lead()
        await cluster.clock.advance(SECOND)
        await cluster.clock.advance(3 * MINUTE)
        assert replica.session is not None
        assert all(job.queue for job in replica.session.planner.jobs.values())

        for each in range(6):
            cluster.kronjob(f"a{each}", **costly(2))
        await cluster.clock.advance(SECOND)

        assert set(salts(replica).values()) == {2}
        await replica.stop()

    assert longest_turn(story) < LONGEST_TURN / 2  # a tenth of it for each part, five tenths for one of them at once


async def test_a_change_whose_preparation_fails_does_not_hold_up_the_others() -> None:
    cluster = at_noon()
    cluster.kronjob("a", "0 0 * * *")
    cluster.kronjob("b", "0 0 * * *", namespace="other")
    replica = await Replica(cluster).lead()
    await cluster.clock.advance(SECOND)
    session = replica.session
    assert session is not None

    def handled(identities: Iterable[str]) -> dict[str, HandledPeriods]:
        if "ns/a" in identities:
            raise ValueError("a bug")
        return {}

    changes = SpecChanges(session.planner, session._declared, handled, cluster.clock.now)
    changes.add("ns/a", None)
    changes.add("other/b", None)

    taken = [each.identity for each in (*changes.take_ready(), *changes.take_ready())]
    assert taken == ["ns/a", "other/b"]  # the declaration of the first meets the error, and sets it aside
    await replica.stop()


async def test_a_change_that_periods_outdate_again_and_again_is_ready_after_three_tries() -> None:
    cluster = at_noon()
    cluster.kronjob(**costly(1))
    replica = await Replica(cluster).lead()
    await cluster.clock.advance(SECOND)
    session, minutes = replica.session, count()
    assert session is not None
    changes = SpecChanges(
        session.planner, session._declared, session._handled, lambda: cluster.clock.now() + next(minutes) * MINUTE
    )

    cluster.kronjob(**costly(2))
    await asyncio.sleep(0)  # noqa: TID251  # a turn, no time
    changes.add("ns/a", None)
    ready: list[SpecChange] = []
    with counted(decide) as calls:
        while not ready:
            ready = changes.take_ready()

    assert [(each.identity, each.prepared, each.tries_left) for each in ready] == [("ns/a", None, 0)]
    assert calls["decide"] > 3 * 960  # the periods of a window, three times
    await replica.stop()


async def test_an_edit_while_a_job_is_created_does_not_own_its_period_again() -> None:
    cluster = at_noon()
    spec: dict[str, Any] = {"window": {"duration": "40m"}, "policy": {"concurrency": "replace"}}
    cluster.kronjob(seed={"salt": "x"}, **spec)
    replica = await Replica(cluster).lead()
    await cluster.clock.advance(SECOND)
    chosen = parse_instant(cluster.status()["nextChosenTime"])
    cluster.takes["jobs"] = 5 * SECOND
    await cluster.clock.advance(chosen + SECOND - cluster.clock.now())

    cluster.kronjob(seed={"salt": later_salt(chosen)}, **spec)
    await cluster.clock.advance(10 * SECOND)

    assert cluster.outcomes() == [("12:00", "executed", "")]
    assert cluster.status()["nextPeriodID"] == "2026-03-02T13:00:00Z"
    await replica.stop()


def later_salt(chosen: Instant) -> str:
    """Return a salt that chooses a later second of the period of noon."""
    timing = Timing.from_dict({"schedule": "0 * * * *", "window": {"duration": "40m"}}, identity="ns/a")
    salts = (replace(timing, seed=replace(timing.seed, salt=f"s{number}")) for number in count())
    found = ((each.seed.salt, decide(each, NOON).chosen_time) for each in salts)
    return next(salt for salt, at in found if at is not None and at > chosen + MINUTE)


async def test_a_status_does_not_say_of_the_old_generation_what_the_new_one_says() -> None:
    cluster = at_noon()
    cluster.kronjob(**costly(1))
    replica = await Replica(cluster).lead()
    await cluster.clock.advance(SECOND)
    session = replica.session
    assert session is not None
    written = set[tuple[int, str]]()

    cluster.kronjob(**costly(2, suspend=True))
    await until(lambda: (seen := session._declared("ns/a")) is not None and seen.generation == 2)
    session._ledger.write_status("ns/a")  # as the end of a Job does
    while cluster.status()["observedGeneration"] == 1:
        written.add((1, cluster.conditions()["Ready"][1]))
        await asyncio.sleep(0)  # noqa: TID251  # a turn, no time

    assert "Suspended" not in {reason for _, reason in written}
    assert cluster.conditions()["Ready"][1] == "Suspended"
    await replica.stop()
