"""Beehive: a scheduler that is not krond, as a page sees it: three jobs, one run, and nothing that only krond has."""

import json
from collections.abc import Sequence
from datetime import timedelta
from typing import NamedTuple, cast

from kron.adapters.sqlite.job_history import HistoryQuery
from kron.decision.timing import Timing
from kron.engine.jobs.host import Host
from kron.engine.jobs.job_state import JobState
from kron.engine.jobs.planner import PeriodPlanner
from kron.instant import Instant, parse_instant
from kron.rules.evidence import Evidence
from kron.rules.history import RunRow
from kron.rules.job_record import JobRecord, ResultCode, RunEnd, RunKind, RunStart
from kron.rules.job_spec import JobSpec
from kron.rules.policy import Policy
from kron.theory.results import PropertyResult
from kron.web.queries import JobQueries
from kron.web.source import Fact, Notice, SchedulerStatus

NOW = parse_instant("2026-03-01T12:00:30Z")
YESTERDAY = NOW - timedelta(days=1)
RUN = "hive/1 <x>"


class Written(NamedTuple):
    """A job as its application wrote it."""

    schedule: str
    timezone: str
    description: str


JOBS = {
    "feed": Written("*/10 * * * * @win(after,5m)", "UTC", "Feeds the bees"),
    "a/b": Written("0 3 * * *", "Europe/Berlin", ""),
    "<b>": Written("0 4 * * *", "UTC", "An odd <name>"),
}


def spec_of(name: str, written: Written) -> JobSpec:
    """Return a job with the definition that its record refers to."""
    timing = Timing.parse(f"{written.schedule} @tz({written.timezone})", identity=f"hive:{name}")
    definition = json.dumps({"timing": timing.to_dict(), "policy": Policy().to_dict()})
    return JobSpec(f"hive:{name}", name, timing, Policy(), definition)


class History:
    """One run of the first job."""

    def __init__(self, jobs: dict[str, JobState]) -> None:
        self._jobs = jobs
        start = RunStart(RUN, "hive:feed", RunKind.TRIGGER, None, None, 1, YESTERDAY, "key", "boot")
        end = RunEnd(RUN, YESTERDAY + timedelta(seconds=3), ResultCode.FAILED, exit_code=3)
        self._row = RunRow.of_run("feed", start, end, attempts=1)

    def jobs(self) -> list[JobRecord]:
        return [job.record for job in self._jobs.values()]

    def job(self, identity: str) -> JobRecord | None:
        return self._jobs[identity].record if identity in self._jobs else None

    def rows(self, query: HistoryQuery) -> list[RunRow]:
        return [self._row] if query.identity in (None, "hive:feed") else []

    def run(self, run_id: str) -> RunRow | None:
        return self._row if run_id == RUN else None

    def problems(self, limit: int) -> list[RunRow]:
        return [self._row][:limit]

    def inquire(self, identity: str, at: Instant, now: Instant) -> Evidence:
        job = self._jobs[identity]
        return Evidence(job.record, job.work.definition, at, now)


class Beehive:
    """The scheduler of an application."""

    product = "Beehive"

    def __init__(self) -> None:
        self.planner = PeriodPlanner(cast(Host, None))  # nothing is planned: pages only read
        for name, written in JOBS.items():
            spec = spec_of(name, written)
            record = JobRecord(spec.identity, name, spec.definition_key, YESTERDAY, YESTERDAY)
            job = self.planner.jobs[spec.identity] = JobState(spec, record)
            assert job.coming is not None
            job.at = job.coming.next_time()
        self.jobs = JobQueries(
            self.planner, History(self.planner.jobs), lambda: NOW, {}, lambda job: JOBS[job.record.name]
        )

    def status(self) -> SchedulerStatus:
        return SchedulerStatus("7", "humming", YESTERDAY, [Notice("Smoke <in> the hive", YESTERDAY, kind="odd")])

    def facts(self, identity: str) -> Sequence[Fact]:
        return [Fact("Function", f"apiary.work:{identity}", is_code=True)]

    def output(self, _: str) -> None:
        return None

    def violations(self) -> Sequence[PropertyResult] | None:
        return None


class Keeper:
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
