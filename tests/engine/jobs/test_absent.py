"""Jobs whose file cannot be read at the start: they are not run, not removed, and return as after downtime."""

from datetime import timedelta

import pytest

from kron.engine.runs import RunResult
from tests.engine.jobs.restartable_host import HOUR, MINUTE, NOON, RestartableHost, work

GOOD = work("30 * * * *", "good")


async def fail_file(host: RestartableHost, *, down: timedelta = MINUTE, alive: tuple[str, ...] = ()) -> None:
    """Start the host again without the file of every job but `good`."""
    await host.crash(down)
    await host.begin(GOOD, alive=alive, spares_absent=True)


async def test_a_job_whose_file_fails_at_the_start_is_neither_run_nor_removed() -> None:
    host = RestartableHost()
    await host.begin(GOOD, work("0 * * * *"))
    await fail_file(host)
    await host.clock.advance(HOUR)
    await host.engine.crash()

    assert host.log == ["12:30:00 good 02 12:30 executed"]
    assert host.ledger.jobs["a"].is_declared


async def test_periods_of_a_repaired_file_are_judged_as_after_downtime() -> None:
    host = RestartableHost()
    job = work("0,20,40 * * * *", deadline="30m")
    await host.begin(GOOD, job)
    await fail_file(host)
    await host.clock.advance(45 * MINUTE)  # 12:00, 12:20 and 12:40 pass
    declared = await host.declare(GOOD, job)
    assert declared.unchanged == ["good", "a"]
    await host.clock.advance(timedelta())
    await host.engine.crash()

    assert host.log == [
        "12:30:00 good 02 12:30 executed",
        "12:45:00 a 02 12:00 missed: downtime",
        "12:45:00 a 02 12:20 skipped: superseded",
        "12:45:00 a 02 12:40 executed",
    ]
    assert host.ledger.jobs["a"].declared_at == NOON - MINUTE


async def test_a_period_chosen_while_the_file_was_failed_gets_no_slack() -> None:
    host = RestartableHost(slack=timedelta(seconds=30))
    job = work("0 * * * *")  # deadline 0s
    await host.begin(GOOD, job)
    await fail_file(host, down=timedelta(seconds=30))
    await host.clock.advance(timedelta(seconds=40))
    await host.declare(GOOD, job)
    await host.clock.advance(timedelta())
    await host.engine.crash()

    assert host.log == ["12:00:10 a 02 12:00 missed: downtime"]


@pytest.mark.parametrize("is_prepared", [False, True])
async def test_a_repaired_file_runs_its_jobs_from_then_on(*, is_prepared: bool) -> None:
    host = RestartableHost(start=NOON - HOUR + MINUTE)
    job = work("0 * * * *")
    await host.begin(GOOD, job)
    await fail_file(host, down=2 * MINUTE)
    prepared = await host.prepare(GOOD, job) if is_prepared else {}
    assert list(prepared) == (["a"] if is_prepared else [])
    await host.declare(GOOD, job, prepared=prepared)
    await host.clock.advance(HOUR)
    await host.engine.crash()

    assert [line for line in host.log if " a " in line] == ["12:00:00 a 02 12:00 executed"]


async def test_a_job_with_another_command_in_the_repaired_file_is_judged_as_after_downtime() -> None:
    host = RestartableHost()
    await host.begin(GOOD, work("0 * * * *", deadline="1h"))
    await fail_file(host)
    await host.clock.advance(5 * MINUTE)
    changed = work("0 * * * *", deadline="1h", command="other")
    await host.declare(GOOD, changed, prepared=await host.prepare(GOOD, changed))
    await host.clock.advance(timedelta())
    await host.engine.crash()

    assert host.log == ["12:05:00 a 02 12:00 executed"]


async def test_a_job_that_the_repaired_file_no_longer_has_is_removed() -> None:
    host = RestartableHost()
    await host.begin(GOOD, work("0 * * * *"))
    await fail_file(host)
    declared = await host.declare(GOOD)
    assert declared.removed == ["a"]
    await host.engine.crash()

    assert not host.ledger.jobs["a"].is_declared


async def test_a_job_that_a_sound_file_no_longer_has_is_removed_while_another_file_is_failed() -> None:
    host = RestartableHost()
    await host.begin(GOOD, work("0 * * * *"))
    declared = await host.declare(GOOD, spares_absent=True)
    assert declared.removed == ["a"]
    await host.engine.crash()

    assert not host.ledger.jobs["a"].is_declared


async def test_a_run_that_survived_is_active_when_its_file_is_repaired() -> None:
    host = RestartableHost()
    host.runner.lasts = None
    job = work("0 * * * *")
    await host.begin(job)
    await host.clock.advance(2 * MINUTE)
    await fail_file(host, alive=("life1-1",))
    await host.declare(GOOD, job)
    assert list(host.planner.jobs["a"].active) == ["life1-1"]
    await host.engine.crash()


async def test_a_retry_waits_until_the_file_of_its_job_is_repaired() -> None:
    host = RestartableHost()
    host.runner.lasts = None
    job = work("0 * * * *", retries=1, retry_delay=10 * MINUTE)
    await host.begin(GOOD, job)
    await host.clock.advance(2 * MINUTE)
    host.runner.end("life1-1", RunResult(exit_code=1))
    await host.clock.advance(MINUTE)
    await fail_file(host)
    await host.clock.advance(12 * MINUTE)
    assert host.log[-1] == "12:01:00 a 02 12:00 failed"
    await host.declare(GOOD, job)
    await host.clock.advance(timedelta())
    await host.engine.crash()

    assert host.log[-1] == "12:15:00 a 02 12:00 attempt 2"


async def test_a_retry_is_given_up_with_its_job() -> None:
    host = RestartableHost()
    host.runner.lasts = None
    await host.begin(GOOD, work("0 * * * *", retries=1, retry_delay=10 * MINUTE))
    await host.clock.advance(2 * MINUTE)
    host.runner.end("life1-1", RunResult(exit_code=1))
    await host.clock.advance(MINUTE)
    await fail_file(host)
    await host.declare(GOOD)
    await host.clock.advance(HOUR)
    await host.engine.crash()

    assert host.given_up == ["life1-1"]
    assert host.ledger.ends["life1-1"].retry_at is None
