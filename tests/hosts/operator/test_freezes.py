"""A frozen operator judges the missed periods as after downtime, by the cluster's state then."""

import asyncio
from dataclasses import replace
from datetime import timedelta

import pytest

from kron.hosts.operator.controller import OperatorConfig
from tests.hosts.operator.controller_process import OPTIONS, ControllerProcess
from tests.hosts.operator.fake_cluster import FakeCluster
from tests.hosts.operator.replica import MINUTE, SECOND, at_noon

ALONE = replace(OPTIONS, leader_elect=False)
BOTH = pytest.mark.parametrize("options", [ALONE, OPTIONS], ids=["without a lease", "with a lease"])


def minutely(**policy: str) -> FakeCluster:
    cluster = at_noon()
    cluster.kronjob(schedule="* * * * *", policy={"deadline": "10m", **policy})
    return cluster


async def stand_still(cluster: FakeCluster, duration: timedelta) -> None:
    """Let no process do anything, and then have what it needs to take its lease again."""
    cluster.clock.freeze(duration)
    await cluster.clock.advance(15 * SECOND)


def outcomes(cluster: FakeCluster) -> list[tuple[str, str, str, int]]:
    """Return the first period of each entry, its outcome and reason, and how many periods it speaks of."""
    found = cluster.status()["handledPeriods"]
    counts = [each.get("count", 1) for each in found]
    return [(*each, count) for each, count in zip(cluster.outcomes(), counts, strict=True)]


@BOTH
async def test_after_a_freeze_the_newest_period_runs_and_the_others_are_superseded(options: OperatorConfig) -> None:
    cluster = minutely()
    process = ControllerProcess(cluster, options)
    await cluster.clock.advance(10 * SECOND)

    await stand_still(cluster, 5 * MINUTE)

    assert outcomes(cluster) == [("12:01", "skipped", "Superseded", 4), ("12:05", "executed", "", 1)]
    assert [period for period, _ in cluster.created()] == ["12:05"]
    assert ("standing by" in process.events()) is options.leader_elect  # its lease has run out, and so its reign
    await process.stop()


async def test_after_a_stall_each_period_is_judged() -> None:
    cluster = minutely(deadline="0s", concurrency="allow")
    process = ControllerProcess(cluster, replace(ALONE, slack=5 * MINUTE))
    await cluster.clock.advance(10 * SECOND)

    await stand_still(cluster, 4 * MINUTE)

    assert [period for period, _ in cluster.created()] == ["12:01", "12:02", "12:03", "12:04"]
    await process.stop()


@BOTH
async def test_a_job_that_ended_in_a_freeze_does_not_skip_the_newest_period_though_the_watch_is_behind(
    options: OperatorConfig,
) -> None:
    cluster = minutely()
    process = ControllerProcess(cluster, options)
    await cluster.clock.advance(MINUTE + 10 * SECOND)
    process.wire.is_lagging = True
    cluster.finish_all()

    await stand_still(cluster, 5 * MINUTE)

    assert outcomes(cluster)[-2:] == [("12:02", "skipped", "Superseded", 4), ("12:06", "executed", "", 1)]
    await process.stop()


@BOTH
async def test_a_kronjob_that_was_suspended_in_a_freeze_runs_nothing_after_it(options: OperatorConfig) -> None:
    cluster = minutely()
    process = ControllerProcess(cluster, options)
    await cluster.clock.advance(10 * SECOND)
    process.wire.is_lagging = True
    cluster.kronjob(schedule="* * * * *", policy={"deadline": "10m", "suspend": True})

    await stand_still(cluster, 5 * MINUTE)

    assert cluster.created() == []
    assert cluster.outcomes() == []
    await process.stop()


async def test_a_server_that_does_not_answer_after_a_freeze_holds_the_operator_up_for_five_seconds() -> None:
    cluster = minutely(concurrency="allow")
    process = ControllerProcess(cluster, ALONE)
    await cluster.clock.advance(10 * SECOND)
    process.wire.silence("list")

    await stand_still(cluster, 5 * MINUTE)

    assert cluster.created() == [("12:05", "12:05:15")]
    await process.stop()


async def test_a_server_that_refuses_at_first_is_asked_again() -> None:
    cluster = minutely()
    process = ControllerProcess(cluster, ALONE)
    await cluster.clock.advance(MINUTE + 10 * SECOND)
    process.wire.is_lagging = True
    cluster.finish_all()
    process.wire.cut("list jobs")
    mending = asyncio.ensure_future(_mend(cluster, process))

    await stand_still(cluster, 5 * MINUTE)

    assert outcomes(cluster)[-1] == ("12:06", "executed", "", 1)
    await mending
    await process.stop()


async def _mend(cluster: FakeCluster, process: ControllerProcess) -> None:
    await cluster.clock.sleep(SECOND)  # it begins when the others go on
    process.wire.mend()


async def test_an_operator_that_waits_for_its_lease_was_frozen_as_well() -> None:
    cluster = minutely()
    leader = ControllerProcess(cluster)
    await cluster.clock.advance(SECOND)
    other = ControllerProcess(cluster)
    await cluster.clock.advance(9 * SECOND)

    leader.kill()
    await stand_still(cluster, 5 * MINUTE)
    await cluster.clock.advance(30 * SECOND)

    assert outcomes(cluster)[0] == ("12:01", "skipped", "Superseded", 4)
    await other.stop()
