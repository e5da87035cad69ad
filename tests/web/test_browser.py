"""The page of a real krond in a real browser: shown, followed, updated, and used for actions."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.hosts.krond.krond_process import Krond
from tests.web.browser import chromium
from tests.web.page_client import PageClient

pytestmark = pytest.mark.slow

EVIL = "<img src=x onerror=document.title='evil'>"
JOBS = f"""
[krond]
listen = "127.0.0.1:0"
[jobs.spread]
schedule = "0 * * * *"
window = "after,59m"
command = "true"
[jobs.fails]
schedule = "0 0 29 2 *"
command = ["sh", "-c", "echo '<script>document.title=1</script>'; exit 3"]
[jobs.tells]
schedule = "0 0 29 2 *"
command = ["sh", "-c", "echo first; sleep 4; echo second; sleep 1000"]
[jobs.{"x" * 200}]
schedule = "*/5 * * * *"
window = "after,4m"
command = "true"
[jobs."{EVIL}"]
schedule = "0 0 29 2 *"
command = "true"
"""
PATHS = (
    "/",
    "/jobs/spread",
    "/jobs/fails",
    f"/jobs/{'x' * 200}",
    "/why?job=spread&at=12:10",
    "/why?job=spread&at=never",
    "/monitor",
    "/load",
    "/load?span=week",
    "/jobs/fails/trigger",
    "/nothing",
)
# Elements that a person who hears the page would not know by a name.
NAMELESS = """() => [...document.querySelectorAll("input:not([type=hidden]), button, a[href], svg[role=img], section")]
    .filter((e) => !(e.textContent.trim() || e.getAttribute("aria-label") || (e.labels && e.labels.length)
        || e.getAttribute("aria-labelledby"))).map((e) => e.outerHTML)"""

# Headings that leave out a level, parts of a page with the same name, and cells without a head.
OUT_OF_ORDER = """() => {
    const levels = [...document.querySelectorAll("h1, h2, h3, h4")].map((e) => Number(e.tagName[1]));
    const names = [...document.querySelectorAll("main section")].map((e) => e.getAttribute("aria-labelledby"));
    return [levels.filter((level, n) => level > (levels[n - 1] || 0) + 1), names.filter((e, n) => names.indexOf(e) < n),
        [...document.querySelectorAll("table")].filter((e) => !e.caption || !e.querySelector("th[scope=col]"))].flat();
}"""
# Texts that are wider than their box, and cannot be scrolled to.
CUT_OFF = """() => [...document.querySelectorAll("main :is(p, dd, h1, h2, td, th, code, label)")]
    .filter((e) => e.scrollWidth > e.clientWidth + 1 && getComputedStyle(e).display !== "inline"
        && !e.closest(".wide") && !e.closest("pre")).map((e) => e.outerHTML)"""


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with chromium() as found:
        yield found


@pytest.fixture(scope="module")
def krond(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Krond]:
    daemon = Krond(tmp_path_factory.mktemp("krond"), JOBS).start()
    yield daemon
    daemon.ask("stop", "--now")
    daemon.end()


class Tab:
    """A page in the browser that came in by the token, and what it complained about."""

    def __init__(self, browser: Any, krond: Krond, **context: object) -> None:
        visitor = PageClient(krond)
        self.home = f"http://{visitor.address}"
        self.page = browser.new_context(**context).new_page()
        self.complaints: list[str] = []
        self.page.on("console", lambda message: self._complain(message.text))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.goto(f"{self.home}/?token={visitor.token}")

    def _complain(self, text: str) -> None:
        if not text.startswith("Failed to load resource"):  # a page that says 404 is one, too
            self.complaints.append(text)

    def go(self, path: str) -> Any:
        """Open a page of krond."""
        self.page.goto(self.home + path)
        return self.page


def test_the_token_leaves_the_address_and_the_page_becomes_live(browser: Any, krond: Krond) -> None:
    page = Tab(browser, krond).page

    page.get_by_text("live", exact=True).wait_for()

    assert "token" not in page.url


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1200, 600, 360])  # a screen, twice as large on it, a phone
def test_every_page_fits_is_named_and_breaks_no_policy(browser: Any, krond: Krond, scheme: str, width: int) -> None:
    tab = Tab(browser, krond, color_scheme=scheme, viewport={"width": width, "height": 800})
    for path in PATHS:
        page = tab.go(path)
        assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0, path
        assert page.evaluate(NAMELESS) == [], path
        assert page.evaluate(OUT_OF_ORDER) == [], path
        assert page.evaluate(CUT_OFF) == [], path
        assert page.locator("main h1").count() == 1
        colour = page.evaluate("getComputedStyle(document.documentElement).backgroundColor")
        assert (colour == "rgb(20, 24, 28)") is (scheme == "dark")
    assert tab.complaints == []


def test_html_in_a_name_and_in_an_output_is_text(browser: Any, krond: Krond) -> None:
    krond.ask("trigger", "fails", "--wait")
    tab = Tab(browser, krond)
    page = tab.go("/")

    page.get_by_role("link", name=EVIL).first.click()
    assert page.locator("h1").inner_text() == EVIL
    run = next(row["run_id"] for row in krond.json("history") if row["name"] == "fails")
    tab.go(f"/runs/{run}")

    assert "<script>document.title=1</script>" in page.locator("pre.output").inner_text()
    assert "krond" in page.title()
    assert page.locator("main img").count() == 0


def test_changes_appear_without_a_reload_and_output_is_shown_as_it_is_written(browser: Any, krond: Krond) -> None:
    tab = Tab(browser, krond)
    page = tab.go("/")
    page.get_by_text("live", exact=True).wait_for()
    page.evaluate("window.kept = true")

    krond.ask("trigger", "tells")
    page.locator("#running").get_by_role("link", name="tells").wait_for()
    assert page.evaluate("window.kept") is True
    page.locator("#running tbody tr").get_by_role("link").last.click()
    page.locator("pre.output").get_by_text("second").wait_for()

    assert tab.complaints == []


def test_a_job_is_suspended_with_the_keyboard_alone_after_a_question(browser: Any, krond: Krond) -> None:
    page = Tab(browser, krond).go("/jobs/spread")

    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to content"
    page.get_by_role("link", name="Suspend").focus()
    page.keyboard.press("Enter")
    page.get_by_text("Suspend this job?").wait_for()
    page.get_by_role("button", name="Suspend").focus()
    page.keyboard.press("Enter")
    page.get_by_text("Suspended by command").wait_for()

    assert [job["name"] for job in krond.json("jobs") if job["suspended"]] == ["spread"]
    krond.ask("resume", "spread")


def test_the_effect_of_a_command_appears_and_the_focus_stays(browser: Any, krond: Krond) -> None:
    page = Tab(browser, krond).go("/jobs/spread")
    page.get_by_text("live", exact=True).wait_for()
    page.locator("#next summary").first.focus()

    krond.ask("suspend", "spread", "--until", "2h")
    page.get_by_text("Suspended by command").wait_for()
    krond.ask("resume", "spread")
    page.get_by_role("link", name="Suspend").wait_for()

    assert page.evaluate("document.activeElement.tagName") == "SUMMARY"


def test_a_reload_reaches_a_page_that_is_open(browser: Any, krond: Krond) -> None:
    page = Tab(browser, krond).go("/jobs/fails")
    page.get_by_text("live", exact=True).wait_for()

    krond.write(JOBS.replace("exit 3", "exit 4"))
    krond.ask("reload")
    page.locator("#definition").get_by_text("exit 4").wait_for()
    krond.write(JOBS.replace("[jobs.fails]", "[jobs.renamed]"))
    krond.ask("reload")
    page.get_by_text("This job is no longer defined").wait_for()

    krond.write(JOBS)
    krond.ask("reload")
    page.get_by_role("heading", name="Definition").wait_for()


def test_a_page_whose_session_has_ended_says_so(browser: Any, krond: Krond) -> None:
    page = Tab(browser, krond).go("/jobs/spread")
    page.get_by_text("live", exact=True).wait_for()

    page.context.clear_cookies()
    krond.ask("suspend", "spread")
    page.get_by_text("session ended").wait_for()

    krond.ask("resume", "spread")


def test_without_a_script_all_can_be_read_and_done(browser: Any, krond: Krond) -> None:
    page = Tab(browser, krond, java_script_enabled=False).go("/jobs/fails")

    page.get_by_role("link", name="Trigger").click()
    page.get_by_role("button", name="Trigger").click()

    assert page.locator("h1").inner_text() == "fails"
    assert page.get_by_role("heading", name="Upcoming runs").is_visible()
