"""The pages of a real krond, read by a client with the token and without scripts."""

import json
import re
from collections.abc import Iterator
from html import unescape
from pathlib import Path
from urllib.parse import quote, urlencode

import pytest

from tests.hosts.krond.krond_process import Krond
from tests.web.page_client import PageClient

EVIL = "<img src=x onerror=alert(1)> a/b & \"c\" 'd'"
HUGE = 3_000_000  # bytes
JOBS = f"""
[krond]
listen = "127.0.0.1:0"
[jobs.spread]
schedule = "0 * * * *"
window = "after,59m"
timezone = "Europe/Berlin"
description = "Sweeps the yard"
command = ["true", "--now"]
env = {{ PASSWORD = "tiger" }}
[jobs.often]
schedule = "0,30 * * * *"
window = "after,10m"
command = "true"
[jobs.fails]
schedule = "0 0 29 2 *"
command = ["sh", "-c", "echo '<script>alert(1)</script>'; exit 3"]
[jobs.huge]
schedule = "0 0 29 2 *"
command = ["sh", "-c", "head -c {HUGE} /dev/zero | tr '\\\\000' x"]
output_limit = "10MiB"
[jobs.{json.dumps(EVIL)}]
schedule = "0 0 29 2 *"
command = "true"
[jobs.coloured]
schedule = "0 0 29 2 *"
command = ["printf", '\\033[1;31mred\\033[0m\\r\\nhalf\\rdone\\033]0;title\\007\\r\\n']
[jobs.impossible]
schedule = "0 3 * * MON"
window = "after,1h"
only = "dow=TUE"
command = "true"
[jobs.boots]
schedule = "@reboot"
command = "true"
"""


@pytest.fixture(scope="module")
def krond(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Krond]:
    daemon = Krond(tmp_path_factory.mktemp("krond"), JOBS).start()
    for job in ("fails", "fails", "huge", "coloured", EVIL):
        daemon.ask("trigger", job, "--wait")
    yield daemon
    daemon.ask("stop", "--now")
    daemon.end()


@pytest.fixture
def visitor(krond: Krond) -> PageClient:
    return PageClient(krond)


def runs(krond: Krond, job: str) -> list[str]:
    return [row["run_id"] for row in krond.json("history") if row["name"] == job]


def test_the_overview_shows_what_comes_what_failed_and_all_jobs(visitor: PageClient) -> None:
    page = visitor.get("/")

    assert (page.status, page.headers["content-type"]) == (200, "text/html; charset=utf-8")
    assert "Running now No job is running. To start one now, open it below and trigger it." in page.words
    assert "failed with exit code 3" in page.words
    assert "×2" in page.words
    assert "8 jobs, 0 suspended" in page.words
    assert "unschedulable" in page.words
    assert 'class="band"' in page.body
    assert 'class="mark"' in page.body
    assert "of the window" in page.body


def test_the_overview_and_the_command_name_the_same_next_second_of_each_job(krond: Krond, visitor: PageClient) -> None:
    jobs = visitor.get("/").body.partition('id="jobs"')[2]
    rows = {unescape(row): re.findall(r'datetime="([^"]*)"', row) for row in jobs.split("<tr ")[2:]}
    named = {job["identity"]: job["next_chosen_time"] for job in krond.json("jobs")}

    shown = {identity: times for identity in named for row, times in rows.items() if f'title="{identity}"' in row}
    assert shown == {identity: [] if at is None else [at] for identity, at in named.items()}


def test_the_overview_finds_jobs_by_a_part_of_their_names(visitor: PageClient) -> None:
    jobs = visitor.get("/?q=SPRE").body.partition('id="jobs"')[2]

    assert "spread" in jobs
    assert "huge" not in jobs
    assert "No job matches. Show all jobs" in visitor.get("/?q=nothing-of-this-kind&page=99999999999").words


def test_no_page_has_a_script_or_a_style_of_its_own(krond: Krond, visitor: PageClient) -> None:
    run = runs(krond, "fails")[0]
    for path in ("/", "/jobs/spread", f"/runs/{run}", "/why?job=spread&at=12:10", "/monitor", "/jobs/fails/trigger"):
        page = visitor.get(path)
        assert page.status == 200
        assert page.body.count("<script") == page.body.count('<script src="/static/kron.js"') == 1
        assert "<style" not in page.body
        assert " style=" not in page.body
        assert "script-src 'self'" in page.headers["content-security-policy"]
        assert page.body.count("<h1>") == 1
        assert '<html lang="en">' in page.body


@pytest.mark.parametrize(("name", "kind"), [("kron.css", "text/css"), ("kron.js", "text/javascript")])
def test_pages_load_everything_from_krond(visitor: PageClient, name: str, kind: str) -> None:
    page = visitor.get(f"/static/{name}")

    assert page.status == 200
    assert page.headers["content-type"].startswith(kind)
    assert "http://" not in page.body
    assert "https://" not in page.body


def test_a_job_is_defined_described_decided_and_explained(visitor: PageClient) -> None:
    page = visitor.get("/jobs/spread")

    for words in (
        "Sweeps the yard",
        "Every hour on the hour, Europe/Berlin",
        "after, 59m",
        "true --now",
        "PASSWORD",
        "How the second of",
        "Seed hash",
        "accepted",
        "No runs yet. The first appears here when it starts; trigger the job to start one now.",
    ):
        assert words in page.words
    assert "tiger" not in page.body
    assert 'class="chosen"' in page.body


def test_a_job_shows_its_history_as_a_strip_and_in_words(visitor: PageClient) -> None:
    page = visitor.get("/jobs/fails")

    assert 'class="col bad"' in page.body
    assert "failed with exit code 3" in page.words


def test_a_job_that_runs_at_boot_only_has_a_page(visitor: PageClient) -> None:
    page = visitor.get("/jobs/boots")

    assert "once after each boot" in page.words
    assert "It runs once after each boot, not at times of the calendar. Trigger it to run it now." in page.words


def test_a_name_of_html_and_slashes_is_text_and_can_be_followed(krond: Krond, visitor: PageClient) -> None:
    overview = visitor.get("/")
    identity = f"{krond.file}:{EVIL}"
    href = f"/jobs/{quote(EVIL, safe='')}?{urlencode({'identity': identity})}"

    assert "<img" not in overview.body
    assert EVIL in overview.words
    assert f'href="{href}"' in overview.body
    for path in (href, f"/jobs/{quote(EVIL, safe='')}"):
        page = visitor.get(path)
        assert page.status == 200
        assert "<img" not in page.body
        assert EVIL in page.words


def test_a_run_shows_what_it_wrote_as_text(krond: Krond, visitor: PageClient) -> None:
    run = runs(krond, "fails")[0]
    page = visitor.get(f"/runs/{run}")
    output = visitor.get(f"/runs/{run}/output")

    assert "<script>alert" not in page.body
    assert "<script>alert(1)</script>" in page.words
    assert output.body == "<script>alert(1)</script>\n"
    assert output.headers["content-type"] == "text/plain; charset=utf-8"
    assert output.headers["x-content-type-options"] == "nosniff"


def test_terminal_output_is_shown_without_its_colours(krond: Krond, visitor: PageClient) -> None:
    (run,) = runs(krond, "coloured")

    assert ">red\nhalf\ndone\n</pre>" in visitor.get(f"/runs/{run}").body
    assert visitor.get(f"/runs/{run}/output").body.startswith("\x1b[1;31mred")


def test_of_a_huge_output_the_page_has_the_end_and_the_text_has_all(krond: Krond, visitor: PageClient) -> None:
    (run,) = runs(krond, "huge")

    page, output = visitor.get(f"/runs/{run}"), visitor.get(f"/runs/{run}/output")

    assert f"The last 64 KiB of {HUGE} bytes." in page.words
    assert len(page.body) < 100_000
    assert output.body == "x" * HUGE


@pytest.mark.parametrize(
    "run",
    ["..", "%2e%2e%2ftoken", "..%2F..%2Fstate%2Ftoken", "%2Fetc%2Fpasswd", "journal", "index", "x%00", "", "a/b/c"],
)
def test_only_a_run_that_is_recorded_has_an_output(krond: Krond, visitor: PageClient, run: str) -> None:
    for path in (f"/runs/{run}/output", f"/runs/{run}"):
        page = visitor.get(path)
        assert page.status == 404
        assert visitor.token not in page.body
    assert visitor.get(f"/runs/{runs(krond, 'fails')[0]}/output/..%2Fx").status == 404


def test_why_answers_in_a_sentence_and_shows_the_period(visitor: PageClient) -> None:
    page = visitor.get("/why?job=spread&at=2030-01-01T12:10:00Z")

    assert page.status == 200
    assert "No: the period 2030-01-01T12:00:00Z" in page.words
    assert "its time has not come yet" in page.words


def test_why_shows_the_instant_by_the_clock_of_the_job(visitor: PageClient) -> None:
    assert "run at Tue 2030-01-01 13:10:00 +01:00" in visitor.get("/why?job=spread&at=2030-01-01+13:10").words


def test_why_keeps_a_question_that_cannot_be_answered(visitor: PageClient) -> None:
    body = visitor.get("/why?job=spread&at=yesterday").body

    assert 'value="spread"' in body
    assert 'value="yesterday"' in body


def test_the_feeds_are_linked_where_they_belong(visitor: PageClient) -> None:
    for path, jobs in (("/", {"spread", "often", "impossible"}), ("/jobs/spread", {"spread"})):
        (href,) = re.findall(r'href="(/feed\.json[^"]*)"', visitor.get(path).body)
        assert {row["name"] for row in json.loads(visitor.get(unescape(href)).body)} == jobs


def test_why_without_a_question_asks_for_one(visitor: PageClient) -> None:
    page = visitor.get("/why")

    assert page.status == 200
    assert '<label for="why-job">' in page.body


@pytest.mark.parametrize(
    ("path", "status", "words"),
    [
        ("/nothing", 404, "Not found This page does not exist. To the overview"),
        ("/jobs/nothing", 404, "is not a job"),
        ("/jobs/spread?identity=nothing", 404, "is not a job"),
        ("/jobs/spread/explode", 404, "does not exist"),
        ("/why?job=nothing&at=12:00", 404, "is not a job"),
        ("/why?job=spread&at=yesterday", 400, "yesterday"),
        ("/why?job=spread&at=9999-12-31T23:59:59Z", 400, "leaves the years 1 to 9999"),
        ("/why?job=spread&at=0001-01-01T00:00:00Z", 400, "leaves the years 1 to 9999"),
    ],
)
def test_an_unanswerable_question_is_an_error_page(visitor: PageClient, path: str, status: int, words: str) -> None:
    page = visitor.get(path)

    assert (page.status, words in page.words) == (status, True)


def test_the_monitor_shows_each_property_with_its_verdict(visitor: PageClient) -> None:
    page = visitor.get("/monitor")

    assert "properties was violated since krond started" in page.words
    assert "✓ not violated" in page.words


def test_without_the_token_no_page_is_shown(visitor: PageClient) -> None:
    visitor.token = "wrong" * 8
    for path in ("/", "/jobs/spread", "/events", "/static/kron.js"):
        assert visitor.get(path).status == 401
    assert visitor.post("/jobs/spread/trigger").status == 401


def test_no_page_failed(krond: Krond, visitor: PageClient) -> None:
    """The events of krond report no page of these tests that failed to render."""
    visitor.get("/")
    krond.ask("trigger", "boots", "--wait")
    krond.wait_for("RunEnded")

    assert [event for event in krond.events if event["event"] == "PageFailed"] == []


def test_a_name_of_several_jobs_is_a_choice_between_them(tmp_path: Path) -> None:
    krond = Krond(tmp_path, "")
    krond.file = tmp_path / "jobs"
    krond.file.mkdir(mode=0o755)
    (krond.file / "krond.toml").write_text('[krond]\nlisten = "127.0.0.1:0"\n')
    for number in (1, 2):
        (krond.file / f"{number}.toml").write_text('[jobs.twin]\nschedule = "@daily"\ncommand = "true"\n')
    visitor = PageClient(krond.start())

    page = visitor.get("/jobs/twin")

    assert page.status == 300
    for number in (1, 2):
        identity = f"{krond.file}/{number}.toml:twin"
        href = f"/jobs/twin?{urlencode({'identity': identity})}"
        assert f'href="{href}"' in page.body
        assert identity in visitor.get(href).words
    krond.ask("stop")
    krond.end()
