"""Beehive: a scheduler that is not krond, as pages see it: three jobs, one run, and none of krond's own features."""

import json
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path
from typing import NamedTuple

from kron.decision.timing import Timing
from kron.engine.jobs.job_state import JobState
from kron.engine.jobs.planner import PeriodPlanner
from kron.engine.ledger import JobBatch
from kron.instant import Instant, parse_instant
from kron.rules.job_record import JobRecord, ResultCode, RunEnd, RunKind, RunStart
from kron.rules.job_spec import JobSpec
from kron.rules.policy import Policy
from kron.theory.results import PropertyResult
from kron.web.queries import JobQueries
from kron.web.source import Fact, Notice, SchedulerStatus
from tests.adapters.sqlite.job_histories import remembered

NOW = parse_instant("2026-03-01T12:00:30Z")
YESTERDAY = NOW - timedelta(days=1)
RUN = "hive/1 <x>"


class BeehiveJob(NamedTuple):
    """A job as its application wrote it."""

    schedule: str
    timezone: str
    description: str


JOBS = {
    "feed": BeehiveJob("*/10 * * * * @win(after,5m)", "UTC", "Feeds the bees"),
    "a/b": BeehiveJob("0 3 * * *", "Europe/Berlin", ""),
    "<b>": BeehiveJob("0 4 * * *", "UTC", "An odd <name>"),
}


def spec_of(name: str, written: BeehiveJob) -> JobSpec:
    """Return a job with the definition that its record refers to."""
    timing = Timing.parse(f"{written.schedule} @tz({written.timezone})", identity=f"hive:{name}")
    definition = json.dumps({"timing": timing.to_dict(), "policy": Policy().to_dict()})
    return JobSpec(f"hive:{name}", name, timing, Policy(), definition)


def _recorded(specs: Sequence[JobSpec], records: Sequence[JobRecord]) -> tuple[JobBatch, ...]:
    """Return one failed run of the first job."""
    first = specs[0]
    start = RunStart(RUN, first.identity, RunKind.TRIGGER, None, None, 1, YESTERDAY, first.definition_key, "boot")
    end = RunEnd(RUN, YESTERDAY + timedelta(seconds=3), ResultCode.FAILED, exit_code=3)
    definitions = {spec.definition_key: spec.definition for spec in specs}
    return JobBatch(definitions=definitions, jobs=records), JobBatch(begun=[start]), JobBatch(ended=[end])


class Beehive:
    """The scheduler of an application."""

    product = "Beehive"

    def __init__(self, folder: Path, *, now: Instant = NOW) -> None:
        self.planner = PeriodPlanner({}, "hive")  # nothing is planned: pages only read
        specs = [spec_of(name, written) for name, written in JOBS.items()]
        for spec in specs:
            record = JobRecord(spec.identity, spec.name, spec.definition_key, YESTERDAY, NOW)
            job = self.planner.jobs[spec.identity] = JobState(spec, record)
            assert job.coming is not None
            job.at = job.coming.next_time()
        history = remembered(folder, *_recorded(specs, [job.record for job in self.planner.jobs.values()]))
        self.jobs = JobQueries(self.planner, history, lambda: now, {}, lambda job: JOBS[job.record.name])

    def status(self) -> SchedulerStatus:
        return SchedulerStatus("7", "humming", YESTERDAY, [Notice("Smoke <in> the hive", YESTERDAY, kind="odd")])

    def facts(self, identity: str) -> Sequence[Fact]:
        return [Fact("Function", f"apiary.work:{identity}", is_code=True)]

    def output(self, _: str) -> None:
        return None

    def violations(self) -> Sequence[PropertyResult] | None:
        return None


class BeehiveControl:
    """Does what a page asks for, and remembers it."""

    def __init__(self) -> None:
        self.done: list[object] = []

    async def suspend(self, identities: Sequence[str], until: Instant | None) -> None:
        self.done.append(("suspend", *identities, until))

    async def resume(self, identities: Sequence[str]) -> None:
        self.done.append(("resume", *identities))

    async def trigger(self, identity: str) -> str:
        self.done.append(("trigger", identity))
        return "run"
