"""kron forecast: the load of files, for people, scripts and browsers."""

import json
from html.parser import HTMLParser
from pathlib import Path

import pytest

from tests.cli.kron_runner import kron, kron_on_a_terminal, kron_process

SPREAD = "".join(f"0 3 * * * @win(after,2h) name=job-{number} command=true\n" for number in range(40))
DAY = ("--from", "2026-03-01T00:00:00Z", "--to", "2026-03-02T00:00:00Z")
FIELDS = [
    "from", "to", "jobs", "runs", "unschedulable", "nominal", "chosen", "concurrency", "collisions", "series",
]  # fmt: skip


@pytest.fixture
def file(tmp_path: Path) -> str:
    path = tmp_path / "jobs.kron"
    path.write_text(SPREAD)
    return str(path)


def write(tmp_path: Path, *lines: str) -> str:
    path = tmp_path / "some.kron"
    path.write_text("\n".join(lines))
    return str(path)


def test_json_has_the_peaks_before_and_after_spreading(file: str) -> None:
    answer = kron("forecast", file, *DAY, "--json").json

    assert list(answer) == FIELDS
    assert (answer["from"], answer["to"], answer["jobs"], answer["runs"], answer["unschedulable"]) == (
        *DAY[1::2],
        40,
        40,
        0,
    )
    assert answer["nominal"]["second"] == {"count": 40, "at": "2026-03-01T03:00:00Z"}
    assert answer["chosen"]["second"]["count"] < 4


def test_the_series_and_the_peaks_are_those_of_the_feed(file: str) -> None:
    answer = kron("forecast", file, *DAY, "--json").json
    times = [row["chosen_time"] for row in kron("feed", file, *DAY).json]
    minutes = [f"{hour:02}:{minute:02}" for hour in range(24) for minute in range(60)]

    assert answer["series"]["unit"] == "minute"
    assert answer["series"]["start"] == "2026-03-01T00:00:00Z"
    assert answer["series"]["chosen"][:1440] == [sum(time[11:16] == minute for time in times) for minute in minutes]
    assert answer["chosen"]["hour"]["count"] == max(sum(time[11:13] == hour for time in times) for hour in ("03", "04"))


def test_jobs_that_start_in_the_same_second_are_named(tmp_path: Path) -> None:
    path = write(tmp_path, "0 3 * * * name=a command=true", "0 3 * * * name=b command=true")

    assert kron("forecast", path, *DAY, "--json").json["collisions"] == [
        {"at": "2026-03-01T03:00:00Z", "count": 2, "identities": [f"{path}:a", f"{path}:b"]}
    ]


def test_durations_give_how_many_run_at_once(tmp_path: Path) -> None:
    path = write(tmp_path, "0 3 * * * name=a command=true", "5 3 * * * name=b command=true")
    given = ("--duration", "a=10m", "--duration", f"{path}:b=1m")

    assert kron("forecast", path, *DAY, *given, "--json").json["concurrency"] == {
        "count": 2, "at": "2026-03-01T03:05:00Z", "mean": 0.008, "jobs": 2,
    }  # fmt: skip


@pytest.mark.parametrize("given", ["a", "=5m", "unknown=5m", "job-1=5", "job-1=-5m"])
def test_a_duration_that_is_none_is_wrong_usage(file: str, given: str) -> None:
    answer = kron("forecast", file, *DAY, "--duration", given)

    assert (answer.code, answer.out) == (2, "")
    assert "--duration" in answer.err


def test_people_see_peaks_collisions_and_both_maps(tmp_path: Path) -> None:
    path = write(tmp_path, "0 3 * * * name=a command=true", "0 3 * * * name=b command=true")

    lines = kron("forecast", path, *DAY).out.splitlines()

    assert lines[0] == "2 jobs, 2 runs, 0 periods without a second"
    assert "second     2        2026-03-01T03:00:00Z  2       2026-03-01T03:00:00Z" in lines
    assert "2026-03-01T03:00:00Z  2       a, b" in lines
    assert f"03: █{'·' * 59}" in lines
    assert f"Sun 2026-03-01 ······██{'·' * 40}" in lines


def test_jobs_that_are_not_expected_to_run_are_said(tmp_path: Path) -> None:
    path = write(tmp_path, "@reboot name=a command=true", "0 3 * * * @policy(suspend=true) name=b command=true")

    answer = kron("forecast", path, *DAY)

    assert answer.out.startswith("2 jobs, 0 runs, 0 periods without a second\n")
    assert answer.out.endswith("not counted, because suspended or run at boots only: 2\n")


def test_colour_and_a_bar_are_for_terminals_only(tmp_path: Path) -> None:
    path = write(tmp_path, *(f"* * * * * name=job-{number} command=true" for number in range(50)))

    shown, piped = kron_on_a_terminal("forecast", path, *DAY), kron_process("forecast", path, *DAY)

    assert "\x1b[31m█" in shown
    assert "counting" in shown
    assert "\x1b" not in piped.out
    assert piped.err == ""


@pytest.mark.slow
def test_several_processes_count_what_one_counts(tmp_path: Path) -> None:
    path = write(tmp_path, *(f"*/2 * * * * @win(after,2m) name=job-{number} command=true" for number in range(60)))
    whole = kron_process("forecast", path, "--from", "2026-03-01T00:00:00Z", "--to", "2d", "--json").json
    halves = [
        kron("forecast", path, "--from", begin, "--to", "24h", "--json").json
        for begin in ("2026-03-01T00:00:00Z", "2026-03-02T00:00:00Z")
    ]

    assert whole["runs"] == sum(half["runs"] for half in halves)
    assert whole["chosen"]["second"]["count"] == max(half["chosen"]["second"]["count"] for half in halves)


@pytest.mark.parametrize("count", [1, 2, 3])
def test_a_file_with_errors_is_reported_and_nothing_is_drawn(tmp_path: Path, file: str, count: int) -> None:
    path, page = write(tmp_path, *(["0 25 * * * name=x command=true"] * count)), tmp_path / "page.html"

    answer = kron("forecast", file, path, *DAY, "--html", str(page))

    assert (answer.code, answer.out, page.exists()) == (2, "", False)
    assert answer.err.count(": error: schedule: hour field value 25 is outside 0-23") == count


def test_the_last_year_of_the_calendar_has_a_forecast(file: str) -> None:
    answer = kron("forecast", file, "--from", "9999-01-01T00:00:00Z", "--to", "400d", "--json").json

    assert (answer["to"], answer["runs"]) == ("9999-12-31T23:59:59Z", 40 * 365)


def test_durations_come_from_a_ledger_that_must_be_there(tmp_path: Path, file: str) -> None:
    answer = kron("forecast", file, *DAY, "--state", str(tmp_path))

    assert answer.code == 2
    assert "ledger.db" in answer.err


# --- the page ---------------------------------------------------------------------------------------------------------


class Page(HTMLParser):
    """Collects what a browser would see: the tags, and the texts."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []
        self.feed(path.read_text("utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


@pytest.fixture
def page(tmp_path: Path) -> Page:
    names = ["<script>alert(1)</script>", "<img src=x onerror=alert(1)>", "Ann & Bob"]
    path = write(tmp_path, *(f"0 3 * * * name={json.dumps(name)} command=true" for name in names))
    answer = kron("forecast", path, *DAY, "--html", str(tmp_path / "page.html"))
    assert answer.code == 0
    return Page(tmp_path / "page.html")


def test_a_name_that_looks_like_html_is_shown_as_text(page: Page) -> None:
    assert [tag for tag, _ in page.tags].count("script") == 1
    assert "img" not in {tag for tag, _ in page.tags}
    assert any("<script>alert(1)</script>" in text for text in page.texts)


def test_the_page_needs_nothing_from_elsewhere_and_is_forbidden_to_ask(page: Page) -> None:
    assert not any({"src", "href"} & attributes.keys() for _, attributes in page.tags)
    policies = [attributes["content"] for _, attributes in page.tags if "http-equiv" in attributes]
    assert [policy and policy.startswith("default-src 'none'; style-src 'sha256-") for policy in policies] == [True]


def test_every_cell_of_the_maps_says_where_it_is_and_what_is_in_it(page: Page) -> None:
    titles = [attributes["title"] for tag, attributes in page.tags if tag == "td" and "title" in attributes]

    assert len(titles) == 24 * 60 + 2 * 24
    assert "03:00 — 3 chosen, 3 nominal" in titles
    assert "Sun 2026-03-01 03:00 — 3 chosen, 3 nominal" in titles


def test_a_page_that_cannot_be_written_is_one_clear_error(file: str, tmp_path: Path) -> None:
    answer = kron("forecast", file, *DAY, "--html", str(tmp_path / "none" / "page.html"))

    assert answer.code == 2
    assert "No such file or directory" in answer.err
