"""Two periods of a job with the same chosen second: a waiting one and a finished one are kept apart."""

from datetime import timedelta

from tests.engine.jobs.restartable_host import NOON, SECOND, RestartableHost, work
from tests.engine.jobs.standstill import stand_still
from tests.engine.jobs.test_recovery import arm, recover

# The windows of 16:03 and of 16:12 overlap, and 16:18:37 is chosen in both.
JOB = work("* * * * * @win(after,30m)", deadline="24h")
BUSY = work("0 0 1 1 *", name="busy")
CHOSEN = NOON + timedelta(hours=4, minutes=18, seconds=37)


def outcomes(host: RestartableHost) -> list[str]:
    """Return the outcome of the later of the two, and how often the ledger refused a step."""
    refused = ["refused" for _ in host.refused]
    refused += ["refused" for event in host.events if event.name == "LedgerAppendFailed"]
    return [entry.split(" ", 4)[4] for entry in host.log if " a 02 16:12 " in entry] + refused


async def wait_for_a_slot(host: RestartableHost) -> None:
    """Freeze until the second of both, while another job has the only slot."""
    host.runner.lasts = None
    await host.begin(BUSY, JOB)
    await host.trigger("busy")
    await stand_still(host, CHOSEN)
    host.runner.lasts = timedelta()
    assert outcomes(host) == []


async def test_a_period_that_waits_for_a_slot_is_left_to_the_next_life() -> None:
    host = RestartableHost(max_active=1)
    await wait_for_a_slot(host)
    await host.crash()
    await host.begin(BUSY, JOB)
    await host.engine.crash()

    assert outcomes(host) == ["executed"]


async def test_a_job_that_is_suspended_while_its_period_waits_for_a_slot_runs_it_once_resumed() -> None:
    host = RestartableHost(max_active=1)
    await wait_for_a_slot(host)
    await host.suspend("a")
    host.runner.end(next(iter(host.runner.running)))
    await host.resume("a")
    await host.clock.advance(SECOND)
    await host.engine.crash()

    assert outcomes(host) == ["executed"]


async def test_a_step_that_fails_while_a_period_waits_for_a_slot_closes_the_others_once() -> None:
    host = RestartableHost(max_active=1)
    host.runner.lasts = None
    await host.begin(BUSY, JOB)
    await host.trigger("busy")
    host.ledger.failures = 1
    await stand_still(host, CHOSEN)
    await host.clock.advance(2 * SECOND)
    host.runner.end(next(iter(host.runner.running)))
    await host.clock.advance(SECOND)
    await host.engine.crash()
    assert outcomes(host) == ["executed", "refused"]
    assert len([entry for entry in host.log if " a 02 16:03 skipped" in entry]) == 1


async def test_a_job_that_is_suspended_after_its_recovery_closes_nothing_twice() -> None:
    host = RestartableHost()
    await host.begin(JOB)
    await host.crash(down=CHOSEN - host.clock.now())
    await recover(host, JOB)
    await host.suspend("a")
    await arm(host)
    await host.resume("a")
    await host.clock.advance(SECOND)
    await host.engine.crash()

    assert outcomes(host) == ["executed"]
