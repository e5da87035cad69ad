"""kron import: crontabs as TOML on standard output."""

from pathlib import Path

import pytest

from tests.cli.kron_runner import kron, kron_process
from tests.hosts.krond.command_runner import krond

CRONTAB = "CRON_TZ=Europe/Paris\n0 3 * * * @win(after,2h) /usr/sbin/backup\n*/5 * * * * cat%hello\n"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    found = tmp_path / "ann.crontab"
    found.write_text(CRONTAB, "utf-8")
    return found


def test_the_toml_gives_the_same_seconds_of_the_same_jobs(file: Path) -> None:
    answer = kron("import", "crontab", str(file))
    toml = file.with_name("ann.toml")
    toml.write_text(answer.out, "utf-8")

    arguments = ("--from", "2026-03-01T00:00:00Z", "--count", "5", "--json")
    before, after = (kron("next", "--file", str(path), *arguments) for path in (file, toml))

    assert (answer.code, answer.err) == (0, "")
    assert before.json == after.json


def test_a_system_crontab_has_users(file: Path) -> None:
    file.write_text("0 3 * * * root /usr/sbin/backup\n", "utf-8")

    assert 'user = "root"' in kron("import", "crontab", str(file), "--system").out


def test_a_system_crontab_that_is_read_as_a_users_is_refused_and_the_option_named(file: Path) -> None:
    file.write_text("0 3 * * * root /usr/sbin/backup\n", "utf-8")

    answer = kron("import", "crontab", str(file))

    assert (answer.code, answer.out) == (1, "")
    assert "say --system" in answer.err.splitlines()[-1]


def test_a_program_that_is_called_like_a_user_may_be_imported(file: Path) -> None:
    file.write_text("0 3 * * * root --all\n", "utf-8")

    answer = kron("import", "crontab", str(file), "--no-system")

    assert (answer.code, answer.err) == (0, "")
    assert 'command = "root --all"' in answer.out


def test_the_deadline_and_the_window_of_a_random_delay_are_written_out(file: Path) -> None:
    file.write_text("RANDOM_DELAY=45\n0 3 * * * /usr/sbin/backup\n", "utf-8")

    out = kron("import", "crontab", str(file)).out

    assert 'deadline = "10m"' in out
    assert 'window = "after,45m"' in out


def test_lint_and_check_warn_of_a_system_crontab_that_is_read_as_a_users(file: Path) -> None:
    file.write_text("# x\n0 3 * * * root /bin/true\n", "utf-8")

    for answer in (kron("lint", str(file)), krond("check", "--config", str(file))):
        assert answer.code == 0
        assert f'{file}:2: warning: command: looks like the user of a system crontab, found "root"' in answer.err


def test_a_crontab_may_come_from_standard_input() -> None:
    answer = kron_process("import", "crontab", "-", stdin=CRONTAB)

    assert answer.code == 0
    assert answer.out.count("[jobs.") == 2
    assert "identity" not in answer.out


def test_nothing_is_printed_of_a_crontab_with_errors(file: Path) -> None:
    file.write_text("61 3 * * * x\n", "utf-8")

    answer = kron("import", "crontab", str(file))

    assert (answer.code, answer.out) == (2, "")
    found = 'minute field value 61 is outside 0-59 in "61 3 * * *"; write a number from 0 to 59'
    assert answer.err == f"{file}:1: error: schedule: {found}\n"


def test_a_file_that_is_not_there_is_wrong_usage() -> None:
    assert kron("import", "crontab", "no-such-file").code == 2
