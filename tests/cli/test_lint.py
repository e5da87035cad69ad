"""kron lint: errors, and warnings about valid definitions that are unlikely to be intended."""

from pathlib import Path

import pytest

from tests.cli.kron_runner import kron

QUIET = "@policy(deadline=10m)"


def warnings(line: str) -> str:
    answer = kron("lint", f"{line} {QUIET}")
    assert answer.code == 0
    return answer.err


def test_a_good_line_is_silent() -> None:
    answer = kron("lint", f"0 9 * * 1-5 {QUIET}")

    assert (answer.code, answer.out, answer.err) == (0, "", "")


@pytest.mark.parametrize(
    ("line", "warning"),
    [
        ("30 2 * * * @tz(Europe/Paris)", "names a time that does not exist on"),
        ("30 2 * * * @tz(Europe/Paris)", "names a time that occurs twice on"),
        ("0 0 31 * *", "never matches in Feb, Apr, Jun, Sep, Nov"),
        ("0 0 30 2,3 *", "never matches in Feb"),
        ("0 0 29 2 *", "leap years only"),
        ("0 0 13 * 5", "a day that matches either of them runs"),
        ("0 * * * * @win(after,2h)", "longer than the shortest spacing, 1h"),
        ("0 18 * * * @win(after,1h) @only(between=18:58-19:00)", "11% of the periods will find no allowed second"),
        ("*/7 * * * *", "*/7 does not divide 60"),
        ("*/90 * * * *", "names only minute 0"),
    ],
    ids=lambda value: str(value),
)
def test_a_doubtful_line_is_warned_about(line: str, warning: str) -> None:
    assert warning in warnings(line)


@pytest.mark.parametrize(
    "line",
    [
        "30 2 * * * @tz(Europe/Paris) @dst(gap=shift,repeated=first)",
        "*/15 * * * * @tz(Europe/Paris)",
        "30 2 * * * @tz(Asia/Tokyo)",
        "0 0 */2 * 1",
        "0 * * * * @win(after,1h)",
        "0 18 * * * @win(after,1h) @avoid(date=2027-12-25)",
    ],
)
def test_a_line_that_says_what_it_means_is_not_warned_about(line: str) -> None:
    assert warnings(line) == ""


def test_a_deadline_of_zero_is_warned_about() -> None:
    answer = kron("lint", "0 9 * * *")

    assert answer.code == 0
    assert "a restart at the chosen second loses that run" in answer.err


def test_strict_makes_warnings_errors() -> None:
    answer = kron("lint", "--strict", "0 9 * * *")

    assert answer.code == 1
    assert "<line>:1: error: deadline" in answer.err


def test_an_error_in_a_line_is_the_answer_no() -> None:
    answer = kron("lint", "61 * * * *")

    assert answer.code == 1
    found = 'minute field value 61 is outside 0-59 in "61 * * * *"; write a number from 0 to 59'
    assert answer.err == f"<line>:1: error: schedule: {found}\n"


def test_all_errors_of_a_file_are_reported_at_once_with_file_line_field_and_fix(tmp_path: Path) -> None:
    file = tmp_path / "jobs.kron"
    file.write_text(
        "# a comment\n"
        "5-1 * * * * name=a command=true\n"
        "\n"
        f"0 9 * * * {QUIET} name=b command=true\n"
        "0 9 * * * @win(after,soon) name=c command=true\n"
        "0 9 * * * name=b command=true\n"
        "0 9 * * * name=d\n"
        "0 9 * * * name=e command=true colour=red\n",
        "utf-8",
    )

    answer = kron("lint", str(file))

    lines = answer.err.splitlines()
    assert answer.code == 1
    assert [line.removeprefix(str(file)).split(": ")[:3] for line in lines] == [
        [":2", "error", "schedule"],
        [":5", "error", "@win duration"],
        [":6", "error", "name"],
        [":7", "error", "command"],
        [":8", "error", "colour"],
    ]
    assert lines[0].endswith("write 5-59,0-1")


def test_json_is_one_array_of_findings() -> None:
    answer = kron("lint", "--json", "61 * * * *", "0 9 * * *")

    assert answer.code == 1
    assert [finding["level"] for finding in answer.json] == ["error", "warning"]
    assert list(answer.json[0]) == ["file", "line", "field", "level", "message", "fix"]


def test_the_shipped_examples_are_clean() -> None:
    answer = kron("lint", "--strict", "examples/jobs.kron")

    assert (answer.code, answer.err) == (0, "")


@pytest.mark.parametrize("content", [b"\xff\xfe", None], ids=["not UTF-8", "missing"])
def test_a_file_that_cannot_be_read_is_wrong_usage(tmp_path: Path, content: bytes | None) -> None:
    file = tmp_path / "jobs.kron"
    if content is not None:
        file.write_bytes(content)

    answer = kron("lint", str(file))

    assert answer.code == 2
    assert "jobs.kron" in answer.err


def test_files_of_every_form_are_read(tmp_path: Path) -> None:
    contents = {"a.toml": '[jobs.a]\nx = 1\nschedule = "@daily"\n', "b.crontab": "61 * * * * x\n", "c.kron": "@daily\n"}
    for name, text in contents.items():
        (tmp_path / name).write_text(text, "utf-8")

    answer = kron("lint", *(str(tmp_path / name) for name in contents))

    assert answer.code == 1
    assert [line.removeprefix(f"{tmp_path}/").split(": ")[:3] for line in answer.err.splitlines()] == [
        ["a.toml:1", "error", "jobs.a.command"],
        ["a.toml:2", "error", "jobs.a.x"],
        ["b.crontab:1", "error", "schedule"],
        ["c.kron:1", "error", "name"],
        ["c.kron:1", "error", "command"],
    ]


def test_a_directory_means_its_files(tmp_path: Path) -> None:
    folder = tmp_path / "my jobs"
    folder.mkdir()
    (folder / "b.crontab").write_text("61 * * * * x\n", "utf-8")

    answer = kron("lint", str(folder))

    assert answer.code == 1
    assert answer.err.startswith(f"{folder}/b.crontab:1: error: schedule: minute ")


def test_the_form_of_a_file_may_be_said(tmp_path: Path) -> None:
    file = tmp_path / "jobs"
    file.write_text(f"0 9 * * * {QUIET} root true\n", "utf-8")

    assert kron("lint", str(file)).code == 2
    assert kron("lint", str(file), "--format", "system-crontab").code == 0


def test_a_warning_about_a_table_is_at_its_key(tmp_path: Path) -> None:
    file = tmp_path / "jobs.toml"
    file.write_text('[jobs.a]\nschedule = "@hourly"\ncommand = "true"\ndeadline = "1m"\nwindow = "after,2h"\n', "utf-8")

    assert kron("lint", str(file)).err.startswith(f"{file}:5: warning: jobs.a.window: 2h is longer than")
