"""Jobs whose file cannot be read when the host starts: they are not run, not removed, and return as after downtime."""

from datetime import timedelta

import pytest

from kron.engine.runs import RunResult
from tests.engine.jobs.world import HOUR, MINUTE, NOON, RestartableHost, work

GOOD = work("30 * * * *", "good")


async def fail_file(world: RestartableHost, *, down: timedelta = MINUTE, alive: tuple[str, ...] = ()) -> None:
    """Start the host again without the file of every job but `good`."""
    await world.crash(down)
    await world.begin(GOOD, alive=alive, spares_absent=True)


async def test_a_job_whose_file_fails_at_the_start_is_neither_run_nor_removed() -> None:
    world = RestartableHost()
    await world.begin(GOOD, work("0 * * * *"))
    await fail_file(world)
    await world.clock.advance(HOUR)
    await world.engine.crash()

    assert world.told == ["12:30:00 good 02 12:30 executed"]
    assert world.ledger.jobs["a"].is_declared


async def test_periods_of_a_repaired_file_are_judged_as_after_downtime() -> None:
    world = RestartableHost()
    job = work("0,20,40 * * * *", deadline="30m")
    await world.begin(GOOD, job)
    await fail_file(world)
    await world.clock.advance(45 * MINUTE)  # 12:00, 12:20 and 12:40 pass
    declared = await world.declare(GOOD, job)
    assert declared.unchanged == ["good", "a"]
    await world.clock.advance(timedelta())
    await world.engine.crash()

    assert world.told == [
        "12:30:00 good 02 12:30 executed",
        "12:45:00 a 02 12:00 missed: downtime",
        "12:45:00 a 02 12:20 skipped: superseded",
        "12:45:00 a 02 12:40 executed",
    ]
    assert world.ledger.jobs["a"].declared_at == NOON - MINUTE


async def test_a_period_chosen_while_the_file_was_failed_gets_no_slack() -> None:
    world = RestartableHost(slack=timedelta(seconds=30))
    job = work("0 * * * *")  # deadline 0s
    await world.begin(GOOD, job)
    await fail_file(world, down=timedelta(seconds=30))
    await world.clock.advance(timedelta(seconds=40))
    await world.declare(GOOD, job)
    await world.clock.advance(timedelta())
    await world.engine.crash()

    assert world.told == ["12:00:10 a 02 12:00 missed: downtime"]


@pytest.mark.parametrize("is_prepared", [False, True])
async def test_a_repaired_file_runs_its_jobs_from_then_on(*, is_prepared: bool) -> None:
    world = RestartableHost(start=NOON - HOUR + MINUTE)
    job = work("0 * * * *")
    await world.begin(GOOD, job)
    await fail_file(world, down=2 * MINUTE)
    prepared = await world.prepare(GOOD, job) if is_prepared else {}
    assert list(prepared) == (["a"] if is_prepared else [])
    await world.declare(GOOD, job, prepared=prepared)
    await world.clock.advance(HOUR)
    await world.engine.crash()

    assert [line for line in world.told if " a " in line] == ["12:00:00 a 02 12:00 executed"]


async def test_a_job_with_another_command_in_the_repaired_file_is_judged_as_after_downtime() -> None:
    world = RestartableHost()
    await world.begin(GOOD, work("0 * * * *", deadline="1h"))
    await fail_file(world)
    await world.clock.advance(5 * MINUTE)
    changed = work("0 * * * *", deadline="1h", command="other")
    await world.declare(GOOD, changed, prepared=await world.prepare(GOOD, changed))
    await world.clock.advance(timedelta())
    await world.engine.crash()

    assert world.told == ["12:05:00 a 02 12:00 executed"]


async def test_a_job_that_the_repaired_file_no_longer_has_is_removed() -> None:
    world = RestartableHost()
    await world.begin(GOOD, work("0 * * * *"))
    await fail_file(world)
    declared = await world.declare(GOOD)
    assert declared.removed == ["a"]
    await world.engine.crash()

    assert not world.ledger.jobs["a"].is_declared


async def test_a_job_that_a_sound_file_no_longer_has_is_removed_while_another_file_is_failed() -> None:
    world = RestartableHost()
    await world.begin(GOOD, work("0 * * * *"))
    declared = await world.declare(GOOD, spares_absent=True)
    assert declared.removed == ["a"]
    await world.engine.crash()

    assert not world.ledger.jobs["a"].is_declared


async def test_a_run_that_survived_is_active_when_its_file_is_repaired() -> None:
    world = RestartableHost()
    world.runner.lasts = None
    job = work("0 * * * *")
    await world.begin(job)
    await world.clock.advance(2 * MINUTE)
    await fail_file(world, alive=("life1-1",))
    await world.declare(GOOD, job)
    assert list(world.book.jobs["a"].active) == ["life1-1"]
    await world.engine.crash()


async def test_a_retry_waits_until_the_file_of_its_job_is_repaired() -> None:
    world = RestartableHost()
    world.runner.lasts = None
    job = work("0 * * * *", retries=1, retry_delay=10 * MINUTE)
    await world.begin(GOOD, job)
    await world.clock.advance(2 * MINUTE)
    world.runner.end("life1-1", RunResult(exit_code=1))
    await world.clock.advance(MINUTE)
    await fail_file(world)
    await world.clock.advance(12 * MINUTE)
    assert world.told[-1] == "12:01:00 a 02 12:00 failed"
    await world.declare(GOOD, job)
    await world.clock.advance(timedelta())
    await world.engine.crash()

    assert world.told[-1] == "12:15:00 a 02 12:00 attempt 2"


async def test_a_retry_is_given_up_with_its_job() -> None:
    world = RestartableHost()
    world.runner.lasts = None
    await world.begin(GOOD, work("0 * * * *", retries=1, retry_delay=10 * MINUTE))
    await world.clock.advance(2 * MINUTE)
    world.runner.end("life1-1", RunResult(exit_code=1))
    await world.clock.advance(MINUTE)
    await fail_file(world)
    await world.declare(GOOD)
    await world.clock.advance(HOUR)
    await world.engine.crash()

    assert world.given_up == ["life1-1"]
    assert world.ledger.ends["life1-1"].retry_at is None
