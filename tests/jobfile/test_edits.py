"""A file is edited to have other windows and salts, and nothing else changes when it is read back."""

from dataclasses import replace

import pytest
from hypothesis import given, strategies as st

from kron.decision.definition import read_window
from kron.decision.seed import Seed
from kron.errors import InvalidDefinitionError
from kron.jobfile.host_job import HostJob
from kron.jobfile.writer import JobEdit, edit_file, is_equivalent
from tests.jobfile.job_sets import jobs, source


def meant(job: HostJob, key: str, value: str) -> HostJob:
    """Return a job with another window or salt."""
    assert job.timing is not None
    if key == "window":
        return replace(job, timing=replace(job.timing, window=read_window(value)))
    return replace(job, timing=replace(job.timing, seed=Seed(job.timing.seed.strategy, value)))


def amended(text: str, form: str, name: str, **values: str) -> str:
    """Return the text in which a job has other values, and check that it says that and nothing else."""
    before = jobs(text, form)
    job = before[name]
    new = edit_file(source(text, form), [JobEdit(job, key, value) for key, value in values.items()])
    for key, value in values.items():
        job = meant(job, key, value)
    after = jobs(new, form)
    assert after.keys() == before.keys()
    assert all(is_equivalent(after[each], job if each == name else before[each]) for each in before)
    return new


LINES = {
    "no modifier": ("0 3 * * *  name=x command=true", "0 3 * * * @win(after,5m)  name=x command=true"),
    "another window": ("0 3 * * * @win(around,2h) name=x command=true", "0 3 * * * @win(after,5m) name=x command=true"),
    "other modifiers": (
        "  0 3 * * *\t@tz(Europe/Paris)\t@dist(normal)  name=x command=true",
        "  0 3 * * *\t@tz(Europe/Paris)\t@dist(normal) @win(after,5m)  name=x command=true",
    ),
    "a macro": ("@daily name=x command=true\r", "@daily @win(after,5m) name=x command=true\r"),
}


@pytest.mark.parametrize(("before", "after"), LINES.values(), ids=LINES.keys())
def test_a_line_gets_a_window(before: str, after: str) -> None:
    around = "# first\n0 4 * * * name=y command=true\n{}\n# last\n"

    assert amended(around.format(before), "kron", "x", window="after,5m") == around.format(after)


def test_a_line_keeps_its_strategy_and_gets_a_salt() -> None:
    line = "0 3 * * * @seed(weekly, salt=old) name=x command=true"

    assert amended(line, "kron", "x", salt="a b") == line.replace("weekly, salt=old", 'weekly,salt="a b"')


def test_a_line_of_a_crontab_keeps_its_command() -> None:
    text = "MAILTO=ann\n# kron: name=x\n\t0 3 * * *\techo 50\\% of it\n"

    assert amended(text, "crontab", "x", window="after,5m", salt="1") == text.replace(
        "* * *\techo", "* * * @win(after,5m) @seed(stable,salt=1)\techo"
    )


def test_a_line_of_a_system_crontab_keeps_its_user() -> None:
    text = "# kron: name=x\n0 3 * * * @win(after,1m) root /bin/true\n"

    assert amended(text, "system-crontab", "x", window="after,5m") == text.replace("1m", "5m")


# Line by line: the text now, and the text wanted, which may be two lines.
TABLES: dict[str, list[tuple[str, ...]]] = {
    "nothing said": [
        ("[jobs.x] # one",),
        ('schedule = "0 3 * * *" # at three', 'schedule = "0 3 * * *" # at three\nwindow = "after,5m"\nsalt = "1"'),
        ('command = "true"',),
    ],
    "keys": [
        ("[jobs.x]",),
        ("salt='s'  # pepper", 'salt="1"  # pepper'),
        ('window = {mode = "around", duration = "2h"} # wide', 'window = "after,5m" # wide'),
        ('schedule = "0 3 * * *"',),
        ('command = "true"',),
    ],
    "in the schedule": [
        ("[jobs.x]",),
        (
            "schedule = '0 3 * * * @win(after,1h) @seed(daily,salt=s)' # all",
            "schedule = '0 3 * * * @win(after,5m) @seed(daily,salt=1)' # all",
        ),
        ('command = "true"',),
    ],
    "a seed with its salt": [
        ("[jobs.x]",),
        ('seed = {strategy = "daily", salt = "s"}', 'seed = "daily,salt=1"'),
        ('schedule = "@daily @win(after,1h)"', 'schedule = "@daily @win(after,5m)"'),
        ('command = "true"',),
    ],
    "a seed without salt": [
        ("[jobs.x]",),
        ('seed = "daily"',),
        ('schedule = "@daily"', 'schedule = "@daily"\nwindow = "after,5m"\nsalt = "1"'),
        ('command = "true"',),
    ],
    "on one line": [
        ("[jobs]",),
        (
            'x = {schedule = "0 3 * * *", command = "true"}',
            'x = {schedule = "0 3 * * *", salt = "1", window = "after,5m", command = "true"}',
        ),
    ],
    "dotted keys": [
        ("[jobs]",),
        ('x.schedule = "@daily"', 'x.schedule = "@daily"\nx.window = "after,5m"\nx.salt = "1"'),
        ('x.command = "true"',),
        ('y = {command = "true", schedule = "@daily"}',),
    ],
    "defaults": [
        ('[defaults]\nwindow = "after,1h"\nseed = "daily,salt=all"',),
        ('[jobs.x]\nschedule = "@daily"', '[jobs.x]\nschedule = "@daily"\nwindow = "after,5m"\nsalt = "1"'),
        ('command = "true"',),
    ],
    "a comment above the next table": [
        ('[jobs.x]\ncommand = "true"',),
        ('schedule = "@daily"', 'schedule = "@daily"\nwindow = "after,5m"\nsalt = "1"'),
        ("\n# what y is for\n[jobs.y]",),
        ('schedule = "@daily"\ncommand = "true"',),
    ],
    "keys that are indented, and a table below": [
        ("[jobs.x]",),
        ('\t  schedule = "@daily"', '\t  schedule = "@daily"\n\t  window = "after,5m"\n\t  salt = "1"'),
        ('\t  command = "true"\n\t  [jobs.x.env]\n\t  A = "1"',),
    ],
    "a table on one line without blanks": [
        ("[jobs]",),
        (
            'x={schedule="@daily",command="true"}',
            'x={schedule="@daily", salt = "1", window = "after,5m",command="true"}',
        ),
    ],
    "line ends of another system": [
        ("[jobs.x]\r",),
        ('schedule = "@daily"\r', 'schedule = "@daily"\r\nwindow = "after,5m"\r\nsalt = "1"\r'),
        ('command = "true"\r',),
    ],
}


def sides(lines: list[tuple[str, ...]]) -> tuple[str, str]:
    before, after = (("\n".join(each[side] for each in lines) + "\n") for side in (0, -1))
    return before, after


@pytest.mark.parametrize("lines", TABLES.values(), ids=TABLES.keys())
def test_a_table_gets_a_window_and_a_salt(lines: list[tuple[str, ...]]) -> None:
    before, after = sides(lines)

    assert amended(before, "toml", "x", window="after,5m", salt="1") == after


def test_the_mark_that_some_editors_begin_a_file_with_stays() -> None:
    text = '\ufeff[jobs.x]\nschedule = "@daily"\ncommand = "true"\n'

    assert amended(text, "toml", "x", salt="1").startswith("\ufeff[jobs.x]\n")


@pytest.mark.parametrize("schedule", ['"""0 3 * * *"""', "'''0 3 * * *'''"])
def test_a_value_over_several_lines_is_not_edited(schedule: str) -> None:
    text = f'[jobs.x]\nschedule = {schedule}\ncommand = "true"\n'

    with pytest.raises(InvalidDefinitionError):
        amended(text, "toml", "x", salt="1")


@given(st.text(st.characters(codec="utf-8", exclude_characters="\x00{}"), max_size=20))
def test_any_salt_can_be_written(salt: str) -> None:
    for lines in TABLES.values():
        amended(sides(lines)[0], "toml", "x", salt=salt)


@given(st.text(st.characters(codec="utf-8", exclude_characters="{}", exclude_categories=["C"]), max_size=20))
def test_any_salt_can_be_written_in_a_line(salt: str) -> None:
    amended("0 3 * * * @seed(daily) name=x command=true\n", "kron", "x", salt=salt)
