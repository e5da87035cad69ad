"""krond check: what this host would say to its job files, and how it exits."""

import json
import os
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from tests.hosts.krond.runner import krond

GOOD = 'deadline = "10m"\ncommand = "/bin/true"\nschedule = "0 9 * * *"\n'


def write(folder: Path, keys: str, name: str = "jobs.toml") -> str:
    file = folder / name
    file.write_text(f"[jobs.x]\n{keys}", "utf-8")
    return str(file)


def check(folder: Path, keys: str, *options: str) -> list[str]:
    """Return what is said, without the name of the file."""
    file = write(folder, keys)
    return [line.removeprefix(f"{file}:") for line in krond("check", "--config", file, *options).err.splitlines()]


def test_a_good_file_is_silent(tmp_path: Path) -> None:
    answer = krond("check", "--config", write(tmp_path, GOOD))

    assert (answer.code, answer.out, answer.err) == (0, "", "")


def test_errors_are_the_answer_no(tmp_path: Path) -> None:
    answer = krond("check", "--config", write(tmp_path, 'schedule = "61 * * * *"\ncommand = "true"\n'))

    assert (answer.code, answer.out) == (1, "")
    assert answer.err.endswith("jobs.toml:2: error: minute: value 61 is outside 0-59; write a number from 0 to 59\n")


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


def test_errors_of_other_files_are_told_beside_one_that_cannot_be_read(tmp_path: Path) -> None:
    file = write(tmp_path, 'umask = "9"\n' + GOOD)

    answer = krond("check", "--config", str(tmp_path / "gone.toml"), "--config", file)

    assert answer.code == 2
    assert [line.split(": ")[2] for line in answer.err.splitlines()] == ["file", "jobs.x.umask"]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become somebody else")
@pytest.mark.parametrize(
    ("name", "mode", "told"),
    [("", 0o000, ""), ("", 0o711, ""), ("cron.d", 0o000, "/cron.d"), ("", 0o744, "/cron.d")],
    ids=["neither names nor files", "no names", "its cron.d", "names only"],
)
def test_a_directory_that_cannot_be_read_is_told_as_a_file_is_beside_other_errors(
    name: str, mode: int, told: str
) -> None:
    with TemporaryDirectory() as place:  # that of the test is nobody's but root's
        above, folder = Path(place), Path(place, "folder")
        (folder / "cron.d").mkdir(parents=True)
        above.chmod(0o755)
        file = write(above, f'umask = "9"\n{GOOD}')
        (folder / name).chmod(mode)

        code, found = check_as_nobody("--config", str(folder), "--config", file)

    assert code == 2
    assert [(finding["file"], finding["line"], finding["field"], finding["message"]) for finding in found] == [
        (f"{folder}{told}", 1, "file", "cannot be read: Permission denied"),
        (file, 2, "jobs.x.umask", 'must be a text of octal digits up to 777, found "9"'),
    ]


def check_as_nobody(*arguments: str) -> tuple[int, list[dict[str, object]]]:
    """Return what krond says that may read less; asked once before, it has imported all that it needs."""
    program = (
        "import os, sys; from tests.hosts.krond.runner import krond;"
        "arguments = ['check', '--json', *sys.argv[1:]]; krond(*arguments);"
        "os.setgroups([]); os.setgid(65534); os.setuid(65534);"
        "answer = krond(*arguments); print(answer.out); sys.exit(answer.code)"
    )
    done = subprocess.run([sys.executable, "-c", program, *arguments], capture_output=True, text=True, check=False)
    return done.returncode, json.loads(done.stdout)


def test_the_shipped_example_is_clean() -> None:
    answer = krond("check", "--no-permissions", "--strict", "--config", "examples/krond.toml")

    assert (answer.code, answer.err) == (0, "")


# --- what this host has -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("key", ["user", "group"])
def test_somebody_who_does_not_exist_is_an_error_here_and_a_warning_elsewhere(tmp_path: Path, key: str) -> None:
    keys = f'{key} = "no-such-one"\n{GOOD}'
    message = f'jobs.x.{key}: this {key} does not exist, found "no-such-one"; name one of this host'

    assert check(tmp_path, keys) == [f"2: error: {message}"]
    assert check(tmp_path, keys, "--elsewhere") == [f"2: warning: {message}"]


@pytest.mark.parametrize("key", ["user", "group"])
def test_somebody_who_does_not_exist_is_told_beside_whatever_else_is_wrong(tmp_path: Path, key: str) -> None:
    found = check(tmp_path, f'{key} = "no-such-one"\nschedule = "61 * * * *"\n')

    assert [line.partition(";")[0] for line in found] == [
        "1: error: jobs.x.command: is required",
        f'2: error: jobs.x.{key}: this {key} does not exist, found "no-such-one"',
        "3: error: minute: value 61 is outside 0-59",
    ]


@pytest.mark.parametrize(
    "keys",
    [
        'command = "no-such-program --all"',
        'command = "/no/such/program"',
        'command = "./here"\ncwd = "/"',
        'command = "true"\nenv = {PATH = "/nowhere"}',
        'command = "true"\nshell = "/bin/no-such-shell"',
        'command = "/etc"',
        f'command = "/{"a" * 300}"',
    ],
)
def test_a_program_that_is_not_found_is_a_warning(tmp_path: Path, keys: str) -> None:
    (line,) = check(tmp_path, f'schedule = "0 9 * * *"\ndeadline = "1m"\n{keys}\n')

    assert line.startswith("4: warning: jobs.x.command: is not found on this host, found ")


def test_a_directory_that_does_not_exist_is_a_warning(tmp_path: Path) -> None:
    assert check(tmp_path, f'{GOOD}cwd = "/no/such/folder"\n') == [
        '5: warning: jobs.x.cwd: is no directory of this host, found "/no/such/folder"; make it'
    ]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become somebody else")
def test_what_this_process_may_not_see_is_no_failure() -> None:
    with TemporaryDirectory() as place:
        hidden = Path(place, "hidden")
        hidden.mkdir(mode=0o700)
        Path(place).chmod(0o755)
        file = write(Path(place), f'cwd = "{hidden}/x"\n{GOOD.replace("/bin/true", f"{hidden}/x")}')

        code, found = check_as_nobody("--config", file)

    assert (code, [finding["field"] for finding in found]) == (0, ["jobs.x.command"])


def test_a_program_is_looked_for_in_the_jobs_own_path(tmp_path: Path) -> None:
    program = tmp_path / "mine"
    program.write_text("#!/bin/sh\n", "utf-8")
    program.chmod(0o755)

    assert check(tmp_path, f'{GOOD.replace("/bin/true", "mine")}env = {{PATH = "/nowhere:{tmp_path}"}}\n') == []
    assert check(tmp_path, f'{GOOD.replace("/bin/true", "./mine")}cwd = "{tmp_path}"\n') == []


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become somebody else")
def test_a_user_that_this_process_may_not_become_is_an_error(tmp_path: Path) -> None:
    file = write(tmp_path, f'user = "root"\ngroup = "root"\n{GOOD}')
    program = (
        "import os, sys;"
        "from kron.hosts.krond.host_checks import check_host; from kron.rules.files.reading import read_sources;"
        "from kron.rules.files.source import Source, Format, Surroundings;"
        "found = read_sources([Source('f', '/f', Format.TOML, sys.stdin.read())], Surroundings());"
        "os.setgroups([]); os.setgid(65534); os.setuid(65534);"
        "print([(f.field, f.message) for f in check_host(found)])"
    )

    done = subprocess.run(
        [sys.executable, "-c", program], input=Path(file).read_text("utf-8"), capture_output=True, text=True, check=True
    )

    assert "may not become this user" in done.stdout
    assert "may not have this group" in done.stdout


# --- performance and hostile files ------------------------------------------------------------------------------------


def test_a_file_with_thousands_of_jobs_is_checked_as_a_process_without_a_traceback(tmp_path: Path) -> None:
    tables = (f'[jobs.j{n}]\nschedule = "{n % 60} {n % 24} * * *"\ncommand = "true"\n' for n in range(3000))
    file = tmp_path / "big.toml"
    file.write_text("".join(tables), "utf-8")
    command = [sys.executable, "-c", "from kron.hosts.krond.main import main; main()", "check", "--json"]

    done = subprocess.run([*command, "--config", str(file)], capture_output=True, text=True, check=False)

    assert (done.returncode, done.stderr) == (0, "")
    assert len(json.loads(done.stdout)) == 3000  # of deadlines


@pytest.mark.parametrize("has_log", [True, False])
def test_a_host_without_a_log_is_warned_of_output_that_goes_there(tmp_path: Path, *, has_log: bool) -> None:
    if Path("/dev/log").is_socket() is not has_log:
        pytest.skip("this host is of the other kind")

    said = check(tmp_path, f'{GOOD}stderr = "syslog"\n')

    assert [line.partition(";")[0] for line in said] == [
        "5: warning: jobs.x.stderr: this host has no /dev/log, so that all of it is lost"
    ] * (not has_log)


def shell(text: str, more: str = "") -> str:
    return GOOD.replace('"/bin/true"', f'"{text}"') + f"shell = true\n{more}"


@pytest.mark.parametrize(
    ("text", "fix"),
    [
        ("echo x > /dev/stderr", ">&2, or >> /dev/stderr"),
        ("echo x >/dev/stdout; true", ">&1, or >> /dev/stdout"),
        ("echo x >| /dev/fd/2", ">&2, or >> /dev/fd/2"),
        ("echo x 1> /proc/self/fd/1", ">&1, or >> /proc/self/fd/1"),
        ("echo x | tee /dev/stderr", "tee -a /dev/stderr"),
    ],
)
def test_a_shell_that_opens_its_own_output_anew_is_warned_about(tmp_path: Path, text: str, fix: str) -> None:
    (line,) = check(tmp_path, shell(text))

    assert line.startswith("3: warning: jobs.x.command: empties what the job has written so far, found ")
    assert line.endswith(f"; write {fix}")


@pytest.mark.parametrize(
    ("text", "more"),
    [
        ("echo x >&2", ""),
        ("echo x >> /dev/stderr", ""),
        ("echo x | tee -a /dev/stderr", ""),
        ("echo x > /dev/null", ""),
        ("echo x > /dev/stdout", 'stdout = "inherit"'),
        ("echo x > /dev/stderr", 'stderr = "discard"'),
    ],
)
def test_a_shell_that_only_adds_to_its_output_is_not(tmp_path: Path, text: str, more: str) -> None:
    assert check(tmp_path, shell(text, more)) == []


def test_a_program_of_a_hook_that_is_not_there_is_warned_about_at_its_line(tmp_path: Path) -> None:
    hooks = 'on_failure = ["/bin/true", "/does/not/exist now"]\non_late = ["http://127.0.0.1/"]\n'

    (line,) = check(tmp_path, GOOD + hooks)

    assert line.startswith('5: warning: jobs.x.on_failure: is not found on this host, found "/does/not/exist"; ')
