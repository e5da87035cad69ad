"""python -m tests.hosts.krond.policy_trial: what the theory finds violated in a life of jobs with policies.

The life is the same each time. Out comes one JSON list with the names of the violated properties.
"""

import json

from kron.theory.formula import TruthValue
from tests.engine.jobs.world import HOUR, MINUTE, RestartableHost, work
from tests.trace.test_job_recorder import lines_of


async def live(world: RestartableHost) -> None:
    """Let jobs be paused, fail, run long and be tried again."""
    paused = work("0 * * * * @win(after,50m)", "paused", deadline="30m")
    world.runner.lasts = 3 * MINUTE
    world.runner.codes = [1, 1, 1]
    await world.begin(paused, work("30 14 * * *", "daily", deadline="30m"), work(name="failing", retries=1))
    await world.suspend("paused")
    await world.clock.advance(20 * MINUTE)
    await world.resume("paused")  # in its window, and before its chosen time
    await world.clock.advance(70 * MINUTE)
    await world.suspend("paused", "daily")
    await world.clock.advance(5 * HOUR)
    await world.resume("paused", "daily")  # hours after the deadline of the daily one
    await world.clock.advance(5 * MINUTE)
    world.runner.lasts = 90 * MINUTE
    await world.declare(work(name="long"))
    await world.clock.advance(4 * HOUR)
    await world.declare()
    await world.clock.advance(2 * HOUR)


def violated() -> list[str]:
    """Return the names of the properties that the life violates."""
    _, report = lines_of(live)
    return [each.property.name for each in report.findings if each.verdict is TruthValue.VIOLATED]


if __name__ == "__main__":
    print(json.dumps(violated()))
