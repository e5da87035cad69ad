"""PageApp with a scheduler that is not krond, at the root of a host and under a prefix."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from html import unescape
from pathlib import Path
from urllib.parse import quote, urlencode

import pytest
from starlette.applications import Starlette
from starlette.routing import Mount

from kron.hosts.krond.page import probe_routes
from kron.web.app import PageApp, docs_address
from kron.web.auth import AccessMiddleware, AccessRules
from kron.web.format import TERMS
from kron.web.live import ChangeFeed
from tests.web.beehive import NOW, RUN, Beehive, BeehiveControl
from tests.web.served import Place, Reply, served

PREFIX = "/ops/bees"
PATHS = (
    "/",
    "/?q=feed",
    "/jobs/feed",
    f"/jobs/{quote('a/b', safe='')}",
    f"/runs/{quote(RUN, safe='')}",
    "/why",
    "/why?job=feed&at=12:10",
    "/load?span=week",
)
TOKEN = "a-token-of-43-characters-or-so"


@pytest.fixture(scope="module")
def hive(tmp_path_factory: pytest.TempPathFactory) -> Beehive:
    return Beehive(tmp_path_factory.mktemp("hive"))


@contextmanager
def page_of(
    hive: Beehive, prefix: str = "", *, keeper: BeehiveControl | None = None, docs: str = ""
) -> Iterator[Place]:
    """Serve the page of a beehive; without a keeper nothing can be done with its jobs."""
    page = PageApp(hive, ChangeFeed(), control=keeper, docs=docs)
    with served(Starlette(routes=[Mount(prefix, app=page)]) if prefix else page) as place:
        try:
            yield place
        finally:
            page.close()


def links(page: Reply) -> set[str]:
    """Return the addresses that a page names."""
    return {unescape(each) for each in re.findall(r'(?:href|src|action|data-events)="([^"]*)"', page.body)}


@pytest.mark.parametrize("prefix", ["", PREFIX])
def test_every_link_of_a_page_leads_to_a_page_below_its_prefix(hive: Beehive, prefix: str) -> None:
    with page_of(hive, prefix, keeper=BeehiveControl()) as place:
        found = set().union(*(links(place.ask(prefix + path)) for path in PATHS))
        local = {link for link in found if not link.startswith("#")}

        assert {link for link in local if not link.startswith(f"{prefix}/")} == set()
        others = (f"{prefix}/docs/", f"{prefix}/feed.", f"{prefix}/events")
        asked = {link for link in local if not link.startswith(others)}
        assert {link: place.ask(link).status for link in asked} == dict.fromkeys(asked, 200)


@pytest.mark.parametrize("prefix", ["", PREFIX])
@pytest.mark.parametrize("path", PATHS)
def test_a_page_has_the_name_of_its_scheduler_and_no_word_of_krond(hive: Beehive, prefix: str, path: str) -> None:
    with page_of(hive, prefix) as place:
        page = place.ask(prefix + path)

    assert page.status == 200
    assert " · Beehive</title>" in page.body
    assert "krond" not in page.body


def test_the_page_says_what_only_its_scheduler_knows(hive: Beehive) -> None:
    with page_of(hive) as place:
        overview, job = place.ask("/").body, place.ask("/jobs/feed").body

    assert "Beehive 7 is humming" in overview
    assert "Smoke &lt;in&gt; the hive, since <time" in overview
    assert "<dt>Function</dt><dd><code>apiary.work:hive:feed</code></dd>" in job
    assert "Feeds the bees" in job


def test_a_page_below_two_prefixes_links_below_each_of_them(hive: Beehive) -> None:
    page = PageApp(hive, ChangeFeed(), docs="")
    prefixes = ["/one", "/two"]
    with served(Starlette(routes=[Mount(prefix, app=page) for prefix in prefixes])) as place:
        found = [links(place.ask(f"{prefix}/")) for prefix in prefixes]  # the second comes while the first is cached
    page.close()

    for prefix, all_links in zip(prefixes, found, strict=True):
        assert {link for link in all_links if not link.startswith((f"{prefix}/", "#"))} == set()


@pytest.mark.parametrize(
    ("docs", "address"), [("", f"{PREFIX}/docs"), ("https://docs.example/x", "https://docs.example/x")]
)
def test_a_term_of_a_page_links_to_the_documentation(hive: Beehive, docs: str, address: str) -> None:
    with page_of(hive, PREFIX, docs=docs) as place:
        found = set().union(*(links(place.ask(PREFIX + path)) for path in PATHS))

    named = {link for link in found if link.startswith(f"{address}/")}
    assert f"{address}/glossary.html#decisions" in named
    assert named <= {f"{address}/{page}" for page in TERMS.values()}
    assert {link for link in found - named if "docs" in link} == set()


def test_the_address_of_the_documentation_is_one_of_the_urls_of_the_package() -> None:
    urls = ["Homepage, https://kron.example/", "Documentation, https://kron.example/docs/"]

    assert docs_address(urls) == "https://kron.example/docs"
    assert docs_address(urls[:1]) == docs_address([]) == ""


def test_a_page_of_the_documentation_that_is_not_served_here_says_where_it_is(hive: Beehive) -> None:
    with page_of(hive, PREFIX) as place:
        page = place.ask(f"{PREFIX}/docs/glossary.html")

    assert page.status == 404
    assert "The documentation is not served here. It is in the directory docs of the sources" in page.body


@pytest.mark.parametrize(("hours", "is_quiet"), [(0, False), (1, True)])
def test_the_overview_says_that_nothing_failed_for_a_day_above_earlier_failures(
    tmp_path: Path,
    hours: int,
    is_quiet: bool,  # noqa: FBT001
) -> None:
    with page_of(Beehive(tmp_path, now=NOW + timedelta(hours=hours))) as place:
        failures = place.ask("/").body.partition('id="troubles"')[2].partition("</section>")[0]

    assert ("No failures in the last 24 hours. Earlier:" in failures) is is_quiet
    assert "failed with exit code 3" in failures


def test_a_scheduler_without_jobs_says_how_to_get_one(tmp_path: Path) -> None:
    hive = Beehive(tmp_path)
    hive.planner.jobs.clear()
    with page_of(hive, docs="https://docs.example") as place:
        overview = place.ask("/").body

    assert '<a href="https://docs.example/job-files.html" class="term">job file</a> and reload Beehive.' in overview
    assert "No job starts within the next hour.</p>" in overview


def test_a_name_with_a_slash_is_found_under_a_prefix(hive: Beehive) -> None:
    with page_of(hive, PREFIX) as place:
        assert "<h1>a/b</h1>" in place.ask(f"{PREFIX}/jobs/{quote('a/b', safe='')}").body
        assert "<h1>Run hive/1 &lt;x&gt;</h1>" in place.ask(f"{PREFIX}/runs/{quote(RUN, safe='')}").body


def test_a_scheduler_that_keeps_no_output_and_has_no_monitor_shows_neither(hive: Beehive) -> None:
    with page_of(hive) as place:
        run = f"/runs/{quote(RUN, safe='')}"

        assert "Monitor" not in place.ask("/").body
        assert 'id="output"' not in place.ask(run).body
        assert [place.ask(path).status for path in ("/monitor", f"{run}/output")] == [404, 404]


def test_without_control_nothing_is_offered_and_nothing_can_be_done(hive: Beehive) -> None:
    with page_of(hive) as place:
        assert "Suspend" not in place.ask("/jobs/feed").body
        assert place.ask("/jobs/feed/suspend").status == 404
        assert place.ask("/jobs/feed/suspend", "Content-Length: 0", method="POST").status == 404


def submit(place: Place, path: str, **fields: str) -> Reply:
    """Answer the question of a page."""
    (csrf,) = re.findall('name="csrf" value="([^"]*)"', place.ask(path).body)
    body = urlencode({"csrf": csrf, **fields})
    return place.ask(path, f"Content-Length: {len(body)}", method="POST", body=body)


def test_an_action_is_done_by_the_control_and_leads_back_below_the_prefix(hive: Beehive) -> None:
    keeper = BeehiveControl()
    with page_of(hive, PREFIX, keeper=keeper) as place:
        done = [submit(place, f"{PREFIX}/jobs/feed/{action}") for action in ("suspend", "resume", "trigger")]
        submit(place, f"{PREFIX}/jobs/feed/suspend", until="2h")

    assert {(each.status, each.headers["location"]) for each in done} == {
        (303, f"{PREFIX}/jobs/feed?identity=hive%3afeed")
    }
    assert keeper.done == [
        ("suspend", "hive:feed", None),
        ("resume", "hive:feed"),
        ("trigger", "hive:feed"),
        ("suspend", "hive:feed", NOW.replace(microsecond=0) + timedelta(hours=2)),
    ]


def test_a_feed_is_named_after_its_scheduler(hive: Beehive) -> None:
    with page_of(hive, PREFIX) as place:
        feed = place.ask(f"{PREFIX}/feed.json?job=feed&from=2030-01-01T00:00:00Z&to=2030-01-01T01:00:00Z")

    assert feed.headers["content-disposition"] == 'inline; filename="beehive.json"'
    assert '"name": "feed"' in feed.body


def test_the_gate_knows_its_paths_below_a_prefix_and_opens_a_session_for_it_alone(hive: Beehive) -> None:
    page = PageApp(hive, ChangeFeed())
    free = frozenset({"/static/kron.css"})
    rules = AccessRules("Beehive", lambda _: True, TOKEN, "hive", hint="Ask the keeper;\n", open_paths=free)
    gate = AccessMiddleware(page, rules, lambda _: None, lambda *_: None)
    with served(Starlette(routes=[Mount(PREFIX, app=gate)])) as place:
        refused, opened = place.ask(f"{PREFIX}/"), place.ask(f"{PREFIX}/jobs/feed?token={TOKEN}")
        cookie = opened.headers["set-cookie"].partition(";")[0]
        style = place.ask(f"{PREFIX}/static/kron.css")
        page_with_cookie = place.ask(opened.headers["location"], f"Cookie: {cookie}")
    page.close()

    assert refused.status == 401
    assert refused.body.startswith("Beehive needs its token. Ask the keeper;")
    assert (opened.status, opened.headers["location"]) == (303, f"{PREFIX}/jobs/feed")
    assert f"Path={PREFIX};" in opened.headers["set-cookie"]
    assert (page_with_cookie.status, style.status) == (200, 200)


def test_routes_of_a_host_come_before_the_pages_and_a_loop_that_does_not_turn_is_not_healthy(hive: Beehive) -> None:
    async def metrics() -> bytes:
        return b"numbers"

    page = PageApp(hive, ChangeFeed(), routes=probe_routes(lambda: False, metrics))
    with served(page) as place:
        assert place.ask("/healthz").status == 503
        assert place.ask("/metrics").body == "numbers"
        assert [place.ask(path).status for path in ("/healthz/", "/../etc/passwd")] == [404, 404]
        assert place.ask("/metrics", method="POST").status == 405
    page.close()


def test_a_client_that_takes_too_long_to_send_a_form_is_disconnected(hive: Beehive) -> None:
    page = PageApp(hive, ChangeFeed(), control=BeehiveControl(), patience=0.01)
    with served(page) as place, place.connect() as connection:
        head = b"POST /jobs/feed/suspend HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n\r\ncsrf"
        connection.sendall(head)

        assert connection.recv(12) == b"HTTP/1.1 408"
    page.close()
