"""kron feed: the expected runs of files, for calendars and scripts."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.kron_runner import kron

JOBS = "0 3 * * * @win(after,2h) name=backup command=true\n30 * * * * name=check command=true\n"
DAY = ("--from", "2026-03-01T00:00:00Z", "--to", "2026-03-02T00:00:00Z")


@pytest.fixture
def file(tmp_path: Path) -> str:
    path = tmp_path / "jobs.kron"
    path.write_text(JOBS)
    return str(path)


def test_rows_are_those_of_next_with_names_in_order_of_chosen_time(file: str) -> None:
    rows = kron("feed", file, *DAY).json
    known = kron("next", "--file", file, "--from", "2026-03-01T00:00:00Z", "--for", "24h", "--json").json

    assert [{key: value for key, value in row.items() if key != "name"} for row in rows] == known
    assert {row["name"] for row in rows} == {"backup", "check"}


def test_one_job_alone_by_its_name(file: str) -> None:
    assert {row["name"] for row in kron("feed", file, *DAY, "--job", "backup").json} == {"backup"}


def test_a_job_that_is_not_there_is_wrong_usage(file: str) -> None:
    answer = kron("feed", file, *DAY, "--job", "restore")

    assert (answer.code, answer.out) == (2, "")
    assert answer.err == "kron: error: restore is not a job\n"


def test_at_path_gives_the_seconds_of_a_file_at_that_path(file: str) -> None:
    elsewhere = kron("feed", file, *DAY, "--at-path", "/etc/krond/jobs.kron").json

    assert {row["identity"] for row in elsewhere} == {f"/etc/krond/jobs.kron:{name}" for name in ("backup", "check")}


def test_at_path_moves_the_files_of_a_directory(file: str) -> None:
    elsewhere = kron("feed", str(Path(file).parent), *DAY, "--at-path", "/etc/krond").json

    assert elsewhere[0]["identity"].startswith("/etc/krond/jobs.kron:")


def test_at_path_of_several_files_is_refused(file: str) -> None:
    assert kron("feed", file, file, "--at-path", "/etc/krond/jobs.kron").code == 2


def test_lines_of_a_calendar_end_as_its_standard_says(file: str) -> None:
    command = [sys.executable, "-m", "kron", "feed", file, *DAY, "--format", "ics"]
    calendar = subprocess.run(command, capture_output=True, check=True).stdout

    assert calendar.count(b"BEGIN:VEVENT\r\n") == 25
    assert calendar.count(b"\n") == calendar.count(b"\r\n")


def test_a_file_with_errors_is_reported_as_by_lint_and_nothing_is_printed(tmp_path: Path, file: str) -> None:
    wrong = tmp_path / "wrong.kron"
    wrong.write_text("0 25 * * * name=x command=true\n")

    answer = kron("feed", file, str(wrong), *DAY)

    assert (answer.code, answer.out) == (2, "")
    found = 'hour field value 25 is outside 0-23 in "0 25 * * *"; write a number from 0 to 23'
    assert answer.err == f"{wrong}:1: error: schedule: {found}\n"
    assert answer.err in kron("lint", file, str(wrong)).err


def test_an_end_before_the_beginning_is_wrong_usage(file: str) -> None:
    answer = kron("feed", file, "--from", "2026-03-02T00:00:00Z", "--to", "2026-03-01T00:00:00Z")

    assert answer.code == 2
    assert "--to is before --from" in answer.err


@pytest.mark.parametrize("command", ["feed", "forecast"])
def test_a_span_that_would_take_too_long_is_wrong_usage(file: str, command: str) -> None:
    answer = kron(command, file, "--to", "9999-12-31T23:59:59Z")

    assert answer.code == 2
    assert "--to is too far after --from: at most 3660 days" in answer.err


def test_a_wrong_end_says_that_it_may_be_a_length(file: str) -> None:
    assert "or a length, as 12h or 30d" in kron("feed", file, "--to", "500y").err


@pytest.mark.parametrize("when", ["soon", "2026-02-30 10:00", "10000-01-01T00:00:00Z", "-3h"])
def test_a_text_that_is_no_instant_is_wrong_usage(file: str, when: str) -> None:
    answer = kron("feed", file, f"--to={when}")

    assert (answer.code, answer.out) == (2, "")
    assert "--to" in answer.err


def test_the_last_days_of_the_calendar_are_foreseen(file: str) -> None:
    rows = kron("feed", file, "--from", "9999-12-31T00:00:00Z").json

    assert rows[-1]["nominal_time"] == "9999-12-31T23:30:00Z"


def test_a_file_without_a_known_form_has_that_of_its_intended_path(tmp_path: Path) -> None:
    (tmp_path / "candidate").write_text(JOBS)

    refused = kron("feed", str(tmp_path / "candidate"), *DAY)

    assert refused.code == 2
    assert "or give --at-path such a name" in refused.err
    assert kron("feed", str(tmp_path / "candidate"), *DAY, "--at-path", "/etc/krond/jobs.kron").code == 0


def test_no_name_is_not_the_directory_one_is_in() -> None:
    assert kron("feed", "", *DAY).code == 2


def test_a_time_without_a_zone_is_read_in_the_zone_that_all_jobs_have(tmp_path: Path) -> None:
    path = tmp_path / "paris.kron"
    path.write_text("0 9 * * * @tz(Europe/Paris) name=report command=true\n")

    rows = kron("feed", str(path), "--from", "2026-03-01 08:59", "--to", "2026-03-01 09:00").json

    assert [row["chosen_time"] for row in rows] == ["2026-03-01T08:00:00Z"]


def test_a_feed_of_registrations(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "tasks_of_feed.py").write_text("TASKS = [('tidy', '0 3 * * * @tz(UTC) @win(after,1h)', None, None)]\n")
    monkeypatch.chdir(tmp_path)

    rows = kron("feed", "tasks_of_feed:TASKS", *DAY).json

    assert [(row["identity"], row["name"], row["nominal_time"]) for row in rows] == [
        ("tidy", "tidy", "2026-03-01T03:00:00Z")
    ]
