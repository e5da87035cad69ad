"""The load and the feeds of a real krond: computed in a worker, and equal to the commands' output."""

import csv
import json
import subprocess
import sys
from collections.abc import Iterator

import pytest

from tests.hosts.krond.krond_process import Krond
from tests.web.page_client import PageClient

JOBS = """
[krond]
listen = "127.0.0.1:0"
[jobs.hourly]
schedule = "0 * * * *"
window = "after,59m"
command = "true"
[jobs.daily]
schedule = "30 4 * * *"
command = "true"
[jobs.held]
schedule = "* * * * *"
suspend = true
command = "true"
"""
SPAN = "from=2030-01-01T00:00:00Z&to=2030-01-03T00:00:00Z"


@pytest.fixture(scope="module")
def krond(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Krond]:
    daemon = Krond(tmp_path_factory.mktemp("krond"), JOBS).start()
    yield daemon
    daemon.ask("stop", "--now")
    daemon.end()


@pytest.fixture
def visitor(krond: Krond) -> PageClient:
    return PageClient(krond)


def printed(krond: Krond, form: str) -> str:
    """Return what `kron feed` prints of the same jobs and the same span."""
    span = ["--from", "2030-01-01T00:00:00Z", "--to", "2030-01-03T00:00:00Z"]
    command = [sys.executable, "-m", "kron", "feed", str(krond.file), "--format", form, *span]
    done = subprocess.run(command, capture_output=True, check=True)
    return done.stdout.decode()


@pytest.mark.parametrize(
    ("form", "kind"), [("json", "application/json"), ("csv", "text/csv"), ("ics", "text/calendar")]
)
def test_a_feed_is_what_the_command_prints(krond: Krond, visitor: PageClient, form: str, kind: str) -> None:
    page = visitor.get(f"/feed.{form}?{SPAN}")

    assert page.status == 200
    assert page.headers["content-type"].startswith(kind)
    assert page.body == printed(krond, form)


def test_a_feed_of_one_job_has_that_alone_and_a_week_if_nothing_is_said(visitor: PageClient) -> None:
    rows = json.loads(visitor.get("/feed.json?job=daily").body)

    assert [row["name"] for row in rows] == ["daily"] * 7


def test_a_feed_of_nothing_has_its_heads(visitor: PageClient) -> None:
    (heads,) = csv.reader(visitor.get("/feed.csv?job=held").body.splitlines())

    assert "chosen_time" in heads


@pytest.mark.parametrize(
    ("asked", "status"),
    [
        ("job=nothing", 404),
        ("from=2030-01-02T00:00:00Z&to=2030-01-01T00:00:00Z", 400),
        ("to=9999-12-31T23:59:59Z", 400),
        ("from=soon", 400),
    ],
)
def test_a_feed_that_cannot_be_is_refused(visitor: PageClient, asked: str, status: int) -> None:
    assert visitor.get(f"/feed.json?{asked}").status == status


def test_a_feed_ends_with_the_calendar(visitor: PageClient) -> None:
    rows = json.loads(visitor.get("/feed.json?job=daily&from=9999-12-30T00:00:01Z").body)

    assert {row["period_id"][:10] for row in rows} <= {"9999-12-30", "9999-12-31"}
    assert rows


@pytest.mark.parametrize(("span", "runs"), [("day", 25), ("week", 7 * 25), ("year", 365 * 25)])
def test_the_load_is_a_map_with_numbers(visitor: PageClient, span: str, runs: int) -> None:
    page = visitor.get(f"/load?span={span}")
    while "refresh" in page.headers:
        assert "Starts are being counted." in page.words
        page = visitor.get(f"/load?span={span}")

    assert page.status == 200
    assert f"Runs {runs} " in page.words
    assert '<svg class="heat"' in page.body
    assert "In one Nominal Chosen First at second" in page.words
    assert "All starts as a table" in page.words


def test_an_unknown_span_is_not_found(visitor: PageClient) -> None:
    assert visitor.get("/load?span=century").status == 404
