"""Until when a runner may start an accepted period: the limit is in the request, and an edit does not move it."""

from datetime import timedelta

from kron.instant import Instant
from tests.engine.jobs.standstill import stand_still
from tests.engine.jobs.world import HOUR, MINUTE, NOON, SECOND, RestartableHost, work

JOB = work("0 12 * * *", deadline="10m")
DEADLINE, SLACK = 10 * MINUTE, 30 * SECOND
WITHOUT_SLACK = NOON + DEADLINE + SECOND


def limits(world: RestartableHost) -> tuple[Instant | None, Instant | None]:
    (execution,) = world.book.running.values()
    assert execution.acceptance is not None
    return execution.acceptance.start_before, execution.acceptance.resume_before


async def test_a_period_of_an_armed_host_may_start_within_deadline_and_slack() -> None:
    world = RestartableHost(slack=SLACK)
    world.runner.lasts = HOUR
    await world.begin(JOB)
    await world.clock.advance_to(NOON)
    assert limits(world) == (WITHOUT_SLACK + SLACK, WITHOUT_SLACK)
    await world.engine.crash()


async def test_a_period_accepted_after_downtime_may_start_within_its_deadline() -> None:
    world = RestartableHost(slack=SLACK)
    await world.begin(JOB)
    await world.crash(down=5 * MINUTE)
    world.runner.lasts = HOUR
    await world.begin(JOB)
    await world.clock.advance(timedelta())
    assert limits(world) == (WITHOUT_SLACK, WITHOUT_SLACK)
    await world.engine.crash()


async def test_a_period_accepted_after_a_freeze_may_start_within_deadline_and_slack() -> None:
    """Since the freeze ended the host is alive: a step that is late after that has slack, too."""

    world = RestartableHost(slack=SLACK)
    world.runner.lasts = HOUR
    await world.begin(JOB)
    await stand_still(world, NOON + 2 * MINUTE)
    assert limits(world) == (WITHOUT_SLACK + SLACK, WITHOUT_SLACK)
    await world.engine.crash()


async def test_a_period_that_waits_for_a_slot_keeps_its_limit_when_its_deadline_is_edited() -> None:
    other = work("0 12 * * *", name="b", concurrency="allow")

    world = RestartableHost(slack=SLACK, max_active=1)
    world.runner.lasts = MINUTE
    await world.begin(other, JOB)
    await world.clock.advance_to(NOON)
    await world.declare(other, work("0 12 * * *", deadline="1h"))
    await world.clock.advance(MINUTE)
    assert limits(world) == (WITHOUT_SLACK + SLACK, WITHOUT_SLACK)
    await world.engine.crash()
