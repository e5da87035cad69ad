"""Suspend, resume and trigger from a page of a real krond."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.hosts.krond.krond_process import Krond
from tests.web.page_client import Page, PageClient

NEVER = 'schedule = "0 0 29 2 *"'
JOBS = f"""
[krond]
listen = "127.0.0.1:0"
[jobs.sleeps]
{NEVER}
command = ["sleep", "1000"]
[jobs.other]
{NEVER}
command = "true"
[jobs.held]
{NEVER}
suspend = true
command = "true"
"""


@pytest.fixture
def krond(tmp_path: Path) -> Iterator[Krond]:
    daemon = Krond(tmp_path, JOBS).start()
    yield daemon
    daemon.ask("stop", "--now")
    daemon.end()


def act(visitor: PageClient, path: str, **fields: str) -> Page:
    """Answer the question that a page asks."""
    return visitor.post(path, csrf=visitor.get(path).field("csrf"), **fields)


def suspended(krond: Krond) -> list[str]:
    return [job["name"] for job in krond.json("jobs") if job["suspended"]]


def test_a_job_is_suspended_and_resumed_after_a_question(krond: Krond) -> None:
    visitor = PageClient(krond)

    question = visitor.get("/jobs/other/suspend")
    assert "Suspend this job?" in question.words
    assert suspended(krond) == ["held"]

    done = act(visitor, "/jobs/other/suspend", until="2h")
    assert (done.status, done.headers["location"].partition("?")[0]) == (303, "/jobs/other")
    assert suspended(krond) == ["other", "held"]
    assert "Suspended by command until" in visitor.get(done.headers["location"]).words

    assert act(visitor, "/jobs/other/resume").status == 303
    assert suspended(krond) == ["held"]


def test_a_job_is_run_at_once_and_only_if_its_policy_lets_it(krond: Krond) -> None:
    visitor = PageClient(krond)

    assert act(visitor, "/jobs/sleeps/trigger").status == 303
    krond.wait_for("RunStarted")
    refused = act(visitor, "/jobs/sleeps/trigger")

    assert refused.status == 409
    assert [row["kind"] for row in krond.json("history")] == ["trigger"]
    page = visitor.get(f"/runs/{krond.json('history')[0]['run_id']}")
    assert 'data-every="2"' in page.body
    assert "Running now Runs Job Started Duration Process Run sleeps" in visitor.get("/").words


def test_a_form_that_krond_did_not_make_does_nothing(krond: Krond) -> None:
    visitor = PageClient(krond)
    others = visitor.get("/jobs/sleeps/suspend").field("csrf")
    another = visitor.get("/jobs/other/trigger").field("csrf")

    for fields in ({}, {"csrf": ""}, {"csrf": "0" * 64}, {"csrf": "ü"}, {"csrf": others}, {"csrf": another}):
        assert visitor.post("/jobs/other/suspend", **fields).status == 403

    assert suspended(krond) == ["held"]


def test_a_job_that_its_file_holds_stays_held_and_the_page_says_where(krond: Krond) -> None:
    page = act(PageClient(krond), "/jobs/held/resume")

    assert page.status == 409
    assert f"{krond.file}:12 still suspends" in page.words


def test_an_impossible_action_is_refused(krond: Krond) -> None:
    visitor = PageClient(krond)

    assert visitor.post("/jobs/nothing/suspend", csrf="x").status == 404
    assert visitor.post("/jobs/other", csrf="x").status == 404
    assert visitor.ask("PUT", "/jobs/other/suspend").status == 405
    assert visitor.post("/jobs/other/suspend", csrf="x" * 5000).status == 413
    wrong = act(visitor, "/jobs/other/suspend", until="some day")
    assert (wrong.status, "some day" in wrong.words) == (400, True)
    assert suspended(krond) == ["held"]
