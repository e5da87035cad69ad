"""Some jobs are declared again and the others are left alone, as hosts with very many jobs do."""

from collections.abc import Sequence

from kron.engine.jobs.declaration import JobDeclaration, JobsApplied
from kron.engine.jobs.job_state import JobState
from kron.rules.job_record import JobRecord
from kron.rules.job_spec import JobSpec
from tests.engine.jobs.restartable_host import HOUR, MINUTE, RestartableHost, work


async def amend(host: RestartableHost, *works: JobSpec, leaving: Sequence[str] = ()) -> JobsApplied:
    """Declare some jobs, and let some go."""
    return await host.engine.apply(
        lambda now: JobDeclaration(host.planner, works, now, {}, leaving=leaving),
    )


async def test_a_job_that_is_not_named_stays_as_it_is() -> None:
    host = RestartableHost()
    await host.begin(work(name="a"), work(name="b"))

    declared = await amend(host, work("30 * * * *", name="b"))

    assert (declared.changed, declared.removed) == (["b"], [])
    await host.clock.advance(HOUR)
    await host.engine.crash()

    assert host.log == ["12:00:00 a 02 12:00 executed", "12:30:00 b 02 12:30 executed"]


async def test_a_job_that_leaves_runs_no_more_and_the_others_go_on() -> None:
    host = RestartableHost()
    await host.begin(work(name="a"), work(name="b"))

    assert (await amend(host, leaving=["b"])).removed == ["b"]

    await host.clock.advance(HOUR)
    await host.engine.crash()

    assert host.log == ["12:00:00 a 02 12:00 executed"]


async def test_of_a_job_that_leaves_twice_nothing_is_closed_twice() -> None:
    host = RestartableHost()
    await host.begin(work("0 * * * * @win(after,59m)", name="a"))
    await host.crash()
    await host.begin(work("0 * * * * @win(after,59m)", name="a"))
    await host.clock.advance(2 * MINUTE)
    await amend(host, leaving=["a"])

    assert (await amend(host, leaving=["a"])).removed == []
    await host.engine.crash()

    log = host.log
    assert [line.split(": ")[1] for line in log] == ["definition changed"]


async def test_the_run_of_a_removed_job_continues() -> None:
    host = RestartableHost()
    host.runner.lasts = None
    await host.begin(work(name="a"))
    await host.clock.advance(2 * MINUTE)

    await amend(host, leaving=["a"])

    assert len(host.runner.running) == 1
    assert host.planner.jobs == {}
    await host.engine.crash()


async def test_slack_counts_from_when_the_host_could_run_again() -> None:
    host = RestartableHost()
    await host.engine.open()
    await host.declare(work(name="a"))
    since = host.clock.now()
    await host.clock.advance(MINUTE + host.planner.slack)

    host.engine.arm(since)
    await host.clock.advance(MINUTE)
    await host.engine.crash()

    assert host.log == ["12:00:30 a 02 12:00 executed"]


async def test_a_job_that_joins_and_one_that_is_forgotten_stay_as_they_are_until_the_commit() -> None:
    host = RestartableHost()
    await host.begin(work(name="a"))
    now, spec = host.clock.now(), work("30 * * * *", name="b")
    job = JobState(spec, JobRecord("b", "b", spec.definition_key, now, now))
    change = JobDeclaration(host.planner, [], now, {}, leaving=[], joining=[job], forgotten=["a"])
    assert list(host.planner.jobs) == ["a"]
    assert not change.batch

    change.commit(())

    assert list(host.planner.jobs) == ["b"]
    await host.engine.crash()


async def test_a_job_that_is_forgotten_and_joins_again_is_the_new_one() -> None:
    host = RestartableHost()
    await host.begin(work(name="a"))
    now, spec = host.clock.now(), work("30 * * * *", name="a")
    job = JobState(spec, JobRecord("a", "a", spec.definition_key, now, now))
    await host.engine.apply(
        lambda now: JobDeclaration(host.planner, [], now, {}, leaving=[], joining=[job], forgotten=["a"])
    )

    await host.clock.advance(HOUR)
    await host.engine.crash()

    assert host.log == ["12:30:00 a 02 12:30 executed"]
