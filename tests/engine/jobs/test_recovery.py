"""Recovery: a long downtime is judged in parts before any start, with the same outcome."""

from datetime import timedelta
from functools import partial
from inspect import getattr_static

import pytest

from kron.decision.decide import decide
from kron.engine.jobs.control import CloseDowntime, backlogged
from kron.engine.jobs.job_state import JobState
from kron.engine.jobs.step import JobStep
from kron.instant import Instant
from kron.rules.effort import PART, PERIOD
from kron.rules.job_spec import JobSpec
from kron.rules.periods import effective_time
from tests.calls import counted
from tests.engine.jobs.restartable_host import DAY, HOUR, MINUTE, NOON, SECOND, RestartableHost, work

HOURLY = work(deadline="2h")
AFTER_FIVE_HOURS = [
    "16:59:00 a 02 14:00 missed: downtime x3",
    "16:59:00 a 02 15:00 skipped: superseded",
    "16:59:00 a 02 16:00 executed",
]


async def recover(host: RestartableHost, *works: JobSpec, lasts: timedelta = timedelta()) -> None:
    """Begin a life, and judge the downtime of its jobs, which takes some time."""
    await host.engine.open()
    await host.declare(*works)
    await host.recover()
    for job in host.planner.jobs.values():
        now = host.clock.now()
        found = job.judge_downtime(now)
        await host.clock.advance(lasts)
        recovery = CloseDowntime(host.planner, job, found, now)
        await host.engine.apply(partial(_this, recovery))


def _this(recovery: CloseDowntime, _: Instant) -> CloseDowntime:
    return recovery


async def arm(host: RestartableHost) -> None:
    host.engine.arm()
    await host.clock.advance(timedelta())


async def test_periods_recovered_before_a_start_have_the_outcome_that_a_step_finds() -> None:
    host = RestartableHost()
    await host.begin(HOURLY)
    await host.crash(down=5 * HOUR)
    await recover(host, HOURLY)
    assert host.log == AFTER_FIVE_HOURS[:2]
    await arm(host)
    await host.engine.crash()

    assert host.log == AFTER_FIVE_HOURS


async def test_a_period_that_comes_while_the_host_recovers_supersedes_the_one_that_was_found() -> None:
    host = RestartableHost()
    await host.begin(HOURLY)
    await host.crash(down=5 * HOUR)
    await recover(host, HOURLY, lasts=2 * MINUTE)
    await arm(host)
    await host.engine.crash()

    assert host.log == [
        "17:01:00 a 02 14:00 missed: downtime x3",
        "17:01:00 a 02 15:00 skipped: superseded",
        "17:01:00 a 02 16:00 skipped: superseded",
        "17:01:00 a 02 17:00 executed",
    ]


async def test_a_recovered_period_was_accepted_when_its_downtime_was_judged() -> None:
    """A recovery that outlasts the deadline is no lateness: the period is judged once."""
    daily = work("0 16 * * *", deadline="1h")

    host = RestartableHost()
    await host.begin(daily)
    await host.crash(down=5 * HOUR)
    judged, host.runner.lasts = host.clock.now(), MINUTE
    await recover(host, daily, lasts=5 * MINUTE)
    await arm(host)
    (execution,) = host.planner.running.values()
    assert execution.acceptance is not None
    assert (execution.acceptance.at, execution.acceptance.slack) == (judged, timedelta())
    await host.engine.crash()

    assert host.log == ["17:04:00 a 02 16:00 executed"]


async def test_a_crash_while_the_host_recovers_leaves_the_latest_period_to_the_next_life() -> None:
    host = RestartableHost()
    await host.begin(HOURLY)
    await host.crash(down=5 * HOUR)
    await recover(host, HOURLY)
    await host.crash()
    await recover(host, HOURLY)
    await arm(host)
    await host.engine.crash()

    assert host.log == AFTER_FIVE_HOURS


async def test_a_crash_leaves_the_latest_period_even_if_another_one_has_the_same_chosen_second() -> None:
    # The windows of 16:03 and of 16:12 overlap, and 16:18:37 is chosen in both.
    job = work("* * * * * @win(after,30m)", deadline="24h")
    chosen = NOON + timedelta(hours=4, minutes=18, seconds=37)

    host = RestartableHost()
    await host.begin(job)
    await host.crash(down=chosen - host.clock.now())
    await recover(host, job)
    await host.crash()
    await recover(host, job)
    await arm(host)
    await host.engine.crash()

    assert "16:18:37 a 02 16:12 executed" in host.log


async def test_a_ledger_that_fails_after_the_recovery_loses_nothing() -> None:
    host = RestartableHost()
    await host.begin(HOURLY)
    await host.crash(down=5 * HOUR)
    await recover(host, HOURLY)
    host.ledger.failures = 1
    await arm(host)
    await host.clock.advance(10 * SECOND)
    await host.engine.crash()

    assert [each[9:] for each in host.log] == [each[9:] for each in AFTER_FIVE_HOURS]


async def test_a_job_that_is_suspended_after_the_recovery_is_judged_when_it_is_resumed() -> None:
    host = RestartableHost()
    await host.begin(HOURLY)
    await host.crash(down=5 * HOUR)
    await recover(host, HOURLY)
    await host.suspend("a")
    await arm(host)
    assert host.log == AFTER_FIVE_HOURS[:2]
    await host.clock.advance(30 * MINUTE)
    await host.resume("a")
    await host.clock.advance(SECOND)
    await host.engine.crash()

    assert host.log[2:] == ["17:29:00 a 02 16:00 skipped: superseded", "17:29:00 a 02 17:00 executed"]


async def test_a_clock_that_is_set_back_after_the_recovery_repeats_nothing() -> None:
    host = RestartableHost()
    await host.begin(HOURLY)
    await host.crash(down=5 * HOUR)
    await recover(host, HOURLY)
    host.clock.jump(-3 * HOUR)
    await arm(host)
    await host.clock.advance(2 * HOUR + 30 * MINUTE)
    await host.engine.crash()

    assert [each[9:] for each in host.log] == [each[9:] for each in AFTER_FIVE_HOURS]


async def test_a_downtime_that_was_recovered_is_not_judged_again_by_the_first_step() -> None:
    host = RestartableHost()
    await host.begin(HOURLY)
    await host.crash(down=5 * HOUR)

    await recover(host, HOURLY)

    assert [job.reached for job in host.planner.jobs.values()] == [host.clock.now()]
    await host.engine.crash()


async def test_a_recovery_by_a_clock_that_was_set_back_does_not_go_back_behind_what_was_judged() -> None:
    host = RestartableHost()
    await host.begin(HOURLY)
    await host.clock.advance(3 * HOUR)
    await host.crash()
    host.clock.jump(-2 * HOUR)
    await host.engine.open()
    await host.declare(HOURLY)
    await host.recover()
    (job,) = host.planner.jobs.values()
    reached, now = job.reached, host.clock.now()
    assert reached > now

    await host.engine.apply(partial(_this, CloseDowntime(host.planner, job, job.judge_downtime(now), now)))

    assert job.reached == reached
    await host.engine.crash()


async def test_only_a_job_with_a_long_backlog_is_recovered_before_anything_starts() -> None:
    jobs = [work("* * * * *", "plain", deadline="9000h"), work("* * * * * @avoid(dow=MON)", "hard", deadline="9000h")]

    host = RestartableHost()
    await host.begin(*jobs)
    await host.crash(down=365 * DAY)
    await host.engine.open()
    await host.declare(*jobs)
    assert [each.record.identity for each in backlogged(host.planner, host.clock.now())] == ["hard"]
    await host.engine.crash()


async def test_a_long_backlog_takes_several_steps_and_another_job_is_judged_in_the_first() -> None:
    jobs = [work("* * * * * @avoid(dow=MON)", name, deadline="9000h") for name in "abc"]

    host = RestartableHost()
    await host.begin(*jobs, work("0 * * * *", "due"))
    await host.engine.crash()
    host.clock.jump(7 * DAY)
    steps = steps_until_finished(host, jump=7 * 86400.0)

    assert "due" in {each.identity for each in steps[0].batch.closed}
    assert len(steps) > 3 * 7 * 1440 * PERIOD / PART
    assert {each.identity for step in steps for each in step.batch.begun} >= {"a", "b", "c"}
    await host.engine.crash()


@pytest.mark.parametrize("line", ["* * * * *", "* * * * * @win(after,3h) @avoid(between=14:00-16:30)"])
async def test_a_step_records_some_of_many_closings_and_a_crash_after_it_loses_none(line: str) -> None:
    job = work(line)
    timing = job.timing
    assert timing is not None

    host = RestartableHost()
    await host.begin(job)
    await host.engine.crash()
    host.clock.jump(DAY)
    while not host.ledger.closed:
        step = host.plan()
        await host.ledger.append(step.batch)
        host.carry_out(step)
    recorded = len(host.ledger.closed)
    await host.crash()
    await host.begin(job)
    await host.clock.advance(4 * HOUR)
    handled = [period for each in host.ledger.closed for period in periods(job, each.first, each.last)]
    handled += [each.nominal for each in host.ledger.runs.values() if each.nominal is not None]
    last = NOON + DAY - 2 * MINUTE

    assert 0 < recorded < 100
    assert sorted(each for each in handled if NOON <= each <= last) == periods(job, NOON, last)
    assert all(effective_time(decide(timing, each)) > NOON - MINUTE for each in handled)  # since it was declared
    await host.engine.crash()


def periods(job: JobSpec, first: Instant, last: Instant) -> list[Instant]:
    assert job.timing is not None
    return list(job.timing.schedule.between(first - SECOND, last))


async def test_periods_that_wait_to_be_recorded_are_not_searched_for_each_one_that_follows() -> None:
    host = RestartableHost()
    await host.begin(work("* * * * *"))
    await host.engine.crash()
    host.clock.jump(DAY)
    is_active = getattr_static(JobState, "is_active").fget

    with counted(is_active) as calls:
        steps = steps_until_finished(host)

    assert sum(len(step.batch.closed) for step in steps) == 1440 - 1
    assert calls["is_active"] < 10 * len(steps)
    await host.engine.crash()


def steps_until_finished(host: RestartableHost, *, jump: float = 0.0) -> list[JobStep]:
    """Take steps until nothing is left over."""
    steps: list[JobStep] = []
    while not steps or host.planner.unfinished:
        steps.append(host.plan(jump=jump))
        host.carry_out(steps[-1])
        jump = 0.0
    return steps


async def test_a_year_of_suspension_is_one_closing_and_one_run() -> None:
    job = work("* * * * *", deadline="9000h")

    host = RestartableHost()
    await host.begin(job)
    await host.suspend("a")
    await host.clock.advance(365 * DAY)
    await host.resume("a")
    await host.clock.advance(SECOND)
    await host.engine.crash()
    assert [each.period_count for each in host.ledger.closed] == [365 * 24 * 60 - 1]
    assert len(host.runner.running) + len(host.ledger.ends) == 1


async def test_a_clock_that_is_set_ahead_by_a_year_is_one_closing_and_one_run() -> None:
    job = work("* * * * *", deadline="9000h")

    host = RestartableHost()
    await host.begin(job)
    host.clock.jump(365 * DAY)
    await host.clock.advance(SECOND)
    await host.engine.crash()
    assert [each.period_count for each in host.ledger.closed] == [365 * 24 * 60 - 1]
    assert len(host.ledger.runs) == 1
