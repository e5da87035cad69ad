"""krond check: its findings on this host, and its exit codes."""

import json
import os
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from tests.hosts.krond.command_runner import GOOD, check, check_as_nobody, krond, write


def test_a_good_file_is_silent(tmp_path: Path) -> None:
    answer = krond("check", "--config", write(tmp_path, GOOD))

    assert (answer.code, answer.out, answer.err) == (0, "", "")


def test_errors_are_the_answer_no(tmp_path: Path) -> None:
    answer = krond("check", "--config", write(tmp_path, 'schedule = "61 * * * *"\ncommand = "true"\n'))

    assert (answer.code, answer.out) == (1, "")
    found = 'minute field value 61 is outside 0-59 in "61 * * * *"; write a number from 0 to 59'
    assert answer.err.endswith(f"jobs.toml:2: error: jobs.x.schedule: {found}\n")


def test_warnings_are_allowed_unless_strict(tmp_path: Path) -> None:
    file = write(tmp_path, GOOD.replace("10m", "0s"))

    assert krond("check", "--config", file).code == 0
    assert krond("check", "--config", file, "--strict").code == 1


def test_a_deadline_of_zero_is_warned_about_at_its_line(tmp_path: Path) -> None:
    (line,) = check(tmp_path, GOOD.replace("10m", "0s"))

    assert line.startswith("2: warning: jobs.x.deadline: is 0s: a restart at the chosen second loses that run; ")


def test_a_windowed_job_that_every_host_runs_at_the_same_second_is_warned_about(tmp_path: Path) -> None:
    (line,) = check(tmp_path, f'{GOOD}window = "after,1h"\n')

    assert line.startswith("1: warning: jobs.x.salt: nothing in it differs from host to host")


def test_a_crontab_line_without_the_host_in_its_seed_gets_the_modifier_that_adds_it(tmp_path: Path) -> None:
    (tmp_path / "x.crontab").write_text("0 3 * * * @win(after,2h) @seed(daily) true\n", "utf-8")

    answer = krond("check", "--config", str(tmp_path / "x.crontab"))

    assert answer.err.endswith("; write @seed(daily,salt={host}) in the line\n")


def test_a_window_of_random_delay_that_is_too_long_names_the_variable(tmp_path: Path) -> None:
    (tmp_path / "x.crontab").write_text("RANDOM_DELAY=45\n*/5 * * * * @seed(stable,salt={host}) true\n", "utf-8")

    answer = krond("check", "--config", str(tmp_path / "x.crontab"))

    assert answer.err.endswith("; shorten it to 5m by @win in the line, because it comes from RANDOM_DELAY\n")


@pytest.mark.parametrize("key", ['salt = "{host}"', 'salt = "{machine}"', 'identity = "{host}/x"'])
def test_a_job_that_names_the_host_is_not(tmp_path: Path, key: str) -> None:
    if "machine" in key and not Path("/etc/machine-id").exists():
        pytest.skip("this system has no machine id")

    assert check(tmp_path, f'{GOOD}window = "after,1h"\n{key}\n') == []


def test_json_is_one_array_of_findings(tmp_path: Path) -> None:
    file = write(tmp_path, 'umask = "9"\n' + GOOD)

    answer = krond("check", "--config", file, "--json")

    assert (answer.code, answer.err) == (1, "")
    assert answer.json == [
        {
            "file": file,
            "line": 2,
            "field": "jobs.x.umask",
            "level": "error",
            "message": 'must be a text of octal digits up to 777, found "9"',
            "fix": 'write umask = "022"',
        }
    ]


def test_a_notice_is_no_error_even_if_strict(tmp_path: Path) -> None:
    file = tmp_path / "a.crontab"
    file.write_text("MAILTO=ann\n0 9 * * * @policy(deadline=1m) true\n", "utf-8")

    answer = krond("check", "--config", str(file), "--strict")

    assert answer.code == 0
    assert "notice: MAILTO" in answer.err


@pytest.mark.parametrize(
    "arguments",
    [
        (),
        ("--config", "no-such-file.toml"),
        ("--config", "examples/krond.toml", "--config", "examples/jobs.kron", "--format", "toml"),
        ("--config", "examples", "--format", "toml"),
        ("--config", "README.md"),
        ("--config", ""),
        ("--config", "examples/krond.toml", "--config", ""),
        ("--config", "examples/krond.toml", "--format", "yaml"),
    ],
    ids=str,
)
def test_wrong_usage_and_what_cannot_be_read_exit_with_2(arguments: tuple[str, ...]) -> None:
    answer = krond("check", "--no-permissions", *arguments)

    assert (answer.code, answer.out) == (2, "")
    assert answer.err


def test_a_file_that_is_not_utf_8_cannot_be_read(tmp_path: Path) -> None:
    file = tmp_path / "x.toml"
    file.write_bytes(b'a = "\xff"')

    answer = krond("check", "--config", str(file))

    assert answer.code == 2
    assert answer.err == f"{file}:1: error: file: is not UTF-8 at byte 5; save it as UTF-8\n"


def test_errors_of_other_files_are_reported_beside_one_that_cannot_be_read(tmp_path: Path) -> None:
    file = write(tmp_path, 'umask = "9"\n' + GOOD)

    answer = krond("check", "--config", str(tmp_path / "gone.toml"), "--config", file)

    assert answer.code == 2
    assert [line.split(": ")[2] for line in answer.err.splitlines()] == ["file", "jobs.x.umask"]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
@pytest.mark.parametrize(
    ("name", "mode", "path"),
    [("", 0o000, ""), ("", 0o711, ""), ("cron.d", 0o000, "/cron.d"), ("", 0o744, "/cron.d")],
    ids=["neither names nor files", "no names", "its cron.d", "names only"],
)
def test_an_unreadable_directory_is_reported_like_a_file_beside_other_errors(name: str, mode: int, path: str) -> None:
    with TemporaryDirectory() as place:  # the folder of the test is closed to other users
        above, folder = Path(place), Path(place, "folder")
        (folder / "cron.d").mkdir(parents=True)
        above.chmod(0o755)
        file = write(above, f'umask = "9"\n{GOOD}')
        (folder / name).chmod(mode)

        code, found = check_as_nobody("--config", str(folder), "--config", file)

    assert code == 2
    assert [(finding["file"], finding["line"], finding["field"], finding["message"]) for finding in found] == [
        (f"{folder}{path}", 1, "file", "cannot be read: Permission denied"),
        (file, 2, "jobs.x.umask", 'must be a text of octal digits up to 777, found "9"'),
    ]


def test_the_shipped_example_is_clean() -> None:
    answer = krond("check", "--no-permissions", "--strict", "--config", "examples/krond.toml")

    assert (answer.code, answer.err) == (0, "")


# --- performance and hostile files ------------------------------------------------------------------------------------


def test_a_file_with_thousands_of_jobs_is_checked_as_a_process_without_a_traceback(tmp_path: Path) -> None:
    tables = (f'[jobs.j{n}]\nschedule = "{n % 60} {n % 24} * * *"\ncommand = "true"\n' for n in range(3000))
    file = tmp_path / "big.toml"
    file.write_text("".join(tables), "utf-8")
    command = [sys.executable, "-c", "from kron.entry_points import krond_main; krond_main()", "check", "--json"]

    done = subprocess.run([*command, "--config", str(file)], capture_output=True, text=True, check=False)

    assert (done.returncode, done.stderr) == (0, "")
    assert len(json.loads(done.stdout)) == 3000  # of deadlines
