"""JobRecorder: the lives of jobs on the virtual clock obey the seven invariants, judged from what is recorded."""

from collections.abc import Awaitable, Callable
from datetime import timedelta

from kron.hosts.krond.recording import JobRecorder
from kron.theory.checker import Checker
from kron.theory.meaning import Verdict
from kron.theory.report import Report
from kron.theory.trace import Header, Line, Position, events_of
from tests.engine.jobs.world import HOUR, MINUTE, NOON, SECOND, World, lived, work

SLACK = 30 * SECOND  # of the host in these tests


def recorded(live: Callable[[World], Awaitable[None]]) -> tuple[list[Position], Verdict]:
    """Return what is recorded of a story, from its beginning to a stop, and the verdict on it."""
    lines, report = lines_of(live)
    return [event for line in lines for event in events_of(line)], report.verdict


def lines_of(live: Callable[[World], Awaitable[None]]) -> tuple[list[Line], Report]:
    """Return what is recorded of a story, line by line, and the report on it."""
    lines: list[Line] = []
    checker = Checker(Header("kron", slack=SLACK // timedelta(milliseconds=1)))

    async def story(world: World) -> None:
        recorder = JobRecorder(world.clock.now, lines.append, SLACK)
        world.listeners.append(recorder)
        world.on_held.append(recorder.on_suspended)
        recorder.on_declared()
        await live(world)
        recorder.on_stop()
        await world.stop()
        recorder.on_stopped()

    lived(story)
    for line in lines:
        checker.read(line)
    return lines, checker.report()


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
