"""The upcoming runs of all jobs, found with few decisions."""

from datetime import timedelta
from heapq import merge
from itertools import islice
from operator import itemgetter
from pathlib import Path

import pytest

from kron.adapters.files.job_files import load_jobs
from kron.engine.jobs.job_state import JobState
from kron.instant import parse_instant
from kron.jobfile.host_job import work_of
from kron.rules.job_record import JobRecord
from kron.web.upcoming import decisions_of, first_of, next_decisions

NOW = parse_instant("2026-03-01T12:00:30Z")
JOBS = "".join(
    f'[jobs.{name}]\nschedule = "{schedule}"\ncommand = "true"\n{more}'
    for name, schedule, more in [
        ("wide", "* * * * * @win(after,90m)", ""),
        ("held", "* * * * * @win(around,10m)", "suspend = true\n"),
        ("hourly", "0 * * * *", ""),
        ("same", "0 * * * *", ""),
        ("late", "0 0 1 1 *", ""),
        ("boot", "@reboot", ""),
    ]
)


@pytest.fixture
def jobs(tmp_path: Path) -> list[JobState]:
    file = tmp_path / "jobs.toml"
    file.write_text(JOBS, "utf-8")
    file.chmod(0o644)
    works = [work_of(job) for job in load_jobs([str(file)]).job_set.jobs]
    assert len(works) == 6
    long_ago = NOW - timedelta(minutes=3)
    return [
        JobState(work, JobRecord(work.identity, work.name, work.definition_key, long_ago, long_ago)) for work in works
    ]


@pytest.mark.parametrize("count", [1, 2, 300])
def test_the_next_decisions_of_all_jobs_are_those_of_each_in_the_order_of_time(
    jobs: list[JobState], count: int
) -> None:
    found = [each for each in next_decisions(jobs, NOW, count) if each is not None]

    together = merge(*(decisions_of(job, NOW) for job in jobs), key=itemgetter(0))
    assert found == [each[1:] for each in islice(together, count)]


def test_jobs_whose_first_period_is_not_among_the_next_are_not_looked_into(jobs: list[JobState]) -> None:
    hourly, same = jobs[2:4]
    found = [each[1] for each in next_decisions([hourly, same], NOW, 3) if each is not None]

    assert found == [hourly, same, hourly]


def test_looking_for_the_first_period_of_a_job_takes_nothing_from_it(jobs: list[JobState]) -> None:
    for job in jobs:
        before = [first_of(job, NOW), first_of(job, NOW)]
        assert before[0] == before[1]
        if job.coming is not None and not job.is_suspended:
            assert job.coming.first() == job.coming.peek() == before[0]
