"""The fingerprint of a job changes with every change that could make it another job, and with no other."""

from dataclasses import replace

import pytest

from kron.jobfile.host_job import HostJob
from kron.jobfile.job_file import HostInfo
from tests.jobfile.job_sets import HERE, jobs

TEXT = """\
[krond]
timezone = "Europe/Paris"
[defaults]
salt = "{host}"
[jobs.x]
schedule = "0 3 * * *"
command = ["/bin/backup", "all"]
"""


def origin(text: str, form: str = "toml", here: HostInfo = HERE) -> bytes:
    return first(text, form, here).fingerprint


def first(text: str, form: str = "toml", here: HostInfo = HERE) -> HostJob:
    return next(iter(jobs(text, form, here).values()))


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("0 3 *", "0 4 *"),
        ('["/bin/backup", "all"]', '"/bin/backup all"'),
        ("jobs.x", "jobs.y"),
        ("Paris", "Berlin"),
        ("{host}", "{machine}"),
        ("[jobs.x]\n", "[jobs.x]\nretries = 1\n"),
    ],
    ids=["an entry", "its form", "its name", "the zone of all", "the defaults", "another entry"],
)
def test_the_fingerprint_changes_with_every_setting(before: str, after: str) -> None:
    assert origin(TEXT.replace(before, after)) != origin(TEXT)


@pytest.mark.parametrize(
    "here", [replace(HERE, host="UTC"), replace(HERE, machine="UTC"), replace(HERE, timezone="UTC")]
)
def test_the_fingerprint_changes_with_the_host(here: HostInfo) -> None:
    assert origin(TEXT, here=here) != origin(TEXT)


def test_the_fingerprint_does_not_change_with_the_users_of_the_host() -> None:
    assert origin(TEXT, here=replace(HERE, users=frozenset({"ann"}))) == origin(TEXT)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("[jobs.x]", "# the job\n\n[jobs.x]  # it is"),
        ("[jobs.x]", '[jobs.first]\nschedule = "@daily"\ncommand = "true"\n[jobs.x]'),
        ("schedule = ", "schedule   =   "),
    ],
    ids=["comments", "other jobs", "blanks"],
)
def test_the_fingerprint_is_the_same_with_all_else(before: str, after: str) -> None:
    assert jobs(TEXT.replace(before, after))["x"].fingerprint == origin(TEXT)


@pytest.mark.parametrize(
    ("form", "text"), [("kron", "0 3 * * * name=x command=true"), ("crontab", "0 3 * * * true # kron: name=x")]
)
def test_lines_have_one_too(form: str, text: str) -> None:
    assert origin(text, form) == origin(f"# first\n{text}", form) != origin(text.replace("3", "4"), form)
    assert first(text, form) == first(f"# first\n{text}", form)


def test_that_of_a_crontab_s_line_changes_with_the_environment_above_it() -> None:
    assert origin("A=1\n0 3 * * * true", "crontab") != origin("A=2\n0 3 * * * true", "crontab")
