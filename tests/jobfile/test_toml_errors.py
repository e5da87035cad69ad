"""Errors in a TOML file: all at once, each at the line of its key, with a fix."""

import pytest

from tests.jobfile.job_sets import complaints, read, table


def test_all_errors_of_a_file_are_reported_at_once_at_the_lines_of_their_keys() -> None:
    text = """[krond]
slak = "30s"

[defaults]
env.KRON_X = "1"

[jobs.backup]
schedule = "61 * * * *"
windw = "after,3h"
deadline = 600
window = {mode = "after",  duration = "soon"}
command = []

[jobs.report]
schedule = "0 9 * * * @tz(Europe/Pari) @win(before,1h)"
"""

    assert [(finding.line, finding.field, finding.fix) for finding in read(text).findings] == [
        (2, "krond.slak", "did you mean slack?"),
        (5, "defaults.env.KRON_X", "choose another name"),
        (8, "jobs.backup.schedule", "write a number from 0 to 59"),
        (9, "jobs.backup.windw", "did you mean window?"),
        (10, "jobs.backup.deadline", 'write it in quotes and with a unit, as in deadline = "90s"'),
        (11, "jobs.backup.window.duration", "write it as 1h30m, 90s or 250ms"),
        (12, "jobs.backup.command", 'write ["/usr/bin/backup", "--all"]'),
        (14, "jobs.report.command", "add command = …"),
        (15, "jobs.report.schedule", "did you mean Europe/Paris or Europe/Madrid or Europe/Riga?"),
        (15, "jobs.report.schedule", "write one of them"),
    ]


def test_an_error_is_one_line_with_what_was_found_and_what_would_be_right() -> None:
    assert complaints(table('window = "after,soon"')) == [
        "3: error: jobs.x.window: no number with a unit at 'soon', found \"soon\"; write it as 1h30m, 90s or 250ms"
    ]


VALUES = {
    "timezone": ["1", '""', '"Mars/Phobos"', "true"],
    "dialect": ['"quartz"', "1"],
    "gap": ['"skp"', "true"],
    "repeated": ['"none"'],
    "window": ['"3h"', '"after"', "3", '"after,3"', '{mode = "after", length = "3h"}', '{duration = 3}', "[]"],
    "distribution": ['"gauss"', '{name = "skewLate", params = {shape = -1}}', "1"],
    "seed": ["true", '"hourly"', '{strategy = "daily", pepper = "x"}', "1"],
    "salt": ["1", '"\\u0000"', "true"],
    "only": ['["dow=MON"]', '"weather=sunny"', "{dow = []}", "1"],
    "avoid": ['"date=2026-02-30"', "{hours = 25}"],
    "concurrency": ['"queue"', "true"],
    "deadline": ["10", '"ten"', '"-1s"', "true", "{}"],
    "suspend": ['"true"', "1"],
    "identity": ['""', '"a\\nb"', "1"],
    "description": ["1", '"\\u0000"'],
    "command": ["1", "[]", '""', '"  "', '[""]', "[1]", "\"echo 'a\"", '"a\\u0000b"', '["a", "\\u0000"]', "{}"],
    "shell": ["1", '"bash"', '""'],
    "stdin": ["1", '"\\u0000"'],
    "user": ["0", '""', '"a\\nb"'],
    "group": ["0", '""'],
    "cwd": ['"relative"', '"~"', "1", '""'],
    "umask": ["18", '"8"', '"7777"', '""', '"0o22"'],
    "env": ['"A=1"', "{A = 1}", '{"" = "x"}', '{"A=B" = "x"}', '{KRON_RUN_ID = "x"}'],
    "limits": ["1", "{files = 1}", "{nofile = -1}", '{as = "lots"}', "{as = true}", "{as = 99999999999999999999}"],
    "timeout": ['"0s"', "60"],
    "grace": ["10"],
    "stdout": ['"stdout"', '"file:relative"', '"file:"', "1", '"log"'],
    "stderr": ['"stdin"', "1"],
    "output_limit": ['"many"', "-1", '"1XiB"', "1.5", '"1025MiB"', str(2**30 + 1)],
    "retries": ["-1", '"3"', "1.5", "true"],
    "retry_delay": ["30"],
    "on_failure": ['"page"', "[1]", '["http://"]', '[""]', "[[]]"],
    "on_recovery": ["1"],
    "on_missed": ["true"],
    "on_late": ["{}"],
    "late_after": ["60"],
    "ping": ['"ftp://x"', "1", '"http:// x"'],
}  # fmt: skip


@pytest.mark.parametrize(("key", "value"), [(key, value) for key, values in VALUES.items() for value in values])
def test_a_wrong_value_is_one_error_at_its_key(key: str, value: str) -> None:
    (finding,) = read(table(f"{key} = {value}")).findings

    assert (finding.level, finding.line) == ("error", 3)
    assert finding.field.startswith(f"jobs.x.{key}")
    assert finding.fix
    assert len(finding.message) < 300


def test_a_key_that_belongs_to_each_job_is_sent_there() -> None:
    (finding,) = read(table("", 'schedule = "@daily"')).findings

    assert (finding.field, finding.fix) == ("defaults.schedule", "move it to the jobs")


def test_an_unknown_macro_is_answered_with_all_that_a_job_may_have() -> None:
    (finding,) = read(table('schedule = "@fortnightly"')).findings

    assert str(finding.fix).startswith("use one of @hourly ")
    assert str(finding.fix).endswith(" @reboot")


def test_a_value_is_repeated_as_the_file_has_it() -> None:
    (finding,) = read(table('window = ["after", "3h"]')).findings

    assert finding.message == 'must be a text or a table, found "["after", "3h"]"'


@pytest.mark.parametrize(
    ("keys", "part"),
    [
        ('schedule = "@daily @tz(UTC)"\ntimezone = "UTC"', "timezone"),
        ('schedule = "@daily @win(after,1h)"\nwindow = "after,1h"', "window"),
        ('schedule = "@daily @policy(deadline=1m)"\ndeadline = "1m"', "deadline"),
        ('schedule = "@daily @dst(gap=skip)"\ngap = "skip"', "gap"),
        ('schedule = "@daily @seed(daily)"\nseed = "daily"', "strategy"),
        ('schedule = "@daily @seed(daily,salt=x)"\nsalt = "x"', "salt"),
        ('seed = "daily,salt=x"\nsalt = "x"', "salt"),
        ('schedule = "@daily @only(hours=3)"\nonly = "hours=3"', "only"),
    ],
)
def test_the_same_thing_said_twice_is_an_error_at_the_second(keys: str, part: str) -> None:
    (finding,) = read(table(keys)).findings

    assert finding.line == 4
    assert finding.message.startswith(f"{part} is said twice, in ")
    assert finding.fix == "keep one of them"


@pytest.mark.parametrize(
    "key", ['window = "after,1h"', 'salt = "x"', 'only = "hours=3"', 'gap = "skip"', 'seed = "daily"']
)
def test_a_job_that_runs_at_boot_has_no_window_and_no_constraints(key: str) -> None:
    (finding,) = read(table(f'schedule = "@reboot"\n{key}')).findings

    assert finding.line == 4
    assert finding.message == f"{key.partition(' ')[0]} has no meaning for @reboot"


def test_a_modifier_that_has_no_meaning_at_boot_is_named() -> None:
    assert [
        finding.message for finding in read(table('schedule = "@reboot @win(after,1h) @seed(daily,salt=x)"')).findings
    ] == [
        "@win(…) has no meaning for @reboot",
        "@seed(…) has no meaning for @reboot",
    ]


def test_a_list_is_not_read_by_a_shell() -> None:
    (finding,) = read(table('command = ["a"]', "shell = true")).findings

    assert finding.field == "jobs.x.command"


@pytest.mark.parametrize(
    ("text", "line", "field"),
    [
        ("job = 1", 1, "job"),
        ("\n[job.a]", 2, "job"),
        ("jobs = 1", 1, "jobs"),
        ("\n[[jobs]]", 2, "jobs"),
        ("[jobs]\na = 1", 2, "jobs.a"),
        ("defaults = 1", 1, "defaults"),
        ("[jobs]\nkrond = []", 2, "jobs.krond"),
        ('[jobs.""]\nschedule = "@daily"\ncommand = "x"', 1, 'jobs.""'),
        ('[jobs."a\\nb"]\nschedule = "@daily"\ncommand = "x"', 1, 'jobs."a\\nb"'),
    ],
)
def test_a_misplaced_key_is_named(text: str, line: int, field: str) -> None:
    (finding,) = read(text).findings

    assert (finding.line, finding.field) == (line, field)


def test_an_unknown_table_is_answered_with_the_nearest() -> None:
    (finding,) = read("[job.a]").findings

    assert finding.fix == "did you mean jobs?"


# --- texts that are no TOML -------------------------------------------------------------------------------------------

BROKEN = {
    "no value": ("a = 1\nb =", 2),
    "unclosed quote": ('a = "x\nb = 1', 1),
    "unclosed array": ("a = [1,\n2", 2),
    "a table twice": ("[jobs.a]\n[jobs.b]\n[jobs.a]", 3),
    "a key twice": ("[jobs.a]\nx = 1\nx = 2", 3),
    "NUL": ("a = 1\nb = '\0'", 2),
    "control character": ("a = 1\n# \x01", 2),
    "lone carriage return": ("a = 1\rb = 2", 1),
    "deep arrays": ("a = 1\nb = " + "[" * 100_000, 2),
    "deep tables": ("a = 1\nb = " + "{a=" * 100_000, 2),
    "deep keys": ("a = 1\n" + "a." * 100_000 + "a = 1", 2),
    "huge number": ("a = 1\nb = " + "9" * 100_000, 2),
    "not TOML at all": ("0 3 * * * root backup", 1),
}


@pytest.mark.parametrize(("text", "line"), BROKEN.values(), ids=BROKEN.keys())
def test_invalid_toml_is_one_error_with_its_line(text: str, line: int) -> None:
    (finding,) = read(text).findings

    assert (finding.level, finding.field, finding.line) == ("error", "syntax", line)
    assert finding.fix
    assert finding.message.isprintable()
    assert len(finding.message) < 200


@pytest.mark.parametrize("name", ["a", '"a b"', '"it\'s"', '"(a)"'])
def test_a_table_that_is_there_twice_is_named_as_it_is_written(name: str) -> None:
    (finding,) = read(f"[jobs.{name}]\n[jobs.{name}]\n").findings

    assert finding.message.startswith(f"cannot declare jobs.{name} twice, column ")
    assert finding.fix == "keep one of them"


@pytest.mark.parametrize("mark", ["\ufeff", ""])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_files_of_other_systems_are_read(mark: str, end: str) -> None:
    text = '[jobs.a]\nschedule = "@daily"\ncommand = "x"\numask = "9"\n'

    assert complaints(mark + text.replace("\n", end))[0].startswith("4: error: jobs.a.umask")


def test_a_file_full_of_errors_ends_with_saying_so() -> None:
    text = "[jobs]\n" + "".join(f"j{number} = 1\n" for number in range(12_000))

    found = read(text).findings

    assert len(found) == 10_001
    assert found[-1].message.startswith("more than 10000 findings")


HUGE = "x" * 1_000_000


@pytest.mark.parametrize(
    ("text", "form"),
    [
        (f"[jobs.a]\n{HUGE} = 1", "toml"),
        (f"[jobs.{HUGE}]", "toml"),
        (f"{HUGE} = 1", "toml"),
        (f'[jobs.a]\numask = "{HUGE}"', "toml"),
        (f'[jobs.a]\nschedule = "{HUGE}"', "toml"),
        (f"@daily name=a {HUGE}=1", "kron"),
        (f"@daily name={HUGE[:60_000]} command=x\n" * 2, "kron"),
        (f"{HUGE}=1\0", "crontab"),
        ("A\x1b[2J=\0", "crontab"),
        (f"0 3 * * * {HUGE}", "crontab"),
    ],
    ids=lambda value: value[:20],
)
def test_a_message_neither_repeats_a_megabyte_nor_passes_on_control_characters(text: str, form: str) -> None:
    said = complaints(text, form)

    assert said
    assert all(len(line) < 1000 and line.isprintable() for line in said)
