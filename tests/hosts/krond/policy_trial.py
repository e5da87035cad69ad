"""Run jobs with policies, and print the names of the violated properties: python -m tests.hosts.krond.policy_trial

The run is the same each time. The output is a JSON list.
"""

import asyncio
import json

from kron.theory.formula import TruthValue
from tests.engine.jobs.restartable_host import HOUR, MINUTE, RestartableHost, work
from tests.trace.test_job_recorder import recording


async def run_jobs(host: RestartableHost) -> None:
    """Suspend jobs, let them fail and run long, and retry them."""
    paused = work("0 * * * * @win(after,50m)", "paused", deadline="30m")
    host.runner.lasts = 3 * MINUTE
    host.runner.codes = [1, 1, 1]
    await host.begin(paused, work("30 14 * * *", "daily", deadline="30m"), work(name="failing", retries=1))
    await host.suspend("paused")
    await host.clock.advance(20 * MINUTE)
    await host.resume("paused")  # in its window, and before its chosen time
    await host.clock.advance(70 * MINUTE)
    await host.suspend("paused", "daily")
    await host.clock.advance(5 * HOUR)
    await host.resume("paused", "daily")  # hours after the deadline of the daily one
    await host.clock.advance(5 * MINUTE)
    host.runner.lasts = 90 * MINUTE
    await host.declare(work(name="long"))
    await host.clock.advance(4 * HOUR)
    await host.declare()
    await host.clock.advance(2 * HOUR)


async def violated() -> list[str]:
    """Return the names of the properties that the run violates."""
    async with recording() as (host, trace):
        await run_jobs(host)
    return [each.property.name for each in trace.report.findings if each.verdict is TruthValue.VIOLATED]


if __name__ == "__main__":
    print(json.dumps(asyncio.run(violated())))
