"""Warnings at the start: no jobs at all, or boot jobs long after the boot."""

from datetime import timedelta
from pathlib import Path

import pytest

from kron.jobfile.lint import lint_late_boot
from tests.hosts.krond.krond_process import NEVER, Krond
from tests.jobfile.job_sets import job, jobs

HELLO = f"[jobs.hello]\n{NEVER}\ncommand = ['true']\n"
AT_BOOT = '[jobs.up]\nschedule = "@reboot"\ncommand = "true"\n'


def up_for(folder: Path, seconds: int) -> dict[str, str]:
    """Return the environment of a process that sees the machine up for so long."""
    (folder / "sitecustomize.py").write_text(
        "import time\n"
        "real = time.clock_gettime\n"
        f"time.clock_gettime = lambda clock: {seconds} if clock == time.CLOCK_BOOTTIME else real(clock)\n",
        "utf-8",
    )
    return {"PYTHONPATH": str(folder)}


def started(krond: Krond) -> list[tuple[str, str]]:
    """Return the warnings of a start, after which krond is stopped."""
    krond.events.clear()
    krond.start()
    krond.ask("stop")
    krond.end()
    return [(each["field"], each["message"]) for each in krond.events if each["event"] == "WarningFound"]


def test_krond_starts_without_jobs_and_warns(tmp_path: Path) -> None:
    krond = Krond(tmp_path, "[krond]\nmax_active = 3\n")

    assert started(krond) == [("jobs", f"no jobs in {krond.file}")]


@pytest.mark.slow
def test_a_job_that_a_boot_starts_which_is_long_past_is_warned_about_once_and_runs(tmp_path: Path) -> None:
    krond = Krond(tmp_path, AT_BOOT + HELLO, environment=up_for(tmp_path, 3 * 86_400 + 59))

    (field, message), later = *started(krond), started(krond)

    assert (field, later) == ("jobs.up.schedule", [])
    assert message.startswith("the machine booted 72h ago")
    assert [(row["name"], row["kind"]) for row in krond.json("history")] == [("up", "boot")]


@pytest.mark.slow
def test_a_start_right_after_the_boot_warns_of_nothing(tmp_path: Path) -> None:
    assert started(Krond(tmp_path, AT_BOOT, environment=up_for(tmp_path, 600))) == []


@pytest.mark.parametrize(
    ("keys", "minutes", "count"),
    [
        ('schedule = "@reboot"', 11, 1),
        ('schedule = "@reboot"', 10, 0),
        ('schedule = "@reboot"\nsuspend = true', 11, 0),
        ('schedule = "0 3 * * *"', 11, 0),
    ],
)
def test_ten_minutes_after_a_boot_are_long_past(keys: str, minutes: int, count: int) -> None:
    assert len(lint_late_boot(job(keys), timedelta(minutes=minutes))) == count


@pytest.mark.parametrize(
    ("text", "form", "fix"),
    [
        ('[jobs.x]\nschedule = "@reboot"\ncommand = "true"', "toml", "add suspend = true"),
        ("@reboot name=x command=true", "kron", "add @policy(suspend=true)"),
        ("@reboot @policy(suspend=false) name=x command=true", "kron", "in @policy(…) write suspend=true"),
    ],
)
def test_the_warning_of_a_late_boot_says_how_to_suspend_the_job_in_its_file(text: str, form: str, fix: str) -> None:
    (found,) = jobs(text, form).values()
    (warning,) = lint_late_boot(found, timedelta(minutes=11))

    assert warning.fix == f"if it must not run now, {fix} before the first start"
