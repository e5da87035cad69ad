"""JobRecorder: the lives of jobs on the virtual clock obey the seven invariants, judged from what is recorded."""

from collections.abc import Awaitable, Callable

from kron.hosts.krond.recording import JobRecorder
from kron.theory.checker import Checker
from kron.theory.meaning import Verdict
from kron.theory.trace import Header, Position
from tests.engine.jobs.world import HOUR, MINUTE, NOON, World, lived, work


def recorded(live: Callable[[World], Awaitable[None]]) -> tuple[list[Position], Verdict]:
    """Return what is recorded of a story, from its beginning to a stop, and the verdict on it."""
    positions: list[Position] = []
    checker = Checker(Header("kron"))

    async def story(world: World) -> None:
        recorder = JobRecorder(world.clock.now, positions.append)
        world.listeners.append(recorder)
        world.on_held.append(recorder.on_suspended)
        recorder.on_declared()
        await live(world)
        recorder.on_stop()
        await world.stop()
        recorder.on_stopped()

    lived(story)
    for position in positions:
        checker.read(position)
    return positions, checker.report().verdict


def test_what_a_host_does_is_judged_by_the_theory() -> None:
    async def story(world: World) -> None:
        world.runner.codes = [0, 1, 0]
        await world.begin(work("*/20 * * * * @win(after,30m)", retries=1), work("0 * * * * @avoid(hours=13)", "b"))
        await world.clock.advance(6 * HOUR)

    positions, verdict = recorded(story)

    assert verdict is Verdict.HOLDS
    assert {"Decision", "Outcome", "RunStart", "RunSuccess", "RunFailure"} <= {each.event for each in positions}


def test_a_job_that_was_held_until_a_time_goes_on_lawfully() -> None:
    async def story(world: World) -> None:
        await world.begin(work())
        await world.suspend("a", until=NOON + 30 * MINUTE)
        await world.clock.advance(3 * HOUR)

    positions, verdict = recorded(story)

    assert verdict is Verdict.HOLDS
    assert {"Suspended", "Resumed", "Outcome"} <= {each.event for each in positions}


def test_a_job_that_was_removed_while_it_was_held_comes_back_lawfully() -> None:
    async def story(world: World) -> None:
        await world.begin(work("0 * * * * @win(after,50m)"))
        await world.suspend("a")
        await world.clock.advance(10 * MINUTE)
        await world.declare()
        await world.declare(work())
        await world.clock.advance(3 * HOUR)

    _, verdict = recorded(story)

    assert verdict is Verdict.HOLDS


def test_an_edit_of_a_job_that_is_held_is_lawful() -> None:
    async def story(world: World) -> None:
        await world.begin(work("0 * * * * @win(after,50m)"))
        await world.suspend("a")
        await world.clock.advance(90 * MINUTE)
        await world.declare(work("30 * * * *"))
        await world.clock.advance(3 * HOUR)

    _, verdict = recorded(story)

    assert verdict is Verdict.HOLDS
