"""What waits for its turn, and what comes back: nobody waits for something that never comes."""

import pytest

from kron.engine.jobs.execution import Ending
from kron.rules.job_record import Result
from tests.engine.jobs.world import HOUR, MINUTE, SECOND, World, lived, work

REPLACED = (Result.REPLACED, "it had not begun when something else took its place")


def test_a_job_that_was_removed_may_come_back_as_another() -> None:
    async def story(world: World) -> None:
        await world.begin(work())
        await world.declare()
        await world.declare(work("30 * * * *"))
        await world.clock.advance(HOUR)

    assert lived(story).told == ["12:30:00 a 02 12:30 executed"]


def test_a_run_that_was_asked_for_and_makes_room_before_it_begins_leaves_a_row() -> None:
    asked: list[str] = []

    async def story(world: World) -> None:
        world.runner.heeds = False
        world.runner.lasts = HOUR
        await world.begin(work(concurrency="replace"))
        asked.extend([await world.trigger("a"), await world.trigger("a"), await world.trigger("a")])
        await world.clock.advance(MINUTE)

    world = lived(story)
    assert list(world.ledger.runs) == asked
    assert [(world.ledger.ends[name].result, world.ledger.ends[name].detail) for name in asked[:2]] == [REPLACED] * 2
    assert [line.partition(" ")[2] for line in world.told] == ["a replaced", "a replaced", "a trigger"]


def test_a_run_that_was_asked_for_leaves_a_row_when_a_period_takes_its_place() -> None:
    async def story(world: World) -> None:
        world.runner.lasts = HOUR
        await world.begin(work(concurrency="replace"), work("59 11 * * *", "b"))
        await world.trigger("b")
        await world.clock.advance(SECOND)
        await world.trigger("a")
        await world.clock.advance(HOUR)

    assert "12:00:00 a replaced" in lived(story, most_active=1).told


def test_a_run_that_was_asked_for_leaves_a_row_when_its_job_is_removed() -> None:
    async def story(world: World) -> None:
        world.runner.lasts = HOUR
        await world.begin(work(name="a"), work("0 0 1 1 *", "b"))
        await world.trigger("b")
        await world.clock.advance(SECOND)
        await world.trigger("a")
        await world.clock.advance(SECOND)
        await world.declare(work("0 0 1 1 *", "b"))
        world.ledger.failures = 1
        await world.clock.advance(MINUTE)

    world = lived(story, most_active=1)
    assert [line.partition(" ")[2] for line in world.told] == ["b trigger", "a replaced"]
    assert "a" not in [attempt.identity for name, attempt in world.ledger.runs.items() if name not in world.ledger.ends]


def test_what_waits_of_a_job_is_given_up_when_it_is_removed() -> None:
    asked: list[str] = []

    async def story(world: World) -> None:
        world.runner.lasts = HOUR
        await world.begin(work("0 0 1 1 *", retries=1, retry_delay=HOUR), work("0 0 1 1 *", "b"))
        asked.append(await world.trigger("a"))
        await world.clock.advance(MINUTE)
        world.runner.end(asked[0], Ending(exit_code=1))
        await world.clock.advance(MINUTE)
        await world.declare(work("0 0 1 1 *", "b"))
        await world.clock.advance(MINUTE)

    assert lived(story).given_up == asked


@pytest.mark.parametrize("by_file", [False, True], ids=["by command", "by its file"])
def test_a_period_that_waits_for_room_does_not_begin_while_its_job_is_held(*, by_file: bool) -> None:
    async def story(world: World) -> None:
        world.runner.lasts = 10 * MINUTE
        await world.begin(work(), work("0 * * * *", "b", deadline="30m"))
        await world.clock.advance(5 * MINUTE)
        if by_file:
            await world.declare(work(), work("0 * * * *", "b", deadline="30m", suspend=True))
        else:
            await world.suspend("b")
        await world.clock.advance(15 * MINUTE)
        if by_file:
            await world.declare(work(), work("0 * * * *", "b", deadline="30m"))
        else:
            await world.resume("b")
        await world.clock.advance(MINUTE)

    assert lived(story, most_active=1).told == ["12:00:00 a 02 12:00 executed", "12:19:00 b 02 12:00 executed"]
