"""JobRecorder: the lives of jobs on the virtual clock obey the seven invariants, judged from what is recorded."""

from kron.hosts.krond.recording import JobRecorder
from kron.theory.checker import Checker
from kron.theory.meaning import Verdict
from kron.theory.trace import Header, Position
from tests.engine.jobs.world import HOUR, World, lived, work


def test_what_a_host_does_is_judged_by_the_theory() -> None:
    positions: list[Position] = []
    checker = Checker(Header("kron"))

    async def story(world: World) -> None:
        recorder = JobRecorder(world.clock.now, positions.append)
        world.listeners.append(recorder)
        recorder.on_declared()
        world.runner.codes = [0, 1, 0]
        await world.begin(work("*/20 * * * * @win(after,30m)", retries=1), work("0 * * * * @avoid(hours=13)", "b"))
        await world.clock.advance(6 * HOUR)
        recorder.on_stop()
        await world.stop()
        recorder.on_stopped()

    lived(story)
    for position in positions:
        checker.read(position)

    assert checker.report().verdict is Verdict.HOLDS
    assert {"Decision", "Outcome", "RunStart", "RunSuccess", "RunFailure"} <= {each.event for each in positions}
