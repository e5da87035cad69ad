"""After a clock is set back, periods are judged as those of a running host, with slack."""

from datetime import timedelta

from kron.rules.job_spec import JobSpec
from tests.engine.jobs.restartable_host import HOUR, MINUTE, NOON, SECOND, RestartableHost, work
from tests.engine.jobs.standstill import stand_still

LATE = timedelta(seconds=1.2)  # a wake-up, which the slack allows for


async def declare_after_set_back(host: RestartableHost, by: timedelta, *works: JobSpec) -> None:
    host.clock.jump(-by)
    await host.declare(*works)
    await host.clock.advance(SECOND * 0)


async def test_a_time_that_a_freeze_has_seen_before_has_its_slack_when_the_clock_shows_it_again() -> None:
    host = RestartableHost()
    await host.begin(work("* * * * *"))
    await stand_still(host, NOON + 5 * MINUTE + 10 * SECOND)
    await declare_after_set_back(host, 10 * MINUTE, work("* * * * *"), work("1 12 * * *", name="new"))
    await stand_still(host, NOON + MINUTE + LATE)
    await host.engine.crash()

    assert host.log[-1] == "12:01:01 new 02 12:01 executed"


async def test_a_time_before_the_host_began_has_its_slack_when_the_clock_is_set_back_to_it() -> None:
    host = RestartableHost()
    await host.begin(work("0 0 1 1 *"))
    await declare_after_set_back(host, HOUR, work("30 11 * * *", name="new"))
    await stand_still(host, NOON - HOUR / 2 + LATE)
    await host.engine.crash()

    assert host.log == ["11:30:01 new 02 11:30 executed"]
