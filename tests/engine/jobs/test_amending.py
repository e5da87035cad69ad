"""Some jobs change and the others are not looked at: what hosts with very many jobs declare."""

from collections.abc import Sequence

from kron.engine.jobs.declaration import JobDeclaration, JobsApplied
from kron.engine.jobs.job_state import JobState
from kron.rules.job_record import JobRecord
from kron.rules.job_spec import JobSpec
from tests.engine.jobs.world import HOUR, MINUTE, RestartableHost, work


async def amend(world: RestartableHost, *works: JobSpec, leaving: Sequence[str] = ()) -> JobsApplied:
    """Declare some jobs, and let some go."""
    return await world.engine.apply(
        lambda now: JobDeclaration(world.book, works, now, {}, leaving=leaving),
    )


async def test_a_job_that_is_not_named_stays_as_it_is() -> None:
    world = RestartableHost()
    await world.begin(work(name="a"), work(name="b"))

    declared = await amend(world, work("30 * * * *", name="b"))

    assert (declared.changed, declared.removed) == (["b"], [])
    await world.clock.advance(HOUR)
    await world.engine.crash()

    assert world.told == ["12:00:00 a 02 12:00 executed", "12:30:00 b 02 12:30 executed"]


async def test_a_job_that_leaves_runs_no_more_and_the_others_go_on() -> None:
    world = RestartableHost()
    await world.begin(work(name="a"), work(name="b"))

    assert (await amend(world, leaving=["b"])).removed == ["b"]

    await world.clock.advance(HOUR)
    await world.engine.crash()

    assert world.told == ["12:00:00 a 02 12:00 executed"]


async def test_of_a_job_that_leaves_twice_nothing_is_closed_twice() -> None:
    world = RestartableHost()
    await world.begin(work("0 * * * * @win(after,59m)", name="a"))
    await world.crash()
    await world.begin(work("0 * * * * @win(after,59m)", name="a"))
    await world.clock.advance(2 * MINUTE)
    await amend(world, leaving=["a"])

    assert (await amend(world, leaving=["a"])).removed == []
    await world.engine.crash()

    told = world.told
    assert [line.split(": ")[1] for line in told] == ["definition changed"]


async def test_what_runs_of_a_job_that_leaves_goes_on() -> None:
    world = RestartableHost()
    world.runner.lasts = None
    await world.begin(work(name="a"))
    await world.clock.advance(2 * MINUTE)

    await amend(world, leaving=["a"])

    assert len(world.runner.running) == 1
    assert world.book.jobs == {}
    await world.engine.crash()


async def test_who_could_run_since_earlier_has_slack_since_then() -> None:
    world = RestartableHost()
    await world.engine.open()
    await world.declare(work(name="a"))
    since = world.clock.now()
    await world.clock.advance(MINUTE + world.book.slack)

    world.engine.arm(since)
    await world.clock.advance(MINUTE)
    await world.engine.crash()

    assert world.told == ["12:00:30 a 02 12:00 executed"]


async def test_a_job_that_joins_and_one_that_is_forgotten_stay_as_they_are_until_the_commit() -> None:
    world = RestartableHost()
    await world.begin(work(name="a"))
    now, spec = world.clock.now(), work("30 * * * *", name="b")
    job = JobState(spec, JobRecord("b", "b", spec.definition_key, now, now))
    change = JobDeclaration(world.book, [], now, {}, leaving=[], joining=[job], forgotten=["a"])
    assert list(world.book.jobs) == ["a"]
    assert not change.batch

    change.commit(())

    assert list(world.book.jobs) == ["b"]
    await world.engine.crash()


async def test_a_job_that_is_forgotten_and_joins_again_is_the_new_one() -> None:
    world = RestartableHost()
    await world.begin(work(name="a"))
    now, spec = world.clock.now(), work("30 * * * *", name="a")
    job = JobState(spec, JobRecord("a", "a", spec.definition_key, now, now))
    await world.engine.apply(
        lambda now: JobDeclaration(world.book, [], now, {}, leaving=[], joining=[job], forgotten=["a"])
    )

    await world.clock.advance(HOUR)
    await world.engine.crash()

    assert world.told == ["12:30:00 a 02 12:30 executed"]
