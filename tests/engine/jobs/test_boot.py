"""Jobs of the boot: each runs once after the machine was booted, whatever comes between, and never by an edit."""

from collections.abc import Awaitable, Callable

import pytest

from tests.engine.jobs.world import HOUR, MINUTE, SECOND, RestartableHost, drained, lived, work


def test_a_job_of_the_boot_runs_once_for_each_boot() -> None:
    async def story(world: RestartableHost) -> None:
        await world.begin(work("@reboot"))
        await world.crash(down=HOUR)
        await world.begin(work("@reboot"))
        world.options["boot_id"] = "another"
        await world.crash(down=HOUR)
        await world.begin(work("@reboot"))

    assert lived(story).told == ["11:59:00 a boot", "13:59:00 a boot"]


def test_a_new_file_is_no_boot() -> None:
    async def story(world: RestartableHost) -> None:
        await world.begin()
        await world.declare(work("@reboot"))
        await world.clock.advance(HOUR)

    assert lived(story).told == []


@pytest.mark.parametrize("end", [drained, RestartableHost.crash], ids=["stopped", "crashed"])
def test_a_job_of_the_boot_that_waits_is_left_to_the_next_life(
    end: Callable[[RestartableHost], Awaitable[None]],
) -> None:
    works = (work("@reboot", "a"), work("@reboot", "b"))

    async def story(world: RestartableHost) -> None:
        world.runner.lasts = HOUR
        await world.begin(*works)
        await end(world)
        await world.begin(*works)
        await world.clock.advance(2 * HOUR)

    told = [line.partition(" ")[2] for line in lived(story, max_active=1).told]
    assert (told.count("a boot"), told.count("b boot")) == (1, 1)


def test_a_job_of_the_boot_that_waits_does_not_begin_while_somebody_holds_it() -> None:
    async def story(world: RestartableHost) -> None:
        world.runner.lasts = HOUR
        await world.begin(work("@reboot", "a"), work("@reboot", "b"))
        await world.suspend("b")
        await world.clock.advance(3 * HOUR)

    assert lived(story, max_active=1).told == ["11:59:00 a boot"]


def test_a_job_of_the_boot_that_is_replaced_before_it_begins_does_not_come_again() -> None:
    async def story(world: RestartableHost) -> None:
        world.runner.lasts = HOUR
        await world.begin(work("@reboot", "b"), work("@reboot", "a", concurrency="replace"))
        await world.trigger("a")
        await world.clock.advance(3 * HOUR)

        await world.crash()
        await world.begin(work("@reboot", "b"), work("@reboot", "a", concurrency="replace"))
        await world.clock.advance(3 * HOUR)

    told = [line.partition(" ")[2] for line in lived(story, max_active=1).told]
    assert told == ["b boot", "a replaced", "a trigger"]


def test_a_job_of_the_boot_that_could_not_be_recorded_is_started_later() -> None:
    async def story(world: RestartableHost) -> None:
        await world.engine.open()
        await world.declare(work("@reboot"))
        world.ledger.failures = 1
        world.engine.arm()
        await world.clock.advance(MINUTE)

    assert lived(story).told == ["11:59:01 a boot"]


@pytest.mark.parametrize("told", [[], ["12:00:00 a boot"]], ids=["held", "resumed"])
def test_a_job_of_the_boot_that_was_held_is_started_when_it_is_let_go_and_not_by_a_reload(told: list[str]) -> None:
    async def story(world: RestartableHost) -> None:
        await world.engine.open()
        await world.declare(work("@reboot"))
        await world.suspend("a")
        world.engine.arm()
        await world.clock.advance(MINUTE)
        if told:
            await world.resume("a")
        await world.clock.advance(SECOND)
        await world.declare(work("@reboot"))
        await world.clock.advance(MINUTE)

    assert lived(story).told == told


def test_a_job_that_becomes_one_of_the_boot_is_not_started_by_that() -> None:
    async def story(world: RestartableHost) -> None:
        await world.begin(work())
        await world.declare(work("@reboot"))
        await world.clock.advance(MINUTE)

    assert lived(story).told == []


def test_a_job_of_the_boot_that_waits_and_becomes_another_does_not_begin() -> None:
    async def story(world: RestartableHost) -> None:
        world.runner.lasts = HOUR
        await world.begin(work("@reboot", "a"), work("@reboot", "b"))
        await world.declare(work("@reboot", "a"), work("0 0 1 1 *", "b"))
        await world.clock.advance(3 * HOUR)

    assert lived(story, max_active=1).told == ["11:59:00 a boot"]


def test_a_job_of_the_boot_that_was_removed_and_is_back_at_a_start_does_not_run_again() -> None:
    async def story(world: RestartableHost) -> None:
        await world.begin(work("@reboot"))
        await world.declare()
        await world.crash(down=HOUR)
        await world.begin(work("@reboot"))
        await world.clock.advance(HOUR)

    assert lived(story).told == ["11:59:00 a boot"]
