"""Crontabs of cronie: random delays, lines without logging, deadlines, and system crontabs read as a user's."""

from dataclasses import replace
from datetime import timedelta

import pytest

from kron.jobfile.host_job import HostJob
from tests.jobfile.job_sets import HERE, jobs, read


def _only(text: str) -> HostJob:
    (found,) = jobs(text, "crontab").values()
    return found


def test_a_line_may_start_ten_minutes_late_unless_it_says_otherwise() -> None:
    lines = ["0 3 * * * a", "0 3 * * * @policy(deadline=1h) b", "0 3 * * * @policy(deadline=0s) c", "@reboot d"]

    deadlines = [job.policy.deadline for job in jobs("\n".join(lines), "crontab").values()]

    assert deadlines == [timedelta(minutes=10), timedelta(hours=1), timedelta(0), timedelta(0)]


def test_the_deadline_of_a_line_moves_no_second() -> None:
    said, unsaid = _only("0 3 * * * @win(after,2h) @policy(deadline=0s) x"), _only("0 3 * * * @win(after,2h) x")

    assert said.timing == unsaid.timing


@pytest.mark.parametrize("form", ["crontab", "system-crontab"])
@pytest.mark.parametrize("schedule", ["*/5 1 * * *", "@daily", "0 3 * * * @win(after,2h)"])
def test_a_dash_before_a_line_changes_nothing(schedule: str, form: str) -> None:
    line = f"{schedule} ann /usr/bin/x"

    assert jobs(f"-{line}", form) == jobs(line, form)


@pytest.mark.parametrize("form", ["crontab", "system-crontab"])
def test_a_dash_by_itself_is_an_error_that_names_it(form: str) -> None:
    (finding,) = read("- * * * * * root x", form).findings

    assert (finding.level, finding.field, finding.message) == ("error", "minute", 'stands by itself, found "-"')
    assert finding.fix == "write it directly before the line, as in -*/5 * * * *"


def test_a_random_delay_becomes_a_window_of_the_lines_below_it() -> None:
    lines = ["0 3 * * * a", "RANDOM_DELAY=45", "0 3 * * * b", "0 3 * * * @win(around,2h) c", "@reboot d"]
    lines += ["RANDOM_DELAY = '5'", "0 3 * * * e", "RANDOM_DELAY=0", "0 3 * * * f"]

    found = {job.command.argv[2]: job.timing for job in jobs("\n".join(lines), "crontab").values()}

    windows = {name: timing.modifiers()[-1] for name, timing in found.items() if timing and timing.terms.width}
    assert windows == {"b": "@win(after,45m)", "c": "@win(around,2h)", "e": "@win(after,5m)"}
    assert found["d"] is None


@pytest.mark.parametrize("value", ["ten", "-5", "", "1.5", "5m", "1441", "٣", "9" * 5000])
def test_a_random_delay_that_is_no_number_of_minutes_is_an_error_at_its_line(value: str) -> None:
    (finding,) = read(f"0 3 * * * a\nRANDOM_DELAY={value}\n0 3 * * * b", "crontab").findings

    assert (finding.level, finding.line, finding.field) == ("error", 2, "RANDOM_DELAY")
    assert finding.message.startswith("must be a whole number of minutes up to 1440")


# --- system crontabs that are read as a user's ------------------------------------------------------------------------

USERS = replace(HERE, users=frozenset({"root", "backup", "mail"}))


@pytest.mark.parametrize("command", ["root /usr/sbin/backup", "backup --all", "root\tx%in"])
def test_a_command_that_begins_with_a_user_is_warned_about_at_its_line(command: str) -> None:
    found = read(f"# x\n0 3 * * * {command}", "crontab", USERS)

    (finding,) = found.findings
    assert (finding.level, finding.line, finding.field) == ("warning", 2, "command")
    assert finding.message == f'looks like the user of a system crontab, found "{command.split()[0]}"'
    assert len(found.jobs) == 1


@pytest.mark.parametrize("command", ["backup", "/usr/bin/mail -s x", "bob /usr/bin/x", "mail%root x", "echo root x"])
def test_other_commands_are_not(command: str) -> None:
    assert read(f"0 3 * * * {command}", "crontab", USERS).findings == ()


def test_the_column_of_a_system_crontab_is_no_mistake() -> None:
    assert read("0 3 * * * root backup --all", "system-crontab", USERS).findings == ()
