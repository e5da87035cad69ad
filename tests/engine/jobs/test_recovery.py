"""Recovery: a downtime that takes long to judge is judged before anything starts, with the same outcome."""

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
from tests.engine.jobs.world import DAY, HOUR, MINUTE, NOON, SECOND, RestartableHost, lived, work

HOURLY = work(deadline="2h")
AFTER_FIVE_HOURS = [
    "16:59:00 a 02 14:00 missed: downtime x3",
    "16:59:00 a 02 15:00 skipped: superseded",
    "16:59:00 a 02 16:00 executed",
]


async def recover(world: RestartableHost, *works: JobSpec, lasts: timedelta = timedelta()) -> None:
    """Begin a life, and judge the downtime of its jobs, which takes some time."""
    await world.engine.open()
    await world.declare(*works)
    await world.recover()
    for job in world.book.jobs.values():
        now = world.clock.now()
        found = job.judge_downtime(now)
        await world.clock.advance(lasts)
        recovery = CloseDowntime(world.book, job, found, now)
        await world.engine.apply(partial(_this, recovery))


def _this(recovery: CloseDowntime, _: Instant) -> CloseDowntime:
    return recovery


async def arm(world: RestartableHost) -> None:
    world.engine.arm()
    await world.clock.advance(timedelta())


def test_what_is_recovered_before_anything_starts_has_the_outcome_that_a_step_finds() -> None:
    async def story(world: RestartableHost) -> None:
        await world.begin(HOURLY)
        await world.crash(down=5 * HOUR)
        await recover(world, HOURLY)
        assert world.told == AFTER_FIVE_HOURS[:2]
        await arm(world)

    assert lived(story).told == AFTER_FIVE_HOURS


def test_a_period_that_comes_while_the_host_recovers_supersedes_the_one_that_was_found() -> None:
    async def story(world: RestartableHost) -> None:
        await world.begin(HOURLY)
        await world.crash(down=5 * HOUR)
        await recover(world, HOURLY, lasts=2 * MINUTE)
        await arm(world)

    assert lived(story).told == [
        "17:01:00 a 02 14:00 missed: downtime x3",
        "17:01:00 a 02 15:00 skipped: superseded",
        "17:01:00 a 02 16:00 skipped: superseded",
        "17:01:00 a 02 17:00 executed",
    ]


def test_a_recovered_period_was_accepted_when_its_downtime_was_judged() -> None:
    """A recovery that outlasts the deadline is no lateness: the period is judged once."""
    daily = work("0 16 * * *", deadline="1h")

    async def story(world: RestartableHost) -> None:
        await world.begin(daily)
        await world.crash(down=5 * HOUR)
        judged, world.runner.lasts = world.clock.now(), MINUTE
        await recover(world, daily, lasts=5 * MINUTE)
        await arm(world)
        (execution,) = world.book.running.values()
        assert execution.acceptance is not None
        assert (execution.acceptance.at, execution.acceptance.slack) == (judged, timedelta())

    assert lived(story).told == ["17:04:00 a 02 16:00 executed"]


def test_a_crash_while_the_host_recovers_leaves_the_latest_period_to_the_next_life() -> None:
    async def story(world: RestartableHost) -> None:
        await world.begin(HOURLY)
        await world.crash(down=5 * HOUR)
        await recover(world, HOURLY)
        await world.crash()
        await recover(world, HOURLY)
        await arm(world)

    assert lived(story).told == AFTER_FIVE_HOURS


def test_a_crash_leaves_the_latest_period_even_if_another_one_has_the_same_chosen_second() -> None:
    # The windows of 16:03 and of 16:12 overlap, and 16:18:37 is chosen in both.
    job = work("* * * * * @win(after,30m)", deadline="24h")
    chosen = NOON + timedelta(hours=4, minutes=18, seconds=37)

    async def story(world: RestartableHost) -> None:
        await world.begin(job)
        await world.crash(down=chosen - world.clock.now())
        await recover(world, job)
        await world.crash()
        await recover(world, job)
        await arm(world)

    assert "16:18:37 a 02 16:12 executed" in lived(story).told


def test_a_ledger_that_fails_after_the_recovery_loses_nothing() -> None:
    async def story(world: RestartableHost) -> None:
        await world.begin(HOURLY)
        await world.crash(down=5 * HOUR)
        await recover(world, HOURLY)
        world.ledger.failures = 1
        await arm(world)
        await world.clock.advance(10 * SECOND)

    assert [each[9:] for each in lived(story).told] == [each[9:] for each in AFTER_FIVE_HOURS]


def test_a_job_that_is_suspended_after_the_recovery_is_judged_when_it_is_resumed() -> None:
    async def story(world: RestartableHost) -> None:
        await world.begin(HOURLY)
        await world.crash(down=5 * HOUR)
        await recover(world, HOURLY)
        await world.suspend("a")
        await arm(world)
        assert world.told == AFTER_FIVE_HOURS[:2]
        await world.clock.advance(30 * MINUTE)
        await world.resume("a")
        await world.clock.advance(SECOND)

    assert lived(story).told[2:] == ["17:29:00 a 02 16:00 skipped: superseded", "17:29:00 a 02 17:00 executed"]


def test_a_clock_that_is_set_back_after_the_recovery_repeats_nothing() -> None:
    async def story(world: RestartableHost) -> None:
        await world.begin(HOURLY)
        await world.crash(down=5 * HOUR)
        await recover(world, HOURLY)
        world.clock.jump(-3 * HOUR)
        await arm(world)
        await world.clock.advance(2 * HOUR + 30 * MINUTE)

    assert [each[9:] for each in lived(story).told] == [each[9:] for each in AFTER_FIVE_HOURS]


def test_a_downtime_that_was_recovered_is_not_judged_again_by_the_first_step() -> None:
    async def story(world: RestartableHost) -> None:
        await world.begin(HOURLY)
        await world.crash(down=5 * HOUR)

        await recover(world, HOURLY)

        assert [job.reached for job in world.book.jobs.values()] == [world.clock.now()]

    lived(story)


def test_a_recovery_by_a_clock_that_was_set_back_does_not_go_back_behind_what_was_judged() -> None:
    async def story(world: RestartableHost) -> None:
        await world.begin(HOURLY)
        await world.clock.advance(3 * HOUR)
        await world.crash()
        world.clock.jump(-2 * HOUR)
        await world.engine.open()
        await world.declare(HOURLY)
        await world.recover()
        (job,) = world.book.jobs.values()
        reached, now = job.reached, world.clock.now()
        assert reached > now

        await world.engine.apply(partial(_this, CloseDowntime(world.book, job, job.judge_downtime(now), now)))

        assert job.reached == reached

    lived(story)


def test_only_a_job_with_a_long_backlog_is_recovered_before_anything_starts() -> None:
    jobs = [work("* * * * *", "plain", deadline="9000h"), work("* * * * * @avoid(dow=MON)", "hard", deadline="9000h")]

    async def story(world: RestartableHost) -> None:
        await world.begin(*jobs)
        await world.crash(down=365 * DAY)
        await world.engine.open()
        await world.declare(*jobs)
        assert [each.record.identity for each in backlogged(world.book, world.clock.now())] == ["hard"]

    lived(story)


def test_a_long_backlog_takes_several_steps_and_another_job_is_judged_in_the_first() -> None:
    jobs = [work("* * * * * @avoid(dow=MON)", name, deadline="9000h") for name in "abc"]

    async def story(world: RestartableHost) -> None:
        await world.begin(*jobs, work("0 * * * *", "due"))
        await world.engine.crash()
        world.clock.jump(7 * DAY)
        steps = steps_until_finished(world, jump=7 * 86400.0)

        assert "due" in {each.identity for each in steps[0].batch.closed}
        assert len(steps) > 3 * 7 * 1440 * PERIOD / PART
        assert {each.identity for step in steps for each in step.batch.begun} >= {"a", "b", "c"}

    lived(story)


@pytest.mark.parametrize("line", ["* * * * *", "* * * * * @win(after,3h) @avoid(between=14:00-16:30)"])
def test_a_step_records_some_of_many_closings_and_a_crash_after_it_loses_none(line: str) -> None:
    job = work(line)
    timing = job.timing
    assert timing is not None

    async def story(world: RestartableHost) -> None:
        await world.begin(job)
        await world.engine.crash()
        world.clock.jump(DAY)
        while not world.ledger.closed:
            step = world.plan()
            await world.ledger.append(step.batch)
            world.carry_out(step)
        recorded = len(world.ledger.closed)
        await world.crash()
        await world.begin(job)
        await world.clock.advance(4 * HOUR)
        handled = [period for each in world.ledger.closed for period in periods(job, each.first, each.last)]
        handled += [each.nominal for each in world.ledger.runs.values() if each.nominal is not None]
        last = NOON + DAY - 2 * MINUTE

        assert 0 < recorded < 100
        assert sorted(each for each in handled if NOON <= each <= last) == periods(job, NOON, last)
        assert all(effective_time(decide(timing, each)) > NOON - MINUTE for each in handled)  # since it was declared

    lived(story)


def periods(job: JobSpec, first: Instant, last: Instant) -> list[Instant]:
    assert job.timing is not None
    return list(job.timing.schedule.between(first - SECOND, last))


def test_periods_that_wait_to_be_recorded_are_not_searched_for_each_one_that_follows() -> None:
    async def story(world: RestartableHost) -> None:
        await world.begin(work("* * * * *"))
        await world.engine.crash()
        world.clock.jump(DAY)
        is_active = getattr_static(JobState, "is_active").fget

        with counted(is_active) as calls:
            steps = steps_until_finished(world)

        assert sum(len(step.batch.closed) for step in steps) == 1440 - 1
        assert calls["is_active"] < 10 * len(steps)

    lived(story)


def steps_until_finished(world: RestartableHost, *, jump: float = 0.0) -> list[JobStep]:
    """Take steps until nothing is left over."""
    steps: list[JobStep] = []
    while not steps or world.book.unfinished:
        steps.append(world.plan(jump=jump))
        world.carry_out(steps[-1])
        jump = 0.0
    return steps


def test_a_year_of_suspension_is_one_closing_and_one_run() -> None:
    job = work("* * * * *", deadline="9000h")

    async def story(world: RestartableHost) -> None:
        await world.begin(job)
        await world.suspend("a")
        await world.clock.advance(365 * DAY)
        await world.resume("a")
        await world.clock.advance(SECOND)

    world = lived(story)
    assert [each.period_count for each in world.ledger.closed] == [365 * 24 * 60 - 1]
    assert len(world.runner.running) + len(world.ledger.ends) == 1


def test_a_clock_that_is_set_ahead_by_a_year_is_one_closing_and_one_run() -> None:
    job = work("* * * * *", deadline="9000h")

    async def story(world: RestartableHost) -> None:
        await world.begin(job)
        world.clock.jump(365 * DAY)
        await world.clock.advance(SECOND)

    world = lived(story)
    assert [each.period_count for each in world.ledger.closed] == [365 * 24 * 60 - 1]
    assert len(world.ledger.runs) == 1
