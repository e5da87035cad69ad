"""krond check: the users, folders and programs that jobs need on this host."""

import os
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from tests.hosts.krond.command_runner import GOOD, check, check_as_nobody, write


@pytest.mark.parametrize("key", ["user", "group"])
def test_a_user_that_does_not_exist_is_an_error_here_and_a_warning_elsewhere(tmp_path: Path, key: str) -> None:
    keys = f'{key} = "no-such-one"\n{GOOD}'
    message = f'jobs.x.{key}: this {key} does not exist, found "no-such-one"; name one of this host'

    assert check(tmp_path, keys) == [f"2: error: {message}"]
    assert check(tmp_path, keys, "--elsewhere") == [f"2: warning: {message}"]


@pytest.mark.parametrize("key", ["user", "group"])
def test_a_user_that_does_not_exist_is_reported_beside_other_errors(tmp_path: Path, key: str) -> None:
    found = check(tmp_path, f'{key} = "no-such-one"\nschedule = "61 * * * *"\n')

    assert [line.partition(";")[0] for line in found] == [
        "1: error: jobs.x.command: is required",
        f'2: error: jobs.x.{key}: this {key} does not exist, found "no-such-one"',
        '3: error: jobs.x.schedule: minute field value 61 is outside 0-59 in "61 * * * *"',
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


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
def test_a_path_that_this_process_may_not_read_is_no_failure() -> None:
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


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
def test_a_user_that_this_process_may_not_become_is_an_error(tmp_path: Path) -> None:
    file = write(tmp_path, f'user = "root"\ngroup = "root"\n{GOOD}')
    program = (
        "import os, sys;"
        "from kron.hosts.krond.host_checks import check_host; from kron.jobfile.reader import read_job_set;"
        "from kron.jobfile.job_file import FileFormat, HostInfo, JobFile;"
        "found = read_job_set([JobFile('f', '/f', FileFormat.TOML, sys.stdin.read())], HostInfo());"
        "os.setgroups([]); os.setgid(65534); os.setuid(65534);"
        "print([(f.field, f.message) for f in check_host(found)])"
    )

    done = subprocess.run(
        [sys.executable, "-c", program], input=Path(file).read_text("utf-8"), capture_output=True, text=True, check=True
    )

    assert "may not become this user" in done.stdout
    assert "may not have this group" in done.stdout


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
def test_a_shell_that_opens_its_own_output_again_is_warned_about(tmp_path: Path, text: str, fix: str) -> None:
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
