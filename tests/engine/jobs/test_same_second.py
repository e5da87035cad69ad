"""Two periods of a job with the same chosen second: one that waits is kept apart from one that is over."""

from datetime import timedelta

from tests.engine.jobs.standstill import stand_still
from tests.engine.jobs.test_recovery import arm, recover
from tests.engine.jobs.world import NOON, SECOND, RestartableHost, work

# The windows of 16:03 and of 16:12 overlap, and 16:18:37 is chosen in both.
JOB = work("* * * * * @win(after,30m)", deadline="24h")
BUSY = work("0 0 1 1 *", name="busy")
CHOSEN = NOON + timedelta(hours=4, minutes=18, seconds=37)


def outcomes(world: RestartableHost) -> list[str]:
    """Return what became of the later of the two, and how often the ledger refused a step."""
    refused = ["refused" for _ in world.refused]
    refused += ["refused" for event in world.events if event.name == "LedgerAppendFailed"]
    return [entry.split(" ", 4)[4] for entry in world.told if " a 02 16:12 " in entry] + refused


async def wait_for_a_slot(world: RestartableHost) -> None:
    """Freeze until the second of both, while another job has the only slot."""
    world.runner.lasts = None
    await world.begin(BUSY, JOB)
    await world.trigger("busy")
    await stand_still(world, CHOSEN)
    world.runner.lasts = timedelta()
    assert outcomes(world) == []


async def test_a_period_that_waits_for_a_slot_is_left_to_the_next_life() -> None:
    world = RestartableHost(max_active=1)
    await wait_for_a_slot(world)
    await world.crash()
    await world.begin(BUSY, JOB)
    await world.engine.crash()

    assert outcomes(world) == ["executed"]


async def test_a_job_that_is_suspended_while_its_period_waits_for_a_slot_runs_it_once_resumed() -> None:
    world = RestartableHost(max_active=1)
    await wait_for_a_slot(world)
    await world.suspend("a")
    world.runner.end(next(iter(world.runner.running)))
    await world.resume("a")
    await world.clock.advance(SECOND)
    await world.engine.crash()

    assert outcomes(world) == ["executed"]


async def test_a_step_that_fails_while_a_period_waits_for_a_slot_closes_the_others_once() -> None:
    world = RestartableHost(max_active=1)
    world.runner.lasts = None
    await world.begin(BUSY, JOB)
    await world.trigger("busy")
    world.ledger.failures = 1
    await stand_still(world, CHOSEN)
    await world.clock.advance(2 * SECOND)
    world.runner.end(next(iter(world.runner.running)))
    await world.clock.advance(SECOND)
    await world.engine.crash()
    assert outcomes(world) == ["executed", "refused"]
    assert len([entry for entry in world.told if " a 02 16:03 skipped" in entry]) == 1


async def test_a_job_that_is_suspended_after_its_recovery_closes_nothing_twice() -> None:
    world = RestartableHost()
    await world.begin(JOB)
    await world.crash(down=CHOSEN - world.clock.now())
    await recover(world, JOB)
    await world.suspend("a")
    await arm(world)
    await world.resume("a")
    await world.clock.advance(SECOND)
    await world.engine.crash()

    assert outcomes(world) == ["executed"]
