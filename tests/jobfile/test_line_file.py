"""`.kron` files: one job a line, and all errors are reported at once."""

from datetime import timedelta

import pytest

from kron import Timing
from kron.jobfile.host_job import Command, HookCommand, Webhook
from kron.jobfile.keys import IN_LINES, KEYS
from tests.jobfile.job_sets import complaints, jobs, read


def test_a_line_is_a_schedule_with_modifiers_a_name_and_a_command() -> None:
    found = jobs('@daily @win(after,1h) @policy(deadline=1m) name=a command="echo hi"', "kron")["a"]

    assert found.timing == Timing.parse("@daily @win(after,1h)", identity="/etc/krond/jobs.kron:a")
    assert found.policy.deadline == timedelta(minutes=1)
    assert found.command == Command(("echo", "hi"))
    assert found.schedule == "@daily @win(after,1h) @policy(deadline=1m)"


def test_jobs_keep_their_line_numbers_and_take_their_identity_from_the_path() -> None:
    found = read("# comment\n\n@daily name=a command=true\n  # another\n@hourly name=b command=true\n", "kron")

    places = [(job.line, job.identity) for job in found.jobs]
    assert places == [(3, "/etc/krond/jobs.kron:a"), (5, "/etc/krond/jobs.kron:b")]
    assert found.findings == ()


def test_lines_may_end_as_on_windows_and_the_file_begin_with_a_mark() -> None:
    assert list(jobs("\ufeff@daily name=a command=true\r\n\r\n@hourly name=b command=true\r\n", "kron")) == ["a", "b"]


def test_a_wrong_line_hides_neither_the_others_nor_their_errors() -> None:
    text = "61 * * * * name=a command=true\n@daily name=b command=true\n@daily name=b command=true\n@daily name=c\n"

    found = read(text, "kron")

    assert [job.name for job in found.jobs] == ["b"]
    assert [(finding.line, finding.field) for finding in found.findings] == [
        (1, "schedule"),
        (3, "name"),
        (4, "command"),
    ]


def test_all_errors_of_a_line_are_reported() -> None:
    line = "61 * * * * @tz(Mars/Phobos) name=a command=true umask=9 timeout=5"

    assert [finding.field for finding in read(line, "kron").findings] == ["@tz", "umask", "timeout", "schedule"]


SETTINGS = {
    "stdin": ('stdin="a b"', "stdin", "a b"),
    "shell": ("shell=true", "argv", ("/bin/sh", "-c", "true")),
    "no shell": ("shell=false", "argv", ("true",)),
    "another shell": ("shell=/bin/bash", "argv", ("/bin/bash", "-c", "true")),
    "umask": ("umask=027", "umask", 0o027),
    "environment": ('env=A=1 env="B=two words"', "env", (("A", "1"), ("B", "two words"))),
    "limits": ("limits=nofile=10 limits=as=1MiB", "limits", (("nofile", 10), ("as", 1048576))),
    "timeout": ("timeout=1h", "timeout", timedelta(hours=1)),
    "user": ("user=ann group=staff", "user", "ann"),
    "output": ("stdout=file:/x stderr=stdout", "stdout", "file:/x"),
    "output limit": ("output_limit=1KiB", "output_limit", 1024),
}


@pytest.mark.parametrize(("setting", "part", "value"), SETTINGS.values(), ids=SETTINGS.keys())
def test_a_setting_says_how_the_command_is_run(setting: str, part: str, value: object) -> None:
    command = jobs(f"@daily name=a command=true {setting}", "kron")["a"].command

    assert getattr(command, part) == value


def test_hooks_and_retries_may_be_set() -> None:
    line = (
        '@daily name=a command=true retries=3 on_failure="page me" on_failure=https://a.example ping=http://b.example'
    )

    found = jobs(line, "kron")["a"]

    assert found.retries == 3
    assert found.hooks.on_failure == (HookCommand(("page", "me")), Webhook("https://a.example"))


def test_an_identity_may_be_set() -> None:
    assert jobs('@daily name=a command=true identity="{host}/a"', "kron")["a"].identity == "web1/a"


def test_a_salt_may_name_the_host() -> None:
    timing = jobs("@daily @seed(daily,salt={host}) name=a command=true", "kron")["a"].timing

    assert timing is not None
    assert timing.seed.salt == "web1"


def test_a_line_may_run_at_boot() -> None:
    assert jobs("@reboot name=a command=true", "kron")["a"].timing is None


def test_the_settings_are_all_keys_that_no_modifier_says() -> None:
    assert set(IN_LINES) == {"name"} | {key for key in KEYS if not KEYS[key].modifier} - {"schedule"}


MISTAKES = {
    "no name": ("@daily command=true", "name"),
    "empty name": ("@daily name= command=true", "name"),
    "no command": ("@daily name=a", "command"),
    "empty command": ("@daily name=a command=", "command"),
    "unknown setting": ("@daily name=a command=true colour=red", "colour"),
    "what a modifier says": ("@daily name=a command=true window=after,1h", "window"),
    "modifier after a setting": ("@daily name=a @win(after,1h) command=true", "settings"),
    "wrong limit": ("@daily name=a command=true limits=nofile=x", "limits.nofile"),
    "wrong variable": ("@daily name=a command=true env=A=a\0b", "env.A"),
    "no name at boot": ("@reboot command=true", "name"),
    "twice": ("@daily name=a command=true user=a user=b", "user"),
    "variable twice": ("@daily name=a command=true env=A=1 env=A=2", "env.A"),
    "variable without a value": ("@daily name=a command=true env=A", "env"),
    "open quote": ('@daily name=a command="x', "line"),
    "no number": ("@daily name=a command=true retries=many", "retries"),
    "NUL": ("@daily name=a command=a\0b", "command"),
    "no schedule": ("name=a command=true", "schedule"),
    "window at boot": ("@reboot @win(after,1h) name=a command=true", "schedule"),
}


@pytest.mark.parametrize(("line", "field"), MISTAKES.values(), ids=MISTAKES.keys())
def test_a_mistake_is_one_error(line: str, field: str) -> None:
    (finding,) = read(line, "kron").findings

    assert (finding.level, finding.line, finding.field) == ("error", 1, field)
    assert finding.fix
    assert str(finding).isprintable()


def test_all_mistakes_of_a_line_are_reported() -> None:
    line = (
        "61 3 * * * @policy(deadline=1,concurrency=no) name=v env=A env=B=1 env=B=2 timeout=3 usr=bob on_late=http://"
    )

    assert sorted(finding.field for finding in read(line, "kron").findings) == [
        "@policy concurrency", "@policy deadline", "command", "env", "env.B", "on_late", "schedule", "timeout", "usr",
    ]  # fmt: skip


def test_a_line_without_a_name_hides_no_other_mistake() -> None:
    assert [finding.field for finding in read("@daily command=true timeout=3", "kron").findings] == ["timeout", "name"]


def test_several_lines_without_a_name_have_no_name_in_common() -> None:
    found = read("@daily command=true\n@daily command=false", "kron").findings

    assert [(finding.line, finding.message) for finding in found] == [(1, "is required"), (2, "is required")]


def test_a_name_of_a_line_with_a_mistake_is_taken() -> None:
    found = read("@daily name=a command=true colour=red\n@daily name=a command=true", "kron")

    assert [(finding.line, finding.field) for finding in found.findings] == [(1, "colour"), (2, "name")]


def test_a_line_with_a_mistake_is_no_job() -> None:
    assert read("@daily name=a command=true colour=red", "kron").jobs == ()


def test_a_file_that_is_no_job_file_is_refused_without_being_read_line_by_line() -> None:
    assert complaints("x\n" * 9_000_000, "kron") == ["1: error: file: is larger than 16777216 characters; split it"]
