"""The latest start of an accepted period: the limit is in the request, and an edit does not move it."""

from datetime import timedelta

from kron.instant import Instant
from tests.engine.jobs.restartable_host import HOUR, MINUTE, NOON, SECOND, RestartableHost, work
from tests.engine.jobs.standstill import stand_still

JOB = work("0 12 * * *", deadline="10m")
DEADLINE, SLACK = 10 * MINUTE, 30 * SECOND
WITHOUT_SLACK = NOON + DEADLINE + SECOND


def limits(host: RestartableHost) -> tuple[Instant | None, Instant | None]:
    (execution,) = host.planner.running.values()
    assert execution.acceptance is not None
    return execution.acceptance.start_before, execution.acceptance.resume_before


async def test_a_period_of_an_armed_host_may_start_within_deadline_and_slack() -> None:
    host = RestartableHost(slack=SLACK)
    host.runner.lasts = HOUR
    await host.begin(JOB)
    await host.clock.advance_to(NOON)
    assert limits(host) == (WITHOUT_SLACK + SLACK, WITHOUT_SLACK)
    await host.engine.crash()


async def test_a_period_accepted_after_downtime_may_start_within_its_deadline() -> None:
    host = RestartableHost(slack=SLACK)
    await host.begin(JOB)
    await host.crash(down=5 * MINUTE)
    host.runner.lasts = HOUR
    await host.begin(JOB)
    await host.clock.advance(timedelta())
    assert limits(host) == (WITHOUT_SLACK, WITHOUT_SLACK)
    await host.engine.crash()


async def test_a_period_accepted_after_a_freeze_may_start_within_deadline_and_slack() -> None:
    """Since the freeze ended the host is alive: a step that is late after that has slack, too."""

    host = RestartableHost(slack=SLACK)
    host.runner.lasts = HOUR
    await host.begin(JOB)
    await stand_still(host, NOON + 2 * MINUTE)
    assert limits(host) == (WITHOUT_SLACK + SLACK, WITHOUT_SLACK)
    await host.engine.crash()


async def test_a_period_that_waits_for_a_slot_keeps_its_limit_when_its_deadline_is_edited() -> None:
    other = work("0 12 * * *", name="b", concurrency="allow")

    host = RestartableHost(slack=SLACK, max_active=1)
    host.runner.lasts = MINUTE
    await host.begin(other, JOB)
    await host.clock.advance_to(NOON)
    await host.declare(other, work("0 12 * * *", deadline="1h"))
    await host.clock.advance(MINUTE)
    assert limits(host) == (WITHOUT_SLACK + SLACK, WITHOUT_SLACK)
    await host.engine.crash()
