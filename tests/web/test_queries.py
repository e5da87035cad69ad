"""The job queries of pages: the answers about the jobs of any scheduler."""

from pathlib import Path

import pytest

from kron.errors import UnknownJobError
from tests.web.beehive import RUN, Beehive


@pytest.fixture
def hive(tmp_path: Path) -> Beehive:
    return Beehive(tmp_path)


def suspend(hive: Beehive, identity: str) -> None:
    job = hive.planner.jobs[identity]
    job.record = job.record._replace(is_suspended=True)


def rename(hive: Beehive, identity: str, name: str) -> None:
    """Give a job a name that its identity does not have."""
    job = hive.planner.jobs[identity]
    job.record = job.record._replace(identity="hive:1", name=name)


def test_jobs_are_found_by_a_part_of_their_name_or_identity_in_any_case(hive: Beehive) -> None:
    def found(search: str) -> list[str]:
        return [job.record.name for job in hive.jobs.page(search).jobs]

    rename(hive, "hive:feed", "a/b")
    assert found("A/B") == ["a/b", "a/b"]
    assert found("HIVE:1") == ["a/b"]
    assert found("nothing") == []


def test_a_page_of_jobs_says_how_many_there_are_in_all(hive: Beehive) -> None:
    found = hive.jobs.page(offset=1, limit=1)

    assert ([job.record.name for job in found.jobs], found.total) == (["a/b"], 3)


def test_a_suspended_job_is_counted_and_has_nothing_due_in_the_next_hour(hive: Beehive) -> None:
    assert [each.name for each in hive.jobs.next_hour().timelines] == ["feed"]

    suspend(hive, "hive:feed")

    assert hive.jobs.counts() == (3, 1)
    assert hive.jobs.next_hour().jobs == 0
    assert [each.name for each in hive.jobs.definitions()] == ["a/b", "<b>"]


def test_the_next_decision_of_a_job_is_the_first_one_that_is_due(hive: Beehive) -> None:
    assert hive.jobs.job("hive:feed").next == hive.jobs.decisions("hive:feed", 1)[0]


def test_a_job_that_is_no_longer_declared_has_its_record_alone(hive: Beehive) -> None:
    del hive.planner.jobs["hive:feed"]

    assert hive.jobs.find("feed") == hive.jobs.find("feed", "hive:feed") == "hive:feed"
    found = hive.jobs.job("hive:feed")
    assert (found.record.name, found.spec, found.written) == ("feed", None, None)
    assert hive.jobs.decisions("hive:feed", 3) == []


@pytest.mark.parametrize("identity", ["", "hive:nothing"])
def test_a_job_that_never_was_is_unknown(hive: Beehive, identity: str) -> None:
    with pytest.raises(UnknownJobError):
        hive.jobs.find("nothing", identity)
    with pytest.raises(UnknownJobError):
        hive.jobs.job("hive:nothing")


def test_the_failed_run_is_a_problem_and_in_the_history_of_its_job(hive: Beehive) -> None:
    assert [row.run_id for row in hive.jobs.history.problems(10)] == [RUN]
    assert [row.run_id for row in hive.jobs.rows("hive:feed", 10)] == [RUN]
    assert hive.jobs.rows("hive:a/b", 10) == []
